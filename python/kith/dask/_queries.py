"""Divides queries into tiles: those of an array, a dask array or a file."""

from __future__ import annotations

import os
from typing import Any, NamedTuple, Optional, Union

import numpy as np
from distributed import Client

from .._core._checks import at_least_1, check_columns
from .._core._errors import InvalidArgument
from .._rows._arrays import centred_rows_of
from .._rows._categories import FrameCategories, names_of
from .._rows._limits import radii_of
from . import _client as c
from . import _tasks as tasks
from ._arithmetic import Width, converted
from ._files import Layout

_MOST = 10_000  # queries of a tile: enough for a GPU, and few enough to make many tiles


class Tile(NamedTuple):
    """Holds the queries begin ... end - 1 as a lazy array."""

    begin: int
    end: int
    rows: Any


class Columns(NamedTuple):
    """Describes the columns of the training rows: how many, the metric, their names if the rows came as a frame,
    whether they have a centre, the arithmetic, and the categories of a frame.
    """

    number: int
    metric: str
    names: Optional[list[Any]] = None
    centred: bool = False
    arithmetic: Width = "f32"
    categories: Optional[FrameCategories] = None


class Queries:
    """Divides queries into tiles. It is a context manager, whose end removes the files written for workers."""

    def __init__(
        self,
        client: Client,
        Q: Any,
        like: Columns,
        k: int,
        tile: Optional[int],
        scratch: Optional[str],
        where: str,
    ) -> None:
        self._shipped: Optional[c.Shipped] = None
        tile = None if tile is None else at_least_1(tile, f"{where}: tile")
        self.lazy = is_dask(Q)
        self._name = c.token()
        if self.lazy:
            self.tiles = self._blocks(Q, where)
            columns = Q.shape[1]
        elif isinstance(Q, (str, os.PathLike)):
            path = os.path.abspath(os.fspath(Q))
            [layout] = c.run(client, [c.task(tasks.describe, f"describe-{self._name}", path)])
            columns = layout.columns
            self.tiles = self._cut(layout.rows, tile or _tile(like, k), lambda a, b: _part(path, a, b, layout))
        else:
            if like.categories is not None:
                check_columns(like.names, names_of(Q), where)  # since categories belong to places of columns
                Q = like.categories.numbered(Q, where)
            if like.centred:
                rows: Any = centred_rows_of(Q, where, metric=like.metric)
            else:
                rows = converted(Q, where, like.arithmetic, like.metric, quiet=True)
            check_columns(like.names, rows.columns, where)
            columns = rows.array.shape[1]
            self._check(columns, like.number, where)
            self._shipped = c.Shipped(client, rows.array, scratch, where)
            self.tiles = self._cut(len(rows.array), tile or _tile(like, k), self._shipped.part)
        self._check(columns, like.number, where)
        self.count = self.tiles[-1].end if self.tiles else 0

    def __enter__(self) -> Queries:
        return self

    def __exit__(self, *_: Any) -> None:
        if self._shipped is not None:
            self._shipped.remove()

    def _check(self, columns: int, dims: int, where: str) -> None:
        if columns != dims:
            raise InvalidArgument(
                f"{where}: {columns} columns, but the training rows have {dims}; pass queries with the same columns"
            )

    def _cut(self, count: int, size: int, part: Any) -> list[Tile]:
        places = [*range(0, count, size), count]
        return [
            Tile(a, b, c.task(tasks.queries_of, f"queries-{self._name}-{i}", part(a, b)))
            for i, (a, b) in enumerate(zip(places, places[1:]))
        ]

    def _blocks(self, Q: Any, where: str) -> list[Tile]:
        check_blocks(Q, where)
        ends = np.cumsum([0, *Q.chunks[0]]).tolist()
        blocks = Q.rechunk({1: -1}).to_delayed()[:, 0]
        return [Tile(a, b, block) for a, b, block in zip(ends, ends[1:], blocks) if b > a]


def is_dask(array: Any) -> bool:
    return type(array).__module__.startswith("dask.array")


def check_blocks(array: Any, where: str) -> None:
    """Refuses a dask array that is not [rows, columns] with a known number of rows."""
    if array.ndim != 2 or any(np.isnan(size) for size in array.shape):
        raise InvalidArgument(
            f"{where}: a dask array of shape {array.shape}; pass [rows, columns] with known sizes "
            "(compute_chunk_sizes())"
        )


def radii(radius: Any, count: int, metric: str, where: str, kind: Any) -> Any:
    """Returns a function that gives the radius, or the radii, of a tile. `kind`: the dtype of distances."""
    values = radii_of(radius, metric, where, kind)
    if values.size not in (1, count):
        raise InvalidArgument(f"{where}: {values.size} radii for {count} queries; pass one, or one a query")
    if values.size == 1:
        return lambda tile: float(values.ravel()[0])
    return lambda tile: values.ravel()[tile.begin : tile.end]


def _part(path: str, begin: int, end: int, layout: Layout) -> tasks.Rows:
    return tasks.Rows(path, begin, end, layout)


def _tile(like: Columns, k: int) -> int:
    """Returns the queries per tile with which neither queries nor keys exceed 8 MB."""
    size = 8 if like.arithmetic == "f64" else 4
    widest: Union[int, float] = max(size * like.number, (size + 8) * k, 1)
    return int(max(1, min(_MOST, c.AT_ONCE // widest)))
