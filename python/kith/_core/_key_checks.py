"""Refuses keys of a caller that no search returns, as the library's merge() does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from ._errors import InvalidArgument

if TYPE_CHECKING:
    from ._types import Bool, Int64, Values

NO_ROW = -1  # pads a short list, with the largest value
# The values of -infinity and infinity, by their bytes.
_LEAST, _MOST = {4: 0x007FFFFF, 8: 0x000FFFFFFFFFFFFF}, {4: 0xFF800000, 8: 0xFFF0000000000000}
_AT_ONCE = 1 << 20  # keys that are checked together


def whole_numbers(x: Any, kind: Any, what: str) -> Any:
    """Convert `x` to an array of a type of whole numbers, with every value kept."""
    given = np.asarray(x)
    if given.dtype.kind not in "iu" and given.size:
        raise InvalidArgument(f"{what} of dtype {given.dtype}; pass {np.dtype(kind).name}")
    made = np.ascontiguousarray(given, kind)
    if given.dtype != made.dtype and not np.array_equal(made, given):
        raise InvalidArgument(f"{what} of dtype {given.dtype} with numbers outside {made.dtype}; pass {made.dtype}")
    return made


def check_first(first: Int64, what: str) -> None:
    """Refuse lists unless the first begins at 0, and each where the last one ends."""
    if first[0] != 0 or (first[1:] < first[:-1]).any():
        q = int(np.argmax(first[1:] < first[:-1]))
        shown = f"first[0] = {first[0]}"
        if first[0] == 0:
            shown = f"first[{q}] = {first[q]}, first[{q + 1}] = {first[q + 1]}"
        raise InvalidArgument(f"{what} with {shown}; give queries + 1 places that begin with 0 and do not decrease")


def check_keys(value: Values, row: Int64, first: Optional[Int64], what: str) -> None:
    """Refuse keys that do not ascend, values of no distance, rows below 0, and padding that is not at the end of a
    list of k.

    Parameters
    ----------
    value, row : array, [queries, k], or with `first` [first[queries]]
    first : array of int64, [queries + 1], optional
    """
    k = value.shape[1] if first is None else 0
    values, rows = value.ravel(), row.ravel()
    for begin in range(0, values.size, _AT_ONCE):
        end = min(begin + _AT_ONCE, values.size)
        wrong = _wrong(values, rows, begin, end, _starts(first, k, begin, end), first is None)
        if wrong.any():
            _refuse(values, rows, begin + int(np.argmax(wrong)), first, k, what)


def _starts(first: Optional[Int64], k: int, begin: int, end: int) -> Bool:
    """Say at which of the keys begin ... end - 1 a list begins."""
    starts = np.zeros(end - begin, np.bool_)
    if first is None:
        starts[-begin % k :: k] = True
    else:
        inside = first[:-1][(first[:-1] >= begin) & (first[:-1] < end)]
        starts[inside - begin] = True
    return starts


def _wrong(values: Values, rows: Int64, begin: int, end: int, starts: Bool, may_be_short: bool) -> Bool:
    value, row = values[begin:end], rows[begin:end]
    before = slice(begin - 1, end - 1) if begin else slice(0, end)  # the very first key has none before it
    value_before, row_before = values[before], rows[before]
    if not begin:
        value_before, row_before = np.roll(value_before, 1), np.roll(row_before, 1)
    ascends = starts | (value > value_before) | ((value == value_before) & (row > row_before))
    no_value, size = np.iinfo(value.dtype).max, value.itemsize
    none = (value == no_value) & (row == NO_ROW)
    found = (value >= _LEAST[size]) & (value <= _MOST[size]) & (row >= 0)
    follows = ascends | (none & (value_before == no_value) & (row_before == NO_ROW))
    right: Bool = (found & ascends) | (none & follows & may_be_short)
    return ~right


def _refuse(values: Values, rows: Int64, place: int, first: Optional[Int64], k: int, what: str) -> None:
    query = place // k if first is None else int(np.searchsorted(first, place, "right")) - 1
    rank = place - (query * k if first is None else int(first[query]))

    def shown(at: int) -> str:
        return f"value {values[at]}, row {rows[at]}"

    behind = f"behind {shown(place - 1)}" if rank else "at the beginning"
    raise InvalidArgument(
        f"{what}, query {query}, rank {rank}: {shown(place)} {behind}, which no search finds; "
        "give keys as search_keys(), within_keys() and merge() do"
    )
