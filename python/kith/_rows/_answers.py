"""Converts labels, values, weights and ids of rows from any array of the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Optional

import numpy as np

from .._core._errors import InvalidArgument
from ._arrays import index_array
from ._cells import NUMBERS, cells_of, missing
from ._frames import frame_of, known, side_by_side
from ._host import _host_array, _widened

if TYPE_CHECKING:
    from .._core._types import Array, Float32, Float64, Int64


class Labels(NamedTuple):
    """Holds labels as they are given, each output with its own dtype.

    Attributes
    ----------
    columns : list of array, [n]
        One per output.
    together : array, [n] or [n, outputs]
        All of them; of objects if the dtypes of outputs differ in kind.
    """

    columns: list[Array]
    together: Array


def label_columns(x: Any, what: str) -> Labels:
    """Convert labels of any dtype, of arrays, series and frames; missing ones are refused."""
    x = known(x, what)
    frame = frame_of(x, what)
    if frame is not None:
        columns = [_own_kind(frame.column(i), f"{what}: column {name!r}") for i, name in enumerate(frame.names)]
        return Labels(columns, beside(columns))
    array = _own_kind(x, what)
    if array.ndim != 2:
        return Labels([array], array)
    if isinstance(x, (list, tuple)):  # NumPy would make texts of numbers if one label is a text
        array = np.asarray(x, object)
    columns = [_own_kind(list(column) if isinstance(x, (list, tuple)) else column, what) for column in array.T]
    return Labels(columns, beside(columns) if array.dtype == object else array)


def beside(columns: list[Array]) -> Array:
    """Put outputs side by side, [m, outputs]; if their dtypes differ in kind, each cell keeps that of its output."""
    if len({column.dtype.kind for column in columns}) > 1:
        columns = [column.astype(object) for column in columns]
    return np.stack(columns, axis=1)


def _own_kind(column: Any, what: str) -> Array:
    """Convert labels to NumPy's dtype of their values, if they have a dtype of another library or are objects."""
    array = np.asarray(_host_array(column, what)[0])
    foreign = not isinstance(getattr(column, "dtype", None), np.dtype)
    if array.dtype == object or (foreign and not isinstance(column, (list, tuple))):
        none = missing(array.ravel())
        if none.any():
            row = int(np.argmax(none)) // max(1, array.size // max(1, len(array)))
            raise InvalidArgument(f"{what}: missing labels, first in row {row}; leave their rows out")
    if array.dtype != object or array.ndim != 1:
        return array
    kinds = {type(label) for label in array}
    plain = np.array(array.tolist())
    if plain.ndim == 1 and (plain.dtype.kind in NUMBERS or (foreign and len(kinds) == 1)):
        return plain
    return array


def labels_of(x: Any, n: int, where: str, outputs: Optional[int]) -> Int64:
    """Convert to whole numbers, [n] or [n, outputs]; `outputs`: how many there must be."""
    array = label_columns(x, f"{where}: labels").together
    if array.dtype.kind not in "iu" and array.size:
        raise InvalidArgument(
            f"{where}: labels of dtype {array.dtype}; pass whole numbers, such as numpy.unique(labels, "
            "return_inverse=True)[1]"
        )
    _check_shape(array, n, where, "labels", outputs)
    if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
        raise InvalidArgument(f"{where}: the label {array.max()} is above 2^63 - 1; pass numbers of int64")
    return np.ascontiguousarray(array, np.int64)


def values_of(x: Any, n: int, where: str, outputs: Optional[int]) -> Float64:
    """Convert to numbers, [n] or [n, outputs], which the library checks; `outputs`: how many there must be."""
    array = targets_of(x, f"{where}: values")
    _check_shape(array, n, where, "values", outputs)
    return np.ascontiguousarray(array, np.float64)


def targets_of(x: Any, what: str) -> Array:
    """Convert to real numbers, [n] or [n, outputs], of which a regressor takes means."""
    x = known(x, what)
    frame = frame_of(x, what)
    if frame is None:
        return _real(np.asarray(_host_array(x, what)[0]), "y", what)
    return side_by_side(
        [_real(column, f"y[{name!r}]", f"{what}: column {name!r}") for name, column in zip(frame.names, frame.arrays())]
    )


def _real(array: Array, name: str, what: str) -> Array:
    """Return `array` as real numbers, or refuse it; `name` is the array in advice."""
    if "bfloat16" in (array.dtype.names or (array.dtype.name,)):
        return _widened(array)
    cells = cells_of(array, name)
    if cells is None:
        return array
    if cells.kind in ("numbers", "nothing"):
        none = missing(array.ravel()).reshape(array.shape)
        if none.any():
            row = int(np.argwhere(none)[0][0])
            raise InvalidArgument(f"{what}: row {row} holds no value; fill it in, or leave the row out")
        return array.astype(np.float64)
    advice = f"pass {cells.advice}" if cells.advice else "pass numbers, or ask a classifier"
    # For complex numbers scikit-learn's check_estimator expects these words.
    why = "Complex data not supported" if cells.kind == "complex" else "and a regressor takes real numbers"
    raise InvalidArgument(f"{what} of dtype {array.dtype}, {cells.shown}, {why}; {advice}")


def _check_shape(array: Array, n: int, where: str, what: str, outputs: Optional[int]) -> None:
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] == 0):
        raise InvalidArgument(f"{where}: {what} of shape {array.shape}; pass [{n}] or [{n}, outputs]")
    if len(array) != n:
        raise InvalidArgument(f"{where}: {len(array)} {what} for {n} rows; give one a row")
    columns = array.shape[1] if array.ndim == 2 else 1
    if outputs is not None and columns != outputs:
        raise InvalidArgument(f"{where}: {what} of shape {array.shape}; pass [{n}, {outputs}], as for the first rows")


def sample_weights_of(x: Optional[Any], n: int, where: str) -> Optional[Float32]:
    """Convert to numbers [n], which the library checks."""
    if x is None:
        return None
    array = np.asarray(_host_array(x, f"{where}: sample_weights")[0])
    if array.dtype.kind not in "biuf" or array.ndim != 1:
        raise InvalidArgument(
            f"{where}: sample_weights of dtype {array.dtype}, shape {array.shape}; pass real numbers [{n}]"
        )
    if len(array) != n:
        raise InvalidArgument(f"{where}: {len(array)} sample_weights for {n} rows; give one a row, or none")
    with np.errstate(over="ignore"):  # the library refuses infinity
        return np.ascontiguousarray(array, np.float32)


def ids_of(x: Optional[Any], n: int, where: str) -> Optional[Int64]:
    """Convert to whole numbers [n], which the library checks."""
    if x is None:
        return None
    given = index_array(x, f"{where}: ids")
    if len(given) != n:
        raise InvalidArgument(f"{where}: {len(given)} ids for {n} rows; give one a row, or none")
    return given
