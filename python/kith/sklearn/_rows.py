"""Rows from whatever the caller has, before scikit-learn checks them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core._errors import InvalidArgument
from .._rows._cells import MISREAD, NUMBERS, cells_of_rows
from .._rows._frames import frame_of, known
from .._rows._host import _BFLOAT16, _host_array, _widened


def looked_at(X: Any, what: str) -> Any:
    """`X` as scikit-learn knows it, once no cell holds what it misreads: a date, a duration, a list."""
    if isinstance(X, np.ndarray) and X.dtype.kind in NUMBERS:
        return X
    X = known(X, what)
    frame = frame_of(X, what)
    if frame is not None:
        frame.checked(what, "X", MISREAD)
        return X
    if hasattr(X, "toarray") and hasattr(X, "nnz"):  # sparse, which it refuses by itself
        return X
    array = _host_array(X, what)[0]
    cells = None if array.dtype.kind in NUMBERS else cells_of_rows(array, X, "X")
    if cells is not None and cells.kind in MISREAD:
        raise InvalidArgument(f"{what}: {cells.shown}; pass {cells.advice or 'rows of one length'}")
    return _widened(array) if array.dtype == _BFLOAT16 else array
