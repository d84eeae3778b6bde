"""Makes the shards of an index: tasks that open them, and recipes to open them again."""

from __future__ import annotations

import os
from typing import Any, NamedTuple, Optional

import numpy as np
from distributed import Client

from .._core._checks import advice_on_centre, at_least_1, centre_of
from .._core._errors import InvalidArgument
from .._core._library import version
from .._core._index import categories_of
from .._core._metrics import metric_named
from .._core._types import Float64, MetricName
from .._rows._arrays import centred_rows_of
from . import _client as c
from . import _tasks as tasks
from ._arithmetic import Choice, Width, chosen, chosen_by_files, converted
from ._learned import Part, with_learned
from ._queries import Columns, check_blocks, is_dask


class Shards(NamedTuple):
    """Holds a lazy `tasks.Shard` and a recipe for each shard."""

    opened: list[Any]
    recipes: list[tasks.Recipe]
    columns: Columns


def shards_of_files(
    client: Client,
    files: Any,
    metric: MetricName,
    device: str,
    shard_rows: Optional[int],
    centre: Any,
    arithmetic: Choice,
    takes: Optional[dict[str, Any]] = None,
) -> Shards:
    where = "kith.dask.Index.from_files"
    names, metric = _names(client, files, where), metric_named(metric)
    name = c.token()
    layouts = c.run(client, [c.task(tasks.describe, f"describe-{name}-{i}", n) for i, n in enumerate(names)])
    for path, layout in zip(names, layouts):
        if layout.columns != layouts[0].columns:
            raise InvalidArgument(
                f"{where}: {path} has {layout.columns} columns, but {names[0]} has {layouts[0].columns}; "
                "all files need the same"
            )
    width = chosen_by_files(names, [layout.dtype for layout in layouts], arithmetic, where)
    parts = []
    for path, layout in zip(names, layouts):
        size = layout.rows if shard_rows is None else at_least_1(shard_rows, f"{where}: shard_rows")
        for begin in range(0, layout.rows, size):
            parts.append(tasks.Rows(path, begin, min(begin + size, layout.rows), layout))
    counts = [part.end - part.begin for part in parts]
    named = [(part, _shown(part)) for part in parts]
    recipes = _recipes(client, named, parts, counts, metric, device, width, centre, takes or {})
    shards = [c.task(tasks.open_shard, f"open-{name}-{i}", recipe) for i, recipe in enumerate(recipes)]
    return Shards(shards, recipes, Columns(layouts[0].columns, metric, None, recipes[0].centre is not None, width))


def shards_of_array(
    client: Client,
    array: Any,
    metric: MetricName,
    device: str,
    shards: Optional[int],
    scratch: Optional[str],
    centre: Any,
    arithmetic: Choice,
    takes: Optional[dict[str, Any]] = None,
) -> Shards:
    where = "kith.dask.Index.from_array"
    metric, name = metric_named(metric), c.token()
    if is_dask(array):
        check_blocks(array, where)
        blocks = [block for block in array.rechunk({1: -1}).to_delayed()[:, 0]]
        counts, dims = [int(size) for size in array.chunks[0]], int(array.shape[1])
        kept = [(block, count) for block, count in zip(blocks, counts) if count]
        blocks, counts = [block for block, _ in kept], [count for _, count in kept]
        if not blocks:
            raise InvalidArgument(f"{where}: an array of shape {array.shape} has no rows; pass at least one")
        unnamed: list[tuple[Any, str]] = [(None, f"block {i}") for i in range(len(blocks))]
        width = chosen(array.dtype, arithmetic)
        recipes = _recipes(client, unnamed, blocks, counts, metric, device, width, centre, takes or {})
        opened = [
            c.task(tasks.open_block, f"open-{name}-{i}", block, recipe)
            for i, (block, recipe) in enumerate(zip(blocks, recipes))
        ]
        return Shards(opened, recipes, Columns(dims, metric, None, recipes[0].centre is not None, width))
    takes = dict(takes or {})
    categories, takes["categorical"] = categories_of(array, metric, takes.get("categorical"), where)
    array = array if categories is None else categories.numbered(array, where)
    centred = centre is not None and centre is not False
    if centred:
        moved = centred_rows_of(array, where, metric=metric)
        rows, names, width = moved.array, moved.columns, "f32"
    else:
        rows, names, width = converted(array, where, arithmetic, metric, advice=lambda: advice_on_centre(metric))
    if len(rows) == 0:
        raise InvalidArgument(f"{where}: an array of shape {rows.shape} has no rows; pass at least one")
    places = _cut(len(rows), client, shards, where)
    shipped = c.Shipped(client, rows, scratch, where)
    cut = [shipped.part(a, b) for a, b in zip(places, places[1:])]
    counts = [b - a for a, b in zip(places, places[1:])]
    named = [(part, f"rows {a}") for part, a in zip(cut, places)]
    recipes = _recipes(client, named, cut, counts, metric, device, width, centre, takes)
    opened = [c.task(tasks.open_shard, f"open-{name}-{i}", recipe) for i, recipe in enumerate(recipes)]
    c.finalize(client, shipped)
    return Shards(opened, recipes, Columns(rows.shape[1], metric, names, centred, width, categories))


def shards_of_index_file(client: Client, path: Any, device: str, shards: Optional[int]) -> Shards:
    where = "kith.dask.Index.from_index_file"
    file, name = os.path.abspath(os.fspath(path)), c.token()
    [head] = c.run(client, [c.task(tasks.describe_index, f"describe-{name}", file)])
    if head.first_row:
        raise InvalidArgument(
            f"{where}: {file} is a shard, with first_row = {head.first_row}; name the file of an index of all rows"
        )
    places = _cut(head.rows, client, shards, where)
    parts = [tasks.IndexRows(file, a, b, head) for a, b in zip(places, places[1:])]
    counts = [part.end - part.begin for part in parts]
    named = [(part, f"{file}: rows {part.begin} to {part.end - 1}") for part in parts]
    width: Width = "f64" if head.element == "f64" else "f32"
    recipes = _recipes(client, named, parts, counts, head.metric, device, width)
    opened = [c.task(tasks.open_shard, f"open-{name}-{i}", recipe) for i, recipe in enumerate(recipes)]
    return Shards(opened, recipes, Columns(head.columns, head.metric, None, head.moves, width))


def _names(client: Client, files: Any, where: str) -> list[str]:
    if isinstance(files, (str, os.PathLike)):
        pattern = os.path.abspath(os.fspath(files))
        [names] = c.run(client, [c.task(tasks.list_files, f"list-{c.token()}", pattern)])
        return list(names)
    names = [os.path.abspath(os.fspath(name)) for name in files]
    if not names:
        raise InvalidArgument(f"{where}: no file; pass at least one")
    return names


def _cut(rows: int, client: Client, shards: Optional[int], where: str) -> list[int]:
    """Returns the first row of each shard, and the end of the last one."""
    parts = len(client.nthreads()) if shards is None else at_least_1(shards, f"{where}: shards")
    parts = max(1, min(parts, rows))
    return [rows * i // parts for i in range(parts + 1)]


def _recipes(
    client: Client,
    named: list[tuple[Any, str]],
    sources: list[Any],
    counts: list[int],
    metric: MetricName,
    device: str,
    arithmetic: Width,
    centre: Any = None,
    takes: Optional[dict[str, Any]] = None,
) -> list[tasks.Recipe]:
    """Returns one recipe per shard. `named`: its rows (None if a task has them) and its name. `takes`: what the metric
    takes; None for an index file, which has it."""
    if takes is not None:
        parts = [Part(source, shown, rows) for source, (_, shown), rows in zip(sources, named, counts)]
        takes = with_learned(client, parts, metric, arithmetic, takes)
    largest: Optional[float] = None  # in double precision the shard with the largest refuses what one index would
    if metric == "negative_dot" and arithmetic == "f32":
        name = c.token()
        asked = [
            c.task(tasks.largest_of, f"largest-{name}-{i}", source, shown)
            for i, (source, (_, shown)) in enumerate(zip(sources, named))
        ]
        largest = max(c.run(client, asked))
    first = np.cumsum([0, *counts]).tolist()
    moved_by = _centre(client, named, sources, centre)
    return [
        tasks.Recipe(rows, shown, metric, device, first[i], largest, version(), moved_by, arithmetic, takes)
        for i, (rows, shown) in enumerate(named)
    ]


def _centre(client: Client, named: list[tuple[Any, str]], sources: list[Any], centre: Any) -> Optional[Float64]:
    """Returns the given centre, or learns it from one shard after another, so that it has the bits of one index."""
    if centre is not True:
        return None if centre is None or centre is False else centre_of(centre, "kith.dask.Index")
    name, learned = c.token(), None
    for i, (source, (_, shown)) in enumerate(zip(sources, named)):
        learned = c.task(tasks.learn_centre, f"centre-{name}-{i}", source, shown, learned)
    [found] = c.run(client, [c.task(tasks.centre_of, f"centre-{name}", learned)])
    return np.asarray(found)


def _shown(part: tasks.Rows) -> str:
    if part.end - part.begin == part.layout.rows:
        return part.path
    return f"{part.path}: rows {part.begin} to {part.end - 1}"
