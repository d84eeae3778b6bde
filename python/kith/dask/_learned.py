"""Learns from the rows of all shards what a metric needs of their columns, with the bits of one index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Optional

import numpy as np
from distributed import Client

from .._core._errors import Error, InvalidArgument
from .._core._metrics import takes_categories
from . import _client as c
from . import _tasks as tasks
from ._arithmetic import Width, converted

if TYPE_CHECKING:
    from .._core._types import Float64

_ROWS = 1 << 16  # that are added up together


class Part(NamedTuple):
    """Holds the rows of a shard, or the task that makes them; its name; and how many rows it has."""

    source: Any
    name: str
    rows: int


def with_learned(
    client: Client, parts: list[Part], metric: str, arithmetic: Width, takes: dict[str, Any]
) -> dict[str, Any]:
    """Returns what the metric takes, with the ranges of metrics of categories and the variances of ``seuclidean``."""
    if takes_categories(metric) and takes.get("ranges") is None:
        return {**takes, "ranges": _ranges(client, parts, metric, arithmetic)}
    if metric == "seuclidean" and takes.get("V") is None:
        return {**takes, "V": _variances(client, parts, metric, arithmetic)}
    return takes


def _ranges(client: Client, parts: list[Part], metric: str, arithmetic: Width) -> Float64:
    name = c.token()
    found = [
        c.task(ends_of, f"ends-{name}-{i}", part.source, part.name, metric, arithmetic) for i, part in enumerate(parts)
    ]
    ends = np.stack(c.run(client, found))  # [shards, 2, columns]
    with np.errstate(over="ignore"):
        ranges: Float64 = ends[:, 1].max(0) - ends[:, 0].min(0)
    return np.clip(ranges, 0, np.finfo(np.float64).max)


def _variances(client: Client, parts: list[Part], metric: str, arithmetic: Width) -> Float64:
    count, name = sum(part.rows for part in parts), c.token()
    if count < 2:
        raise InvalidArgument(
            "kith.dask.Index: metric='seuclidean' without V, and 1 row has no variances; pass V, or more rows"
        )
    sums = squares = None
    for i, (source, shown, _) in enumerate(parts):  # one after another, because sums are rounded
        sums = c.task(add_values, f"sums-{name}-{i}", source, shown, metric, arithmetic, sums)
    for i, (source, shown, _) in enumerate(parts):
        squares = c.task(add_squares, f"squares-{name}-{i}", source, shown, metric, arithmetic, sums, count, squares)
    [found] = c.run(client, [squares])
    variances: Float64 = found / (count - 1)
    return np.where(np.isnan(variances), 1.0, variances)  # of a row that its shard refuses, and names


def ends_of(source: Any, name: str, metric: str, arithmetic: Width) -> Float64:
    """Returns the smallest and the largest value of each column, [2, columns]. NaN counts as none: it is a missing
    value, or shards refuse it."""
    rows, most = _rows(source, name, metric, arithmetic), np.finfo(np.float64).max
    return np.stack([np.fmin.reduce(rows, axis=0, initial=most), np.fmax.reduce(rows, axis=0, initial=-most)])


def add_values(source: Any, name: str, metric: str, arithmetic: Width, before: Optional[Float64]) -> Float64:
    return _added(_rows(source, name, metric, arithmetic), before)


def add_squares(
    source: Any, name: str, metric: str, arithmetic: Width, sums: Float64, count: int, before: Optional[Float64]
) -> Float64:
    rows = _rows(source, name, metric, arithmetic)
    with np.errstate(over="ignore", invalid="ignore"):
        apart = rows - sums / count
        return _added(apart * apart, before)


def _added(values: Float64, before: Optional[Float64]) -> Float64:
    """Adds rows to sums, one row after the other."""
    sums = np.zeros(values.shape[1]) if before is None else before
    with np.errstate(over="ignore", invalid="ignore"):
        for first in range(0, len(values), _ROWS):
            sums = np.add.accumulate(np.vstack([sums, values[first : first + _ROWS]]), axis=0)[-1]
    return sums


def _rows(source: Any, name: str, metric: str, arithmetic: Width) -> Float64:
    """Returns the rows of a shard as doubles, rounded to float32 first if the index does so."""
    try:
        rows = source.read() if isinstance(source, tasks.Rows) else np.asarray(source)
        return converted(rows, name, arithmetic, metric, quiet=True).array.astype(np.float64, copy=False)
    except Error as error:
        raise tasks.named(error, name) from None
