"""Says what cells of an array are that are no numbers, and how to convert them to numbers."""

from __future__ import annotations

import datetime
import math
import numbers
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

import numpy as np

from .._core._errors import InvalidArgument

if TYPE_CHECKING:
    from .._core._types import Array, Bool

NUMBERS = "biuf"  # kinds of dtype that kith takes
KINDS = ("dates", "durations", "texts", "lists", "complex", "fields", "numbers", "objects", "nothing")
# Cells that NumPy converts to numbers of another meaning, or fails to convert.
MISREAD = ("dates", "durations", "lists")

_OFFSET = "subtract a common offset, the same from rows and queries, or make it a float, which rounds it"


class Cells(NamedTuple):
    """Describes what an array holds in place of numbers.

    Attributes
    ----------
    kind : str
        One of `KINDS`: ``numbers`` if each object is a number, ``fields`` for structured arrays, ``nothing`` if no
        cell has a value.
    shown : str
        The kind with an example, for a message.
    advice : str
        The expression of NumPy that converts the array to numbers; empty if there is none.
    """

    kind: str
    shown: str
    advice: str


def cells_of(array: Array, name: str) -> Optional[Cells]:
    """Say what `array` holds; None if its dtype is one of numbers. `name` is the array in the advice."""
    kind = array.dtype.kind
    if kind in NUMBERS:
        return None
    if kind == "c":
        return Cells("complex", "complex numbers", f"numpy.column_stack([numpy.real({name}), numpy.imag({name})])")
    if kind == "V":
        return Cells("fields", f"records of {len(array.dtype.names or ())} fields", f"numpy.array({name}.tolist())")
    flat = array.ravel()
    there = np.flatnonzero(~missing(flat)) if kind in "OmM" else np.arange(min(1, flat.size))
    if kind in "mM" and not len(there):
        there = np.arange(min(1, flat.size))
    if not len(there):
        return Cells("nothing", "no value", "")
    if kind == "O" and all(_is_number(flat[i]) for i in there):
        return Cells("numbers", "numbers as Python objects", f"numpy.asarray({name}, float)")
    first = flat[there[0]]
    if kind == "O":  # the first cell that is no number decides
        first = next(flat[i] for i in there if not _is_number(flat[i]))
    return _of_cell(first, flat, there, name)


def cells_of_rows(array: Array, x: Any, name: str) -> Optional[Cells]:
    """Return `cells_of` an array that should hold rows; `x` is the caller's object."""
    cells = cells_of(array, name)
    if cells is None or cells.kind != "lists":
        return cells
    if type(x).__module__.partition(".")[0] == "pyarrow":  # cells of its arrays have types of its own
        name = f"numpy.asarray({name})"
    return cells_of(array, f"{name}[:, 0]" if array.ndim == 2 else name)


def _of_cell(cell: Any, flat: Array, there: Array, name: str) -> Cells:
    if isinstance(cell, (str, bytes)):
        numerals = all(_is_numeral(flat[i]) for i in there)
        return Cells("texts", f"texts such as {_quoted(cell)}", f"numpy.asarray({name}, float)" if numerals else "")
    if isinstance(cell, (datetime.timedelta, np.timedelta64)):
        return Cells("durations", "durations", f"numpy.asarray({name}, 'm8[us]') / numpy.timedelta64(1, 's')")
    day = _day(cell)
    if day:
        shown, day = ("dates that are missing", "1970-01-01") if day == "NaT" else (f"dates such as {day}", day)
        seconds = f"(numpy.asarray({name}, 'M8[us]') - numpy.datetime64('{day}')) / numpy.timedelta64(1, 's')"
        return Cells("dates", shown, seconds)
    if hasattr(cell, "__len__") and not isinstance(cell, (dict, set, frozenset)):
        return _of_list(cell, flat, there, name)
    return Cells("objects", f"objects of type {type(cell).__name__}", "")


def _of_list(cell: Any, flat: Array, there: Array, name: str) -> Cells:
    sizes = sorted({len(flat[i]) for i in there if hasattr(flat[i], "__len__")})
    if len(sizes) > 1:
        return Cells("lists", f"lists of {sizes[0]} to {sizes[-1]} cells, and a row needs as many as all others", "")
    inner = np.asarray(cell)
    if inner.dtype.kind not in NUMBERS:
        return Cells("lists", f"lists such as {_quoted(cell)}", "")
    numbers_there = f"{' x '.join(map(str, inner.shape))} numbers in each cell"
    if len(there) < flat.size:
        empty = int(np.argmax(missing(flat)))
        return Cells("lists", f"{numbers_there}, but none in row {empty}", "")
    stacked = f"numpy.stack({name})"
    return Cells("lists", numbers_there, stacked if inner.ndim == 1 else f"{stacked}.reshape(len({name}), -1)")


def missing(flat: Array) -> Bool:
    """Say which cells hold no value: None, NaN, or pandas' NA and NaT."""
    if flat.dtype.kind == "O":
        return np.fromiter((_is_missing(cell) for cell in flat), np.bool_, flat.size)
    none: Bool = np.isnan(flat) if flat.dtype.kind == "f" else np.zeros(flat.shape, np.bool_)
    return np.isnat(flat) if flat.dtype.kind in "mM" else none


def with_gaps(array: Array, what: str) -> Array:
    """Return Python's numbers as float64, with NaN where there is none; any other array as it is. Refuse a whole number
    that is no float64.
    """
    cells = cells_of(array, "") if array.dtype.kind == "O" else None
    if cells is None or cells.kind not in ("numbers", "nothing"):
        return array
    values = np.array([_float_of(cell) for cell in array.ravel()], np.float64).reshape(array.shape)
    for cell, value, place in zip(array.ravel(), values.ravel().tolist(), np.ndindex(array.shape)):
        if isinstance(cell, (numbers.Real, Decimal)) and _is_lost(cell, value):
            where = ", ".join(f"{name} {i}" for name, i in zip(("row", "column"), place))
            large = abs(value) > 2.0**100
            shown = "a number of more than 30 digits" if large else cell
            raise InvalidArgument(
                f"{what}: {where} holds {shown}, which is no float64, as rows with missing values are; "
                + ("scale the column" if large else _OFFSET)
            )
    return values


def _float_of(cell: Any) -> float:
    try:
        return np.nan if _is_missing(cell) else float(cell)
    except OverflowError:
        return np.inf


def _is_lost(cell: Any, value: float) -> bool:
    """Say whether a whole number is rounded, or a finite one becomes infinite."""
    if isinstance(cell, numbers.Integral):
        return int(cell) != value
    return math.isinf(value) and bool(cell != value)


def _is_missing(cell: Any) -> bool:
    if isinstance(cell, (float, np.datetime64, np.timedelta64)):
        return bool(cell != cell)
    return cell is None or type(cell).__name__ in ("NAType", "NaTType")


def _is_number(cell: Any) -> bool:
    return isinstance(cell, (numbers.Real, Decimal, np.bool_)) and not isinstance(cell, np.timedelta64)


def _is_numeral(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def _day(cell: Any) -> str:
    """Return the day of a date, a time or a period; empty if it is none of them."""
    if hasattr(cell, "to_timestamp"):  # a period of pandas
        cell = cell.to_timestamp()
    if isinstance(cell, np.datetime64):
        return str(cell.astype("M8[D]"))
    if isinstance(cell, datetime.date):
        return cell.strftime("%Y-%m-%d")
    return ""


def _quoted(cell: Any) -> str:
    shown = repr(bytes(cell) if isinstance(cell, bytes) else str(cell))
    return shown if len(shown) <= 24 else f"{shown[:20]}...{shown[0]}"
