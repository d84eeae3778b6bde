"""Votes and means weighed by a caller's function of distances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable

import numpy as np

from .._errors import InvalidArgument

if TYPE_CHECKING:
    from .._types import Array


def _weights(function: Callable[[Array], Array], distance: Array) -> Array:
    weights = np.asarray(function(distance), np.float64)
    if weights.shape != distance.shape or not np.isfinite(weights).all() or (weights < 0).any():
        raise InvalidArgument(
            f"kith.sklearn: weights gave shape {weights.shape} for distances of shape {distance.shape}, or a number that "
            "is negative or not finite; return one finite weight of 0 or more for each distance"
        )
    return weights


def shares_by_weights(
    function: Callable[[Array], Array], codes: Array, classes: int, first: Array, distance: Array, row: Array
) -> Array:
    """The share of each class in the sum of weights, [m, classes]; zeros for a query without any."""
    m = len(first) - 1
    query = np.repeat(np.arange(m), np.diff(first))
    score = np.zeros((m, classes))
    np.add.at(score, (query, codes[row]), _weights(function, distance))
    total = score.sum(axis=1, keepdims=True)
    share: Array = np.divide(score, total, out=np.zeros_like(score), where=total > 0)
    return share


def means_by_weights(
    function: Callable[[Array], Array], values: Array, first: Array, distance: Array, row: Array
) -> Array:
    """The weighted means of values, [m, outputs]; NaN for a query without any weight."""
    m = len(first) - 1
    query = np.repeat(np.arange(m), np.diff(first))
    weights = _weights(function, distance)
    total, mean = np.zeros(m), np.zeros((m, values.shape[1]))
    np.add.at(total, query, weights)
    np.add.at(mean, query, values[row] * weights[:, None])
    with np.errstate(invalid="ignore", divide="ignore"):
        result: Array = mean / total[:, None]
    return result
