"""Rows on a device, and searches of them."""

from __future__ import annotations

import ctypes as c
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from . import _structs as s
from ._answers import ids_of
from ._arrays import Rows, address, element_rows_of, filter_words, index_array, outputs, radii_of
from ._checks import check_columns, choose, metric_name, not_negative, place, whole
from ._cuda import answers_struct
from ._device import Device, open_device
from ._errors import InvalidArgument
from ._index_file import Path, pickled, save
from ._keys import Keys, RadiusKeys, radius_keys_of
from ._library import Handle, check, lib, new_handle, text
from ._results import Neighbors, RadiusNeighbors, lists_of
from ._source import kept_by, residence_of
from ._watch import Progress, call

if TYPE_CHECKING:
    from ._types import Float32, Int64, UInt32


class Index:
    """Training rows on a device, searched exactly. Every device gives the same bits.

    An `Index` never changes; any number of threads may search one at once.

    Parameters
    ----------
    X : array, [n, dims]
        NumPy, PyTorch, CuPy, JAX, pandas, Arrow, or whatever else speaks the buffer protocol or DLPack; finite.
        kith computes in float32. float32, float16, bfloat16, uint8 and int8 are not copied on their way to the
        library, and each of their values is a float32: answers are those of ``X.astype(np.float32)``. Queries may
        be of another type than the rows. float64 and larger integers are rounded, with a `kith.PrecisionWarning`
        where digits are lost. PyTorch and CuPy arrays of these five types on the CUDA device that the index is on are
        read where they are, on the stream that is current. Other GPU arrays are copied through host memory, with a
        `kith.HostCopyWarning`.
    metric : str
        ``l2`` (Euclidean), ``squared_l2``, ``l1``, ``linf``, ``negative_dot``, ``cosine``, or another
        library's name for one of these. Smaller is nearer: ``negative_dot`` is the product with its sign
        turned. docs/contract.md, section 1, gives each formula. ``hamming``, with ``element="bits"``: the bits
        that differ.
    device : str or Device
        ``"auto"``, ``"cpu"``, ``"cuda:0"``, ``"opencl:0"``, ...; `kith.devices` lists those that are here.
    features : sequence of int, optional
        The columns that count, from 0. Rows are still given with all columns. None: all.
    element : {"bits"}, optional
        `X` and all queries are of uint8 and hold 8 columns a byte, as ``numpy.packbits(x, axis=1)`` makes them;
        `dims` counts bits. Only with the metric ``hamming``, and ``hamming`` only with it: bytes are never taken for
        bits by themselves.
    first_row : int
        Where the rows are a shard: the number of its first row among the rows of all shards. `search_keys`,
        `within_keys` and messages about training rows count from it; `search` and `within` from 0.
    largest : float, optional
        Where the rows are a shard: the largest magnitude in the rows of all shards (`kith.largest_element`), by
        which ``negative_dot`` refuses queries. None: that of these rows.
    ids : sequence of int, optional
        The numbers of the rows, [n], 0 or more, none twice. Rows whose ids do not ascend are put in their order, so
        that ties go by id. None: 0, 1, ...
    placement : {"automatic", "split", "replicate"}
        On a set of devices such as ``"cuda:0+cuda:1"``: whether each holds a part of the rows, or all rows and answers
        a part of the queries. It changes no answer.
    shares : sequence of float, optional
        On a set of devices, one a device: the parts of the work that they get, in proportion. None: by what was
        measured on them.
    reserve : int
        Rows, those in `X` included, that there is to be room for on the device: :meth:`with_` puts rows of bytes
        there without a copy of those that are there. 0: as many as in `X`.

    Raises
    ------
    kith.InvalidArgument
        No rows, NaN or infinity (names the first), an unknown metric, a column that is not there; for
        ``negative_dot`` a `largest` below an element.
    kith.Unavailable, kith.OutOfMemory
        There is no such device; the rows do not fit on it.

    Examples
    --------
    >>> import numpy as np, kith
    >>> X = np.array([[0, 0], [0, 1], [9, 9]], np.float32)
    >>> index = kith.Index(X, device="cpu")
    >>> distance, row = index.search(np.array([[1, 1]], np.float32), 2)
    >>> row.tolist(), distance.tolist()
    ([[1, 0]], [[1.0, 1.4142135381698608]])
    >>> codes = np.packbits([[0, 1, 1, 0], [1, 1, 1, 1]], axis=1)
    >>> bits = kith.Index(codes, "hamming", "cpu", element="bits")
    >>> bits.search(codes[:1], 2).distance.tolist()
    [[0.0, 2.0]]
    """

    def __init__(
        self,
        X: Any,
        metric: str = "l2",
        device: Union[str, Device] = "auto",
        *,
        features: Optional[Any] = None,
        element: Optional[str] = None,
        first_row: int = 0,
        largest: Optional[float] = None,
        ids: Optional[Any] = None,
        placement: str = "automatic",
        shares: Optional[Any] = None,
        reserve: int = 0,
    ) -> None:
        name = metric_name(metric, "kith.Index")
        if element not in (None, "bits"):
            raise InvalidArgument(f"kith.Index: element={element!r}; pass 'bits', or leave it out: X has its type")
        opened = open_device(device)
        rows = element_rows_of(X, "kith.Index: X", element == "bits", opened.info.spec)
        options = s.sized(s.IndexOptions, metric=name.encode())
        options.first_row = not_negative(first_row, "kith.Index: first_row")
        options.largest = 0.0 if largest is None else float(largest)
        options.reserve = not_negative(reserve, "kith.Index: reserve")
        if features is not None:
            columns = index_array(features, "kith.Index: features")
            options.features, options.feature_count = address(columns), len(columns)
        if ids is not None:
            given = index_array(ids, "kith.Index: ids")
            options.ids, options.id_count = address(given), len(given)
        parts = place(options, placement, shares, "kith.Index")
        handle = new_handle(lib.kith_index_free, lib.kith_index_new, opened.handle, rows.struct, options)
        del parts  # which the options pointed to until here
        self._take(handle, opened, rows.columns)

    def _take(
        self, handle: Handle, device: Device, columns: Optional[list[Any]], source: Optional[Rows] = None
    ) -> None:
        self._source = source  # rows that stay in memory of the caller's
        self._handle = handle
        self._device = device
        self._columns = columns
        info = s.sized(s.IndexInfo)
        check(lib.kith_index_describe(handle.value, info))
        self._rows, self._dims, self._first_row = int(info.rows), int(info.dims), int(info.first_row)
        self._next_row, self._positions = int(info.next_row), int(info.positions)
        self._host_answers = bool(info.host_answers)
        self._metric = text(info.metric)

    @classmethod
    def _of(
        cls, handle: Handle, device: Device, columns: Optional[list[Any]], source: Optional[Rows] = None
    ) -> Index:
        index = cls.__new__(cls)
        index._take(handle, device, columns, source)
        return index

    @property
    def residence(self) -> str:
        """Where the rows stay: ``resident``, or of `kith.open_source` ``stream`` or ``quantized``."""
        return residence_of(self._handle)

    def with_(self, more: Any, ids: Optional[Any] = None) -> Index:
        """An `Index` of these rows and more, which are numbered on from `next_row`; this one stays as it is.

        Parameters
        ----------
        more : array, [rows, dims]
        ids : sequence of int, optional
            [rows], `next_row` or more, none twice: their numbers instead.

        Returns
        -------
        Index
            It shares the device memory of the rows that are here already.
        """
        rows = self._queries(more, "kith.Index.with_: more")
        given = ids_of(ids, len(rows.array), "kith.Index.with_")
        if given is None:
            return self._next(lib.kith_index_with, rows.struct)
        return self._next(lib.kith_index_with_ids, rows.struct, address(given))

    def without(self, rows: Any) -> Index:
        """An `Index` without these rows; this one stays as it is.

        It answers as one of the remaining rows alone, under their numbers, which are not given again. What is
        removed keeps its memory until `compact`.

        Parameters
        ----------
        rows : sequence of int
            Numbers, in any order, none twice.

        Returns
        -------
        Index
            It shares the device memory of this one.

        Raises
        ------
        kith.InvalidArgument
            A row that is not there, was removed before or is named twice; no row would be left.

        Examples
        --------
        >>> import numpy as np, kith
        >>> index = kith.Index(np.array([[0], [1], [2]], np.float32), device="cpu").without([1])
        >>> index.search(np.array([[0.9]], np.float32), 2).row.tolist()
        [[0, 2]]
        >>> index.with_(np.array([[1]], np.float32)).numbers().tolist()
        [0, 2, 3]
        """
        gone = index_array(rows, "kith.Index.without: rows")
        return self._next(lib.kith_index_without, address(gone), len(gone))

    def compact(self) -> Index:
        """An `Index` of the rows that are left, in memory of their own: the same answers."""
        return self._next(lib.kith_index_compact)

    def numbers(self) -> Int64:
        """The numbers of the rows that are there, [n], ascending."""
        numbers = np.empty(self._rows, np.int64)
        check(lib.kith_index_numbers(self._handle.value, address(numbers)))
        return numbers

    def _next(self, make: Any, *arguments: Any) -> Index:
        return Index._of(
            new_handle(lib.kith_index_free, make, self._handle.value, *arguments),
            self._device,
            self._columns,
            self._source,
        )

    def save(self, path: Path, *, progress: Progress = False) -> None:
        """Write a file that `kith.open_index` opens on any device, and ``kith search --index``.

        Parameters
        ----------
        path : str or path
            ``.kidx`` by custom. The file appears whole or not at all. Rows stand in it in the element that they were
            given in, uint8 as a byte a column; those of ``cosine`` as the unit rows that are searched. Names of
            columns are not kept.
        progress : bool or callable
            As for `search`.

        Raises
        ------
        kith.BadFile
            It cannot be written.
        """
        save(self._handle, path, self._rows * self._dims, progress)

    def search(
        self,
        Q: Any,
        k: int,
        *,
        filter: Optional[Any] = None,
        out: Optional[tuple[Float32, Int64]] = None,
        self_from: Optional[int] = None,
        progress: Progress = False,
        threads: int = 0,
        memory_limit: int = 0,
        selector: Optional[str] = None,
        proposer: Optional[str] = None,
        boxes: Optional[bool] = None,
        checkpoint: Optional[Path] = None,
    ) -> Neighbors:
        """The k training rows nearest to each query, exactly.

        Parameters
        ----------
        Q : array, [m, dims]
            Of any kind that `Index` takes.
        k : int
            1 to n.
        filter : array, optional
            The training rows that count: a mask of bool, [n] or one a query, [m, n]; or row numbers. Where rows
            were removed, or have ids, n is `positions`, and bits and numbers go by position.
        out : pair of arrays, optional
            Where to write: float32 and int64, C-contiguous, [m, k].
        self_from : int, optional
            Query q is training row ``self_from + q``, by position, and not its own neighbour: leave-one-out.
        progress : bool or callable
            True shows a bar (tqdm's, where it is installed); a callable gets the fraction done, 0 to 1. What it
            raises ends the search.
        threads : int
            Of the host; 0: as many as there are cores.
        memory_limit : int
            Bytes of device memory that a search may take beside its rows; 0: half of what is left.
        selector, proposer : str, optional
            How, instead of kith's choice (docs/methods.md). Answers do not depend on it.
        boxes : bool, optional
            Skip boxes of rows in which nothing can be near, or never; None: where that pays (docs/boxes.md).
            Answers do not depend on it.
        checkpoint : str or path, optional
            Of rows that pass through the device (``residence="stream"``): a file that keeps what was found after each
            chunk, from which the same search goes on after a stop or a kill. It stays when all is done: remove it then.

        Returns
        -------
        Neighbors
            ``distance`` [m, k] and ``row`` [m, k], on the device of `Q` where that is an array on a GPU. They are
            made there where `Q` is read there, no `out`, `filter` or `self_from` is given, rows have no ids, and
            none was removed; else the host makes them.

        Raises
        ------
        kith.InvalidArgument
            Other columns than the training rows, k outside 1..n, a filter of another shape, NaN or infinity.
        kith.Unsupported, kith.OutOfMemory
            The device lacks what was insisted on; the memory limit is too small for one query.
        KeyboardInterrupt
            Ctrl-C.
        """
        rows = self._queries(Q, "kith.Index.search: Q")
        m = len(rows.array)
        k = whole(k, "kith.Index.search: k")
        on_host = out is not None or filter is not None or self_from is not None or self._host_answers
        if rows.answers is not None and not on_host and k > 0:
            return self._search_on_device(rows, k, progress, (threads, memory_limit, selector, proposer, boxes))
        distance, row = outputs(out, (m, max(k, 0)), "kith.Index.search")
        options = None
        ways = (threads, memory_limit, selector, proposer, boxes is not None)
        if filter is not None or self_from is not None or any(ways):
            options = s.search_options()
            choose(options, threads, memory_limit, selector, proposer, boxes)
            options.self = -1 if self_from is None else not_negative(self_from, "kith.Index.search: self_from")
        words = None
        if filter is not None and options is not None:
            words = filter_words(filter, self._positions, m, "kith.Index.search: filter")
            options.filter, options.filter_rows = address(words), len(words)
        handle, found = self._handle.value, (address(distance), address(row))
        kept = None if checkpoint is None else kept_by(self._handle, checkpoint, rows, k, found)
        call(
            kept or (lambda chosen: int(lib.kith_index_search(handle, rows.struct, k, chosen, *found))),
            options,
            m * self._rows * self._dims // self._device.pace,
            progress,
        )
        if rows.back is None or out is not None:
            return Neighbors(distance, row)
        return Neighbors(rows.returned(distance), rows.returned(row))

    def _search_on_device(self, rows: Rows, k: int, progress: Progress, ways: tuple[Any, ...]) -> Neighbors:
        """Queries on the CUDA device of the index: what is found is written beside them."""
        assert rows.answers is not None
        m = len(rows.array)
        distance, row, *places = rows.answers((m, k))
        to = answers_struct(places[0], places[1], rows.struct.stream)
        options = s.search_options()
        choose(options, *ways)
        handle = self._handle.value
        call(
            lambda chosen: int(lib.kith_index_search_on_device(handle, rows.struct, k, chosen, to)),
            options,
            m * self._rows * self._dims // self._device.pace,
            progress,
        )
        return Neighbors(distance, row)

    def within(
        self,
        Q: Any,
        radius: Any,
        *,
        filter: Optional[Any] = None,
        self_from: Optional[int] = None,
        progress: Progress = False,
        threads: int = 0,
        memory_limit: int = 0,
    ) -> RadiusNeighbors:
        """All training rows whose distance, as `search` gives it, is at most a radius.

        Parameters
        ----------
        Q : array, [m, dims]
        radius : float or array, [m]
            In the unit of the metric; one for all queries, or one a query.
        filter, self_from, progress, threads, memory_limit
            As for `search`.

        Returns
        -------
        RadiusNeighbors
            ``first`` [m + 1], ``distance`` and ``row`` [first[m]]: by distance, then by row.

        Raises
        ------
        As `search`, and kith.OutOfMemory where what is found does not fit the host.
        """
        rows = self._queries(Q, "kith.Index.within: Q", from_device=False)
        m = len(rows.array)
        radii = radii_of(radius)
        options = s.search_options()
        choose(options, threads, memory_limit, None, None)
        options.self = -1 if self_from is None else not_negative(self_from, "kith.Index.within: self_from")
        words = self._filtered(options, filter, m, "kith.Index.within: filter")
        handle, out = self._handle.value, c.c_void_p()
        call(
            lambda chosen: int(
                lib.kith_index_within(handle, rows.struct, address(radii), radii.size, chosen, c.byref(out))
            ),
            options,
            m * self._rows * self._dims // self._device.pace,
            progress,
        )
        del words  # which the search read
        return RadiusNeighbors(*(rows.returned(array) for array in lists_of(Handle(out.value, lib.kith_within_free))))

    def search_keys(
        self,
        Q: Any,
        k: int,
        *,
        filter: Optional[Any] = None,
        progress: Progress = False,
        threads: int = 0,
        memory_limit: int = 0,
        selector: Optional[str] = None,
        proposer: Optional[str] = None,
    ) -> Keys:
        """The keys of the k nearest rows of a shard, for `kith.merge` with those of other shards.

        Parameters
        ----------
        Q : array, [m, dims]
        k : int
            At least 1; where the shard has fewer rows, lists are padded.
        filter : array, optional
            As for `search`: a mask over the rows of this shard, or their numbers from 0.
        progress, threads, memory_limit, selector, proposer
            As for `search`.

        Returns
        -------
        Keys
            ``value`` [m, k] and ``row`` [m, k], in host memory; rows count from `first_row`.

        Raises
        ------
        As `search`.
        """
        rows = self._queries(Q, "kith.Index.search_keys: Q")
        m = len(rows.array)
        k = whole(k, "kith.Index.search_keys: k")
        options = s.search_options()
        choose(options, threads, memory_limit, selector, proposer)
        words = self._filtered(options, filter, m, "kith.Index.search_keys: filter")
        keys = Keys(np.empty((m, max(k, 0)), np.uint32), np.empty((m, max(k, 0)), np.int64))
        handle, found = self._handle.value, (address(keys.value), address(keys.row))
        call(
            lambda chosen: int(lib.kith_index_search_keys(handle, rows.struct, k, chosen, *found)),
            options,
            m * self._rows * self._dims // self._device.pace,
            progress,
        )
        del words  # which the search read
        return keys

    def within_keys(
        self,
        Q: Any,
        radius: Any,
        *,
        filter: Optional[Any] = None,
        progress: Progress = False,
        threads: int = 0,
        memory_limit: int = 0,
    ) -> RadiusKeys:
        """The keys of all rows of a shard within a radius, for `kith.merge` with those of other shards.

        Parameters
        ----------
        Q, radius
            As for `within`.
        filter, progress, threads, memory_limit
            As for `search_keys`.

        Returns
        -------
        RadiusKeys
            ``first`` [m + 1], ``value`` and ``row`` [first[m]], in host memory.

        Raises
        ------
        As `within`.
        """
        rows = self._queries(Q, "kith.Index.within_keys: Q", from_device=False)
        m = len(rows.array)
        radii = radii_of(radius)
        options = s.search_options()
        choose(options, threads, memory_limit, None, None)
        words = self._filtered(options, filter, m, "kith.Index.within_keys: filter")
        handle, out = self._handle.value, c.c_void_p()
        call(
            lambda chosen: int(
                lib.kith_index_within_keys(handle, rows.struct, address(radii), radii.size, chosen, c.byref(out))
            ),
            options,
            m * self._rows * self._dims // self._device.pace,
            progress,
        )
        del words  # which the search read
        return radius_keys_of(Handle(out.value, lib.kith_radius_keys_free))

    def _filtered(self, options: s.SearchOptions, filter: Optional[Any], m: int, what: str) -> Optional[UInt32]:
        """Give options the words of a filter, which they point at: keep them while a search goes on."""
        if filter is None:
            return None
        words = filter_words(filter, self._positions, m, what)
        options.filter, options.filter_rows = address(words), len(words)
        return words

    def prepare(self, m: int, k: int, *, boxes: Optional[bool] = None) -> None:
        """Make now what `search` of m queries would make of the rows: what a proposer works on, or boxes.

        Without it the first such search does.

        Parameters
        ----------
        m, k : int
            Queries, and neighbours of each.
        boxes : bool, optional
            As for `search`.
        """
        options = s.search_options()
        choose(options, 0, 0, None, None, boxes)
        m, k = whole(m, "kith.Index.prepare: m"), whole(k, "kith.Index.prepare: k")
        check(lib.kith_index_prepare(self._handle.value, m, k, options))

    def explain(self, m: int, k: int) -> str:
        """What `search` would do with m queries, one decision a line."""
        out = c.c_void_p()
        check(lib.kith_index_explain(self._handle.value, m, k, None, c.byref(out)))
        owner = Handle(out.value, lib.kith_text_free)
        return c.string_at(owner.value or 0).decode("utf-8", "replace")

    def _queries(self, Q: Any, what: str, from_device: bool = True) -> Rows:
        spec = self._device.info.spec if from_device else ""
        rows = element_rows_of(Q, what, self._metric == "hamming", spec)
        check_columns(self._columns, rows.columns, what)
        return rows

    @property
    def rows(self) -> int:
        """Training rows that are there, n."""
        return self._rows

    @property
    def next_row(self) -> int:
        """The number that the next row gets."""
        return self._next_row

    @property
    def positions(self) -> int:
        """Rows that were ever given.

        The position of a row is how many of these have smaller numbers: its number, where rows have no ids.
        """
        return self._positions

    @property
    def first_row(self) -> int:
        """The number of the first row among the rows of all shards."""
        return self._first_row

    @property
    def dims(self) -> int:
        """Columns of rows and queries, as given."""
        return self._dims

    @property
    def metric(self) -> str:
        return self._metric

    @property
    def device(self) -> Device:
        return self._device

    @property
    def memory_bytes(self) -> int:
        """Device memory of the rows, those shared with other indices included, and of what searches keep."""
        info = s.sized(s.IndexInfo)
        check(lib.kith_index_describe(self._handle.value, info))
        return int(info.memory_bytes)

    def __len__(self) -> int:
        return self._rows

    def __repr__(self) -> str:
        return (
            f"kith.Index({self._rows} rows x {self._dims} columns, metric={self._metric!r}, "
            f"device={self._device.info.spec!r}, {self.memory_bytes / 2**20:.1f} MiB)"
        )

    def __copy__(self) -> Index:
        return self  # it never changes

    def __deepcopy__(self, memo: Any) -> Index:
        return self

    def __reduce__(self) -> Any:
        return pickled(self)


def knn_graph(
    X: Any,
    k: int,
    metric: str = "l2",
    device: Union[str, Device] = "auto",
    *,
    progress: Progress = False,
    threads: int = 0,
    memory_limit: int = 0,
    boxes: Optional[bool] = None,
) -> Neighbors:
    """The k nearest rows of every row, itself left out, exactly: right under duplicates.

    Parameters
    ----------
    X : array, [n, dims]
        As for `Index`.
    k : int
        1 to n - 1.
    metric, device
        As for `Index`.
    progress, threads, memory_limit, boxes
        As for `Index.search`.

    Returns
    -------
    Neighbors
        ``distance`` [n, k] and ``row`` [n, k].

    Raises
    ------
    As `Index` and `Index.search`.

    Examples
    --------
    >>> import numpy as np, kith
    >>> kith.knn_graph(np.array([[0], [1], [5]], np.float32), 1, device="cpu").row.tolist()
    [[1], [0], [1]]
    """
    return Index(X, metric, device).search(
        X, k, self_from=0, progress=progress, threads=threads, memory_limit=memory_limit, boxes=boxes
    )
