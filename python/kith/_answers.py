"""Labels, values, weights and ids of rows from whatever array the caller has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from ._arrays import index_array
from ._errors import InvalidArgument
from ._host import _host_array

if TYPE_CHECKING:
    from ._types import Array, Float32, Float64, Int64


def labels_of(x: Any, n: int, where: str, outputs: Optional[int]) -> Int64:
    """Whole numbers, [n] or [n, outputs]; `outputs`: as many as there must be."""
    array = np.asarray(_host_array(x, f"{where}: labels")[0])
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
    """Numbers, [n] or [n, outputs], which the library looks at; `outputs`: as many as there must be."""
    array = np.asarray(_host_array(x, f"{where}: values")[0])
    if array.dtype.kind not in "biuf":
        raise InvalidArgument(f"{where}: values of dtype {array.dtype}; pass real numbers")
    _check_shape(array, n, where, "values", outputs)
    return np.ascontiguousarray(array, np.float64)


def _check_shape(array: Array, n: int, where: str, what: str, outputs: Optional[int]) -> None:
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] == 0):
        raise InvalidArgument(f"{where}: {what} of shape {array.shape}; pass [{n}] or [{n}, outputs]")
    if len(array) != n:
        raise InvalidArgument(f"{where}: {len(array)} {what} for {n} rows; give one a row")
    columns = array.shape[1] if array.ndim == 2 else 1
    if outputs is not None and columns != outputs:
        raise InvalidArgument(f"{where}: {what} of shape {array.shape}; pass [{n}, {outputs}], as for the first rows")


def sample_weights_of(x: Optional[Any], n: int, where: str) -> Optional[Float32]:
    """Numbers [n], which the library looks at."""
    if x is None:
        return None
    array = np.asarray(_host_array(x, f"{where}: sample_weights")[0])
    if array.dtype.kind not in "biuf" or array.ndim != 1:
        raise InvalidArgument(
            f"{where}: sample_weights of dtype {array.dtype}, shape {array.shape}; pass real numbers [{n}]"
        )
    if len(array) != n:
        raise InvalidArgument(f"{where}: {len(array)} sample_weights for {n} rows; give one a row, or none")
    with np.errstate(over="ignore"):  # infinity is the library's to refuse
        return np.ascontiguousarray(array, np.float32)


def ids_of(x: Optional[Any], n: int, where: str) -> Optional[Int64]:
    """Whole numbers [n], which the library looks at."""
    if x is None:
        return None
    given = index_array(x, f"{where}: ids")
    if len(given) != n:
        raise InvalidArgument(f"{where}: {len(given)} ids for {n} rows; give one a row, or none")
    return given
