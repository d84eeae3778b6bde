"""Prepares rows of every kind before scikit-learn checks them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._core._errors import InvalidArgument
from .._rows._arrays import check_exact
from .._rows._cells import MISREAD, NUMBERS, cells_of_rows, with_gaps
from .._rows._digits import Given, look_at_rounding
from .._rows._frames import frame_of, known, side_by_side
from .._rows._host import _BFLOAT16, _host_array, _widened

if TYPE_CHECKING:
    from .._core._types import Distances


def looked_at(X: Any, what: str, gaps: bool = False) -> Any:
    """Returns `X` in a form that scikit-learn reads. Refuses cells that it would misread: dates, durations, lists; and
    missing values of frames, unless there may be `gaps`.
    """
    if isinstance(X, np.ndarray) and X.dtype.kind in NUMBERS:
        return X
    X = known(X, what)
    frame = frame_of(X, what)
    if frame is not None:
        frame.checked(what, "X", MISREAD, gaps)
        return X
    if hasattr(X, "toarray") and hasattr(X, "nnz"):  # scikit-learn itself refuses sparse rows
        return X
    array = _host_array(X, what, gaps)[0]
    array = with_gaps(array, what) if gaps else array
    cells = None if array.dtype.kind in NUMBERS else cells_of_rows(array, X, "X")
    if cells is not None and cells.kind in MISREAD:
        raise InvalidArgument(f"{what}: {cells.shown}; pass {cells.advice or 'rows of one length'}")
    return _widened(array) if array.dtype == _BFLOAT16 else array


def look_at_digits(
    X: Any, rows: Distances, what: str, plain: bool, quiet: bool, gaps: bool = False, floats: bool = False
) -> None:
    """Warns, as `kith.Index` does, if converting `X` to `rows` of float32 loses digits that matter, unless `quiet`;
    refuses whole numbers that are no float64 if `rows` are of float64. `floats`: the index rounds `rows` to float32.
    """
    frame = frame_of(X, what)
    if rows.dtype == np.float64 and not floats:
        return check_exact(np.asarray(X), what) if frame is None else frame.check_exact(what)
    if quiet:
        return
    columns = [] if frame is None else frame.arrays()
    columns = [with_gaps(column, what) for column in columns] if gaps else columns
    numbers = [column if column.dtype.kind in NUMBERS else column.astype(np.float64) for column in columns]
    given = np.asarray(X) if frame is None else side_by_side(numbers)
    if floats and frame is not None and given.dtype.kind == "f":
        frame.check_exact(what, columns)
    if given.dtype.kind not in NUMBERS:
        given = given.astype(np.float64)
    if not np.can_cast(given.dtype, np.float32):
        told = Given(what, frame and frame.names, plain, gaps=gaps)
        with np.errstate(over="ignore"):
            rounded = rows.astype(np.float32, copy=False)
        look_at_rounding(given, rounded, told, quiet=False)
