"""Searches rows of tensors, in groups or as one, by `kith.Index` on the device of the tensors."""

from __future__ import annotations

from typing import Optional

import numpy as np
import torch
from torch import Tensor

from .._core._errors import InvalidArgument, Unsupported
from .._core._index import Index
from .._core._types import Int64, MetricName

_TAKEN = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.uint8, torch.int8)

Borders = Optional[tuple[Int64, Int64]]  # of the groups of rows and of queries; None: one group


def check_pair(x: Tensor, y: Tensor, names: str) -> None:
    """Refuse tensors of rows and queries that no search takes."""
    where = f"kith.torch: {names}"
    if x.dtype not in _TAKEN or x.dtype != y.dtype:
        raise InvalidArgument(
            f"{where} of {x.dtype} and {y.dtype}; pass both as float32, float64, float16, bfloat16, uint8 or int8"
        )
    if x.device != y.device:
        raise InvalidArgument(f"{where} on {x.device} and {y.device}; move both to one device")
    if x.device.type not in ("cpu", "cuda"):
        raise Unsupported(f"{where} on {x.device}; pass tensors of the host or of a CUDA device, such as x.cpu()")
    if x.shape[-1] != y.shape[-1]:
        raise InvalidArgument(f"{where} of {x.shape[-1]} and {y.shape[-1]} columns; pass as many")


def distance_type(x: Tensor) -> torch.dtype:
    return torch.float64 if x.dtype == torch.float64 else torch.float32


def below(radius: float, x: Tensor) -> float:
    """Return the largest squared distance that is nearer than `radius`: below its square, rounded once. -1: none is."""
    kind = np.float64 if x.dtype == torch.float64 else np.float32
    with np.errstate(over="ignore"):
        square = kind(float(radius) * float(radius))
    return float(np.nextafter(square, kind(0))) if square > 0 else -1.0


def nearest_rows(
    rows: Tensor,
    queries: Tensor,
    borders: Borders,
    k: int,
    metric: MetricName,
    own: bool = False,
    from_group: bool = False,
    most: Optional[float] = None,
) -> tuple[Tensor, Tensor]:
    """Find the k nearest rows of each query's group, at a distance of at most `most`: distance and row, [m, k].

    Where there are no more, the row is -1, and the distance any. There are fewer than k columns if no group has k.
    `own`: the queries are the rows, and none is its own neighbour.
    """
    largest = len(rows) if borders is None else int(np.diff(borders[0]).max())
    k = min(k, largest - own)
    if k < 1 or len(queries) == 0 or (most is not None and most < 0):
        empty = (len(queries), 0)
        return rows.new_empty(empty, dtype=distance_type(rows)), rows.new_empty(empty, dtype=torch.int64)
    of_rows, of_queries = (None, None) if borders is None else borders
    index = Index(rows.contiguous(), metric, _device(rows), groups=of_rows)
    cut = borders is None and rows.device.type == "cpu"  # else a radius goes by the host, or group by group
    found = index.search(
        queries.contiguous(),
        k,
        groups=of_queries,
        exclude_self_from=0 if own else None,
        rows_from_group=from_group and borders is not None,
        radius=most if cut else None,
    )
    distance, row = (torch.as_tensor(one, device=rows.device) for one in found)
    if most is not None and not cut:  # the nearest of those within it are the nearest of all, down to it
        row = torch.where(distance <= most, row, -1)
    return distance, row


def rows_within(
    rows: Tensor, queries: Tensor, borders: Borders, most: float, own: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Find all rows at a squared distance of at most `most`: the query, the row and the distance of each."""
    if most < 0 or len(rows) == 0 or len(queries) == 0:
        none = rows.new_empty(0, dtype=torch.int64)
        return none, none.clone(), rows.new_empty(0, dtype=distance_type(rows))
    of_rows, of_queries = (None, None) if borders is None else borders
    index = Index(rows.contiguous(), "squared_l2", _device(rows), groups=of_rows)
    host = queries.detach().cpu()  # which radius searches read
    found = index.within(host, most, groups=of_queries, exclude_self_from=0 if own else None)
    query = np.repeat(np.arange(len(queries)), np.diff(found.first))
    device = rows.device
    return (
        torch.from_numpy(query).to(device),
        torch.as_tensor(found.row, device=device),
        torch.as_tensor(found.distance, device=device),
    )


def borders_of(batch_x: Optional[Tensor], batch_y: Optional[Tensor], sizes: tuple[int, int], groups: int) -> Borders:
    """Return the borders of groups that two batch vectors name; `groups`: how many there are, 0: as named."""
    last = max(_last(batch_x, sizes[0], "batch_x"), _last(batch_y, sizes[1], "batch_y"))
    if groups and last >= groups:
        raise InvalidArgument(f"kith.torch: batch_size={groups}, but the batch has {last}; pass {last + 1} or more")
    groups = max(groups, last + 1)
    if groups < 2:
        return None
    if batch_x is None or batch_y is None:
        raise InvalidArgument(f"kith.torch: {groups} groups, but no batch_{'x' if batch_x is None else 'y'}; pass it")
    x = _borders(batch_x, groups, "batch_x")
    return x, x if batch_x is batch_y else _borders(batch_y, groups, "batch_y")


def _last(batch: Optional[Tensor], count: int, what: str) -> int:
    """Return the largest number of a batch vector, by its last; -1 if there is none."""
    if batch is None:
        return -1
    if batch.dim() != 1 or len(batch) != count or batch.is_floating_point():
        given = f"{what} of {batch.dtype}, {list(batch.shape)}"
        raise InvalidArgument(f"kith.torch: {given}; pass a whole number for each of {count} rows")
    if count == 0:
        return -1
    first, last = batch[[0, -1]].tolist()
    if first < 0:
        raise InvalidArgument(f"kith.torch: {what}[0] = {first}; pass numbers of groups from 0 on")
    return int(last)


def _borders(batch: Tensor, groups: int, what: str) -> Int64:
    numbers = torch.arange(groups + 1, device=batch.device, dtype=batch.dtype)
    falls = (batch[1:] < batch[:-1]).any()
    borders = torch.cat([torch.searchsorted(batch.contiguous(), numbers), falls.view(1).to(torch.int64)]).cpu().numpy()
    if borders[-1]:
        at = int((batch[1:] < batch[:-1]).nonzero()[0, 0]) + 1
        raise InvalidArgument(
            f"kith.torch: {what}[{at}] = {int(batch[at])} behind {int(batch[at - 1])}; put the rows of a group side by "
            "side: order = torch.argsort(batch, stable=True)"
        )
    return np.ascontiguousarray(borders[:-1], np.int64)


def _device(rows: Tensor) -> str:
    return "cpu" if rows.device.type == "cpu" else f"cuda:{rows.device.index}"
