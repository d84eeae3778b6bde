"""Declares the operators of `torch.library`: what they compute, what shapes that gives, and their gradients.

They are opaque to `torch.compile`, gradients too: a compiler can neither fuse their operations nor change an order.
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import torch
from torch import Tensor
from torch.library import custom_op, get_ctx, register_autograd
from torch.nn.functional import pad

from .._core._errors import InvalidArgument, Unsupported
from .._core._types import Int64, MetricName
from . import _sums
from ._search import below, borders_of, check_pair, distance_type, nearest_rows, rows_within

NO_ANGLES = (
    "cosine distances have no gradient; divide rows by their norms, by torch.nn.functional.normalize, and take half "
    "the squared distance"
)


def _edges(
    x: Tensor,
    y: Tensor,
    batch_x: Optional[Tensor],
    batch_y: Optional[Tensor],
    k: int,
    radius: Optional[float],
    cosine: bool,
    own: bool,
    groups: int,
) -> tuple[Tensor, Tensor]:
    """Find the distances of edges, and edges (query of y, row of x); k below 0: all within the radius."""
    check_pair(x, y, "x and y")
    borders = borders_of(batch_x, batch_y, (len(x), len(y)), groups)
    most = None if radius is None else below(radius, x)
    if k < 0 and most is not None:
        query, row, distance = rows_within(x, y, borders, most, own)
        return distance, torch.stack([query, row])
    found, rows = nearest_rows(x, y, borders, k, "cosine" if cosine else "squared_l2", own, most=most)
    place = (rows >= 0).reshape(-1).nonzero()[:, 0]
    query = place // max(rows.shape[1], 1)
    return found.reshape(-1)[place], torch.stack([query, rows.reshape(-1)[place]])


def _edges_shape(
    x: Tensor,
    y: Tensor,
    batch_x: Optional[Tensor],
    batch_y: Optional[Tensor],
    k: int,
    radius: Optional[float],
    cosine: bool,
    own: bool,
    groups: int,
) -> tuple[Tensor, Tensor]:
    if batch_x is None and batch_y is None and groups < 2 and radius is None:
        count: Any = y.shape[0] * max(min(k, x.shape[0] - int(own)), 0)
    else:  # how many there are follows from the data
        count = get_ctx().new_dynamic_size()
    return x.new_empty(count, dtype=distance_type(x)), x.new_empty((2, count), dtype=torch.int64)


def _keep_edges(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.cosine = inputs[6]
    ctx.save_for_backward(inputs[0], inputs[1], output[1])


def _edges_backward(ctx: Any, grad: Tensor, _: Any) -> tuple[Any, ...]:
    if ctx.cosine:
        raise Unsupported(f"kith.torch: {NO_ANGLES}")
    x, y, edges = ctx.saved_tensors
    of_x = distance_gradient(x, y, edges[1], edges[0], grad, 2) if ctx.needs_input_grad[0] else None
    of_y = distance_gradient(y, x, edges[0], edges[1], grad, 2) if ctx.needs_input_grad[1] else None
    return (of_x, of_y) + 7 * (None,)


def _nearest(x: Tensor, y: Tensor, batch_x: Optional[Tensor], batch_y: Optional[Tensor]) -> Tensor:
    """Find the row of y that is nearest to each row of x."""
    check_pair(x, y, "x and y")
    borders = borders_of(batch_y, batch_x, (len(y), len(x)), 0)
    _, row = nearest_rows(y, x, borders, 1, "squared_l2")
    if len(x) and (row.shape[1] == 0 or bool((row < 0).any())):
        raise InvalidArgument("kith.torch.nearest: a group of x has no row in y; pass one, or leave the group out")
    return row.reshape(-1).clone()


def _points(
    p1: Tensor,
    p2: Tensor,
    lengths1: Optional[Tensor],
    lengths2: Optional[Tensor],
    k: int,
    norm: int,
    radius: Optional[float],
) -> tuple[Tensor, Tensor]:
    """Find the k nearest points of p2 of each point of p1, cloud by cloud; places without one have 0 and -1.

    With a radius, those below it, by number.
    """
    check_pair(p1, p2, "p1 and p2")
    queries, inside, of_queries = _flat(p1, lengths1, "lengths1")
    rows, _, of_rows = _flat(p2, lengths2, "lengths2")
    borders = None if len(p1) < 2 else (of_rows, of_queries)
    metric: MetricName = "l1" if norm == 1 else "squared_l2"
    most = None if radius is None else below(radius, p1)
    found, row = nearest_rows(rows, queries, borders, k, metric, from_group=True, most=most)
    if radius is not None:
        last = torch.iinfo(torch.int64).max
        row, order = torch.sort(torch.where(row < 0, last, row), dim=1)
        row, found = torch.where(row == last, -1, row), found.gather(1, order)
    missing = (0, k - row.shape[1])
    found, row = pad(torch.where(row < 0, 0, found), missing), pad(row, missing, value=-1)
    shape = (*p1.shape[:2], k)
    if inside is None:
        return found.reshape(shape), row.reshape(shape)
    distance, number = found.new_zeros(shape), row.new_full(shape, -1)
    distance[inside], number[inside] = found, row
    return distance, number


def _flat(points: Tensor, lengths: Optional[Tensor], what: str) -> tuple[Tensor, Optional[Tensor], Int64]:
    """Return the rows of clouds side by side, a mask of those that are there, and the borders of the clouds."""
    clouds, most = points.shape[:2]
    if lengths is None:
        return points.reshape(clouds * most, -1), None, np.arange(clouds + 1, dtype=np.int64) * most
    if lengths.shape != (clouds,) or lengths.is_floating_point():
        raise InvalidArgument(
            f"kith.torch: {what} of {lengths.dtype}, {list(lengths.shape)}; pass {clouds} whole numbers"
        )
    host = lengths.cpu().numpy().astype(np.int64)
    if clouds and not 0 <= host.min() <= host.max() <= most:
        raise InvalidArgument(f"kith.torch: {what}={host.tolist()[:9]}; pass numbers from 0 to {most}")
    inside = torch.arange(most, device=points.device) < lengths.to(points.device)[:, None]
    return points[inside], inside, np.concatenate(([0], np.cumsum(host)))


def _points_shape(
    p1: Tensor,
    p2: Tensor,
    lengths1: Optional[Tensor],
    lengths2: Optional[Tensor],
    k: int,
    norm: int,
    radius: Optional[float],
) -> tuple[Tensor, Tensor]:
    shape = (p1.shape[0], p1.shape[1], k)
    return p1.new_empty(shape, dtype=distance_type(p1)), p1.new_empty(shape, dtype=torch.int64)


def _keep_points(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.norm = inputs[5]
    ctx.save_for_backward(inputs[0], inputs[1], output[1])


def _points_backward(ctx: Any, grad: Tensor, _: Any) -> tuple[Any, ...]:
    p1, p2, number = ctx.saved_tensors
    clouds, count, k = number.shape
    flat1, flat2 = p1.reshape(-1, p1.shape[2]), p2.reshape(-1, p2.shape[2])
    query = torch.arange(clouds * count, device=p1.device)[:, None].expand(-1, k).reshape(-1)
    first = torch.arange(clouds, device=p1.device)[:, None, None] * p2.shape[1]
    row = torch.where(number < 0, number, number + first).reshape(-1)
    grad = grad.reshape(-1)
    of_p1 = of_p2 = None
    if ctx.needs_input_grad[0]:
        of_p1 = distance_gradient(flat1, flat2, query, row, grad, ctx.norm).reshape(p1.shape)
    if ctx.needs_input_grad[1]:
        of_p2 = distance_gradient(flat2, flat1, row, query, grad, ctx.norm).reshape(p2.shape)
    return (of_p1, of_p2) + 5 * (None,)


def _gather(x: Tensor, row: Tensor) -> Tensor:
    """Return x[row], 0 where a row is negative."""
    return torch.where((row < 0)[:, None], 0, x[row.clamp(min=0)])


def _keep_rows(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.rows = inputs[0].shape[0]
    ctx.save_for_backward(inputs[1])


def _gather_backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    return row_sums(grad, ctx.saved_tensors[0], ctx.rows), None


def _keep_named(ctx: Any, inputs: Any, output: Any) -> None:
    ctx.save_for_backward(inputs[1])


def _sums_backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    return gather(grad, ctx.saved_tensors[0]), None, None


def _operator(name: str, function: Any, schema: str, shape: Any) -> Any:
    made = custom_op(f"kith::{name}", function, mutates_args=(), schema=schema)
    made.register_fake(shape)
    return made


edges = _operator(
    "edges",
    _edges,
    "(Tensor x, Tensor y, Tensor? batch_x, Tensor? batch_y, SymInt k, float? radius, bool cosine, bool own, "
    "SymInt groups) -> (Tensor, Tensor)",
    _edges_shape,
)
register_autograd("kith::edges", _edges_backward, setup_context=_keep_edges)
nearest = _operator(
    "nearest",
    _nearest,
    "(Tensor x, Tensor y, Tensor? batch_x, Tensor? batch_y) -> Tensor",
    lambda x, y, batch_x, batch_y: x.new_empty(x.shape[0], dtype=torch.int64),
)
points = _operator(
    "points",
    _points,
    "(Tensor p1, Tensor p2, Tensor? lengths1, Tensor? lengths2, SymInt k, SymInt norm, float? radius) "
    "-> (Tensor, Tensor)",
    _points_shape,
)
register_autograd("kith::points", _points_backward, setup_context=_keep_points)
gather = _operator(
    "gather", _gather, "(Tensor x, Tensor row) -> Tensor", lambda x, row: x.new_empty((row.shape[0], x.shape[1]))
)
register_autograd("kith::gather", _gather_backward, setup_context=_keep_rows)
distance_gradient = _operator(
    "distance_gradient",
    _sums.distance_gradient,
    "(Tensor of, Tensor others, Tensor i, Tensor j, Tensor grad, SymInt norm) -> Tensor",
    lambda of, others, i, j, grad, norm: of.new_empty(of.shape),
)
row_sums = _operator(
    "row_sums",
    _sums.row_sums,
    "(Tensor values, Tensor row, SymInt rows) -> Tensor",
    lambda values, row, rows: values.new_empty((rows, values.shape[1])),
)
register_autograd("kith::row_sums", _sums_backward, setup_context=_keep_named)
