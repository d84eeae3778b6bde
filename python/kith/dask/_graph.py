"""Makes the tasks of a search, which search every shard for every tile of queries, merge keys and finish answers."""

from __future__ import annotations

from typing import Any, Callable

from . import _client as c
from . import _tasks as tasks
from ._queries import Tile

_TOGETHER = 8  # lists that one task merges

Search = Callable[[Any, Tile, str], Any]  # returns a lazy search of a shard for a tile, with this key


def merged(shards: list[Any], tiles: list[Tile], search: Search) -> list[Any]:
    """Returns the lazy keys of each tile, merged from all shards in groups of eight."""
    name = c.token()
    keys = []
    for t, tile in enumerate(tiles):
        lists = [search(shard, tile, f"search-{name}-{t}-{i}") for i, shard in enumerate(shards)]
        level = 0
        while len(lists) > 1:
            lists = [
                c.task(tasks.merge, f"merge-{name}-{t}-{level}-{i}", lists[i : i + _TOGETHER])
                for i in range(0, len(lists), _TOGETHER)
            ]
            level += 1
        keys.append(lists[0])
    return keys


def finished(shards: list[Any], like: tasks.Opened, tiles: list[Tile], search: Search) -> list[Any]:
    """Returns the lazy answers of each tile."""
    name = c.token()
    keys = merged(shards, tiles, search)
    return [c.task(tasks.finish, f"finish-{name}-{t}", like, one) for t, one in enumerate(keys)]
