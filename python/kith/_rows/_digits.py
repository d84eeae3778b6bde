"""Rounds to float32: refuses values that overflow, and warns if lost digits matter.

The command does the same by the same rule (tools/files/digits.hpp).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Optional

import numpy as np

from .._core._errors import InvalidArgument, PrecisionWarning
from ._host import _caller

if TYPE_CHECKING:
    from .._core._types import Array, Bool, Float32, Float64, Int64

WHOLE = 2**53  # up to which doubles hold all whole numbers
_COARSE = 1e-4  # part of a column's spread: a larger step of float32 matters
_MOST_ROWS = 1 << 20  # rows that are compared with each other
_AT_ONCE = 1 << 18  # values that are checked together, so that they stay in the cache
_NAN = 0x7FC00000  # the bits that all NaN are hashed as
_HASHED = 4  # columns that are hashed together
_NARROW = 16  # NumPy reduces fewer columns faster one by one


@dataclass
class Given:
    """Describes the caller's array, for the text of a warning."""

    what: str
    names: Optional[list[Any]] = None  # of the columns
    plain: bool = True  # as `subtracts` returns it
    features: Optional[Any] = None  # the columns that count; None: all
    advice: Optional[Callable[[], str]] = None  # says how the caller passes a centre, if it can
    doubles: str = ""  # says how the caller asks for double precision, if it can: "pass"
    gaps: bool = False  # whether values may be missing, which are NaN
    metric: str = "l2"  # for advice


def offset_helps(column: Array) -> bool:
    """Say whether whole numbers are all float64 once their least is subtracted."""
    return column.dtype.kind in "iu" and int(column.max()) - int(column.min()) <= WHOLE


def subtracts(x: Any) -> bool:
    """Say whether ``x - x.mean(0)`` works without a conversion, for `Given.plain`."""
    return (isinstance(x, np.ndarray) and x.dtype != object) or hasattr(x, "iloc")


@dataclass
class _Seen:
    """Holds for each column the smallest and largest value of all blocks, and how far the worst value is from
    its float32. NaN counts for nothing; a column without values has NaN, and 0 off.
    """

    least: Array
    most: Array
    off: Float64

    def add(self, there: Array, off: Float64, has_gaps: bool) -> None:
        least, most = (np.fmin.reduce, np.fmax.reduce) if has_gaps else (np.min, np.max)  # which are faster
        np.fmin(self.least, _by_column(least, there), out=self.least)
        np.fmax(self.most, _by_column(most, there), out=self.most)
        np.fmax(self.off, _by_column(most, off), out=self.off)

    def spread(self) -> Float64:
        if self.least.dtype.kind in "iu":  # exact even if the difference needs 64 bits
            return (self.most.astype(np.uint64) - self.least.astype(np.uint64)).astype(np.float64)
        return (self.most - self.least).astype(np.float64)

    def step(self) -> Float64:
        """Return the step from the float32 of the largest magnitude to the next one away from 0."""
        largest = np.maximum(np.abs(self.least.astype(np.float64)), np.abs(self.most.astype(np.float64)))
        with np.errstate(over="ignore", invalid="ignore"):
            return np.spacing(largest.astype(np.float32)).astype(np.float64)


def look_at_rounding(x: Array, rounded: Float32, given: Given, quiet: bool) -> None:
    """Refuse values that overflow, and warn if lost digits matter; the library refuses infinity, and NaN if there may
    be no gaps.
    """
    if not x.size:
        return
    quiet = quiet or len(x) == 1  # one row has no spread, and no other row to become equal to
    seen: Optional[_Seen] = None
    good, columns = True, _counting(given.features, x.shape[1])
    at_once = max(1, _AT_ONCE // x.shape[1])
    for begin in range(0, len(x), at_once):
        there, here = x[begin : begin + at_once], rounded[begin : begin + at_once]
        if not (whole := np.isfinite(here).all()):
            _refuse_overflow(there, here, begin, given)
            good = good and given.gaps and not np.isinf(here).any()
        if quiet or not good:
            continue
        if columns is not None:
            there, here = there[:, columns], here[:, columns]
        if seen is None:
            seen = _Seen(there[0].copy(), there[0].copy(), np.zeros(there.shape[1]))
        seen.add(there, _off(there, here), not whole)
    if seen is not None and good and seen.off.any():
        _warn(x, rounded, seen, columns, given)


def _counting(features: Optional[Any], count: int) -> Optional[Int64]:
    """Return the columns that count, if these are not all; the library refuses columns that do not exist."""
    if features is None:
        return None
    chosen = np.asarray(features)
    right = chosen.ndim == 1 and chosen.dtype.kind in "iu" and chosen.size > 0
    return np.unique(chosen) if right and 0 <= chosen.min() and chosen.max() < count else None


def _refuse_overflow(there: Array, here: Float32, begin: int, given: Given) -> None:
    what = given.what
    lost = np.isinf(here) & np.isfinite(there)
    if lost.any():
        row, column = (int(i) for i in np.argwhere(lost)[0])
        is_double = given.doubles and np.abs(there[row, column]) <= np.finfo(np.float64).max
        advice = f"{given.doubles} arithmetic='f64', which takes it, or scale the column"
        raise InvalidArgument(
            f"{what}: row {begin + row}, column {column}: {there[row, column]} is too large for single precision, "
            f"in which kith computes; {advice if is_double else 'scale the column'}"
        )


def _by_column(reduce: Callable[..., Any], block: Array) -> Array:
    if block.shape[1] > _NARROW:
        return np.asarray(reduce(block, axis=0))
    return np.array([reduce(column) for column in block.T], block.dtype)


def _off(there: Array, here: Float32) -> Float64:
    """Return how far each value is from its float32, exactly: 0 if it is kept."""
    if there.dtype.kind == "f" or there.dtype.itemsize <= 4:
        off = np.subtract(there, here, dtype=np.result_type(there.dtype, np.float64))
    else:  # by halves of 32 bits, since a double holds each step
        off = np.subtract((there >> 32).astype(np.float64) * 2.0**32, here, dtype=np.float64)
        off += (there & 0xFFFFFFFF).astype(np.float64)
    return np.asarray(np.abs(off, out=off))


def _warn(x: Array, rounded: Float32, seen: _Seen, columns: Optional[Int64], given: Given) -> None:
    spread, step = seen.spread(), seen.step()
    coarse = (seen.off > 0) & (spread > 0) & (step > _COARSE * spread)
    pair = equal_rows(x, rounded, columns)
    if pair is None and not coarse.any():
        return
    rank = np.where((seen.off > 0) & (spread > 0), step / np.where(spread > 0, spread, 1), 0)
    worst = int(np.argmax(rank))
    column = worst if columns is None else int(columns[worst])
    others = int(np.count_nonzero(coarse)) - 1
    text = (
        f"{given.what}: {_named(column, given.names)}: float32 keeps its values to {step[worst]:.15g}, and they span "
        f"{spread[worst]:{'.4g' if spread[worst] < 1e4 else '.0f'}}: {_worst_value(x[:, column], rounded[:, column])}"
    )
    if others > 0:
        text += f"; so it is with {others} other column{'s' if others > 1 else ''}"
    if pair is not None:
        text += f"; rows {pair[0]} and {pair[1]}, which differ, become equal"
    warnings.warn(f"{text}; {_remedy(x, pair, columns, given)}", PrecisionWarning, stacklevel=_caller())


def _named(column: int, names: Optional[list[Any]]) -> str:
    return f"column {column}" if names is None else f"column {column} ({names[column]!r})"


def _worst_value(there: Array, here: Float32) -> str:
    """Return the value of a column that is farthest from its float32; the first if there are several."""
    row = int(np.nanargmax(_off(there, here)))
    off = float(_off(there[row : row + 1], here[row : row + 1])[0])
    if there.dtype.kind in "iu":
        return f"{int(there[row])} becomes {int(here[row])}, {off:.3g} off"
    return f"{float(there[row]):.15g} becomes {float(here[row]):.15g}, {off:.3g} off"


def _remedy(x: Array, pair: Optional[tuple[int, int]], columns: Optional[Int64], given: Given) -> str:
    """Return how to keep all digits; else the first shift after which no rows are equal, or without equal rows any."""
    if given.doubles and _are_doubles(x):
        return f"{given.doubles} arithmetic='f64', by which every digit counts"
    mean = "numpy.nanmean(x, axis=0)" if _has_gaps(x) and not (given.plain and given.names) else "x.mean(0)"
    shifts: list[tuple[str, str, Any]] = [("float64", f"x - {mean}", _mean)]
    if x.dtype.kind == "i" and given.plain:  # exact even if float64 is not
        shifts.append((x.dtype.name, "x - x.min(0)", lambda x: x.min(0)))
    for kind, shown, offset in shifts:
        if pair is None or _keeps_apart(x, offset(x), pair, columns):
            advice = given.advice() if given.advice and kind == "float64" else ""
            if advice:
                return f"{advice}, by which the mean of each column is subtracted in float64 first"
            before = "" if given.plain else "x = numpy.asarray(x, float), then "
            return f"subtract a common offset in {kind}, the same from rows and queries: {before}{shown}"
    return (
        f"x - {mean} does not keep all rows apart: leave columns out that only number rows, or pass "
        "x.astype(numpy.float32) if that is meant"
    )


def _has_gaps(x: Array) -> bool:
    return x.dtype.kind == "f" and bool(np.isnan(x).any())


def _mean(x: Array) -> Array:
    """Return the mean of the values of each column; 0 if it has none."""
    if not _has_gaps(x):
        return np.asarray(x.mean(0))
    there = ~np.isnan(x)
    return np.asarray(x.sum(0, where=there) / np.maximum(there.sum(0), 1))


def _are_doubles(x: Array) -> bool:
    if x.dtype.kind == "f":
        return x.dtype.itemsize <= 8
    return x.dtype.itemsize < 8 or (int(x.max()) <= WHOLE and int(x.min()) >= -WHOLE)


def _keeps_apart(x: Array, offset: Array, pair: tuple[int, int], columns: Optional[Int64]) -> bool:
    moved = x[:_MOST_ROWS] - offset
    with np.errstate(over="ignore"):
        rounded = moved.astype(np.float32)
    where = slice(None) if columns is None else columns
    a, b = rounded[pair[0], where], rounded[pair[1], where]
    return not _same(a, b).all() and equal_rows(moved, rounded, columns) is None


def equal_rows(x: Array, rounded: Float32, columns: Optional[Int64]) -> Optional[tuple[int, int]]:
    """Find two of the first rows that differ but whose float32 do not: those with the smallest second row."""
    where = np.arange(x.shape[1]) if columns is None else columns
    factors = np.random.default_rng(0).integers(0, 2**64, len(where), np.uint64) | np.uint64(1)
    alive = np.arange(min(len(x), _MOST_ROWS))
    sums = np.zeros(len(alive), np.uint64)
    for begin in range(0, len(where), _HASHED):  # in most data few rows are left after the first columns
        for column, factor in zip(where[begin : begin + _HASHED], factors[begin:]):
            here = rounded[: len(alive), column] if not begin else rounded[alive, column]
            words = (here + np.float32(0)).view(np.uint32)  # -0 counts as 0
            words[np.isnan(here)] = _NAN
            sums += words * factor
        ordered = np.sort(sums)
        twice = ordered[1:][ordered[1:] == ordered[:-1]]
        if not len(twice):
            return None
        stay = np.isin(sums, twice)
        alive, sums = alive[stay], sums[stay]
    order = np.argsort(sums, kind="stable")
    same = sums[order][1:] == sums[order][:-1]
    return _first_that_differ(x, rounded, where, alive[order[:-1][same]], alive[order[1:][same]])


def _first_that_differ(
    x: Array, rounded: Float32, where: Int64, first: Int64, second: Int64
) -> Optional[tuple[int, int]]:
    by_second = np.argsort(second, kind="stable")
    first, second = first[by_second], second[by_second]
    at_once = max(1, _AT_ONCE // len(where))
    for begin in range(0, len(first), at_once):
        a, b = first[begin : begin + at_once], second[begin : begin + at_once]
        differ = ~_same(x[np.ix_(a, where)], x[np.ix_(b, where)]).all(1)
        differ &= _same(rounded[np.ix_(a, where)], rounded[np.ix_(b, where)]).all(1)
        if differ.any():
            place = int(np.argmax(differ))
            return int(a[place]), int(b[place])
    return None


def _same(a: Array, b: Array) -> Bool:
    """Say which values are equal; a missing one equals a missing one."""
    same: Bool = (a == b) | ((a != a) & (b != b))
    return same
