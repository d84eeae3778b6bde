"""The mean of each column, learned part by part: by several processes, one after the other."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy as np

from .._rows._arrays import address, centred_rows_of
from ._errors import InvalidArgument
from ._library import check, lib
from ._types import Float64


class Learned(NamedTuple):
    """What some rows have taught.

    Attributes
    ----------
    rows : int
        All until now.
    state : array of float64, [2, dims]
        What the next rows go on from.
    centre : array of float64, [dims]
        Of all rows until now.
    """

    rows: int
    state: Float64
    centre: Float64


def learn(X: Any, what: str, before: Optional[Learned] = None) -> Learned:
    """The centre of the rows before and these: that of ``kith.Index(all of them, centre=True)``."""
    rows = centred_rows_of(X, what)
    count, dims = rows.array.shape
    state = np.zeros((2, dims)) if before is None else before.state.copy()
    if state.shape[1] != dims:
        raise InvalidArgument(f"{what}: {dims} columns, but the rows before have {state.shape[1]}; pass as many")
    known, centre = 0 if before is None else before.rows, np.zeros(dims)
    check(lib.kith_centre_learn(rows.struct, known, address(state), address(centre)))
    return Learned(known + count, state, centre)
