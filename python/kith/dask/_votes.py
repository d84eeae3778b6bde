"""Computes votes and means of neighbours that shards found, operation by operation as docs/contract.md, section 5.

They have the bits of `kith.sklearn` of all rows. Workers compute them, for a tile of queries at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np

from . import _tasks as tasks

if TYPE_CHECKING:
    from .._core._results import Neighbors
    from .._core._types import Array, Distances, Float32, Float64, Int64

_MOST = np.float32(2.0**95)


class Votes(NamedTuple):
    """Holds the votes for the queries of a tile.

    Attributes
    ----------
    code : array of int64, [m]
        Code of the class that wins; -1 if none has a vote.
    share : array of float64, [m, classes]
    """

    code: Int64
    share: Float64


def codes_of(blocks: list[Any], classes: Array) -> Array:
    """Joins blocks of labels as their places in `classes`, [n], in the smallest type that holds them."""
    small = np.min_scalar_type(max(len(classes) - 1, 0))
    return np.concatenate([np.searchsorted(classes, np.asarray(block)).astype(small) for block in blocks])


def values_of(blocks: list[Any]) -> Float64:
    """Joins blocks of values, [n] or [n, outputs], as float64."""
    joined: Float64 = np.concatenate([np.asarray(block, np.float64) for block in blocks])
    return joined


def taken(part: Union[tasks.Rows, Array], columns: tuple[int, ...]) -> Array:
    """Returns the codes or values of all rows, from a task or a file, in their own shape."""
    rows = tasks.queries_of(part)
    return rows.reshape(len(rows), *columns)


def vote(found: Neighbors, codes: Array, classes: int, weights: str) -> Votes:
    """Returns the winner of each query, and the share of each class."""
    weight = _weights(found.distance, weights)
    score = np.zeros((len(weight), classes), np.float32)
    query = np.arange(len(weight))
    for rank in range(weight.shape[1]):  # in this order, because float32 sums are rounded
        score[query, codes[found.row[:, rank]]] += weight[:, rank]
    value = score.astype(np.float64)
    total = np.cumsum(value, axis=1)[:, -1:]  # in the order of classes
    share = np.divide(value, total, out=np.zeros_like(value), where=total > 0)
    return Votes(np.where(total[:, 0] > 0, score.argmax(axis=1), -1).astype(np.int64), share)


def mean(found: Neighbors, values: Float64, weights: str) -> Float64:
    """Returns the weighted means of values, [m] or [m, outputs]; NaN if no weight is above 0."""
    weight = _weights(found.distance, weights).astype(np.float64)
    flat = values.reshape(len(values), -1)
    total, result = np.zeros((len(weight), 1)), np.zeros((len(weight), flat.shape[1]))
    for rank in range(weight.shape[1]):
        result += weight[:, rank, None] * flat[found.row[:, rank]]
        total += weight[:, rank, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        means: Float64 = result / total
    return means.reshape(len(weight), *values.shape[1:])


def _weights(distance: Distances, weights: str) -> Float32:
    if weights == "uniform":
        return np.ones(distance.shape, np.float32)
    with np.errstate(divide="ignore"):
        weight = np.minimum(np.float32(1) / distance, _MOST)
    exact = distance[:, :1] == 0
    plain: Float32 = np.where(exact, (distance == 0).astype(np.float32), weight)
    return plain
