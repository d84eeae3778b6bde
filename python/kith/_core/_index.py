"""Holds rows on a device, and searches them."""

from __future__ import annotations

import ctypes as c
import os
from types import FunctionType
from typing import Any, Optional, cast

import numpy as np

from .._rows._answers import ids_of
from .._rows._arrays import Rows, address, centred_rows_of, element_rows_of, index_array, kept_elements
from .._rows._categories import FrameCategories
from . import _structs as s
from ._checks import (
    advice_on_centre,
    box_by,
    centre_by,
    divide,
    measure_by,
    metric_name,
    name_columns,
    not_negative,
    place,
    terms_by,
    thread_count,
    whole,
)
from ._device import Device, open_device
from ._errors import BadFile, InvalidArgument
from ._groups import Clouds, borders_of_batch
from ._index_file import Path, index_file_info, name_of_file, save
from ._library import Handle, check, lib, new_handle, text, version
from ._metrics import arithmetic_for, doubles_by, metric_named, metric_of, packs, takes_categories, takes_gaps
from ._results import Neighbors, copied
from ._searches import Searches
from ._types import BIT_METRICS, Arithmetic, DeviceLike, Element, Float64, How, Int64, MetricName, Placement, Residence
from ._watch import Progress, call


class Index(Searches):
    """Holds training rows on a device, and searches them exactly. Every device gives the same bits.

    An `Index` never changes: any number of threads may search it at once.

    Parameters
    ----------
    X : array, [n, dims], str or path
        Rows of NumPy, PyTorch, CuPy, JAX, pandas, polars, Arrow, or anything else with the buffer protocol, DLPack,
        Arrow's PyCapsule protocol or that of dataframes; finite, but for metrics ``nan_...``. Names of columns are kept,
        and compared with those of queries and of rows that `with_` adds. Rows of float64 make an index in double
        precision, and all others one in single precision: `arithmetic`. float64, float32, float16, bfloat16, uint8 and
        int8 are not copied on their way to the library. Queries may be of another type than the rows. PyTorch and CuPy
        arrays of these six types on the CUDA device of the index are read there, on the current stream. Other GPU
        arrays are copied through host memory, with a `kith.HostCopyWarning`. `X` may also be the name of a file of
        rows, which is read by ranges (``.npy``, ``.fbin``, ``.f16bin``, ``.u8bin``, ``.i8bin``) and stays open; or of
        an index file (``.kidx``) that `save` or ``kith index build`` wrote: the index gives the same bits as the one
        that was saved, and every byte is compared with its checksums.
    metric : str, optional
        ``l2`` (Euclidean), ``squared_l2``, ``l1``, ``linf``, ``negative_dot``, ``cosine``, ``correlation``,
        ``spearman``, ``seuclidean``, ``mahalanobis``, ``hellinger``, ``angular``, ``haversine``, ``braycurtis``,
        ``nan_euclidean``, ``nan_manhattan``, ``nan_gower``, or another library's name for one of these
        (docs/howto/metrics.md). Smaller is nearer: ``negative_dot`` is the negated product. By the metrics named
        ``nan_...`` rows and queries may have NaN (in lists None, in frames what is missing there): a pair is compared
        by the columns in which both have a value, and is no neighbour if there is none.
        docs/contract.md, section 1, gives each formula. Of bits: ``hamming``, which counts those that differ,
        ``jaccard``, ``dice``, ``sokalsneath``, ``rogerstanimoto``, ``russellrao``. None: ``l2``, or the metric of the
        index file.
    device : str or Device
        ``"auto"``, ``"cpu"``, ``"cuda:0"``, ``"opencl:0"``, ...; `kith.devices` lists the devices of this machine.
    features : sequence of int, optional
        The columns that count, from 0. Rows are still given with all columns. None: all.
    element : {"bits"}, optional
        Says that `X` and all queries are of uint8 and hold 8 columns per byte, as ``numpy.packbits(x, axis=1)`` makes
        them; `dims` counts bits. It goes only with metrics of bits, and these only with it, or with an `X` of
        booleans, which are packed: bytes are never taken for bits without it.
    first_row : int
        If the rows are a shard: the number of its first row among the rows of all shards. Keys and messages
        about training rows count from it; all else counts from 0.
    largest : float, optional
        If the rows are a shard: the largest magnitude in the rows of all shards, by which negative_dot refuses
        queries. 0: that of the rows here.
    ids : sequence of int, optional
        The numbers of the rows, [n], 0 or more, none twice. Rows whose ids do not ascend are sorted by id, so
        that ties go by id. None: 0, 1, ...
    groups : sequence of int, optional
        The borders of groups of rows, ascending from 0 to n: group g has rows groups[g] ... groups[g + 1] - 1,
        or none. A query asks only the rows of its group, as if these were an index of their own
        (docs/howto/many-small-searches.md). None: there are no groups.
    placement : {"automatic", "split", "replicate"}
        On a set of devices: which rows each of them holds. It changes no answer. `automatic`, `split`,
        `replicate`.
    shares : sequence of float, optional
        On a set of devices: the parts of the work that they get, in proportion, one number for each device, 0
        or more. None: chosen by what was measured on them (docs/howto/device-sets.md).
    reserve : int
        Total rows to make room for, including those given: rows that are added later go there without a copy of
        the others, if rows are kept in their own element (docs/howto/elements.md). 0: as many as are given.
    centre : True or array, [dims], optional
        Is subtracted in float64 from each row and each query, and from rows that `with_` adds, before values are
        rounded to float32. Use it for values that are large compared with their spread, such as coordinates of a map
        or times, with ``l2``, ``squared_l2``, ``l1`` and ``linf``. True: the mean of each column of `X`. It is kept
        in index files and pickles. Rows and queries are of float32, float64 or integers of 16 bits and more, which
        become float64. Arrays on a GPU are copied through host memory. None: nothing.
    box : array, [dims], optional
        The lengths of a periodic box, 0 for an open column: distances are those to the nearest image, by ``l2``,
        ``squared_l2``, ``l1`` and ``linf``. Rows and queries, of the types that a `centre` takes, are moved into the
        box in float64. It is kept in index files and pickles (docs/howto/periodic-boxes.md). None: there is no box.
    w : array, [dims], optional
        The weight of each column, 0 or more, in ``l1``, ``l2``, ``squared_l2`` or ``minkowski``: sums are of
        ``w |x - y|``, ``w (x - y)^2`` or ``w |x - y|^p``. None: all 1.
    V : array, [dims] or [dims, dims], optional
        For ``seuclidean`` the variance of each column, above 0; None: those of `X`, as NumPy's ``var`` with
        ``ddof=1`` has them. For ``mahalanobis`` the covariance matrix, symmetric and positive definite.
    VI : array, [dims, dims], optional
        For ``mahalanobis`` the inverse of the covariance matrix, in place of `V`. What a metric takes is kept in index
        files and pickles.
    degrees : bool
        For ``haversine``: rows and queries are in degrees, and become radians as by ``numpy.radians``. Distances and
        radii stay in radians.
    p : float, optional
        For ``minkowski`` the power of differences: 0.5, 1, 1.5 ... 8 or infinity; 1, 2 and infinity are ``l1``, ``l2``
        and ``linf``.
    categorical : sequence of int, optional
        For ``gower`` and ``nan_gower`` the columns that hold categories: numbers that are equal or differ. The others
        hold numbers. None: those of the data type ``category`` if `X` is a DataFrame, else no column.
    ranges : array, [dims], optional
        For ``gower`` and ``nan_gower`` what differences of columns of numbers are divided by, 0 or more; 0: a column
        counts 0. None: the largest value less the smallest of `X`.
    arithmetic : {"automatic", "f32", "f64"}
        The precision of the chain, of distances and of radii. ``f64``: every value enters as it is, whole numbers up
        to 2^53, and answers are float64. ``f32``: answers are float32, those of ``X.astype(np.float32)``; float64 and
        larger integers are rounded, with a `kith.PrecisionWarning` if that matters: rows become equal, or a column's
        step in float32 is above 1e-4 of its spread. Queries of float64 are then rounded, too. ``automatic``: ``f64``
        for rows of float64 without a `centre`, else ``f32``, which alone ``braycurtis`` and metrics named ``nan_...``
        have.
    deduplicate : bool, optional
        Keeps and searches equal rows once. Each is still found under its own number: no answer changes
        (docs/howto/repeated-rows.md). None: for rows on the host, if at least half of them repeat others.
    storage : {"automatic", "resident", "stream", "quantized"}, optional
        Says where the rows are kept. ``resident``: on the device. ``stream``: in `X`, a file or an array (such as
        ``numpy.memmap``) that is kept and must not change; each search passes them through the device in chunks.
        ``quantized``: in `X`; the device holds quantized rows (one byte per column, or two on a GPU with room for
        them), and proposes by them. ``automatic``: on the device if they fit, else ``stream``. None: ``resident`` for
        an array and an index file, ``automatic`` for another file. It changes no answer.
    memory_limit : int
        With `storage`: bytes of device memory that one search and the index take together. 0: chunks of at most 512
        MiB on a GPU, 128 MiB elsewhere.
    chunk_rows : int
        With ``stream``: rows of a chunk; 0: as many as the limit has room for.
    rows : (int, int), optional
        For an index file: opens only the rows begin ... end - 1; removed rows count, too. The index answers as the
        whole one after `without` all other rows and `compact`, under the same numbers. So several devices or machines
        can open one file together, and merge the keys of `search_keys`. None: all rows.
    threads : int
        Threads of the host that read an index file; 0: as many as there are cores.
    progress : bool or callable
        Shows or reports how much of an index file is read, as for `search`.

    Raises
    ------
    kith.InvalidArgument
        There are no rows, an infinity or a NaN that is no missing value (names the first), an unknown metric, or a
        column that does not exist; for ``negative_dot`` also a `largest` below an element.
    kith.BadFile
        The file is missing, foreign, cut or damaged; a search raises it if the file has changed since.
    kith.Unavailable, kith.OutOfMemory, kith.Unsupported
        There is no such device; the rows do not fit on it, or the limit has no room for a chunk; the device cannot
        keep rows in this way.

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
        metric: Optional[MetricName] = None,
        device: DeviceLike = "auto",
        *,
        features: Optional[Any] = None,
        element: Optional[Element] = None,
        first_row: int = 0,
        largest: Optional[float] = None,
        ids: Optional[Any] = None,
        groups: Optional[Any] = None,
        placement: Placement = "automatic",
        shares: Optional[Any] = None,
        reserve: int = 0,
        centre: Optional[Any] = None,
        box: Optional[Any] = None,
        w: Optional[Any] = None,
        V: Optional[Any] = None,
        VI: Optional[Any] = None,
        degrees: bool = False,
        p: Optional[float] = None,
        categorical: Optional[Any] = None,
        ranges: Optional[Any] = None,
        storage: Optional[Residence] = None,
        memory_limit: int = 0,
        chunk_rows: int = 0,
        arithmetic: Arithmetic = "automatic",
        deduplicate: Optional[bool] = None,
        rows: Optional[tuple[int, int]] = None,
        threads: int = 0,
        progress: Progress = False,
    ) -> None:
        if hasattr(self, "_handle"):
            raise InvalidArgument("kith.Index: __init__ was called before, and an index never changes; make another")
        if element not in (None, "bits"):
            raise InvalidArgument(f"kith.Index: element={element!r}; pass 'bits', or leave it out: X has its type")
        is_file = isinstance(X, (str, os.PathLike))
        if is_file and storage is None and not os.fspath(X).endswith(_SOURCES):
            asked = None if arithmetic == "automatic" else arithmetic
            given = (
                features, element, first_row, ids, groups, reserve, centre, box, w, V, VI, degrees or None, p,
                categorical, ranges,
                memory_limit, chunk_rows, asked, deduplicate,
            )  # fmt: skip
            _leave_out(_OF_ROWS, given, "an index file has its own")
            opened = open_device(device)
            self._take(_opened(X, opened, rows, largest, placement, shares, threads, progress), opened, None)
            if metric is not None and metric_named(metric) != self._metric:
                raise InvalidArgument(f"kith.Index: metric={metric!r}, but that of the file is {self._metric}; leave it out")
            return
        _leave_out(("rows", "threads", "progress"), (rows, threads, progress), "it is for an index file")
        name = metric_name("l2" if metric is None else metric, "kith.Index")
        options = s.sized(s.IndexOptions, metric=name.encode())
        bits = element == "bits" or (not is_file and packs(name, X))
        self._rounds, arithmetic = arithmetic == "f32", arithmetic_for(name, arithmetic)
        centred = centre_by(options, centre, "kith.Index") and not bits
        boxed = box_by(options, box, "kith.Index") and not bits
        measure_by(options, name, w, V, VI, degrees, "kith.Index")
        categories, categorical = categories_of(X, name, categorical, "kith.Index")
        X = X if categories is None else categories.numbered(X, "kith.Index: X")
        terms_by(options, p, categorical, ranges, "kith.Index")
        options.first_row = not_negative(first_row, "kith.Index: first_row")
        options.largest = 0.0 if largest is None else float(largest)
        options.reserve = not_negative(reserve, "kith.Index: reserve")
        options.residence = None if storage is None else storage.encode() if isinstance(storage, str) else b"?"
        options.memory_limit = not_negative(memory_limit, "kith.Index: memory_limit")
        options.chunk_rows = not_negative(chunk_rows, "kith.Index: chunk_rows")
        options.arithmetic = arithmetic.encode() if isinstance(arithmetic, str) else b"?"
        options.deduplicate = 0 if deduplicate is None else 1 if deduplicate else -1
        name_columns(options, features, ids, "kith.Index")
        divide(options, groups, "kith.Index")
        place(options, placement, shares, "kith.Index")
        opened, free = open_device(device), lib.kith_index_free
        if is_file:
            options.element = element.encode() if element else None
            path = name_of_file(X, "kith.Index")
            self._take(new_handle(free, lib.kith_index_from_file, opened.handle, path, options), opened, None)
            return
        spec = opened.info.spec if storage is None else ""  # rows that stay in memory are on the host
        if centred or boxed:
            array = centred_rows_of(X, "kith.Index: X", spec, name)
        else:
            array = element_rows_of(
                X,
                "kith.Index: X",
                bits,
                spec,
                arithmetic=arithmetic,
                features=features,
                advice=lambda: advice_on_centre(name),
                instead=doubles_by(name, "pass"),
                metric=name,
            )
        make = lib.kith_index_new if storage is None else lib.kith_index_from_rows
        handle = new_handle(free, make, opened.handle, array.struct, options)
        self._take(handle, opened, array.columns, None if storage is None else array)
        self._categories = categories

    def _take(
        self, handle: Handle, device: Device, columns: Optional[list[Any]], source: Optional[Rows] = None
    ) -> None:
        self._handle = handle  # before the rows it reads: attributes are freed in this order
        self._source = source  # rows that stay in the caller's memory
        self._device = device
        self._columns = columns
        self._categories: Optional[FrameCategories] = None
        info = s.sized(s.IndexInfo)
        check(lib.kith_index_describe(handle.value, info))
        self._rows, self._dims, self._first_row = int(info.rows), int(info.dims), int(info.first_row)
        self._next_row, self._positions = int(info.next_row), int(info.positions)
        self._work = self._rows * self._dims / device.pace
        self._centre = copied(info.centre, self._dims, np.dtype(np.float64)) if info.centre else None
        self._box = copied(info.box, self._dims, np.dtype(np.float64)) if info.box else None
        self._metric, self._parameter = metric_of(info.metric), float(info.parameter)
        self._arithmetic = cast(Arithmetic, text(info.arithmetic))
        in_doubles = self._arithmetic == "f64" or self._centre is not None or self._box is not None
        self._elements = kept_elements(self._metric in BIT_METRICS, in_doubles)

    @classmethod
    def _of(
        cls, handle: Handle, device: Device, columns: Optional[list[Any]], source: Optional[Rows] = None
    ) -> Index:
        index = cls.__new__(cls)
        index._take(handle, device, columns, source)
        return index

    @property
    def storage(self) -> Residence:
        """Say where the rows are kept: ``resident``, ``stream`` or ``quantized``."""
        name = c.c_char_p()
        check(lib.kith_index_residence(self._handle.value, name))
        return cast(Residence, text(name.value))

    def with_(self, more: Any, ids: Optional[Any] = None) -> Index:
        """Return an `Index` of these rows and more, whose numbers continue from `next_row`. This one does not change.

        Parameters
        ----------
        more : array, [rows, dims]
        ids : sequence of int, optional
            The numbers of the rows instead, [rows], `next_row` or more, none twice.

        Returns
        -------
        Index
            It shares the device memory of the existing rows.
        """
        rows = self._queries(more, "kith.Index.with_: more", quiet=False, known=True)
        given = ids_of(ids, len(rows.array), "kith.Index.with_")
        return self._next(lib.kith_index_with, rows.struct, None if given is None else address(given))

    def without(self, rows: Any) -> Index:
        """Return an `Index` without these rows. This one does not change.

        It answers as an `Index` of only the remaining rows would, under their numbers; removed numbers are not given
        again. Removed rows keep their memory until `compact`.

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
            A row does not exist, was removed before or is named twice; or no row would be left.

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
        """Return an `Index` of the remaining rows in memory of their own, with the same answers."""
        return self._next(lib.kith_index_compact)

    def numbers(self) -> Int64:
        """Return the numbers of the rows, [n], ascending."""
        numbers = np.empty(self._rows, np.int64)
        check(lib.kith_index_numbers(self._handle.value, address(numbers)))
        return numbers

    def _next(self, make: Any, *arguments: Any) -> Index:
        made = Index._of(
            new_handle(lib.kith_index_free, make, self._handle.value, *arguments),
            self._device,
            self._columns,
            self._source,
        )
        made._rounds = self._rounds
        made._categories = self._categories
        return made

    def save(self, path: Path, *, progress: Progress = False) -> None:
        """Write a file that `Index` and ``kith search --index`` open on any device.

        Parameters
        ----------
        path : str or path
            Its ending is ``.kidx`` by convention. The file appears complete or not at all. It holds the rows in the
            element in which they were given, uint8 as one byte per column; for ``cosine`` the unit rows that are
            searched. Names of columns are not kept.
        progress : bool or callable
            As for `search`.

        Raises
        ------
        kith.BadFile
            The file cannot be written.
        """
        save(self._handle, path, self._rows * self._dims, progress)

    @property
    def rows(self) -> int:
        """The number of training rows, n."""
        return self._rows

    @property
    def next_row(self) -> int:
        """The number of the next row of `with_`."""
        return self._next_row

    @property
    def positions(self) -> int:
        """The number of rows ever given.

        The position of a row is how many of these have smaller numbers; without ids it is its number.
        """
        return self._positions

    @property
    def first_row(self) -> int:
        """The number of the first row among the rows of all shards."""
        return self._first_row

    @property
    def dims(self) -> int:
        """The number of columns of rows and queries, as given."""
        return self._dims

    @property
    def centre(self) -> Optional[Float64]:
        """The centre that is subtracted from rows and queries, [dims], 0 in columns that do not count; None: nothing.
        """
        return None if self._centre is None else self._centre.copy()

    @property
    def box(self) -> Optional[Float64]:
        """The lengths of the periodic box, [dims], 0 in open columns and in those that do not count; None: no box."""
        return None if self._box is None else self._box.copy()

    @property
    def metric(self) -> MetricName:
        return self._metric

    @property
    def parameter(self) -> float:
        """What `kith.finish` needs beside the metric: `p` of ``minkowski``, the number of columns that count of
        ``gower``, ``nan_gower`` and ``matching``, 1 of rows of bits with codes, else 0."""
        return self._parameter

    @property
    def arithmetic(self) -> Arithmetic:
        """``f32`` if answers are float32, ``f64`` if they are float64."""
        return self._arithmetic

    @property
    def device(self) -> Device:
        return self._device

    @property
    def memory_bytes(self) -> int:
        """The device memory of the rows, those shared with other indices included, and of what searches keep."""
        info = s.sized(s.IndexInfo)
        check(lib.kith_index_describe(self._handle.value, info))
        return int(info.memory_bytes)

    def __len__(self) -> int:
        return self._rows

    def __repr__(self) -> str:
        return (
            f"kith.Index({self._rows} rows x {self._dims} columns, metric={self._metric!r}, "
            f"device={self._device.info.spec!r}, {_shown_bytes(self.memory_bytes)} of device memory)"
        )

    def __copy__(self) -> Index:
        return self  # it never changes

    def __deepcopy__(self, memo: Any) -> Index:
        return self

    def __reduce__(self) -> Any:
        with _folder() as folder:
            path = os.path.join(folder, "a.kidx")
            self.save(path)
            with open(path, "rb") as file:
                return unpickled, (file.read(), self._device, self._columns, version(), self._categories)


_SOURCES = (".npy", ".fbin", ".f16bin", ".u8bin", ".i8bin")  # files of rows that are read by ranges
_OF_ROWS = (
    "features", "element", "first_row", "ids", "groups", "reserve", "centre", "box", "w", "V", "VI", "degrees", "p",
    "categorical", "ranges", "memory_limit", "chunk_rows", "arithmetic", "deduplicate",
)  # fmt: skip


def categories_of(
    X: Any, metric: str, categorical: Optional[Any], what: str
) -> tuple[Optional[FrameCategories], Optional[Any]]:
    """Return the categories of a frame for a metric of categories, and the columns that hold categories."""
    mixed = takes_categories(metric)
    found = FrameCategories.of(X, takes_gaps(metric)) if mixed or metric_named(metric) == "matching" else None
    if found is None or not mixed:
        return found, categorical
    named = [] if categorical is None else index_array(categorical, f"{what}: categorical").tolist()
    return found, sorted([*named, *(place for place in found.places if place not in named)])


def _leave_out(names: tuple[str, ...], values: tuple[Any, ...], why: str, where: str = "kith.Index") -> None:
    """Refuse options that are only for another kind of rows."""
    for name, value in zip(names, values):
        if value is not None and value is not False and not (isinstance(value, int) and value == 0):
            raise InvalidArgument(f"{where}: {name} is given, but {why}; leave it out")


def _opened(
    path: Path,
    device: Device,
    rows: Optional[tuple[int, int]],
    largest: Optional[float],
    placement: Placement,
    shares: Optional[Any],
    threads: int,
    progress: Progress,
) -> Handle:
    """Open an index file, or a part of it, on a device."""
    name, info = name_of_file(path, "kith.Index"), index_file_info(path)
    handles: list[Handle] = []
    begin, end = (0, info.rows + info.removed) if rows is None else _part(rows)
    options = s.sized(s.OpenOptions, first=begin, rows=end - begin)
    options.largest = 0.0 if largest is None else float(largest)
    options.threads = thread_count(threads, "kith.Index: threads")
    place(options, placement, shares, "kith.Index")
    how = s.search_options()  # only its stop and progress are read

    def ask(_: Optional[s.SearchOptions]) -> int:
        options.stop, options.progress = how.stop, how.progress
        handles.append(new_handle(lib.kith_index_free, lib.kith_index_open, device.handle, name, options))
        return 0

    call(ask, how, (end - begin) * info.features, progress)
    return handles[0]


def _part(rows: tuple[int, int]) -> tuple[int, int]:
    where = "kith.Index: rows"
    begin, end = (not_negative(row, where) for row in rows)
    if begin >= end:
        raise InvalidArgument(f"{where} = ({begin}, {end}) are none; give the first row and the one behind the last")
    return begin, end


def _folder() -> Any:
    import tempfile  # which takes longer to import than most of kith

    return tempfile.TemporaryDirectory(prefix="kith-")


def unpickled(
    content: bytes,
    device: Device,
    columns: Optional[list[Any]],
    made_by: str = "that it does not name",
    categories: Optional[FrameCategories] = None,
) -> Index:
    with _folder() as folder:
        path = os.path.join(folder, "a.kidx")
        with open(path, "wb") as file:
            file.write(content)
        try:
            index = Index(path, device=device)
        except BadFile as error:
            why = str(error).replace(path, "its file")
            raise BadFile(f"kith.Index: pickled by kith {made_by}, opened by kith {version()}: {why}") from None
    index._columns = columns
    index._categories = categories
    return index


def _shown_bytes(size: int) -> str:
    return f"{size / 2**20:.1f} MiB" if size >= 2**20 else f"{size / 2**10:.1f} KiB"


# Python's messages about arguments, and pickles of methods, name a method by these two, which callers know.
for _method in vars(Searches).values():
    if isinstance(_method, FunctionType):
        _method.__module__, _method.__qualname__ = __name__, f"Index.{_method.__name__}"


def knn_graph(
    X: Any,
    k: int,
    metric: MetricName = "l2",
    device: DeviceLike = "auto",
    *,
    progress: Progress = False,
    threads: int = 0,
    memory_limit: int = 0,
    how: Optional[How] = None,
    centre: Optional[Any] = None,
    box: Optional[Any] = None,
    w: Optional[Any] = None,
    V: Optional[Any] = None,
    VI: Optional[Any] = None,
    degrees: bool = False,
    p: Optional[float] = None,
    categorical: Optional[Any] = None,
    ranges: Optional[Any] = None,
    features: Optional[Any] = None,
    placement: Placement = "automatic",
    shares: Optional[Any] = None,
    arithmetic: Arithmetic = "automatic",
    groups: Optional[Any] = None,
    batch: Optional[Any] = None,
    lengths: Optional[Any] = None,
    rows_from_group: bool = False,
) -> Neighbors:
    """Find the k rows nearest to each row, except itself, exactly, even if rows are equal.

    Parameters
    ----------
    X : array, [n, dims] or [clouds, n, dims]
        As for `Index`. Of three axes: many clouds, each a group of rows that is searched by itself.
    k : int
        1 to n - 1. A list is padded (distance inf, row -1) if a group has fewer other rows.
    metric, device
        As for `Index`.
    progress, threads, memory_limit, how
        As for `Index.search`.
    centre, box, w, V, VI, degrees, p, categorical, ranges, features, placement, shares, arithmetic
        As for `Index`.
    groups : sequence of int, optional
        As for `Index`: a row then has neighbours in its own group alone.
    batch : sequence of int, [n], optional
        Names the group of each row instead, ascending from 0.
    lengths : sequence of int, [clouds], optional
        For clouds: how many rows each has; those behind are padding, and are not read. None: all.
    rows_from_group : bool
        As for `Index.search`. Clouds have it always.

    Returns
    -------
    Neighbors
        ``distance`` [n, k] and ``row`` [n, k]; of clouds [clouds, n, k] each.

    Raises
    ------
    As `Index` and `Index.search`.

    Examples
    --------
    >>> import numpy as np, kith
    >>> kith.knn_graph(np.array([[0], [1], [5]], np.float32), 1, device="cpu").row.tolist()
    [[1], [0], [1]]
    """
    clouds = None
    if getattr(X, "ndim", 2) == 3:
        _leave_out(("groups", "batch"), (groups, batch), "each cloud is a group", "kith.knn_graph")
        clouds = Clouds(X, lengths, "kith.knn_graph")
        X, groups, rows_from_group = clouds.rows, clouds.borders, True
    elif lengths is not None:
        raise InvalidArgument("kith.knn_graph: lengths are of clouds; pass X of shape [clouds, n, dims], or groups")
    elif batch is not None:
        _leave_out(("groups",), (groups,), "batch names the groups already", "kith.knn_graph")
        groups = borders_of_batch(batch, len(X), "kith.knn_graph: batch")
    k, opened = whole(k, "kith.knn_graph: k"), open_device(device)
    what, spec = "kith.knn_graph: X", opened.info.spec
    categories, categorical = categories_of(X, metric, categorical, "kith.knn_graph")
    X = X if categories is None else categories.numbered(X, what)
    if (centre is None or centre is False) and box is None:
        rows = element_rows_of(  # only once, since it may warn and copy
            X,
            what,
            False,
            spec,
            arithmetic=arithmetic_for(metric, arithmetic),
            features=features,
            advice=lambda: advice_on_centre(metric),
            instead=doubles_by(metric, "pass"),
            metric=metric,
        )
    else:
        rows = centred_rows_of(X, what, spec, metric)
    index = Index(
        rows,
        metric,
        opened,
        centre=centre,
        box=box,
        w=w,
        V=V,
        VI=VI,
        degrees=degrees,
        p=p,
        categorical=categorical,
        ranges=ranges,
        features=features,
        placement=placement,
        shares=shares,
        arithmetic=arithmetic,
        groups=groups,
    )
    found = index.search(
        rows,
        k,
        exclude_self_from=0,
        rows_from_group=rows_from_group,
        progress=progress,
        threads=threads,
        memory_limit=memory_limit,
        how=how,
    )
    return found if clouds is None else clouds.shaped(found)
