"""Computes the right answers by oracle.cpp and NumPy without any code of kith: docs/contract.md, sections 1, 2, 3
and 5.

`Rows` holds all rows that an index was ever given, including removed ones, by position (section 2).
"""
import ctypes
import os

import numpy as np

METRICS = ("squared_l2", "l2", "l1", "linf", "negative_dot", "cosine", "hamming")
TIES = ("smallest_label", "nearest", "smallest_distance", "fewer_neighbors", "abstain")
LARGEST = float(np.finfo(np.float32).max)
NO_LABEL = -(2**63)
_BITS = np.array([bin(octet).count("1") for octet in range(256)], np.float32)

_library = ctypes.CDLL(os.environ["KITH_ORACLE"])


def _call(function, *arguments):
    """Calls a function of oracle.cpp. Arrays must be in C order and have its types."""
    words = []
    for one in arguments:
        array = isinstance(one, np.ndarray)
        assert not array or one.flags.c_contiguous
        words.append(ctypes.c_void_p(one.__array_interface__["data"][0]) if array else ctypes.c_size_t(one))
    getattr(_library, function)(*words)


def unit_rows(values):
    units = np.empty_like(values)
    _call("oracle_unit_rows", values, *values.shape, units)
    return units


def raw_values(metric, queries, rows):
    """Returns the chains of section 1, [m, n]; rows of `hamming` are bytes of bits."""
    raw = np.empty((len(queries), len(rows)), np.float32)
    if metric == "hamming":
        for q, query in enumerate(queries):
            raw[q] = _BITS[rows ^ query].sum(axis=1, dtype=np.float32)
        return raw
    if metric == "cosine":
        queries, rows = unit_rows(queries), unit_rows(rows)
    _call("oracle_chains", METRICS.index(metric), queries, rows, *raw.shape, rows.shape[1], raw)
    return raw + np.float32(0)  # turns -0 into +0, which has the same key


def shown(metric, raw):
    """Returns the distances that users see."""
    if metric == "l2":
        return np.sqrt(raw)
    return raw * np.float32(0.5) if metric == "cosine" else raw


def ordered(raw):
    """Returns the upper halves of the keys: section 2."""
    bits = raw.view(np.uint32)
    return np.where(bits >> 31 == 1, ~bits, bits | np.uint32(0x80000000))


class Rows:
    """Holds all rows that an index was ever given, by ascending number."""

    def __init__(self, metric):
        self.metric = metric
        self.values = None  # [positions, columns that count]; for `hamming` bytes of bits
        self.numbers = np.empty(0, np.int64)
        self.there = np.empty(0, bool)
        self.kept = np.empty(0, bool)  # rows in memory, which include removed ones until compact()
        self.next_row = 0
        self.of_all = 0.0  # the largest element, also of other parts
        self.labels = None  # [positions, outputs], for a classifier or a regressor
        self.weights = np.empty(0, np.float32)

    def add(self, values, numbers, labels=None, weights=None):
        order = np.argsort(numbers, kind="stable")
        numbers = np.asarray(numbers, np.int64)
        weights = np.ones(len(values), np.float32) if weights is None else weights
        if self.values is not None:
            values = np.concatenate([self.values, values[order]])
            labels = None if labels is None else np.concatenate([self.labels, labels[order]])
        else:
            values, labels = values[order], None if labels is None else labels[order]
        self.values, self.labels = np.ascontiguousarray(values), labels
        self.numbers = np.concatenate([self.numbers, numbers[order]])
        self.weights = np.concatenate([self.weights, weights[order]])
        self.there = np.concatenate([self.there, np.ones(len(order), bool)])
        self.kept = np.concatenate([self.kept, np.ones(len(order), bool)])
        self.next_row = int(self.numbers[-1]) + 1

    def remove(self, positions):
        self.there = self.there.copy()
        self.there[positions] = False

    def compact(self):
        self.kept = self.there

    def keep(self, positions):
        self.kept = np.isin(np.arange(len(self.there)), positions)

    def largest(self):
        return max(self.of_all, float(np.abs(self.values[self.kept]).max()))

    def is_refused(self, queries):
        """Returns whether products may overflow, so that kith must refuse them: section 3."""
        if self.metric != "negative_dot" or not len(queries):
            return False
        return queries.shape[1] * float(np.abs(queries).max()) * self.largest() >= LARGEST

    def asked(self, queries, filter=None, exclude_self_from=None):
        return Asked(self, queries, filter, exclude_self_from)


class Asked:
    """Computes the answers to queries. A row counts unless it was removed, is filtered out, or is the query itself.
    """

    def __init__(self, rows, queries, filter, exclude_self_from):
        self.rows = rows
        self.raw = raw_values(rows.metric, queries, rows.values)
        counts = np.broadcast_to(rows.there, self.raw.shape)
        if filter is not None:
            counts = counts & filter
        if exclude_self_from is not None:
            counts = counts.copy()
            q = np.arange(len(queries))
            counts[q, exclude_self_from + q] = False
        self.order = np.argsort(np.where(counts, self.raw, np.float32(np.nan)), axis=1, kind="stable")  # NaN is last
        self.count = counts.sum(axis=1)

    def lists(self, k):
        """Returns raw values and positions, and which of them are neighbours, [m, k]."""
        at = self.order[:, :k]
        found = np.arange(at.shape[1]) < self.count[:, None]
        return np.take_along_axis(self.raw, at, axis=1), at, found

    def search(self, k):
        raw, at, found = self.lists(k)
        distance = np.where(found, shown(self.rows.metric, raw), np.float32(np.inf))
        return distance, np.where(found, self.rows.numbers[at], -1)

    def keys(self, k):
        raw, at, found = self.lists(k)
        value, row = np.where(found, ordered(raw), np.uint32(0xFFFFFFFF)), np.where(found, self.rows.numbers[at], -1)
        short = ((0, 0), (0, k - value.shape[1]))  # pads lists with fewer than k rows
        return np.pad(value, short, constant_values=0xFFFFFFFF), np.pad(row, short, constant_values=-1)

    def within(self, radius):
        """Returns first, distance, row and value, sorted by distance and row."""
        raw, at, found = self.lists(len(self.rows.values))
        distance = shown(self.rows.metric, raw)
        inside = found & (distance <= np.broadcast_to(radius, len(raw))[:, None])
        first = np.concatenate([[0], np.cumsum(inside.sum(axis=1))]).astype(np.int64)
        return first, distance[inside], self.rows.numbers[at][inside], ordered(raw)[inside]

    def vote(self, k, output, by_distance, tie):
        """Returns labels, [m], and shares of the classes, [m, classes]."""
        distance, _ = self.search(k)
        at = self.order[:, :k]
        classes, codes = np.unique(self.rows.labels[:, output], return_inverse=True)
        winner, share = np.empty(len(at), np.int64), np.empty((len(at), len(classes)))
        _call("oracle_vote", *at.shape, len(classes), distance, np.ascontiguousarray(codes.astype(np.int64)[at]),
              self.rows.weights[at], int(by_distance), TIES.index(tie), winner, share)
        return np.where(winner < 0, NO_LABEL, classes[winner]), share

    def mean(self, k, output, by_distance):
        distance, _ = self.search(k)
        at = self.order[:, :k]
        mean = np.empty(len(at))
        _call("oracle_means", *at.shape, distance, self.rows.labels[:, output][at], self.rows.weights[at],
              int(by_distance), mean)
        return mean
