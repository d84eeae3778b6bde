"""Implements PyTorch3D's functions, which return arrays over clouds of points."""

from __future__ import annotations

from typing import NamedTuple, Optional

import torch
from torch import Tensor

from .._core._errors import InvalidArgument
from . import _operators
from ._edges import _count, _radius


class KNN(NamedTuple):
    """Holds the answer of `knn_points` and `ball_query`.

    Attributes
    ----------
    dists : Tensor, [clouds, P1, K]
        Of norm 2 squared; 0 where there is no neighbour.
    idx : Tensor of int64, [clouds, P1, K]
        The number of each neighbour in its cloud.
    knn : Tensor, [clouds, P1, K, columns], or None
        The neighbours.
    """

    dists: Tensor
    idx: Tensor
    knn: Optional[Tensor]


def knn_points(
    p1: Tensor,
    p2: Tensor,
    lengths1: Optional[Tensor] = None,
    lengths2: Optional[Tensor] = None,
    norm: int = 2,
    K: int = 1,
    version: int = -1,
    return_nn: bool = False,
    return_sorted: bool = True,
) -> KNN:
    """Find the K points of `p2` nearest to each point of `p1`, in the same cloud.

    Parameters
    ----------
    p1, p2 : Tensor, [clouds, P1, columns] and [clouds, P2, columns]
        On one device, of one type, as for `knn`.
    lengths1, lengths2 : Tensor of whole numbers, [clouds], optional
        How many points each cloud has; those behind are not read. None: all.
    norm : {1, 2}
        Distances are sums of magnitudes, or squared Euclidean ones.
    K : int
        How many neighbours each point has, at least 1.
    version
        Has no effect.
    return_nn : bool
        Also return the neighbours: those of `knn_gather`.
    return_sorted : bool
        Has no effect: neighbours are always sorted, by distance, then by number.

    Returns
    -------
    KNN
        ``dists``, ``idx`` and ``knn``. Distances and numbers are 0 where a cloud of `p2` has fewer than K points, and
        behind the length of a cloud of `p1`. Distances have gradients for `p1` and `p2`.
    """
    _check_clouds(p1, p2, "knn_points")
    if norm not in (1, 2):
        raise InvalidArgument(f"kith.torch.knn_points: norm={norm}; pass 1 or 2")
    K = _count(K, "knn_points: K")
    dists, idx = _operators.points(p1, p2, lengths1, lengths2, K, norm, None)
    idx = idx.clamp(min=0)
    return KNN(dists, idx, knn_gather(p2, idx, lengths2) if return_nn else None)


def knn_gather(x: Tensor, idx: Tensor, lengths: Optional[Tensor] = None) -> Tensor:
    """Return the rows of `x` that `idx` of `knn_points` names.

    Parameters
    ----------
    x : Tensor, [clouds, P2, columns]
    idx : Tensor of int64, [clouds, P1, K]
    lengths : Tensor of whole numbers, [clouds], optional
        How many rows each cloud of `x` has. Behind as many neighbours the answer is 0. None: all.

    Returns
    -------
    Tensor, [clouds, P1, K, columns]
        It has a gradient for `x`, summed in a fixed order.
    """
    if lengths is not None:
        K = torch.arange(idx.shape[2], device=idx.device)
        idx = torch.where(lengths.to(idx.device)[:, None, None] <= K, -1, idx)
    return _of_clouds(x, idx)


def ball_query(
    p1: Tensor,
    p2: Tensor,
    lengths1: Optional[Tensor] = None,
    lengths2: Optional[Tensor] = None,
    K: int = 500,
    radius: float = 0.2,
    return_nn: bool = True,
) -> KNN:
    """Find the points of `p2` that are nearer than `radius` to each point of `p1`, in the same cloud.

    Parameters
    ----------
    p1, p2, lengths1, lengths2
        As for `knn_points`.
    K : int
        How many points a point of `p1` has at most: the nearest. PyTorch3D takes those of the smallest numbers.
    radius : float
        A point counts if its squared distance is below ``radius * radius``.
    return_nn : bool
        Also return the points.

    Returns
    -------
    KNN
        Points come by their numbers, as in PyTorch3D. Where there are no more, ``idx`` is -1, and ``dists`` and
        ``knn`` are 0.
    """
    _check_clouds(p1, p2, "ball_query")
    K, radius = _count(K, "ball_query: K"), _radius(radius, "ball_query: radius")
    dists, idx = _operators.points(p1, p2, lengths1, lengths2, K, 2, radius)
    return KNN(dists, idx, _of_clouds(p2, idx) if return_nn else None)


def gather_rows(x: Tensor, row: Tensor) -> Tensor:
    """Return ``x[row]``, with a gradient whose sums are taken in a fixed order.

    Parameters
    ----------
    x : Tensor, [n, columns]
    row : Tensor of int64, [edges]
        Such as a row of what `knn_graph` returns. A negative number gives a row of 0.

    Returns
    -------
    Tensor, [edges, columns]
    """
    if x.dim() != 2 or row.dim() != 1:
        raise InvalidArgument(
            f"kith.torch.gather_rows: x of {x.dim()} axes and row of {row.dim()}; pass [n, columns] and [edges]"
        )
    found: Tensor = _operators.gather(x, row)
    return found


def _of_clouds(x: Tensor, idx: Tensor) -> Tensor:
    """Return the rows of clouds by their numbers; 0 where a number is negative."""
    first = torch.arange(x.shape[0], device=idx.device)[:, None, None] * x.shape[1]
    row = torch.where(idx < 0, idx, idx + first).reshape(-1)
    found: Tensor = _operators.gather(x.reshape(-1, x.shape[2]), row)
    return found.reshape(*idx.shape, x.shape[2])


def _check_clouds(p1: Tensor, p2: Tensor, name: str) -> None:
    if p1.dim() != 3 or p2.dim() != 3 or p1.shape[0] != p2.shape[0]:
        raise InvalidArgument(
            f"kith.torch.{name}: p1 of shape {list(p1.shape)}, p2 of {list(p2.shape)}; "
            "pass as many clouds, [clouds, points, columns]"
        )
