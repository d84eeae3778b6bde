"""Converts rows and outputs from any array of the caller."""

from __future__ import annotations

import ctypes as c
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Optional, cast

import numpy as np

from .._core import _structs as s
from .._core._errors import InvalidArgument, OutOfMemory
from .._core._metrics import metric_named, takes_gaps
from ._cells import cells_of, cells_of_rows, missing, with_gaps
from ._digits import WHOLE, Given, look_at_rounding, offset_helps, subtracts
from ._frames import frame_of, known
from ._host import _BFLOAT16, _host_array, _widened

if TYPE_CHECKING:
    from .._core._types import Arithmetic, Array, Float32, Int64


_EXACT = {"float16", "bfloat16", "int8", "uint8", "int16", "uint16", "bool"}  # each value is a float32
_ELEMENTS = {"float32": 0, "float16": 1, "bfloat16": 2, "uint8": 3, "int8": 4, "bool": 3}  # kith_rows.element
_BITS = 5  # kith_rows.element, too
_DOUBLE = 6  # kith_rows.element, too
_NUMBERS = {np.dtype(name): number for name, number in [*_ELEMENTS.items(), ("float64", _DOUBLE)] if name != "bfloat16"}
_ROUNDED = {kind: number for kind, number in _NUMBERS.items() if number != _DOUBLE}
_SIZE = c.sizeof(s.Rows)
_addressof, _of_buffer = c.addressof, cast(Any, c.c_char.from_buffer)
_WITH_GAPS = {"l1": "nan_manhattan", "gower": "nan_gower"}  # the metric to choose instead; else nan_euclidean
_SLICED = ("numpy", "torch", "cupy", "jax", "jaxlib")  # their arrays are sliced as NumPy's are


def address(array: Array) -> int:
    """Return where an array begins; of one that may be written in a fifth of the time of NumPy's own ways."""
    try:
        return _addressof(_of_buffer(array))
    except (TypeError, ValueError):  # it may not be written, has gaps or nothing, or elements of another library
        return int(array.ctypes.data)


@dataclass
class Rows:
    """Holds rows for the library, and says how results go back to where the rows came from."""

    array: Array  # [rows, cols], columns without gaps: float32, unless the library was to take other elements
    struct: s.Rows
    columns: Optional[list[Any]] = None  # a frame's names
    back: Optional[Callable[[Array], Any]] = None  # from NumPy to the caller's kind of array
    # If the array is on a CUDA device: makes new arrays there, of float32 (or float64) and int64, with their addresses.
    answers: Optional[Callable[[tuple[int, int], bool], tuple[Any, Any, int, int]]] = None

    def returned(self, array: Array) -> Any:
        return array if self.back is None else self.back(array)


def kept_elements(bits: bool, doubles: bool) -> dict[Any, int]:
    """Return the dtypes of NumPy that the library takes as they are, with their numbers in kith_rows."""
    return {} if bits else _NUMBERS if doubles else _ROUNDED


def kept_rows_of(x: Any, elements: dict[Any, int]) -> Optional[Rows]:
    """Return the rows of an array of NumPy of one of these dtypes, most often without a copy; None of all else."""
    if type(x) is not np.ndarray or x.ndim != 2:
        return None
    element = elements.get(x.dtype)
    if element is None:
        return None
    try:
        data = _addressof(_of_buffer(x))
    except (TypeError, ValueError):  # as for `address`
        stored = _stored(x)
        return Rows(stored, struct_of(stored))
    rows, cols = x.shape
    return Rows(x, s.Rows(_SIZE, data, rows, cols, 0, 0, element))


def element_rows_of(
    x: Any,
    what: str,
    bits: bool,
    spec: str = "",
    *,
    arithmetic: Arithmetic = "f32",
    quiet: bool = False,
    features: Optional[Any] = None,
    advice: Optional[Callable[[], str]] = None,
    instead: str = "",
    bit_columns: Optional[int] = None,
    metric: str = "l2",
) -> Rows:
    """Convert `x` to rows of an element that the library takes, without a copy if possible; else as `rows_of` does.

    `bits`: `x` is of uint8, 8 columns per byte, of which `bit_columns` count, or of booleans. `spec`: the device that
    the rows go to. `arithmetic` is that of the index: ``f32`` rounds float64, ``automatic`` keeps it, and ``f64`` keeps
    every value. `instead`: says how the caller asks for ``f64``. `metric`: if it takes gaps, values may be missing, and
    become NaN. `quiet`, `features` and `advice` are those of `rows_of`.
    """
    if isinstance(x, Rows):
        return x
    doubles = arithmetic != "f32" and not bits
    kept = kept_rows_of(x, kept_elements(bits, doubles))
    if kept is not None:
        return kept
    from ._cuda import rows_on_cuda
    from ._rounded import rounded_on_cuda

    given = Given(what, None, subtracts(x), features, advice, instead, takes_gaps(metric), metric)
    there = rows_on_cuda(x, bits, spec, doubles)
    if there is None and not bits and not doubles:
        there = rounded_on_cuda(x, spec, given, quiet)
    if there is not None:
        return there
    if bits:
        return _bits_of(x, what, bit_columns)
    return _converted_rows_of(x, arithmetic, given, quiet)


def _converted_rows_of(x: Any, arithmetic: Arithmetic, given: Given, quiet: bool) -> Rows:
    """Convert `x` to rows of an element that the library takes, which is float32 if `arithmetic` rounds."""
    array, given.names, back = _two_dimensional(x, given.what, arithmetic != "f32", given.gaps)
    if arithmetic == "f64" or (arithmetic == "automatic" and _name(array) == "float64"):
        array = _exact(array, given)
    elif _name(array) in _ELEMENTS:
        array = _stored(array)
    else:
        array = _float32(array, given, quiet)
    return Rows(array, struct_of(array), given.names, back)


def _exact(x: Array, given: Given) -> Array:
    """Return `x` as an element that the library takes; refuse a value that is no double."""
    if _name(x) in _ELEMENTS or _name(x) == "float64":
        return _stored(x)
    if x.dtype.name in _EXACT:
        return np.ascontiguousarray(x, np.float32)
    _check_numbers(x, given.what, given.metric)
    check_exact(x, given.what)
    return np.ascontiguousarray(x, np.float64)


def check_exact(x: Array, what: str) -> None:
    """Refuse numbers that float64 would round."""
    lost = None
    if x.dtype.kind in "iu" and x.dtype.itemsize == 8 and x.size and (x.max() > WHOLE or x.min() < -WHOLE):
        lost = (x > WHOLE) | (x < -WHOLE)
    elif x.dtype.kind == "f" and x.dtype.itemsize > 8:
        with np.errstate(over="ignore"):
            lost = (x.astype(np.float64) != x) & (x == x)  # NaN is refused elsewhere
    if lost is None or not lost.any():
        return
    row, column = (int(i) for i in np.argwhere(lost)[0])
    why = "beyond 2^53, up to which float64 holds all whole numbers" if x.dtype.kind in "iu" else "no float64"
    advice = "pass numpy.asarray(x, float), which rounds it"
    if offset_helps(x[:, column]):
        advice = f"subtract a common offset in {x.dtype.name}, the same from rows and queries, or {advice}"
    raise InvalidArgument(
        f"{what}: row {row}, column {column}: {x[row, column]} is {why}, and kith computes in float64 here; {advice}"
    )


def centred_rows_of(x: Any, what: str, spec: str = "", metric: str = "l2") -> Rows:
    """Convert `x` for an index with a centre: float32 stays as it is, other numbers become float64; `spec` as above.

    Bytes and 16-bit floats stay as they are, and the library refuses them.
    """
    from ._cuda import rows_on_cuda

    if isinstance(x, Rows):
        return x
    there = rows_on_cuda(x, False, spec)
    if there is not None:
        return there
    array, columns, back = _two_dimensional(x, what)
    if _name(array) not in _ELEMENTS:
        _check_numbers(array, what, metric)
        array = np.asarray(array, np.float64)
    array = _stored(array)
    return Rows(array, struct_of(array), columns, back)


def _bits_of(x: Any, what: str, count: Optional[int]) -> Rows:
    array, columns, back = _two_dimensional(x, what)
    if array.dtype == np.bool_:
        array, count = np.packbits(array, axis=1), array.shape[1]
    if array.dtype != np.uint8:
        raise InvalidArgument(
            f"{what}: dtype {array.dtype}, and element='bits' takes uint8, 8 columns a byte; pass "
            "numpy.packbits(x, axis=1)"
        )
    stored = _stored(array)
    struct = struct_of(stored)
    whole = 8 * stored.shape[1]
    struct.element, struct.cols = _BITS, count if count is not None and whole - 8 < count < whole else whole
    return Rows(stored, struct, columns, back)


def _stored(x: Array) -> Array:
    """Return `x`, of an element that the library takes, with columns without gaps."""
    size = x.dtype.itemsize
    row, column = x.strides
    plain = x.dtype.isnative and (column == size or x.shape[1] <= 1) and (row >= size * x.shape[1] or len(x) <= 1)
    if plain:
        return x
    return np.ascontiguousarray(x) if x.dtype.isnative else np.ascontiguousarray(x, x.dtype.newbyteorder("="))


def rows_of(
    x: Any,
    what: str,
    *,
    quiet: bool = False,
    features: Optional[Any] = None,
    advice: Optional[Callable[[], str]] = None,
) -> Rows:
    """Convert `x` to float32 rows [rows, cols]; aligned float32 is not copied.

    `what` begins messages; `quiet`: gives no warning if float64 loses digits; `features`: the columns
    that count, since a warning is only about these; `advice`: says how the caller passes a centre, if it can.
    """
    if type(x) is np.ndarray and x.dtype == np.float32 and x.ndim == 2 and x.flags.carray:
        return Rows(x, struct_of(x))
    array, columns, back = _two_dimensional(x, what)
    array = _float32(array, Given(what, columns, subtracts(x), features, advice), quiet)
    return Rows(array, struct_of(array), columns, back)


def _name(x: Array) -> str:
    return "bfloat16" if x.dtype == _BFLOAT16 else str(x.dtype.name)


def struct_of(array: Array) -> s.Rows:
    """Describe rows, with columns without gaps."""
    rows, cols = array.shape
    stride = 0 if rows <= 1 or array.flags.c_contiguous else array.strides[0]
    element = _NUMBERS.get(array.dtype)
    return s.Rows(_SIZE, address(array), rows, cols, stride, 0, _ELEMENTS[_name(array)] if element is None else element)


def _two_dimensional(
    x: Any, what: str, exact: bool = False, gaps: bool = False
) -> tuple[Array, Optional[list[Any]], Optional[Callable[[Array], Any]]]:
    """Return rows [rows, columns] on the host, the names of their columns, and a function for the way back.

    `exact`: refuses whole numbers of a frame that would be rounded, since they are beside floats. `gaps`: values may be
    missing, and become NaN.
    """
    x = known(x, what)
    frame = frame_of(x, what)
    if frame is not None:
        return frame.values(what, exact, gaps), frame.names, None
    array, back = _host_array(x, what, gaps)
    array = with_gaps(array, what) if gaps else array
    if array.ndim != 2 or array.dtype == object:
        _check_shape(array, x, what)
    return np.asarray(array), None, back


def _check_shape(array: Array, x: Any, what: str) -> None:
    """Refuse an array that is not [rows, columns], or has rows in its cells."""
    sliced = "x" if type(x).__module__.partition(".")[0] in _SLICED else "numpy.asarray(x)"
    cells = None if array.dtype == _BFLOAT16 else cells_of_rows(array, x, "x")
    if cells is not None and cells.kind in ("lists", "fields") and array.ndim > 0:
        raise InvalidArgument(f"{what}: {cells.shown}; pass {cells.advice or 'rows of one length'}")
    if array.ndim != 2:
        advice = f"pass {sliced}[None, :] for one row, {sliced}[:, None] for one column"
        raise InvalidArgument(
            f"{what}: an array of {array.ndim} dimensions, shape {tuple(array.shape)}; "
            + (advice if array.ndim == 1 else "pass rows [rows, columns]")
        )


def _float32(x: Array, given: Given, quiet: bool) -> Float32:
    if x.dtype == np.float32 and x.dtype.isnative:
        row, column = x.strides
        if x.flags.aligned and column == 4 and row % 4 == 0 and row >= 4 * x.shape[1]:
            return x
        return np.array(x, order="C")
    if x.dtype == _BFLOAT16:
        return _widened(x)
    if x.dtype.name in _EXACT:
        return np.ascontiguousarray(x, np.float32)
    _check_numbers(x, given.what, given.metric)
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = np.ascontiguousarray(x, np.float32)
    look_at_rounding(x, rounded, given, quiet)
    return rounded


def _check_numbers(x: Array, what: str, metric: str) -> None:
    cells = cells_of(x, "x")
    if cells is None:
        return
    if cells.kind in ("numbers", "nothing") and (none := missing(x.ravel())).any():
        row, column = (int(i) for i in np.unravel_index(int(np.argmax(none)), x.shape))
        raise InvalidArgument(
            f"{what}: row {row}, column {column} holds {x[row, column]}; fill it in, leave the row out, or choose "
            f"metric={_WITH_GAPS.get(metric_named(metric), 'nan_euclidean')!r}, which takes missing values"
        )
    advice = f"pass {cells.advice}" if cells.advice else "make numbers of them, or leave their columns out"
    if cells.kind == "texts" and not cells.advice:
        advice = "make a column of 0 and 1 of each (pandas.get_dummies(pandas.DataFrame(x)))"
    raise InvalidArgument(f"{what}: dtype {x.dtype}, {cells.shown}, and kith takes real numbers; {advice}")


def outputs(
    out: Any, shape: tuple[int, int], what: str, read: Optional[dict[str, Any]] = None, kind: Any = np.float32
) -> tuple[Any, Int64]:
    """Return the caller's arrays to write to, which are checked.

    `read`: arrays that the call reads, by name. `kind`: the dtype of distances.
    """
    try:
        distance, row = out
    except (TypeError, ValueError):
        raise InvalidArgument(f"{what}: out is not a pair (distance, row); pass two arrays of shape {shape}") from None
    _check_output(distance, "distance", kind, shape, what)
    _check_output(row, "row", np.int64, shape, what)
    _check_apart({"out's distance": distance, "out's row": row, **(read or {})}, what)
    return distance, row


def new_arrays(shape: tuple[int, int], kind: Any, what: str) -> tuple[Any, Int64]:
    """Make arrays of values of this dtype, and of rows."""
    try:
        return np.empty(shape, kind), np.empty(shape, np.int64)
    except (MemoryError, ValueError):  # ValueError: more elements than addresses
        size = shape[0] * shape[1] * (np.dtype(kind).itemsize + 8)
        raise OutOfMemory(
            f"{what}: answers of shape {shape} take {size / 2**30:.1f} GiB, which the host does not have; "
            "choose a smaller k, or ask fewer queries at a time"
        ) from None


def _check_apart(arrays: dict[str, Any], what: str) -> None:
    """Refuse arrays if one of the first two, which are written, shares memory with another."""
    names = [name for name, array in arrays.items() if isinstance(array, np.ndarray)]
    for i, one in enumerate(names[:2]):
        for other in names[i + 1 :]:
            if np.may_share_memory(arrays[one], arrays[other]):
                raise InvalidArgument(f"{what}: {one} and {other} share memory; pass an array of its own for {one}")


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


def index_array(x: Any, what: str) -> Int64:
    """Convert to whole numbers [count], such as columns that count."""
    array = np.asarray(x)
    if array.dtype == np.bool_ and array.ndim == 1:
        raise InvalidArgument(f"{what}: a mask of bool; pass the numbers that it marks: numpy.flatnonzero(x)")
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise InvalidArgument(f"{what}: dtype {array.dtype}, shape {array.shape}; pass whole numbers [count]")
    return np.ascontiguousarray(array, np.int64)
