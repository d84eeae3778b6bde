"""Joins the answers of tiles in memory or in files."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import Any, Callable, Optional

import numpy as np
from distributed import Client

from .._core._results import Neighbors, RadiusNeighbors
from .._core._watch import Progress, _bar
from ..files._formats import of_npy
from ..files._whole_file import whole_file
from . import _client as c
from ._queries import Tile

Shown = Callable[[], None]


def watched(progress: Progress, tiles: int) -> tuple[Shown, Shown]:
    """Returns a function to call after each tile, and one to call at the end."""
    bar, done = _bar(progress), [0]

    def advance() -> None:
        done[0] += 1
        if bar is not None:
            bar(done[0] / tiles)

    return advance, (lambda: None) if bar is None else bar.close


def lazy_neighbors(tiles: list[Tile], lists: list[Any], k: int, kind: Any) -> Neighbors:
    """Returns dask arrays of the answers of tiles. `kind`: the dtype of distances, here and below."""
    import dask.array as da

    def joined(place: int, dtype: Any) -> Any:
        blocks = [
            da.from_delayed(answer[place], (tile.end - tile.begin, k), dtype) for tile, answer in zip(tiles, lists)
        ]
        return da.concatenate(blocks) if blocks else da.zeros((0, k), dtype=dtype)

    return Neighbors(joined(0, kind), joined(1, np.int64))


def gather_neighbors(
    client: Client, tiles: list[Tile], lists: list[Any], k: int, kind: Any, shown: tuple[Shown, Shown]
) -> Neighbors:
    m = tiles[-1].end if tiles else 0
    found = Neighbors(np.empty((m, k), kind), np.empty((m, k), np.int64))
    _fill(client, tiles, lists, found, shown)
    return found


def write_neighbors(
    client: Client, tiles: list[Tile], lists: list[Any], k: int, kind: Any, folder: str, shown: tuple[Shown, Shown]
) -> Neighbors:
    """Writes ``distance.npy`` and ``row.npy``; the files get these names once they are complete."""
    m = tiles[-1].end if tiles else 0
    os.makedirs(folder, exist_ok=True)
    names = [os.path.join(folder, name) for name in ("distance.npy", "row.npy")]
    with ExitStack() as stack:
        files = [stack.enter_context(whole_file(name)) for name in names]
        made = [
            np.lib.format.open_memmap(file.name, "w+", dtype, (m, k))
            for file, dtype in zip(files, (kind, np.int64))
        ]
        _fill(client, tiles, lists, Neighbors(*made), shown)
        for array in made:
            array.flush()
    distance, row = names
    return Neighbors(of_npy(lambda: np.load(distance, mmap_mode="r")), of_npy(lambda: np.load(row, mmap_mode="r")))


def _fill(
    client: Client, tiles: list[Tile], lists: list[Any], found: Neighbors, shown: tuple[Shown, Shown]
) -> None:
    def put(i: int, answer: Neighbors) -> None:
        found.distance[tiles[i].begin : tiles[i].end] = answer.distance
        found.row[tiles[i].begin : tiles[i].end] = answer.row
        shown[0]()

    try:
        c.run(client, lists, put)
    finally:
        shown[1]()


def gather_radius(client: Client, lists: list[Any], kind: Any, shown: tuple[Shown, Shown]) -> RadiusNeighbors:
    answers: list[Optional[RadiusNeighbors]] = [None] * len(lists)

    def put(i: int, answer: RadiusNeighbors) -> None:
        answers[i] = answer
        shown[0]()

    try:
        c.run(client, lists, put)
    finally:
        shown[1]()
    counts = [np.diff(answer.first) for answer in answers if answer is not None]
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate([np.zeros(0, np.int64), *counts]))])
    kept = [answer for answer in answers if answer is not None]
    return RadiusNeighbors(
        first.astype(np.int64),
        np.concatenate([np.zeros(0, kind), *(answer.distance for answer in kept)]),
        np.concatenate([np.zeros(0, np.int64), *(answer.row for answer in kept)]),
    )
