"""Declares the results of searches, and copies lists of the library."""

from __future__ import annotations

import ctypes as c
from typing import Any, NamedTuple, Optional

import numpy as np

from .._rows._arrays import address
from . import _structs as s
from ._library import Handle, check, lib
from ._types import Array, Distances, Int64


class Neighbors(NamedTuple):
    """Holds the result of a search: ``distance, row = index.search(...)``.

    Attributes
    ----------
    distance : array of float32 or float64, [m, k]
        Nearest first. float64 if the index computes in double precision: `Index.arithmetic`.
    row : array of int64, [m, k]
        Training rows, from 0; among equally near ones the smaller comes first. A list of fewer than k rows, due to a
        filter, ends in distance inf, row -1.
    """

    distance: Distances
    row: Int64


class RadiusNeighbors(NamedTuple):
    """Holds the result of a search within a radius: the list of query q is ``first[q]:first[q + 1]`` of both others.

    Attributes
    ----------
    first : array of int64, [m + 1]
    distance : array of float32 or float64, [first[m]]
        The list of each query begins with the nearest.
    row : array of int64, [first[m]]
    """

    first: Int64
    distance: Distances
    row: Int64


class Pairs(NamedTuple):
    """Holds pairs of training rows, by their numbers: a block of `Index.pairs`.

    Attributes
    ----------
    first, second : array of int64, [pairs]
        ``first < second``. Pairs ascend by ``first``, then by distance, then by ``second``.
    distance : array of float32 or float64, [pairs]
    """

    first: Int64
    second: Int64
    distance: Distances


def pairs_of(handle: Handle, kind: Any) -> Pairs:
    """Find and copy the next pairs of a kith_pairs, with distances of dtype `kind`; none if there are no more."""
    info = s.sized(s.PairsInfo)
    check(lib.kith_pairs_next(handle.value, info))
    whole, distance = np.dtype(np.int64), info.distance64 if kind is np.float64 else info.distance
    first, second = (copied(where, info.count, whole) for where in (info.first, info.second))
    return Pairs(first, second, copied(distance, info.count, np.dtype(kind)))


def lists_of(within: Handle, kind: Any) -> tuple[Array, Array, Array]:
    """Copy what a kith_within holds: first, distance of dtype `kind`, row."""
    info = s.sized(s.WithinInfo)
    check(lib.kith_within_describe(within.value, info))
    first = copied(info.first, info.queries + 1, np.dtype(np.int64))
    count = int(first[-1])
    distance = info.distance64 if kind is np.float64 else info.distance
    return first, copied(distance, count, np.dtype(kind)), copied(info.row, count, np.dtype(np.int64))


def copied(where: Optional[int], count: int, kind: np.dtype[Any]) -> Array:
    """Copy an array of the library, which frees its own with the handle."""
    array = np.empty(count, kind)
    if count and where:
        c.memmove(address(array), where, array.nbytes)
    return array
