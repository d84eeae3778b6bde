"""Repeats a part of a search on other workers, to find and name those that are silently wrong."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Optional

import numpy as np
from distributed import Client

from .._core._errors import DeviceFailure, InvalidArgument
from . import _client as c
from . import _tasks as tasks
from ._queries import Tile


class Verified(NamedTuple):
    """Says what `Index.verify` compared; all of it was equal.

    Attributes
    ----------
    tasks : int
        The number of tasks of the search.
    repeated : int
        The number of those that were repeated.
    workers : tuple of str
        The addresses of the workers whose answers were checked.
    """

    tasks: int
    repeated: int
    workers: tuple[str, ...]


class _Pair(NamedTuple):
    """Names a task of the search by the numbers of its shard and its tile."""

    shard: int
    tile: int


def verify(
    client: Client,
    shards: list[Any],
    names: list[str],
    tiles: list[Tile],
    k: int,
    share: float,
    device: str,
    seed: Optional[int],
) -> Verified:
    if not 0 <= share <= 1:
        raise InvalidArgument(f"kith.dask.Index.verify: share = {share}; choose 0 to 1")
    pairs = [_Pair(shard, tile) for tile in range(len(tiles)) for shard in range(len(shards))]
    if not pairs:
        return Verified(0, 0, ())
    count = min(len(pairs), max(1, math.ceil(share * len(pairs))))
    chosen = np.random.default_rng(seed).choice(len(pairs), count, replace=False)
    some = [pairs[i] for i in sorted(chosen.tolist())]
    name = c.token()
    first = c.run(
        client,
        [
            c.task(tasks.sign, f"sign-{name}-{i}", shards[p.shard], tiles[p.tile].rows, tiles[p.tile].begin, k)
            for i, p in enumerate(some)
        ],
    )
    second = _elsewhere(client, shards, tiles, k, device, some, [{one.worker} for one in first])
    differ = [i for i in range(count) if first[i].digest is None or first[i].digest != second[i].digest]
    if differ:
        judged = [some[i] for i in differ]
        third = _elsewhere(
            client, shards, tiles, k, device, judged, [{first[i].worker, second[i].worker} for i in differ]
        )
        lines = [
            _difference(names[some[i].shard], tiles[some[i].tile], first[i], second[i], judge)
            for i, judge in zip(differ, third)
        ]
        raise DeviceFailure(
            f"kith.dask.Index.verify: {len(differ)} of {count} repeated tasks differ: {'; '.join(lines[:8])}; take the "
            "worker out (client.retire_workers), then search again"
        )
    return Verified(len(pairs), count, tuple(sorted({one.worker for one in first})))


def _elsewhere(
    client: Client,
    shards: list[Any],
    tiles: list[Tile],
    k: int,
    device: str,
    pairs: list[_Pair],
    without: list[set[str]],
) -> list[tasks.Signed]:
    """Repeats each task, if possible on a worker that is not in `without`."""
    name = c.token()
    workers = set(client.nthreads())
    with c.named_failures(client):
        opened = client.compute([shards[pair.shard] for pair in pairs])
        asked = client.compute([tiles[pair.tile].rows for pair in pairs])
        futures = []
        for i, (pair, shard, queries, seen) in enumerate(zip(pairs, opened, asked, without)):
            arguments = (shard, device, queries, tiles[pair.tile].begin, k)
            # Only this task is bound to these workers, and only while they live.
            bound = {"workers": sorted(workers - seen) or sorted(workers), "allow_other_workers": True}
            futures.append(client.submit(tasks.repeat, *arguments, key=f"kith-repeat-{name}-{i}", **bound))
        return list(client.gather(futures))


def _difference(
    shard: str, tile: Tile, first: tasks.Signed, second: tasks.Signed, judge: tasks.Signed
) -> str:
    where = f"{shard}, queries {tile.begin} to {tile.end - 1}"
    digests = {one.worker: f"{one.worker} gave {_shown(one.digest)}" for one in (first, second)}
    if judge.digest is not None and judge.worker not in digests and judge.digest in (first.digest, second.digest):
        wrong, right = (second, first) if judge.digest == first.digest else (first, second)
        return f"worker {wrong.worker} is wrong for {where}: {right.worker} and {judge.worker} agree on another digest"
    return f"workers differ for {where}: {' and '.join(digests.values())}"


def _shown(digest: Optional[int]) -> str:
    return "keys that no search finds" if digest is None else f"{digest:016x}"
