"""Implements flat indices with FAISS's shapes, dtypes and conventions."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from typing import Any, Optional, cast

import numpy as np

from .._core._checks import thread_count, whole
from .._core._errors import InvalidArgument, Unsupported
from .._core._index import Index as KithIndex
from .._core._knn import knn as kith_knn
from .._core._locks import Lock
from .._core._pickles import stamped, unstamped
from .._core._types import Bool, DeviceLike, Float32, Int64, MetricName, UInt64
from .._rows._arrays import Rows, new_arrays, outputs, rows_of
from ._selectors import SearchParameters, chosen_by

METRIC_INNER_PRODUCT = 0
METRIC_L2 = 1
METRIC_L1 = 2
METRIC_Linf = 3

METRICS: dict[int, MetricName] = {
    METRIC_INNER_PRODUCT: "negative_dot",
    METRIC_L2: "squared_l2",
    METRIC_L1: "l1",
    METRIC_Linf: "linf",
}

_threads = 0  # threads of every search; 0: one per core


class Index:
    """Is the base of all indices, as `faiss.Index`: for `isinstance`."""

    def __getattr__(self, name: str) -> Any:
        for pattern, advice in _METHODS.items():
            if fnmatchcase(name, pattern):
                raise Unsupported(f"kith.faiss: {type(self).__name__}.{name}; {advice}")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


_METHODS = {
    "add_with_ids": "kith.Index(X, ids=ids) has rows with numbers of your own",
    "remove_ids": "kith.Index(X).without(rows) has fewer rows, whose numbers stay",
    "*reconstruct*": "kith does not give rows back: keep the array that you add, and take its rows",
    "get_xb": "kith does not give rows back: keep the array that you add",
    "merge_from": "add the other index's rows, or search both by kith.Index.search_keys and kith.merge",
    "search_subset": "search(x, k, params=SearchParameters(sel=IDSelectorBatch(rows))) searches some rows",
    "sa_*code*": "flat indices of kith have no codes; kith.Index keeps uint8, int8 and 16-bit floats as they are",
    "compute_*": "scipy.spatial.distance.cdist gives distances of all pairs",
    "permute_entries": "add the rows in the other order",
}


class IndexFlat(Index):
    """Holds rows that are added, and searches them, as `faiss.IndexFlat`.

    Parameters
    ----------
    d : int
        Columns.
    metric : int
        ``METRIC_L2``, ``METRIC_INNER_PRODUCT``, ``METRIC_L1`` or ``METRIC_Linf``.
    device : str or kith.Device
        kith's own parameter: where rows are kept and searched.

    Attributes
    ----------
    d, ntotal, metric_type : int
    is_trained : bool
        True.

    Notes
    -----
    Any number of threads may add, reset and search at once: a search sees the rows of every `add` that returned
    before it began, and all rows or no row of any other `add`.
    """

    is_trained = True

    def __init__(self, d: int, metric: int = METRIC_L2, device: DeviceLike = "auto") -> None:
        self.d = whole(d, "kith.faiss: d")
        self.metric_type = whole(metric, "kith.faiss: metric")
        if self.metric_type not in METRICS:
            raise Unsupported(f"kith.faiss: metric {metric!r}; choose one of METRIC_L2, _INNER_PRODUCT, _L1, _Linf")
        if self.d < 1:
            raise InvalidArgument(f"kith.faiss: d = {d}; rows have 1 column or more")
        self._device: Any = device
        self._index: Optional[KithIndex] = None
        self._changes = Lock()

    @property
    def ntotal(self) -> int:
        return _count(self._index)

    def train(self, x: Any) -> None:
        """Do nothing: a flat index needs no training."""

    def add(self, x: Any) -> None:
        """Append rows, which get the numbers ntotal, ntotal + 1, ...

        Parameters
        ----------
        x : array, [n, d]

        Notes
        -----
        Rows that are added in many small steps are searched in as many parts; add them at once if you can.
        """
        rows = self._rows(x, "add")
        if not len(rows.array):
            return
        with self._changes.held():
            if self._index is None:
                self._index = KithIndex(rows, METRICS[self.metric_type], self._device)
            else:
                self._index = self._index.with_(rows)

    def reset(self) -> None:
        """Forget all rows."""
        with self._changes.held():
            self._index = None

    def search(
        self,
        x: Any,
        k: int,
        *,
        params: Optional[SearchParameters] = None,
        D: Optional[Float32] = None,
        I: Optional[Int64] = None,  # noqa: E741
    ) -> tuple[Float32, Int64]:
        """Find the k nearest rows of each query.

        Parameters
        ----------
        x : array, [n, d]
        k : int
            It may exceed ntotal: lists then end in row -1.
        params : SearchParameters, optional
            The rows that count.
        D, I : array, optional
            Arrays to write to: float32 and int64, C-contiguous, [n, k].

        Returns
        -------
        D : array of float32, [n, k]
            Squared distances for L2; products, greatest first, for inner products.
        I : array of int64, [n, k]
        """
        queries = self._rows(x, "search")
        k = whole(k, "kith.faiss.search: k")
        if k < 1:
            raise InvalidArgument(f"kith.faiss: k = {k}; choose 1 or more")
        shape = (len(queries.array), k)
        distance, row = new_arrays(shape, np.float32, "kith.faiss.search") if D is None or I is None else (D, I)
        if D is not None or I is not None:
            out = (distance if D is None else D, row if I is None else I)
            distance, row = outputs(out, shape, "kith.faiss.search", {"x": queries.array})
        index = self._index  # read once, since another thread may replace it
        chosen = chosen_by(params, _count(index))
        if index is not None and shape[1] <= index.rows and chosen is None:
            index.search(queries, shape[1], out=(distance, row), threads=_threads)
            if self.metric_type == METRIC_INNER_PRODUCT:
                np.subtract(0, distance, out=distance)  # turns -0 into 0, since FAISS returns no -0
        else:
            self._search_few(index, queries, distance, row, chosen)
        return distance, row

    def assign(self, x: Any, k: int = 1) -> Int64:
        """Return the rows of `search`, [n, k]."""
        return self.search(x, k)[1]

    def _search_few(
        self, index: Optional[KithIndex], queries: Rows, distance: Float32, row: Int64, chosen: Optional[Bool]
    ) -> None:
        """Search if fewer than k rows may count: those come first, then row -1 at FAISS's farthest distance."""
        product = self.metric_type == METRIC_INNER_PRODUCT
        farthest = np.finfo(np.float32).max * (-1 if product else 1)
        distance[:], row[:] = farthest, -1
        if index is None:
            return
        known = min(index.rows, row.shape[1])
        found = index.search(queries, known, filter=chosen, threads=_threads)
        near = 0 - found.distance if product else found.distance
        distance[:, :known], row[:, :known] = np.where(found.row < 0, farthest, near), found.row

    def range_search(
        self, x: Any, thresh: float, *, params: Optional[SearchParameters] = None
    ) -> tuple[UInt64, Float32, Int64]:
        """Find all rows nearer than a threshold: squared distances below it, or products above it.

        Parameters
        ----------
        x : array, [n, d]
        thresh : float
        params : SearchParameters, optional
            The rows that count.

        Returns
        -------
        lims : array of uint64, [n + 1]
            The list of query q is ``lims[q]:lims[q + 1]`` of both others.
        D : array of float32
        I : array of int64
        """
        queries = self._rows(x, "range_search")
        index = self._index
        product = self.metric_type == METRIC_INNER_PRODUCT
        # FAISS keeps rows that are strictly nearer; kith keeps rows at most as far.
        edge = np.nextafter(np.float32(-thresh if product else thresh), np.float32(-np.inf))
        if index is None or (edge < 0 and not product):  # nothing is nearer than 0
            return np.zeros(len(queries.array) + 1, np.uint64), np.empty(0, np.float32), np.empty(0, np.int64)
        chosen = chosen_by(params, index.rows)
        first, distance, row = index.within(queries, edge, filter=chosen, threads=_threads)
        near = cast(Float32, 0 - distance if product else distance)
        return first.astype(np.uint64), near, row

    def _rows(self, x: Any, where: str) -> Rows:
        rows = x if isinstance(x, Rows) else rows_of(x, f"kith.faiss.{where}: x", quiet=where != "add")
        columns = rows.array.shape[1]
        if columns != self.d:
            raise InvalidArgument(f"kith.faiss.{where}: x has {columns} columns, but d = {self.d}; pass rows of d")
        return rows if rows.back is None else Rows(rows.array, rows.struct, rows.columns)  # answers are NumPy arrays

    def __getstate__(self) -> dict[str, Any]:
        return stamped(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(unstamped(state, f"kith.faiss.{type(self).__name__}"))

    def __repr__(self) -> str:
        return f"kith.faiss.{type(self).__name__}(d={self.d}, ntotal={self.ntotal})"


def _count(index: Optional[KithIndex]) -> int:
    return 0 if index is None else index.rows


class IndexFlatL2(IndexFlat):
    """Is an `IndexFlat` by squared Euclidean distance, as `faiss.IndexFlatL2`."""

    def __init__(self, d: int, device: DeviceLike = "auto") -> None:
        super().__init__(d, METRIC_L2, device)


class IndexFlatIP(IndexFlat):
    """Is an `IndexFlat` by inner product, as `faiss.IndexFlatIP`."""

    def __init__(self, d: int, device: DeviceLike = "auto") -> None:
        super().__init__(d, METRIC_INNER_PRODUCT, device)


def knn(xq: Any, xb: Any, k: int, metric: int = METRIC_L2, device: DeviceLike = "auto") -> tuple[Float32, Int64]:
    """Find the k rows of `xb` nearest to each row of `xq`, as `faiss.knn`.

    Parameters
    ----------
    xq : array, [nq, d]
    xb : array, [nb, d]
    k : int
    metric : int
    device : str or kith.Device
        kith's own parameter: where rows are kept and searched.

    Returns
    -------
    D : array of float32, [nq, k]
    I : array of int64, [nq, k]

    Examples
    --------
    >>> import numpy as np
    >>> from kith import faiss
    >>> x = np.eye(3, dtype=np.float32)
    >>> faiss.knn(x[:1], x, 2)
    (array([[0., 2.]], dtype=float32), array([[0, 1]]))
    """
    base = rows_of(xb, "kith.faiss.knn: xb")
    index = IndexFlat(base.array.shape[1], metric, device)
    try:
        queries, k = index._rows(xq, "search"), whole(k, "kith.faiss.search: k")
    except InvalidArgument:
        index.add(base)  # which names what is wrong with xb first
        raise
    if not 1 <= k <= len(base.array):
        index.add(base)
        return index.search(queries, k)
    distance, row = new_arrays((len(queries.array), k), np.float32, "kith.faiss.knn")
    kith_knn(base, queries, k, METRICS[index.metric_type], device, out=(distance, row), threads=_threads)
    if index.metric_type == METRIC_INNER_PRODUCT:
        np.subtract(0, distance, out=distance)  # as in `search`
    return distance, row


def omp_set_num_threads(num_threads: int) -> None:
    """Set how many threads of the host each later search of this module takes, as `faiss.omp_set_num_threads`."""
    global _threads
    number = thread_count(num_threads, "kith.faiss: num_threads")
    if number < 1:
        raise InvalidArgument(f"kith.faiss: num_threads = {number}; choose 1 or more")
    _threads = number


def omp_get_max_threads() -> int:
    """Return how many threads of the host a search takes, as `faiss.omp_get_max_threads`."""
    return _threads or len(os.sched_getaffinity(0))
