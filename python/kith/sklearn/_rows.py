"""Prepares rows of every kind before scikit-learn checks them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .._core._errors import InvalidArgument
from .._rows._arrays import check_exact
from .._rows._cells import MISREAD, NUMBERS, cells_of_rows
from .._rows._digits import Given, look_at_rounding
from .._rows._frames import frame_of, known, side_by_side
from .._rows._host import _BFLOAT16, _host_array, _widened

if TYPE_CHECKING:
    from .._core._types import Distances, Float32


def looked_at(X: Any, what: str) -> Any:
    """Returns `X` in a form that scikit-learn reads. Refuses cells that it would misread: dates, durations, lists."""
    if isinstance(X, np.ndarray) and X.dtype.kind in NUMBERS:
        return X
    X = known(X, what)
    frame = frame_of(X, what)
    if frame is not None:
        frame.checked(what, "X", MISREAD)
        return X
    if hasattr(X, "toarray") and hasattr(X, "nnz"):  # scikit-learn itself refuses sparse rows
        return X
    array = _host_array(X, what)[0]
    cells = None if array.dtype.kind in NUMBERS else cells_of_rows(array, X, "X")
    if cells is not None and cells.kind in MISREAD:
        raise InvalidArgument(f"{what}: {cells.shown}; pass {cells.advice or 'rows of one length'}")
    return _widened(array) if array.dtype == _BFLOAT16 else array


def look_at_digits(X: Any, rows: Distances, what: str, plain: bool, quiet: bool) -> None:
    """Warns, as `kith.Index` does, if converting `X` to `rows` of float32 loses digits that matter, unless `quiet`;
    refuses whole numbers that are no float64 if `rows` are of float64.
    """
    frame = frame_of(X, what)
    if rows.dtype == np.float64:
        return check_exact(np.asarray(X), what) if frame is None else frame.check_exact(what)
    if quiet:
        return
    columns = [] if frame is None else frame.arrays()
    numbers = [column if column.dtype.kind in NUMBERS else column.astype(np.float64) for column in columns]
    given = np.asarray(X) if frame is None else side_by_side(numbers)
    if given.dtype.kind not in NUMBERS:
        given = given.astype(np.float64)
    if not np.can_cast(given.dtype, np.float32):
        look_at_rounding(given, cast("Float32", rows), Given(what, frame and frame.names, plain), quiet=False)
