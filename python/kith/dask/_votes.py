"""Computes votes and means of neighbours that shards found, operation by operation as docs/contract.md, section 5.

They have the bits of `kith.sklearn` of all rows. Workers compute them, for a tile of queries at a time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np

from . import _tasks as tasks

if TYPE_CHECKING:
    from .._core._results import Neighbors
    from .._core._types import Array, Distances, Float64, Int64

_MOST: dict[int, Any] = {4: np.float32(2.0**95), 8: np.float64(2.0**256)}  # the largest weight, by the bytes of a distance


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
    weight = _weights(found, weights)
    score = np.zeros((len(weight), classes), weight.dtype)
    query = np.arange(len(weight))
    for rank in range(weight.shape[1]):  # in this order, because sums are rounded
        score[query, codes[found.row[:, rank]]] += weight[:, rank]
    value = score.astype(np.float64)  # of float32, or as it is
    total = np.cumsum(value, axis=1)[:, -1:]  # in the order of classes
    share = np.divide(value, total, out=np.zeros_like(value), where=total > 0)
    return Votes(np.where(total[:, 0] > 0, score.argmax(axis=1), -1).astype(np.int64), share)


def mean(found: Neighbors, values: Float64, weights: str) -> Float64:
    """Returns the weighted means of values, [m] or [m, outputs]; NaN if no weight is above 0."""
    weight = _weights(found, weights).astype(np.float64)
    flat = values.reshape(len(values), -1)
    total, result = np.zeros((len(weight), 1)), np.zeros((len(weight), flat.shape[1]))
    for rank in range(weight.shape[1]):
        result += weight[:, rank, None] * flat[found.row[:, rank]]
        total += weight[:, rank, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        means: Float64 = result / total
    return means.reshape(len(weight), *values.shape[1:])


def _weights(found: Neighbors, weights: str) -> Distances:
    """Returns the weight of each neighbour, in the arithmetic of the distances; 0 for row -1, which is none."""
    distance = found.distance
    kind: Any = distance.dtype.type
    if weights == "uniform":
        ones: Distances = (found.row >= 0).astype(kind)
        return ones
    with np.errstate(divide="ignore", over="ignore"):
        weight = np.minimum(kind(1) / distance, _MOST[distance.itemsize])
    exact = distance[:, :1] == 0
    plain: Distances = np.where(exact, (distance == 0).astype(kind), weight)
    return plain
