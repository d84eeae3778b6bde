"""Converts the ways in which callers name groups of rows: borders, a batch vector, arrays of three axes."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from .._rows._arrays import index_array
from ._errors import InvalidArgument
from ._results import Neighbors
from ._types import Int64


def borders_of_batch(batch: Any, count: int, what: str) -> Int64:
    """Return the borders of groups of a vector that names the group of each of `count` rows, ascending."""
    numbers = index_array(batch, what)
    if len(numbers) != count:
        raise InvalidArgument(f"{what}: {len(numbers)} numbers for {count} rows; pass one a row")
    if len(numbers) and numbers[0] < 0:
        raise InvalidArgument(f"{what}[0] = {numbers[0]}; pass numbers of groups from 0 on")
    falls = np.flatnonzero(np.diff(numbers) < 0)
    if len(falls):
        at = int(falls[0]) + 1
        raise InvalidArgument(
            f"{what}[{at}] = {numbers[at]} behind {numbers[at - 1]}; put the rows of a group side by side: "
            "order = numpy.argsort(batch, kind='stable')"
        )
    groups = int(numbers[-1]) + 1 if len(numbers) else 1
    return np.searchsorted(numbers, np.arange(groups + 1), "left").astype(np.int64)


class Clouds:
    """Holds rows of an array [B, n, d], of which cloud b has the first ``lengths[b]``, as groups of rows."""

    def __init__(self, X: Any, lengths: Optional[Any], where: str) -> None:
        self._shape = (int(X.shape[0]), int(X.shape[1]))
        clouds, n = self._shape
        self._inside: Optional[Any] = None
        if lengths is None:
            self.rows = X.reshape(clouds * n, int(X.shape[2]))
            self.borders = np.arange(clouds + 1, dtype=np.int64) * n
            return
        counts = index_array(lengths, f"{where}: lengths")
        if len(counts) != clouds or (clouds and (counts.min() < 0 or counts.max() > n)):
            raise InvalidArgument(f"{where}: lengths={counts.tolist()[:9]}; pass {clouds} numbers from 0 to {n}")
        self._inside = np.arange(n) < counts[:, None]
        self.rows = np.asarray(X)[self._inside]
        self.borders = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)

    def shaped(self, found: Neighbors) -> Neighbors:
        """Return answers [B, n, k]; behind the length of a cloud they are padded."""
        clouds, n = self._shape
        k = int(found.row.shape[1])
        if self._inside is None:
            return Neighbors(found.distance.reshape(clouds, n, k), found.row.reshape(clouds, n, k))
        distance = np.full((clouds, n, k), np.inf, found.distance.dtype)
        row = np.full((clouds, n, k), -1, np.int64)
        distance[self._inside], row[self._inside] = found.distance, found.row
        return Neighbors(distance, row)
