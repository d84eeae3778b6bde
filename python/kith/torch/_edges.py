"""Implements torch_cluster's and PyTorch Geometric's functions, which return edges between rows."""

from __future__ import annotations

from typing import Optional, Union

import torch
from torch import Tensor

from .._core._checks import whole
from .._core._errors import InvalidArgument, Unsupported
from . import _operators

Edges = Union[Tensor, tuple[Tensor, Tensor]]


def knn(
    x: Tensor,
    y: Tensor,
    k: int,
    batch_x: Optional[Tensor] = None,
    batch_y: Optional[Tensor] = None,
    cosine: bool = False,
    num_workers: int = 1,
    batch_size: Optional[int] = None,
    *,
    return_distances: bool = False,
) -> Edges:
    """Find the k rows of `x` nearest to each row of `y`, in its group.

    Parameters
    ----------
    x, y : Tensor, [n, columns] and [m, columns], or [n] and [m]
        On one device, of one type: float32, float64, float16, bfloat16, uint8 or int8.
    k : int
        A row of `y` has fewer edges if its group has fewer rows of `x`.
    batch_x, batch_y : Tensor, [n] and [m], optional
        Name the group of each row, ascending from 0. None: there is one group.
    cosine : bool
        Search by ``1 - cos`` instead of the Euclidean distance.
    num_workers : int
        Has no effect.
    batch_size : int, optional
        The number of groups. None: as many as the batch vectors name.
    return_distances : bool
        Also return the distance of each edge: squared, or ``1 - cos``. Squared ones have gradients; for ``1 - cos``
        pass rows that ask for none.

    Returns
    -------
    Tensor of int64, [2, edges]
        A row of `y` above a row of `x`: by row of `y`, then by distance, then by row of `x`. With
        `return_distances` a pair of it and the distances, [edges].

    Examples
    --------
    >>> import torch, kith.torch                                                    # doctest: +SKIP
    >>> x, y = torch.tensor([[0.0], [1.0], [5.0]]), torch.tensor([[4.0]])           # doctest: +SKIP
    >>> kith.torch.knn(x, y, 2).tolist()                                            # doctest: +SKIP
    [[0, 0], [2, 1]]
    """
    k = _count(k, "knn: k")
    _check_angles(cosine and return_distances, x, y)
    found = _operators.edges(*_rows(x, y), batch_x, batch_y, k, None, cosine, False, batch_size or 0)
    return _shown(found, return_distances)


def knn_graph(
    x: Tensor,
    k: int,
    batch: Optional[Tensor] = None,
    loop: bool = False,
    flow: str = "source_to_target",
    cosine: bool = False,
    num_workers: int = 1,
    batch_size: Optional[int] = None,
    *,
    return_distances: bool = False,
) -> Edges:
    """Find the edges from the k nearest other rows to each row, in its group.

    Parameters
    ----------
    x, k, cosine, num_workers, batch_size, return_distances
        As for `knn`.
    batch : Tensor, [n], optional
        Names the group of each row, ascending from 0.
    loop : bool
        A row counts among its own k neighbours. Without it a row has k others, also if other rows equal it.
    flow : {"source_to_target", "target_to_source"}
        Neighbours stand in the first row of the answer, or in the second.

    Returns
    -------
    Tensor of int64, [2, edges]
        By row, then by the neighbour's distance, then by neighbour; or a pair, as for `knn`.
    """
    k = _count(k, "knn_graph: k")
    _check_angles(cosine and return_distances, x, x)
    x, y = _rows(x, x)
    found = _operators.edges(x, y, batch, batch, k, None, cosine, not loop, batch_size or 0)
    return _shown(found, return_distances, _turned(flow, "knn_graph"))


def radius(
    x: Tensor,
    y: Tensor,
    r: float,
    batch_x: Optional[Tensor] = None,
    batch_y: Optional[Tensor] = None,
    max_num_neighbors: Optional[int] = 32,
    num_workers: int = 1,
    batch_size: Optional[int] = None,
    *,
    return_distances: bool = False,
) -> Edges:
    """Find the rows of `x` that are nearer than `r` to each row of `y`, in its group.

    Parameters
    ----------
    x, y, batch_x, batch_y, num_workers, batch_size, return_distances
        As for `knn`.
    r : float
        A row counts if its squared distance is below ``r * r``, as in torch_cluster.
    max_num_neighbors : int, optional
        How many rows a row of `y` has at most: the nearest. torch_cluster takes those that it meets first. None: all,
        which are found by way of the host.

    Returns
    -------
    Tensor of int64, [2, edges]
        As for `knn`.
    """
    most = -1 if max_num_neighbors is None else _count(max_num_neighbors, "radius: max_num_neighbors")
    r = _radius(r, "radius: r")
    found = _operators.edges(*_rows(x, y), batch_x, batch_y, most, r, False, False, batch_size or 0)
    return _shown(found, return_distances)


def radius_graph(
    x: Tensor,
    r: float,
    batch: Optional[Tensor] = None,
    loop: bool = False,
    max_num_neighbors: Optional[int] = 32,
    flow: str = "source_to_target",
    num_workers: int = 1,
    batch_size: Optional[int] = None,
    *,
    return_distances: bool = False,
) -> Edges:
    """Find the edges from the rows that are nearer than `r` to each row, in its group.

    Parameters
    ----------
    x, batch, loop, flow, num_workers, batch_size, return_distances
        As for `knn_graph`.
    r, max_num_neighbors
        As for `radius`. Without `loop` a row does not count among its own neighbours.

    Returns
    -------
    Tensor of int64, [2, edges]
        As for `knn_graph`.
    """
    most = -1 if max_num_neighbors is None else _count(max_num_neighbors, "radius_graph: max_num_neighbors")
    x, y = _rows(x, x)
    r = _radius(r, "radius_graph: r")
    found = _operators.edges(x, y, batch, batch, most, r, False, not loop, batch_size or 0)
    return _shown(found, return_distances, _turned(flow, "radius_graph"))


def nearest(x: Tensor, y: Tensor, batch_x: Optional[Tensor] = None, batch_y: Optional[Tensor] = None) -> Tensor:
    """Find the row of `y` that is nearest to each row of `x`, in its group.

    Parameters
    ----------
    x, y, batch_x, batch_y
        As for `knn`. A group with rows of `x` needs a row of `y`.

    Returns
    -------
    Tensor of int64, [n]
    """
    found: Tensor = _operators.nearest(*_rows(x, y), batch_x, batch_y)
    return found


def _rows(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    for one, name in ((x, "x"), (y, "y")):
        if one.dim() not in (1, 2):
            what = f"{name} has {one.dim()} axes"
            raise InvalidArgument(f"kith.torch: {what}; pass rows [n, columns], or [n] of one column")
    return x[:, None] if x.dim() == 1 else x, y[:, None] if y.dim() == 1 else y


def _count(k: int, what: str) -> int:
    k = k if isinstance(k, int) else whole(k, f"kith.torch.{what}")  # which old compilers cannot follow
    if k < 1:
        raise InvalidArgument(f"kith.torch.{what}={k}; pass 1 or more")
    return k


def _check_angles(asked: bool, x: Tensor, y: Tensor) -> None:
    if asked and torch.is_grad_enabled() and (x.requires_grad or y.requires_grad):
        raise Unsupported(f"kith.torch: {_operators.NO_ANGLES}; for distances without one pass x.detach()")


def _radius(r: float, what: str) -> float:
    if not r >= 0:
        raise InvalidArgument(f"kith.torch.{what}={r}; pass 0 or more")
    return float(r)


def _turned(flow: str, name: str) -> bool:
    if flow not in ("source_to_target", "target_to_source"):
        raise InvalidArgument(f"kith.torch.{name}: flow={flow!r}; pass 'source_to_target' or 'target_to_source'")
    return flow == "source_to_target"


def _shown(found: tuple[Tensor, Tensor], with_distances: bool, turned: bool = False) -> Edges:
    distance, edges = found
    if turned:
        edges = torch.flip(edges, [0])
    return (edges, distance) if with_distances else edges
