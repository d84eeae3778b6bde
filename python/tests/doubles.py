"""Computes answers in double precision from docs/contract.md alone: rational numbers stand for a fused operation."""

from fractions import Fraction

import numpy as np

METRICS = ["l2", "squared_l2", "l1", "linf", "negative_dot", "cosine"]


def fused(a, b, s):
    """Returns a * b + s, rounded once."""
    return float(Fraction(a) * Fraction(b) + Fraction(s))


def unit(row):
    """Returns a row divided by its norm."""
    exponent = int(np.frexp(np.abs(row).max())[1])
    scaled = [float(np.ldexp(value, 1 - exponent)) for value in row]
    total = 0.0
    for value in scaled:
        total = total + value * value
    return [value / float(np.sqrt(total)) for value in scaled]


def chain(metric, a, b):
    s = 0.0
    for x, y in zip(a, b):
        gap = x - y
        if metric == "l1":
            s = s + abs(gap)
        elif metric == "linf":
            s = max(s, abs(gap))
        elif metric == "negative_dot":
            s = fused(-x, y, s)
        else:
            s = fused(gap, gap, s)
    return s + 0.0


def shown(metric, value):
    return float(np.sqrt(value)) if metric == "l2" else value / 2 if metric == "cosine" else value


def all_rows(metric, train, queries):
    """Returns for each query all training rows, nearest first, as pairs (raw value, row)."""
    rows = [[[float(value) for value in row] for row in np.asarray(side).tolist()] for side in (train, queries)]
    if metric == "cosine":
        rows = [[unit(row) for row in side] for side in rows]
    return [sorted((chain(metric, query, row), i) for i, row in enumerate(rows[0])) for query in rows[1]]


def lists(metric, train, queries, counts=lambda query, row: True):
    """Returns for each query all rows that count as pairs (distance, row)."""
    found = all_rows(metric, train, queries)
    return [[(shown(metric, s), row) for s, row in one if counts(q, row)] for q, one in enumerate(found)]


def nearest(metric, train, queries, k, counts=lambda query, row: True):
    """Returns distances and rows, [m, k]."""
    found = [one[:k] for one in lists(metric, train, queries, counts)]
    return (
        np.array([[distance for distance, _ in one] for one in found]),
        np.array([[row for _, row in one] for one in found]),
    )


def within(metric, train, queries, radii):
    """Returns the lists within one radius a query, as kith.RadiusNeighbors has them."""
    found = [
        [pair for pair in one if pair[0] <= radius] for one, radius in zip(lists(metric, train, queries), radii)
    ]
    pairs = [pair for one in found for pair in one]
    first = np.cumsum([0, *(len(one) for one in found)])
    return first, np.array([distance for distance, _ in pairs]), np.array([row for _, row in pairs], np.int64)
