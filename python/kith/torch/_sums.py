"""Sums terms row by row in a fixed order, by operations of PyTorch that round alike on every device.

Additions, subtractions and products are operators of their own, each rounded once: nothing is contracted to a fused
multiply-add, and nothing is added by atomics. The order is docs/contract.md's, section 14: that of a binary tree over
the terms of a row.
"""

from __future__ import annotations

import torch
from torch import Tensor


def tree_sums(terms: Tensor, row: Tensor, rows: int) -> Tensor:
    """Sum `terms` [e, columns] of the same `row` [e], which ascends, to [rows, columns]; 0 where there are none.

    In each round the terms 0 and 1, 2 and 3, ... of a row are added, and an odd last one stays.
    """
    numbers = torch.arange(rows + 1, device=row.device, dtype=torch.int64)
    ends = torch.searchsorted(row.contiguous(), numbers)
    lengths = ends[1:] - ends[:-1]
    for total in _totals(lengths):
        halves = (lengths + 1) // 2
        starts = torch.cumsum(lengths, 0) - lengths
        halved = torch.cumsum(halves, 0) - halves
        of = torch.repeat_interleave(halves, output_size=total)  # the row of each sum
        first = starts[of] + 2 * (torch.arange(total, device=row.device) - halved[of])
        paired = first + 1 < (starts + lengths)[of]
        left = terms.index_select(0, first)
        terms = torch.where(paired[:, None], left + terms.index_select(0, first + paired), left)
        lengths = halves
    sums = terms.new_zeros((rows, terms.shape[1]))
    sums[lengths > 0] = terms
    return sums


def _totals(lengths: Tensor) -> list[int]:
    """Return how many sums there are after each round of `tree_sums`."""
    longest = int(lengths.max()) if len(lengths) else 0
    rounds = range(1, max(longest - 1, 0).bit_length() + 1)
    totals: list[int] = []
    if rounds:
        totals = torch.stack([((lengths + (1 << r) - 1) >> r).sum() for r in rounds]).tolist()
    return totals


def row_sums(values: Tensor, row: Tensor, rows: int) -> Tensor:
    """Sum `values` [e, columns] of the same `row` [e] in the order of `values`; a negative row counts nowhere."""
    place, row = _by_row(row)
    return tree_sums(_wide(values).index_select(0, place), row, rows).to(values.dtype)


def distance_gradient(of: Tensor, others: Tensor, i: Tensor, j: Tensor, grad: Tensor, norm: int) -> Tensor:
    """Return the gradient for rows `of` of distances of edges from of[i] to others[j], whose gradients are `grad`.

    `norm`: 2 for squared Euclidean distances, 1 for sums of magnitudes. Edges with a negative i or j do not count.
    """
    place, i = _by_row(torch.where(j < 0, j, i))
    difference = _wide(of).index_select(0, i) - _wide(others).index_select(0, j[place])
    grad = _wide(grad)[place][:, None]
    terms = (grad + grad) * difference if norm == 2 else grad * torch.sign(difference)
    return tree_sums(terms, i, len(of)).to(of.dtype)


def _by_row(row: Tensor) -> tuple[Tensor, Tensor]:
    """Return the places of the rows that are not negative, by row, then by place; and these rows."""
    place = (row >= 0).nonzero()[:, 0]
    row = row[place]
    if not bool((row[1:] >= row[:-1]).all()):
        row, order = torch.sort(row, stable=True)
        place = place[order]
    return place, row


def _wide(x: Tensor) -> Tensor:
    return x if x.dtype == torch.float64 else x.to(torch.float32)
