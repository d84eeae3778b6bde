"""Merges keys of shards: in any order and any grouping they become those of one index."""

from __future__ import annotations

import ctypes as c
import numbers
from collections.abc import Iterable
from typing import Any, NamedTuple, Optional, Union, overload

import numpy as np

from .._rows._arrays import address, element_rows_of, index_array
from . import _structs as s
from ._errors import InvalidArgument
from ._key_checks import check_first, check_keys, whole_numbers
from ._library import Handle, check, lib, new_handle
from ._results import Neighbors, RadiusNeighbors, copied
from ._types import Array, Int64, MetricName, Values


class Keys(NamedTuple):
    """Holds the k nearest rows of each query, of one shard or merged from several, before distances are made.

    Attributes
    ----------
    value : array of uint32 or uint64, [m, k]
        Ascending, in the order of distances; `kith.finish` makes the distances. uint64 if the shards compute in
        double precision: `Index.arithmetic`.
    row : array of int64, [m, k]
        Numbers among the rows of all shards; among equal values the smaller comes first. A list of fewer than k rows
        ends in the largest value of the dtype, row -1.
    """

    value: Values
    row: Int64


class RadiusKeys(NamedTuple):
    """Holds all rows within a radius, in the same order: the list of query q is ``first[q]:first[q + 1]`` of
    both others.

    Attributes
    ----------
    first : array of int64, [m + 1]
    value : array of uint32 or uint64, [first[m]]
    row : array of int64, [first[m]]
    """

    first: Int64
    value: Values
    row: Int64


@overload
def merge(lists: Iterable[Keys]) -> Keys: ...
@overload
def merge(lists: Iterable[RadiusKeys]) -> RadiusKeys: ...
def merge(lists: Any) -> Any:
    """Merge the keys of shards, in any order and any grouping.

    Parameters
    ----------
    lists : iterable of Keys or of RadiusKeys
        At least one, of the same queries and k. A key that is in several of them counts once, so that a shard
        may be searched twice.

    Returns
    -------
    Keys or RadiusKeys
        The k nearest for `Keys`, all for `RadiusKeys`.

    Raises
    ------
    kith.InvalidArgument
        There is no list, shapes or dtypes of values differ, or no search returns such keys (names the list and the
        first place).

    Examples
    --------
    >>> import numpy as np, kith
    >>> X = np.arange(12, dtype=np.float32).reshape(6, 2)
    >>> shards = [kith.Index(X[i : i + 2], device="cpu", first_row=i) for i in (0, 2, 4)]
    >>> keys = kith.merge([shard.search_keys(X[3:4], 2) for shard in shards])
    >>> kith.finish("l2", keys).row.tolist()
    [[3, 2]]
    """
    given = list(lists)
    if not given:
        raise InvalidArgument("kith.merge: there is no list; pass at least one")
    if all(isinstance(keys, RadiusKeys) for keys in given):
        return _merge_radius([_radius_keys(keys, f"kith.merge: list {i}") for i, keys in enumerate(given)])
    if not all(isinstance(keys, Keys) for keys in given):
        kinds = ", ".join(sorted({type(keys).__name__ for keys in given}))
        raise InvalidArgument(f"kith.merge: lists of {kinds}; pass kith.Keys alone, or kith.RadiusKeys alone")
    all_keys = [_keys(keys, f"kith.merge: list {i}") for i, keys in enumerate(given)]
    wide = _are_wide(all_keys)
    shape = all_keys[0].value.shape
    for i, keys in enumerate(all_keys):
        if keys.value.shape != shape:
            raise InvalidArgument(
                f"kith.merge: list {i} is {_shown(keys.value.shape)}, but list 0 is {_shown(shape)} (queries, k); "
                "search every shard for the same queries and k"
            )
    merged = Keys(np.empty(shape, np.uint64 if wide else np.uint32), np.empty(shape, np.int64))
    ask = lib.kith_merge_f64 if wide else lib.kith_merge
    check(
        ask(
            *shape,
            len(all_keys),
            _addresses([keys.value for keys in all_keys]),
            _addresses([keys.row for keys in all_keys]),
            address(merged.value),
            address(merged.row),
        )
    )
    return merged


@overload
def finish(metric: MetricName, keys: Keys, parameter: float = 0) -> Neighbors: ...
@overload
def finish(metric: MetricName, keys: RadiusKeys, parameter: float = 0) -> RadiusNeighbors: ...
def finish(metric: MetricName, keys: Any, parameter: float = 0) -> Any:
    """Return what a search of all rows returns, from its keys.

    Parameters
    ----------
    metric : str
        The metric of the shards.
    keys : Keys or RadiusKeys
        The merged keys.
    parameter : float
        `Index.parameter` of the shards, for ``minkowski``, ``gower``, ``nan_gower`` and ``matching``.

    Returns
    -------
    Neighbors or RadiusNeighbors
        As `Index.search` and `Index.within` return them, bit for bit.

    Raises
    ------
    kith.InvalidArgument
        No search returns such keys, or none by this metric (names the first place); a parameter that is not the
        metric's.
    """
    if not isinstance(metric, str):
        raise InvalidArgument(f"kith.finish: metric={metric!r}; pass the name of the shards' metric")
    if isinstance(parameter, bool) or not isinstance(parameter, numbers.Real):
        raise InvalidArgument(f"kith.finish: parameter={parameter!r}; pass Index.parameter of the shards")
    if isinstance(keys, RadiusKeys):
        lists = _radius_keys(keys, "kith.finish: keys")
        check_keys(lists.value, lists.row, lists.first, "kith.finish: keys")
        return RadiusNeighbors(lists.first, _distances(metric, parameter, lists.value), lists.row)
    plain = _keys(keys, "kith.finish: keys")
    check_keys(*plain, None, "kith.finish: keys")
    return Neighbors(_distances(metric, parameter, plain.value), plain.row)


def leave_out(keys: Keys, rows: Any) -> Keys:
    """Leave one row out of each list, for leave-one-out over shards; a list without that row loses its last key.

    To have k neighbours, search every shard for k + 1, merge, and then leave out.

    Parameters
    ----------
    keys : Keys, [m, k + 1]
    rows : array of int, [m]
        The row that is no neighbour of each query, by its number among the rows of all shards; -1: none.

    Returns
    -------
    Keys
        [m, k]
    """
    plain = _keys(keys, "kith.leave_out: keys")
    m, k = plain.value.shape
    own = index_array(rows, "kith.leave_out: rows")
    if len(own) != m:
        raise InvalidArgument(f"kith.leave_out: {len(own)} rows for {m} queries; pass one a query, -1 for none")
    if k < 2:
        raise InvalidArgument(f"kith.leave_out: keys with k = {k}; search for one more than you want")
    kept = Keys(np.empty((m, k - 1), plain.value.dtype), np.empty((m, k - 1), np.int64))
    ask = lib.kith_leave_out_f64 if _is_wide(plain.value) else lib.kith_leave_out
    check(
        ask(
            m, k - 1, address(plain.value), address(plain.row), address(own), address(kept.value), address(kept.row)
        )
    )
    return kept


def digest(keys: Keys) -> int:
    """Return 64 bits that show whether two answers are equal, the same on every device and machine.

    They are FNV-1a over m, k, and value and row of each key in turn; m, k and rows as 8 bytes, values as their 4 or
    8, little-endian. They show damage, but not a forged answer.

    Raises
    ------
    kith.InvalidArgument
        No search returns such keys (names the first place).
    """
    plain = _keys(keys, "kith.digest: keys")
    sum_of = c.c_uint64()
    ask = lib.kith_digest_f64 if _is_wide(plain.value) else lib.kith_digest
    check(ask(*plain.value.shape, address(plain.value), address(plain.row), c.byref(sum_of)))
    return int(sum_of.value)


def largest_element(X: Any, *, features: Optional[Any] = None) -> float:
    """Return the largest magnitude in rows, for ``kith.Index(..., largest=)``: for all rows it is the largest of
    the shards. It is a float32, above that of float64 if need be.

    Parameters
    ----------
    X : array, [n, dims]
        As `Index` takes it.
    features : sequence of int, optional
        The columns that count; None: all.
    """
    rows = element_rows_of(X, "kith.largest_element: X", False, arithmetic="automatic", quiet=True)
    columns = index_array([] if features is None else features, "kith.largest_element: features")
    largest = c.c_float()
    check(lib.kith_largest_element(rows.struct, address(columns), len(columns), c.byref(largest)))
    return float(largest.value)


def radius_keys_of(handle: Handle, wide: bool) -> RadiusKeys:
    """Copy what a kith_radius_keys holds. `wide`: in double precision."""
    info = s.sized(s.RadiusKeysInfo)
    check(lib.kith_radius_keys_describe(handle.value, info))
    first = copied(info.first, info.queries + 1, np.dtype(np.int64))
    count = int(first[-1])
    value, kind = (info.value64, np.uint64) if wide else (info.value, np.uint32)
    return RadiusKeys(first, copied(value, count, np.dtype(kind)), copied(info.row, count, np.dtype(np.int64)))


def _merge_radius(lists: list[RadiusKeys]) -> RadiusKeys:
    queries, wide = len(lists[0].first) - 1, _are_wide(lists)
    for i, keys in enumerate(lists):
        if len(keys.first) - 1 != queries:
            raise InvalidArgument(
                f"kith.merge: list {i} has {len(keys.first) - 1} queries, but list 0 has {queries}; "
                "search every shard for the same queries"
            )
    handle = new_handle(
        lib.kith_radius_keys_free,
        lib.kith_merge_radius_f64 if wide else lib.kith_merge_radius,
        queries,
        len(lists),
        _addresses([keys.first for keys in lists]),
        _addresses([keys.value for keys in lists]),
        _addresses([keys.row for keys in lists]),
    )
    return radius_keys_of(handle, wide)


def _is_wide(value: Any) -> bool:
    """Say whether values of keys are of double precision."""
    return bool(value.dtype == np.uint64)


def _are_wide(lists: list[Any]) -> bool:
    """Say whether keys are of double precision; refuse keys of which only some are."""
    kinds = [_is_wide(keys.value) for keys in lists]
    if len(set(kinds)) > 1:
        other = kinds.index(not kinds[0])
        raise InvalidArgument(
            f"kith.merge: list {other} has values of {lists[other].value.dtype}, but list 0 of {lists[0].value.dtype}; "
            "make all shards with one arithmetic"
        )
    return kinds[0]


def _values(value: Any, what: str) -> Any:
    """Convert values of keys to uint32, unless they are of uint64."""
    wide = getattr(value, "dtype", None) == np.uint64
    return whole_numbers(value, np.uint64 if wide else np.uint32, what)


def _keys(keys: Any, what: str) -> Keys:
    """Return `keys` as the library takes them; its arrays must be of the same shape."""
    if not isinstance(keys, Keys):
        raise InvalidArgument(f"{what} of type {type(keys).__name__}; pass kith.Keys")
    value = _values(keys.value, f"{what}: value")
    row = whole_numbers(keys.row, np.int64, f"{what}: row")
    if value.ndim != 2 or value.shape != row.shape:
        raise InvalidArgument(
            f"{what} with value {_shown(value.shape)} and row {_shown(row.shape)}; pass two arrays [queries, k]"
        )
    return Keys(value, row)


def _radius_keys(keys: RadiusKeys, what: str) -> RadiusKeys:
    first = whole_numbers(keys.first, np.int64, f"{what}: first")
    value = _values(keys.value, f"{what}: value")
    row = whole_numbers(keys.row, np.int64, f"{what}: row")
    if first.ndim != 1 or len(first) < 1 or value.ndim != 1 or value.shape != row.shape or first[-1] != len(value):
        raise InvalidArgument(
            f"{what} with first {_shown(first.shape)}, value {_shown(value.shape)} and row {_shown(row.shape)}; "
            "pass first [queries + 1], and value and row [first[-1]]"
        )
    check_first(first, what)
    return RadiusKeys(first, value, row)


def _distances(metric: str, parameter: float, value: Values) -> Array:
    wide = _is_wide(value)
    distance = np.empty(value.shape, np.float64 if wide else np.float32)
    ask = lib.kith_finish_f64 if wide else lib.kith_finish
    check(ask(metric.encode(), float(parameter), value.size, address(value), address(distance)))
    return distance


def _addresses(arrays: list[Any]) -> Any:
    return (c.c_void_p * len(arrays))(*(address(array) for array in arrays))


def _shown(shape: Union[tuple[int, ...], list[int]]) -> str:
    return f"[{', '.join(map(str, shape))}]"
