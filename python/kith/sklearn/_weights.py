"""Computes votes and means with weights that the caller's function computes from distances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, NamedTuple

import numpy as np

from .._core._errors import InvalidArgument

if TYPE_CHECKING:
    from .._core._types import Array


class Weighed(NamedTuple):
    """Holds lists of neighbours, and the function that weighs them.

    Attributes
    ----------
    weigh : function
        Returns the caller's weights of all distances, in their order.
    first : array of int64, [m + 1]
    distance, row : array, [first[m]]
        Row -1 is none, and gets the weight 0.
    """

    weigh: Callable[[], Any]
    first: Array
    distance: Array
    row: Array

    def weights(self) -> Array:
        """Returns the checked weights, [first[m]]."""
        weights = np.asarray(self.weigh(), np.float64)
        shape = self.distance.shape
        if weights.shape == shape:
            weights = np.where(self.row < 0, 0, weights)
        if weights.shape != shape or not np.isfinite(weights).all() or (weights < 0).any():
            raise InvalidArgument(
                f"kith.sklearn: weights gave shape {weights.shape} for distances of shape {shape}, or a number that is "
                "negative or not finite; return one finite weight of 0 or more for each distance"
            )
        return weights


def shares_by_weights(found: Weighed, codes: Array, classes: int) -> Array:
    """Returns the share of each class in the sum of weights, [m, classes]; zeros for a query without weights."""
    m = len(found.first) - 1
    query = np.repeat(np.arange(m), np.diff(found.first))
    score = np.zeros((m, classes))
    np.add.at(score, (query, codes[found.row]), found.weights())
    total = score.sum(axis=1, keepdims=True)
    share: Array = np.divide(score, total, out=np.zeros_like(score), where=total > 0)
    return share


def means_by_weights(found: Weighed, values: Array) -> Array:
    """Returns the weighted means of values, [m, outputs]; NaN for a query without weights."""
    m = len(found.first) - 1
    query = np.repeat(np.arange(m), np.diff(found.first))
    weights = found.weights()
    total, mean = np.zeros(m), np.zeros((m, values.shape[1]))
    np.add.at(total, query, weights)
    np.add.at(mean, query, values[found.row] * weights[:, None])
    with np.errstate(invalid="ignore", divide="ignore"):
        result: Array = mean / total[:, None]
    return result
