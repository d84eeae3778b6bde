"""Learns the mean of each column from rows in parts, for example in several processes, one after another."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy as np

from .._rows._arrays import address, centred_rows_of
from ._errors import InvalidArgument
from ._library import check, lib
from ._types import Float64


class Learned(NamedTuple):
    """Holds what was learned from some rows.

    Attributes
    ----------
    rows : int
        All rows until now.
    state : array of float64, [2, dims]
        The sums from which the next rows continue.
    centre : array of float64, [dims]
        The mean of all rows until now.
    """

    rows: int
    state: Float64
    centre: Float64


def learn(X: Any, what: str, before: Optional[Learned] = None) -> Learned:
    """Return the centre of all rows before and these, with the bits of ``kith.Index(all of them, centre=True)``."""
    rows = centred_rows_of(X, what)
    count, dims = rows.array.shape
    state = np.zeros((2, dims)) if before is None else before.state.copy()
    if state.shape[1] != dims:
        raise InvalidArgument(f"{what}: {dims} columns, but the rows before have {state.shape[1]}; pass as many")
    known, centre = 0 if before is None else before.rows, np.zeros(dims)
    check(lib.kith_centre_learn(rows.struct, known, address(state), address(centre)))
    return Learned(known + count, state, centre)
