"""FAISS's flat indices, by kith: change ``import faiss`` to ``from kith import faiss``.

`IndexFlatL2`, `IndexFlatIP`, `IndexFlat` and `knn` have FAISS's shapes, dtypes and conventions: distances float32,
squared for L2, and inner products for IP, greatest first; row numbers int64, -1 where fewer than k rows count. What
differs: equally near rows come in the order of their numbers, answers are exact, and only flat indices are here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Optional

import numpy as np

from ._arrays import Rows, outputs, rows_of
from ._checks import whole
from ._errors import InvalidArgument, Unsupported
from ._index import Index
from ._locks import Lock

if TYPE_CHECKING:
    from ._types import Float32, Int64, UInt64

METRIC_INNER_PRODUCT = 0
METRIC_L2 = 1
METRIC_L1 = 2
METRIC_Linf = 3

_METRICS = {METRIC_INNER_PRODUCT: "negative_dot", METRIC_L2: "squared_l2", METRIC_L1: "l1", METRIC_Linf: "linf"}


class IndexFlat:
    """Rows that are added and searched, as `faiss.IndexFlat`.

    Parameters
    ----------
    d : int
        Columns.
    metric : int
        ``METRIC_L2``, ``METRIC_INNER_PRODUCT``, ``METRIC_L1`` or ``METRIC_Linf``.
    device : str or kith.Device
        kith's own.

    Attributes
    ----------
    d, ntotal, metric_type : int
    is_trained : bool
        True.

    Notes
    -----
    Any number of threads may add, reset and search one at once: a search sees the rows of every `add` that returned
    before it began, and all rows or none of any other.
    """

    is_trained = True

    def __init__(self, d: int, metric: int = METRIC_L2, device: Any = "auto") -> None:
        if metric not in _METRICS:
            raise Unsupported(f"kith.faiss: metric {metric!r}; choose one of METRIC_L2, _INNER_PRODUCT, _L1, _Linf")
        self.d = whole(d, "kith.faiss: d")
        if self.d < 1:
            raise InvalidArgument(f"kith.faiss: d = {d}; rows have 1 column or more")
        self.metric_type = metric
        self._device: Any = device
        self._index: Optional[Index] = None
        self._changes = Lock()

    @property
    def ntotal(self) -> int:
        return _count(self._index)

    def train(self, x: Any) -> None:
        """Nothing: a flat index needs no training."""

    def add(self, x: Any) -> None:
        """Append rows, which get the numbers ntotal, ntotal + 1, ...

        Parameters
        ----------
        x : array, [n, d]

        Notes
        -----
        Rows that are added in many small steps are searched in as many parts; add them at once where you can.
        """
        rows = self._rows(x, "add")
        if not len(rows.array):
            return
        with self._changes.held():
            if self._index is None:
                self._index = Index(rows, _METRICS[self.metric_type], self._device)
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
        params: Any = None,
        D: Optional[Float32] = None,
        I: Optional[Int64] = None,  # noqa: E741
    ) -> tuple[Float32, Int64]:
        """The k nearest rows of each query.

        Parameters
        ----------
        x : array, [n, d]
        k : int
            May be more than ntotal: lists then end in row -1.
        params : None
        D, I : array, optional
            Where to write: float32 and int64, C-contiguous, [n, k].

        Returns
        -------
        D : array of float32, [n, k]
            Squared distances for L2; products, greatest first, for inner products.
        I : array of int64, [n, k]
        """
        if params is not None:
            raise Unsupported("kith.faiss: search parameters; filters are kith.Index.search(filter=...)")
        queries = self._rows(x, "search")
        if whole(k, "kith.faiss.search: k") < 1:
            raise InvalidArgument(f"kith.faiss: k = {k}; choose 1 or more")
        shape = (len(queries.array), int(k))
        new_distance, new_row = outputs(None, shape, "kith.faiss") if D is None or I is None else (D, I)
        out = (new_distance if D is None else D, new_row if I is None else I)
        distance, row = outputs(out, shape, "kith.faiss.search")
        index = self._index  # once: another thread may put another one there
        if shape[1] <= _count(index):
            assert index is not None
            index.search(queries, shape[1], out=(distance, row))
            if self.metric_type == METRIC_INNER_PRODUCT:
                np.negative(distance, out=distance)
        else:
            self._search_few(index, queries, distance, row)
        return distance, row

    def _search_few(self, index: Optional[Index], queries: Rows, distance: Float32, row: Int64) -> None:
        """Where k is more than ntotal: what there is, then row -1 at FAISS's farthest distance."""
        product = self.metric_type == METRIC_INNER_PRODUCT
        distance[:], row[:] = np.finfo(np.float32).max * (-1 if product else 1), -1
        if index is not None:
            known = index.rows
            found = index.search(queries, known)
            distance[:, :known], row[:, :known] = -found.distance if product else found.distance, found.row

    def range_search(self, x: Any, thresh: float) -> tuple[UInt64, Float32, Int64]:
        """All rows nearer than a threshold: squared distances below it, or products above it.

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
        # FAISS keeps what is strictly nearer; kith keeps what is at most as far.
        edge = np.nextafter(np.float32(-thresh if product else thresh), np.float32(-np.inf))
        if index is None or (edge < 0 and not product):  # nothing is nearer than 0
            return np.zeros(len(queries.array) + 1, np.uint64), np.empty(0, np.float32), np.empty(0, np.int64)
        first, distance, row = index.within(queries, edge)
        return first.astype(np.uint64), (-distance if product else distance), row

    def _rows(self, x: Any, where: str) -> Rows:
        rows = x if isinstance(x, Rows) else rows_of(x, f"kith.faiss.{where}: x")
        columns = rows.array.shape[1]
        if columns != self.d:
            raise InvalidArgument(f"kith.faiss.{where}: x has {columns} columns, but d = {self.d}; pass rows of d")
        return Rows(rows.array, rows.struct, rows.columns)  # what comes back is NumPy's

    def __repr__(self) -> str:
        return f"kith.faiss.{type(self).__name__}(d={self.d}, ntotal={self.ntotal})"


def _count(index: Optional[Index]) -> int:
    return 0 if index is None else index.rows


class IndexFlatL2(IndexFlat):
    """`IndexFlat` by squared Euclidean distance, as `faiss.IndexFlatL2`."""

    def __init__(self, d: int, device: Any = "auto") -> None:
        super().__init__(d, METRIC_L2, device)


class IndexFlatIP(IndexFlat):
    """`IndexFlat` by inner product, as `faiss.IndexFlatIP`."""

    def __init__(self, d: int, device: Any = "auto") -> None:
        super().__init__(d, METRIC_INNER_PRODUCT, device)


def knn(xq: Any, xb: Any, k: int, metric: int = METRIC_L2, device: Any = "auto") -> tuple[Float32, Int64]:
    """The k rows of `xb` nearest to each row of `xq`, as `faiss.knn`.

    Parameters
    ----------
    xq : array, [nq, d]
    xb : array, [nb, d]
    k : int
    metric : int
    device : str or kith.Device
        kith's own.

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
    index.add(base)
    return index.search(xq, k)


def __getattr__(name: str) -> Callable[..., Any]:
    if name.startswith("Index") or name in ("index_factory", "StandardGpuResources", "index_cpu_to_gpu"):
        raise Unsupported(
            f"kith.faiss: {name}; kith has flat, exact indices (IndexFlatL2, IndexFlatIP, knn), on a GPU by device="
        )
    raise AttributeError(f"module 'kith.faiss' has no attribute {name!r}")
