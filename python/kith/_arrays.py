"""Rows, filters and outputs from whatever array the caller has."""

from __future__ import annotations

import ctypes as c
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Optional

import numpy as np

from . import _structs as s
from ._errors import InvalidArgument, PrecisionWarning
from ._host import _BFLOAT16, _caller, _host_array
from ._library import check, lib

if TYPE_CHECKING:
    from ._types import Array, Bool, Float32, Int64, UInt32


_EXACT = {"float16", "bfloat16", "int8", "uint8", "int16", "uint16", "bool"}  # each value is a float32
_ELEMENTS = {"float32": 0, "float16": 1, "bfloat16": 2, "uint8": 3, "int8": 4, "bool": 3}  # kith_rows.element
_BITS = 5  # kith_rows.element, too
_AT_ONCE = 1 << 20  # elements that are converted and compared at a time


def address(array: Array) -> int:
    return int(array.__array_interface__["data"][0])


@dataclass
class Rows:
    """Rows ready for the library, and how results go back to where the rows came from."""

    array: Array  # [rows, cols], columns without gaps: float32, unless the library was to take other elements
    struct: s.Rows
    columns: Optional[list[Any]] = None  # a frame's names
    labels: Any = None  # a frame's index
    back: Optional[Callable[[Array], Any]] = None  # from NumPy to the caller's kind of array
    # Where the array lies on a CUDA device: new arrays there, of float32 and int64, with their addresses.
    answers: Optional[Callable[[tuple[int, int]], tuple[Any, Any, int, int]]] = None

    def returned(self, array: Array) -> Any:
        return array if self.back is None else self.back(array)


def element_rows_of(x: Any, what: str, bits: bool, spec: str = "") -> Rows:
    """`x` as rows of an element that the library takes, not copied where it can be; else as `rows_of` has it.

    `bits`: `x` is of uint8, 8 columns a byte. `spec`: of the device that the rows go to.
    """
    from ._cuda import rows_on_cuda

    there = rows_on_cuda(x, bits, spec)
    if there is not None:
        return there
    if bits:
        return _bits_of(x, what)
    if type(x) is np.ndarray and x.ndim == 2 and x.dtype.name in _ELEMENTS and x.dtype.name != "float32":
        stored = _stored(x)
        return Rows(stored, struct_of(stored))
    return rows_of(x, what, widen=False)


def _bits_of(x: Any, what: str) -> Rows:
    array, back = _host_array(x, what)
    array = _two_dimensional(array, what)
    if array.dtype != np.uint8:
        raise InvalidArgument(
            f"{what}: dtype {array.dtype}, and element='bits' takes uint8, 8 columns a byte; pass "
            "numpy.packbits(x, axis=1)"
        )
    stored = _stored(array)
    struct = struct_of(stored)
    struct.element, struct.cols = _BITS, 8 * stored.shape[1]
    return Rows(stored, struct, back=back)


def _stored(x: Array) -> Array:
    """`x` of an element that the library takes, its columns side by side."""
    size = x.dtype.itemsize
    row, column = x.strides
    plain = x.dtype.isnative and (column == size or x.shape[1] <= 1) and (row >= size * x.shape[1] or len(x) <= 1)
    if plain:
        return x
    return np.ascontiguousarray(x) if x.dtype.isnative else np.ascontiguousarray(x, x.dtype.newbyteorder("="))


def rows_of(x: Any, what: str, *, quiet: bool = False, widen: bool = True) -> Rows:
    """`x` as float32 rows [rows, cols]; aligned float32 is not copied.

    `what` begins messages; `quiet`: no warning where float64 loses digits; `widen`: float32 even where the library
    takes the element as it is.
    """
    if type(x) is np.ndarray and x.dtype == np.float32 and x.ndim == 2 and x.flags.carray:
        return Rows(x, struct_of(x))
    columns = labels = back = None
    if hasattr(x, "columns") and hasattr(x, "index") and hasattr(x, "to_numpy"):
        columns, labels = list(x.columns), x.index
        x = _frame_values(x, what)
    else:
        x, back = _host_array(x, what)
    array = _two_dimensional(x, what)
    if widen or _name(array) not in _ELEMENTS:
        array = _float32(array, what, quiet)
    else:
        array = _stored(array)
    return Rows(array, struct_of(array), columns, labels, back)


def _name(x: Array) -> str:
    return "bfloat16" if x.dtype == _BFLOAT16 else str(x.dtype.name)


def struct_of(array: Array) -> s.Rows:
    rows, cols = array.shape
    stride = array.strides[0] if rows > 1 else 0
    return s.Rows(
        size=c.sizeof(s.Rows),
        data=array.__array_interface__["data"][0],
        rows=rows,
        cols=cols,
        stride_bytes=0 if stride == array.dtype.itemsize * cols else stride,
        element=_ELEMENTS[_name(array)],
    )


def _frame_values(frame: Any, what: str) -> Array:
    for name, kind in zip(frame.columns, frame.dtypes):
        if getattr(kind, "kind", "O") not in "biuf":
            raise InvalidArgument(
                f"{what}: column {name!r} has dtype {kind}; make numbers of it (pandas.get_dummies) or leave it out"
            )
    values: Array = frame.to_numpy(dtype=None if _plain(frame) else np.float64, na_value=np.nan)
    return values


def _plain(frame: Any) -> bool:
    return all(isinstance(kind, np.dtype) for kind in frame.dtypes)


def _two_dimensional(x: Any, what: str) -> Array:
    if x.ndim != 2:
        advice = (
            "pass x[None, :] for one row, x[:, None] for one column" if x.ndim == 1 else "pass rows [rows, columns]"
        )
        raise InvalidArgument(f"{what}: an array of {x.ndim} dimensions, shape {tuple(x.shape)}; {advice}")
    return np.asarray(x)


def _float32(x: Array, what: str, quiet: bool) -> Float32:
    if x.dtype == np.float32 and x.dtype.isnative:
        row, column = x.strides
        if x.flags.aligned and column == 4 and row % 4 == 0 and row >= 4 * x.shape[1]:
            return x
        return np.array(x, order="C")
    if x.dtype == _BFLOAT16:
        return (x["bfloat16"].astype(np.uint32) << 16).view(np.float32)
    if x.dtype.name in _EXACT:
        return np.ascontiguousarray(x, np.float32)
    if x.dtype.kind not in "fiu":
        raise InvalidArgument(
            f"{what}: dtype {x.dtype}, and kith takes real numbers; make numbers of it (x.astype(np.float32))"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.ascontiguousarray(x, np.float32)
    _look_at_rounding(x, rounded, what, quiet)
    return rounded


def _look_at_rounding(x: Array, rounded: Float32, what: str, quiet: bool) -> None:
    """Refuse what overflows, and warn of what loses digits; NaN and infinity are the library's to refuse."""
    changed, first = 0, None
    at_once = max(1, _AT_ONCE // max(1, x.shape[1]))
    for begin in range(0, len(x), at_once):
        there, here = x[begin : begin + at_once], rounded[begin : begin + at_once]
        differs = here.astype(there.dtype) != there if there.dtype.kind == "f" else _integers_differ(there, here)
        if there.dtype.kind == "f":
            differs &= ~np.isnan(there)
        count = int(np.count_nonzero(differs))
        if count and first is None:
            row, column = (int(i) for i in np.argwhere(differs)[0])
            first = (begin + row, column, there[row, column], here[row, column])
        changed += count
        lost = differs & np.isinf(here)
        if lost.any():
            row, column = (int(i) for i in np.argwhere(lost)[0])
            raise InvalidArgument(
                f"{what}: row {begin + row}, column {column}: {there[row, column]} is too large for single precision, "
                "in which kith computes; scale the column"
            )
    if first is not None and not quiet:
        row, column, value, became = first
        warnings.warn(
            f"{what}: {changed} of {x.size} values of dtype {x.dtype} lose digits in single precision, in which kith "
            f"computes, first row {row}, column {column}: {value!s} becomes {became!s}; "
            "pass x.astype(np.float32) if that is meant",
            PrecisionWarning,
            stacklevel=_caller(),
        )


def _integers_differ(there: Array, here: Float32) -> Bool:
    # A float32 next to 2^63 or 2^64 would overflow on its way back; a double holds both sides' difference there.
    whole = here.astype(np.float64)
    limit = np.iinfo(there.dtype)
    inside = (whole >= float(limit.min)) & (whole < float(limit.max))
    same = np.zeros(there.shape, np.bool_)
    same[inside] = here[inside].astype(there.dtype) == there[inside]
    return ~same


def filter_words(mask: Any, n: int, m: int, what: str) -> UInt32:
    """The words of kith_search_options.filter, [1 or m, ceil(n / 32)].

    A mask of bool, [n] or [m, n], says for each training row whether it counts; whole numbers, [count], are
    the rows that do.
    """
    mask = np.asarray(_host_array(mask, what)[0])
    if mask.dtype.kind in "iu" or mask.size == 0 and mask.ndim == 1:
        if mask.ndim != 1:
            raise InvalidArgument(
                f"{what}: row numbers of shape {mask.shape}; pass one list [count], or a mask of bool [{m}, {n}]"
            )
        rows = np.ascontiguousarray(mask, np.int64)
        words = np.zeros((1, (n + 31) // 32), np.uint32)
        check(lib.kith_filter_of(n, address(rows), len(rows), address(words)))
        return words
    if mask.dtype != np.bool_ or mask.shape not in ((n,), (m, n)):
        raise InvalidArgument(
            f"{what}: dtype {mask.dtype}, shape {mask.shape}; pass a mask of bool [{n}] or [{m}, {n}], or row numbers"
        )
    mask = mask.reshape(-1, n)
    octets = np.zeros((len(mask), (n + 31) // 32 * 4), np.uint8)
    packed = np.packbits(mask, axis=1, bitorder="little")
    octets[:, : packed.shape[1]] = packed
    return octets.view("<u4").astype(np.uint32, copy=False)


def outputs(out: Any, shape: tuple[int, int], what: str) -> tuple[Float32, Int64]:
    """The arrays to write to: new ones, or the caller's, which must be as they should."""
    if out is None:
        return np.empty(shape, np.float32), np.empty(shape, np.int64)
    try:
        distance, row = out
    except (TypeError, ValueError):
        raise InvalidArgument(f"{what}: out is not a pair (distance, row); pass two arrays of shape {shape}") from None
    _check_output(distance, "distance", np.float32, shape, what)
    _check_output(row, "row", np.int64, shape, what)
    return distance, row


def _check_output(array: Any, name: str, kind: Any, shape: tuple[int, int], what: str) -> None:
    if isinstance(array, np.ndarray) and array.dtype == kind and array.shape == shape and array.flags.carray:
        return
    wanted = f"pass a writeable, C-contiguous {np.dtype(kind).name} array of shape {shape}"
    if not isinstance(array, np.ndarray):
        raise InvalidArgument(f"{what}: out's {name} is a {type(array).__name__}; {wanted}")
    layout = "" if array.flags.carray else ", which is not C-contiguous, aligned and writeable"
    raise InvalidArgument(
        f"{what}: out's {name} is a {type(array).__name__} of {array.dtype}, shape {array.shape}{layout}; {wanted}"
    )


def radii_of(radius: Any) -> Float32:
    """One radius for all queries, or one a query."""
    return np.ascontiguousarray(np.atleast_1d(np.asarray(radius)), np.float32)


def index_array(x: Any, what: str) -> Int64:
    """Whole numbers [count], such as columns that count."""
    array = np.asarray(x)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise InvalidArgument(f"{what}: dtype {array.dtype}, shape {array.shape}; pass whole numbers [count]")
    return np.ascontiguousarray(array, np.int64)
