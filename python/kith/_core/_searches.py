"""Searches an index by k and within a radius, and finds the keys of shards."""

from __future__ import annotations

import ctypes as c
from typing import Any, Iterator, Optional

import numpy as np

from .._rows._arrays import Rows, address, centred_rows_of, element_rows_of, kept_rows_of, new_arrays, outputs
from .._rows._categories import FrameCategories, names_of
from .._rows._cuda import answers_struct
from .._rows._limits import filter_words, radii_of, radius_of
from . import _structs as s
from ._checks import advice_on_centre, check_columns, search_options, whole
from ._device import Device
from ._errors import InvalidArgument
from ._index_file import Path, name_of_file
from ._keys import Keys, RadiusKeys, radius_keys_of
from ._library import Handle, check, lib
from ._metrics import doubles_by
from ._results import Neighbors, Pairs, RadiusNeighbors, lists_of, pairs_of
from ._types import BIT_METRICS, Arithmetic, Distances, Float64, How, Int64, MetricName
from ._watch import Progress, call


def _blocks(handle: Handle, options: s.SearchOptions, kind: Any) -> Iterator[Pairs]:
    """Yield the blocks of a kith_pairs, which reads the filter that `options` keep."""
    while len((block := pairs_of(handle, kind)).first):
        yield block


class Searches:
    """Implements the searches of `kith.Index`."""

    _handle: Handle
    _device: Device
    _columns: Optional[list[Any]]  # a frame's names
    _categories: Optional[FrameCategories]
    _source: Optional[Rows]  # rows that stay in the caller's memory
    _metric: MetricName
    _rows: int  # without removed rows
    _dims: int
    _positions: int  # rows ever given
    _work: float  # multiply-adds for a query, as `call` counts them
    _elements: dict[Any, int]  # what `kept_rows_of` takes
    _centre: Optional[Float64]
    _box: Optional[Float64]
    _arithmetic: Arithmetic  # f32 or f64
    _rounds = False  # whether the caller asked for f32, and so knows that digits are lost

    def search(
        self,
        Q: Any,
        k: int,
        *,
        filter: Optional[Any] = None,
        out: Optional[tuple[Distances, Int64]] = None,
        exclude_self_from: Optional[int] = None,
        groups: Optional[Any] = None,
        rows_from_group: bool = False,
        progress: Progress = False,
        threads: int = 0,
        memory_limit: int = 0,
        how: Optional[How] = None,
        checkpoint: Optional[Path] = None,
        radius: Optional[float] = None,
    ) -> Neighbors:
        """Find the k training rows nearest to each query, exactly.

        Parameters
        ----------
        Q : array, [m, dims]
            Of any kind that `Index` takes.
        k : int
            1 to n.
        filter : array, optional
            The training rows that count: a mask of bool, [n] or one per query, [m, n]; or row numbers, which are
            whole numbers of any dtype. n whole numbers 0 and 1, one of them twice, are refused: they look like a
            mask. If rows were removed or have ids, n is `positions`, and bits and numbers go by position.
        out : pair of arrays, optional
            Arrays to write to: float32 (float64 if that is the index's `arithmetic`) and int64, C-contiguous, [m, k].
        exclude_self_from : int, optional
            Says that query q is training row ``exclude_self_from + q``, by position, and is not its own
            neighbour: leave-one-out.
        groups : sequence of int, optional
            If the rows have groups: the borders of the groups of queries, as many, ascending from 0 to m. Query
            group g asks row group g. None: the borders of the rows.
        rows_from_group : bool
            If the rows have groups: rows are counted from the first row of their group, instead of from that of
            all.
        progress : bool or callable
            True shows a bar (of tqdm, if it is installed); a callable gets the part that is done, 0 to 1. An
            exception of it ends the search.
        threads : int
            Threads of the host; 0: as many as there are cores.
        memory_limit : int
            Bytes of device memory that a search may take besides its rows; 0: half of what is left.
        how : dict, optional
            Says how to search, instead of kith's choice, such as ``{"selector": "radix", "boxes": False}``:
            docs/options.md lists the keys. Answers do not depend on it.
        checkpoint : str or path, optional
            For rows that pass through the device (``storage="stream"``): a file that keeps what was found after each
            chunk. After a stop or a kill the same search continues from it. The file stays when the search is done:
            remove it then.
        radius : float, optional
            Only rows whose distance is at most this count, so that a list of fewer than k rows ends in distance inf,
            row -1.

        Returns
        -------
        Neighbors
            ``distance`` [m, k] and ``row`` [m, k], on the device of `Q` if that is an array on a GPU. They are made
            there if `Q` is read there and no `out` is given; else they pass through the host. A list of fewer than k
            rows, which a filter, a radius, a group or missing values may leave, ends in distance inf, row -1.

        Raises
        ------
        kith.InvalidArgument
            Queries have other columns than the training rows, k is outside 1..n, a filter has another shape, or there
            is an infinity, or a NaN that is no missing value.
        kith.Unsupported, kith.OutOfMemory
            The device lacks what `how` demands; the memory limit is too small for one query.
        KeyboardInterrupt
            Ctrl-C.
        """
        where = "kith.Index.search"
        rows = self._queries(Q, "kith.Index.search: Q")
        m = len(rows.array)
        k = whole(k, "kith.Index.search: k")
        columns = k if 0 < k <= self._rows else 0  # the library refuses any other k, before it writes
        options = None  # the defaults, which cost a small search nothing
        wishes = filter is not None or exclude_self_from is not None or memory_limit or how
        wishes = wishes or groups is not None or rows_from_group or checkpoint is not None or radius is not None
        if wishes or threads:
            rest = (filter, exclude_self_from, threads, memory_limit, how, groups, rows_from_group)
            options = self._options(where, m, *rest)
            if checkpoint is not None:
                options.checkpoint = name_of_file(checkpoint, f"{where}: checkpoint")
            if radius is not None:
                options.has_radius = 1
                options.radius = radius_of(radius, self._metric, f"{where}: radius", self._kind())
        like = None if wishes else (k, threads)
        wide = self._arithmetic == "f64"
        if rows.answers is not None and out is None and checkpoint is None and columns:
            return self._search_on_device(rows, k, progress, options, like)
        if out is None:
            distance, row = new_arrays((m, columns), np.float64 if wide else np.float32, where)
        else:
            distance, row = self._outputs(out, (m, k), where, rows)
        handle, struct, nearest, its = self._handle, rows.struct, address(distance), address(row)
        index, ask = handle.value, lib.kith_index_search_f64 if wide else lib.kith_index_search
        call(lambda chosen: ask(index, struct, k, chosen, nearest, its), options, m * self._work, progress, handle, like)
        if rows.back is None or out is not None:
            return Neighbors(distance, row)
        return Neighbors(rows.returned(distance), rows.returned(row))

    def _search_on_device(
        self, rows: Rows, k: int, progress: Progress, options: Optional[s.SearchOptions], like: Any
    ) -> Neighbors:
        """Search for queries on the CUDA device of the index, and write answers to memory of that device."""
        assert rows.answers is not None
        m = len(rows.array)
        wide = self._arithmetic == "f64"
        distance, row, *places = rows.answers((m, k), wide)
        to = answers_struct(places[0], places[1], rows.struct.stream, wide)
        handle = self._handle.value
        call(
            lambda chosen: int(lib.kith_index_search_on_device(handle, rows.struct, k, chosen, to)),
            options,
            m * self._work,
            progress,
            self._handle,
            like,
        )
        return Neighbors(distance, row)

    def within(
        self,
        Q: Any,
        radius: Any,
        *,
        filter: Optional[Any] = None,
        exclude_self_from: Optional[int] = None,
        groups: Optional[Any] = None,
        rows_from_group: bool = False,
        progress: Progress = False,
        threads: int = 0,
        memory_limit: int = 0,
        how: Optional[How] = None,
    ) -> RadiusNeighbors:
        """Find all training rows whose distance, as `search` returns it, is at most a radius.

        Parameters
        ----------
        Q : array, [m, dims]
        radius : float or array, [m]
            In the unit of the metric; one for all queries, or one per query. It may be below 0 only
            for ``negative_dot``.
        filter, exclude_self_from, groups, rows_from_group, progress, threads, memory_limit, how
            As for `search`.

        Returns
        -------
        RadiusNeighbors
            ``first`` [m + 1], ``distance`` and ``row`` [first[m]]: by distance, then by row.

        Raises
        ------
        As `search`, and kith.OutOfMemory if the answers do not fit the host.
        """
        where = "kith.Index.within"
        rows = self._queries(Q, f"{where}: Q", from_device=False)
        kind = self._kind()
        radii = radii_of(radius, self._metric, f"{where}: radius", kind)
        rest = (filter, exclude_self_from, threads, memory_limit, how, groups, rows_from_group)
        options = self._options(where, len(rows.array), *rest)
        ask = lib.kith_index_within_f64 if kind is np.float64 else lib.kith_index_within
        found = self._lists(ask, rows, radii, options, progress)
        lists = lists_of(Handle(found, lib.kith_within_free), kind)
        return RadiusNeighbors(*(rows.returned(array) for array in lists))

    def count(
        self,
        Q: Any,
        radii: Any,
        strict: bool = False,
        *,
        filter: Optional[Any] = None,
        exclude_self_from: Optional[int] = None,
        groups: Optional[Any] = None,
        progress: Progress = False,
        threads: int = 0,
        memory_limit: int = 0,
        how: Optional[How] = None,
    ) -> Int64:
        """Count the training rows within radii of each query, as many as `within` finds, without listing them.

        Parameters
        ----------
        Q : array, [m, dims]
        radii : float or array, [m], or [1 or m, r]
            One for all queries, or one per query; of two dimensions: r of each query, ascending.
        strict : bool
            Count rows nearer than a radius, and not those at it.
        filter, exclude_self_from, groups, progress, threads, memory_limit, how
            As for `search`.

        Returns
        -------
        array of int64, [m], or [m, r] for radii of two dimensions

        Raises
        ------
        As `within`, and kith.InvalidArgument: radii do not ascend.
        """
        where = "kith.Index.count"
        given = radii_of(radii, self._metric, f"{where}: radii", self._kind()).astype(np.float64)
        rows = self._queries(Q, f"{where}: Q", from_device=False)
        m = len(rows.array)
        if given.ndim > 2 or given.ndim == 1 and given.size not in (1, m):
            raise InvalidArgument(
                f"{where}: radii of shape {given.shape} for {m} queries; pass one, [{m}], or [1, r] for r of each query"
            )
        options = self._options(where, m, filter, exclude_self_from, threads, memory_limit, how, groups)
        table = given.reshape(-1, 1) if given.ndim == 1 else given
        counts: Int64 = np.empty((m, table.shape[1]), np.int64)
        self._count(lib.kith_index_count, rows, table, strict, options, progress, counts)
        returned: Int64 = rows.returned(counts[:, 0].copy() if given.ndim == 1 else counts)
        return returned

    def two_point(
        self,
        Q: Any,
        radii: Any,
        strict: bool = False,
        *,
        filter: Optional[Any] = None,
        exclude_self_from: Optional[int] = None,
        groups: Optional[Any] = None,
        progress: Progress = False,
        threads: int = 0,
        memory_limit: int = 0,
        how: Optional[How] = None,
    ) -> Int64:
        """Count the pairs of a query and a training row within each of some radii: `count`, summed over the queries.

        Parameters
        ----------
        Q : array, [m, dims]
        radii : array, [r]
            Ascending.
        strict, filter, exclude_self_from, groups, progress, threads, memory_limit, how
            As for `count`.

        Returns
        -------
        array of int64, [r]

        Raises
        ------
        As `count`.
        """
        where = "kith.Index.two_point"
        given = radii_of(radii, self._metric, f"{where}: radii", self._kind()).astype(np.float64)
        if given.ndim != 1:
            raise InvalidArgument(f"{where}: radii of shape {given.shape}; pass one list [r]")
        rows = self._queries(Q, f"{where}: Q", from_device=False)
        rest = (filter, exclude_self_from, threads, memory_limit, how, groups)
        options = self._options(where, len(rows.array), *rest)
        counts: Int64 = np.empty(given.size, np.int64)
        self._count(lib.kith_index_two_point, rows, given.reshape(1, -1), strict, options, progress, counts)
        return counts

    def _count(
        self,
        ask: Any,
        rows: Rows,
        radii: Distances,
        strict: bool,
        options: s.SearchOptions,
        progress: Progress,
        counts: Int64,
    ) -> None:
        handle, shape = self._handle.value, radii.shape
        call(
            lambda chosen: int(
                ask(handle, rows.struct, address(radii), *shape, int(bool(strict)), chosen, address(counts))
            ),
            options,
            len(rows.array) * self._work,
            progress,
        )

    def pairs(
        self,
        radius: float,
        *,
        filter: Optional[Any] = None,
        threads: int = 0,
        memory_limit: int = 0,
        how: Optional[How] = None,
    ) -> Iterator[Pairs]:
        """Find all pairs of training rows whose distance is at most a radius, in blocks of about a million.

        Parameters
        ----------
        radius : float
        filter : array, optional
            The rows that count, one list for all: as for `search`.
        threads, memory_limit, how
            As for `search`.

        Returns
        -------
        iterator of Pairs
            ``first`` < ``second``, and ``distance``: by ``first``, then by distance, then by ``second``.

        Raises
        ------
        As `within`.
        """
        where = "kith.Index.pairs"
        options = self._options(where, 1, filter, None, threads, memory_limit, how)
        out = c.c_void_p()
        most = radius_of(radius, self._metric, f"{where}: radius", self._kind())
        check(lib.kith_pairs_new(self._handle.value, most, options, c.byref(out)))
        return _blocks(Handle(out.value, lib.kith_pairs_free), options, self._kind())

    def search_keys(
        self,
        Q: Any,
        k: int,
        *,
        filter: Optional[Any] = None,
        progress: Progress = False,
        threads: int = 0,
        memory_limit: int = 0,
        how: Optional[How] = None,
    ) -> Keys:
        """Find the keys of the k nearest rows of a shard, for `kith.merge` with those of other shards.

        Parameters
        ----------
        Q : array, [m, dims]
        k : int
            At least 1; if the shard has fewer rows, lists are padded.
        filter : array, optional
            As for `search`: a mask over the rows of this shard, or their numbers from 0.
        progress, threads, memory_limit, how
            As for `search`.

        Returns
        -------
        Keys
            ``value`` [m, k], of uint32 or for the `arithmetic` f64 of uint64, and ``row`` [m, k], in host memory; rows
            count from `first_row`.

        Raises
        ------
        As `search`.
        """
        where = "kith.Index.search_keys"
        rows = self._queries(Q, f"{where}: Q")
        m = len(rows.array)
        k = whole(k, f"{where}: k")
        options = self._options(where, m, filter, None, threads, memory_limit, how)
        wide = self._arithmetic == "f64"
        keys = Keys(*new_arrays((m, max(k, 0)), np.uint64 if wide else np.uint32, where))
        ask = lib.kith_index_search_keys_f64 if wide else lib.kith_index_search_keys
        handle, found = self._handle.value, (address(keys.value), address(keys.row))
        call(
            lambda chosen: int(ask(handle, rows.struct, k, chosen, *found)),
            options,
            m * self._work,
            progress,
        )
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
        how: Optional[How] = None,
    ) -> RadiusKeys:
        """Find the keys of all rows of a shard within a radius, for `kith.merge` with those of other shards.

        Parameters
        ----------
        Q, radius
            As for `within`.
        filter, progress, threads, memory_limit, how
            As for `search_keys`.

        Returns
        -------
        RadiusKeys
            ``first`` [m + 1], ``value`` and ``row`` [first[m]], in host memory.

        Raises
        ------
        As `within`.
        """
        where = "kith.Index.within_keys"
        rows = self._queries(Q, f"{where}: Q", from_device=False)
        kind = self._kind()
        radii = radii_of(radius, self._metric, f"{where}: radius", kind)
        options = self._options(where, len(rows.array), filter, None, threads, memory_limit, how)
        wide = kind is np.float64
        ask = lib.kith_index_within_keys_f64 if wide else lib.kith_index_within_keys
        found = self._lists(ask, rows, radii, options, progress)
        return radius_keys_of(Handle(found, lib.kith_radius_keys_free), wide)

    def prepare(self, m: int, k: int, *, how: Optional[How] = None) -> None:
        """Make now what the first `search` for m queries would make of the rows: quantized rows for a proposer,
        or boxes.

        The first such search then takes no longer than later ones.

        Parameters
        ----------
        m, k : int
            The number of queries, and of neighbours of each.
        how : dict, optional
            As for `search`.
        """
        options = search_options("kith.Index.prepare", how=how)
        m, k = whole(m, "kith.Index.prepare: m"), whole(k, "kith.Index.prepare: k")
        check(lib.kith_index_prepare(self._handle.value, m, k, options))

    def explain(self, m: int, k: int, *, how: Optional[How] = None) -> str:
        """Describe what `search` would do for m queries, one decision per line.

        Parameters
        ----------
        m, k, how
            As for `prepare`.
        """
        out = c.c_void_p()
        options = search_options("kith.Index.explain", how=how)
        m, k = whole(m, "kith.Index.explain: m"), whole(k, "kith.Index.explain: k")
        check(lib.kith_index_explain(self._handle.value, m, k, options, c.byref(out)))
        owner = Handle(out.value, lib.kith_text_free)
        return c.string_at(owner.value or 0).decode("utf-8", "replace")

    def _options(
        self,
        where: str,
        m: int,
        filter: Optional[Any],
        exclude_self_from: Optional[int],
        threads: int,
        memory_limit: int,
        how: Optional[How],
        groups: Optional[Any] = None,
        rows_from_group: bool = False,
    ) -> s.SearchOptions:
        options = search_options(where, threads, memory_limit, how, exclude_self_from, groups, rows_from_group)
        if filter is not None:
            words = filter_words(filter, self._positions, m, f"{where}: filter")
            options.filter, options.filter_rows = address(words), len(words)
            options.words = words  # the options point at the words, and so keep them
        return options

    def _lists(
        self, ask: Any, rows: Rows, radii: Distances, options: s.SearchOptions, progress: Progress
    ) -> Optional[int]:
        """Search within a radius by a function of the library, and return the handle that it makes."""
        handle, out = self._handle.value, c.c_void_p()
        call(
            lambda chosen: int(ask(handle, rows.struct, address(radii), radii.size, chosen, c.byref(out))),
            options,
            len(rows.array) * self._work,
            progress,
        )
        return out.value

    def _kind(self) -> Any:
        """Return the dtype of distances and radii."""
        return np.float64 if self._arithmetic == "f64" else np.float32

    def _outputs(self, out: Any, shape: tuple[int, int], where: str, rows: Rows) -> tuple[Distances, Int64]:
        """Return the caller's arrays, which may share no memory with anything that a search reads."""
        read = {"Q": rows.array} if self._source is None else {"Q": rows.array, "source": self._source.array}
        return outputs(out, shape, where, read, self._kind())

    def _queries(
        self, Q: Any, what: str, from_device: bool = True, quiet: Optional[bool] = None, known: bool = False
    ) -> Rows:
        """Convert queries, or rows that are added. `known`: categories that the training frame lacks are refused."""
        kept = kept_rows_of(Q, self._elements)
        if kept is not None:
            return kept
        spec = self._device.info.spec if from_device else ""
        if self._categories is not None:
            check_columns(self._columns, names_of(Q), what)  # since categories belong to places of columns
            Q = self._categories.numbered(Q, what, known)
        if self._centre is not None or (self._box is not None and self._arithmetic == "f32"):
            rows = centred_rows_of(Q, what, spec, self._metric)
        else:
            rows = element_rows_of(
                Q,
                what,
                self._metric in BIT_METRICS,
                spec,
                arithmetic=self._arithmetic,
                quiet=self._rounds if quiet is None else quiet,
                advice=lambda: advice_on_centre(self._metric, "make the index by"),
                instead=doubles_by(self._metric, "make the index by"),
                bit_columns=self._dims,
                metric=self._metric,
            )
        check_columns(self._columns, rows.columns, what)
        return rows
