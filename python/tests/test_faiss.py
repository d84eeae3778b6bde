"""Compares kith.faiss with FAISS on whole numbers, for which both are exact."""

import kith
import numpy as np
import pytest
from kith import faiss as ours

from reference import neighbors, whole

theirs = pytest.importorskip("faiss", reason="faiss-cpu is not installed")


def compare(mine, other):
    """Distances must be equal; rows must be equal where a distance is unique in the list and is not the last."""
    assert mine[0].dtype == other[0].dtype and mine[1].dtype == other[1].dtype
    assert mine[0].shape == other[0].shape and mine[1].shape == other[1].shape
    assert np.array_equal(mine[0], other[0])
    ties = 0
    for d, a, b in zip(mine[0], mine[1], other[1]):
        alone = np.array([np.sum(d == value) == 1 for value in d]) & (d != d[-1])
        assert np.array_equal(a[alone], b[alone])
        ties += int((a != b).sum())
    return ties


@pytest.mark.parametrize("name", ["IndexFlatL2", "IndexFlatIP"])
@pytest.mark.parametrize("n, m, d, k", [(1, 1, 1, 1), (300, 20, 16, 7), (40, 3, 5, 40), (2000, 50, 24, 10)])
def test_search(device, random, name, n, m, d, k):
    xb, xq = whole(random, n, d, 64), whole(random, m, d, 64)
    mine, other = getattr(ours, name)(d, device=device), getattr(theirs, name)(d)
    for index in (mine, other):
        index.add(xb[: n // 2])
        index.add(xb[n // 2 :])
        assert index.ntotal == n and index.d == d and index.is_trained
    compare(mine.search(xq, k), other.search(xq, k))
    assert mine.metric_type == other.metric_type


@pytest.mark.parametrize("name", ["IndexFlatL2", "IndexFlatIP"])
def test_more_neighbours_than_rows(device, random, name):
    xb, xq = whole(random, 5, 3, 1000), whole(random, 2, 3, 1000)
    mine, other = getattr(ours, name)(3, device=device), getattr(theirs, name)(3)
    compare(mine.search(xq, 4), other.search(xq, 4))
    mine.add(xb)
    other.add(xb)
    compare(mine.search(xq, 8), other.search(xq, 8))
    mine.reset()
    assert mine.ntotal == 0


@pytest.mark.parametrize("name, edge", [("IndexFlatL2", 900.0), ("IndexFlatIP", 3000.0)])
def test_range_search(device, random, name, edge):
    xb, xq = whole(random, 200, 6, 40), whole(random, 9, 6, 40)
    mine, other = getattr(ours, name)(6, device=device), getattr(theirs, name)(6)
    mine.add(xb)
    other.add(xb)
    for threshold in (edge, float(other.search(xq[:1], 3)[0][0, 2])):  # the second equals a distance
        lims, distance, row = mine.range_search(xq, threshold)
        their_lims, their_distance, their_row = other.range_search(xq, threshold)
        assert np.array_equal(lims, their_lims) and lims.dtype == their_lims.dtype
        for q in range(9):
            part = slice(int(lims[q]), int(lims[q + 1]))
            assert sorted(zip(row[part], distance[part])) == sorted(zip(their_row[part], their_distance[part]))


def test_nothing_is_nearer_than_0(device, random):
    xb = whole(random, 20, 6)
    mine, other = ours.IndexFlatL2(6, device=device), theirs.IndexFlatL2(6)
    mine.add(xb)
    other.add(xb)
    for threshold in (0.0, -0.0, -1.0, float("-inf")):
        for found, expected in zip(mine.range_search(xb, threshold), other.range_search(xb, threshold)):
            assert np.array_equal(found, expected) and found.dtype == expected.dtype


@pytest.mark.parametrize("metric", ["METRIC_L2", "METRIC_INNER_PRODUCT"])
def test_knn(device, random, metric):
    xb, xq = whole(random, 500, 12, 64), whole(random, 9, 12, 64)
    compare(ours.knn(xq, xb, 6, getattr(ours, metric), device), theirs.knn(xq, xb, 6, getattr(theirs, metric)))


@pytest.mark.parametrize("metric", ["METRIC_L1", "METRIC_Linf"])
def test_other_metrics(device, random, metric):
    xb, xq = whole(random, 500, 12, 64), whole(random, 9, 12, 64)
    mine, other = ours.IndexFlat(12, getattr(ours, metric), device), theirs.IndexFlat(12, getattr(theirs, metric))
    mine.add(xb)
    other.add(xb)
    compare(mine.search(xq, 6), other.search(xq, 6))


def test_ties_are_the_first_rows(device, random):
    xb = whole(random, 300, 2, 3)
    index = ours.IndexFlatL2(2, device)
    index.add(xb)
    assert np.array_equal(index.search(xb[:9], 20)[1], neighbors(xb, xb[:9], 20)[1])


def test_outputs_of_the_caller(device, random):
    index = ours.IndexFlatL2(2, device)
    index.add(whole(random, 30, 2))
    D, rows = np.empty((3, 4), np.float32), np.empty((3, 4), np.int64)
    found = index.search(whole(random, 3, 2), 4, D=D)
    assert found[0] is D
    again = index.search(whole(random, 3, 2), 4, I=rows)
    assert again[1] is rows and again[0] is not D


def test_refusals(device, random):
    index = ours.IndexFlatL2(2, device)
    with pytest.raises(kith.InvalidArgument, match="3 columns, but d = 2"):
        index.add(whole(random, 3, 3))
    with pytest.raises(kith.InvalidArgument, match="k = 0"):
        index.search(whole(random, 3, 2), 0)
    with pytest.raises(kith.Unsupported, match="IndexIVFFlat.*IndexFlatL2"):
        ours.IndexIVFFlat
    with pytest.raises(kith.Unsupported, match="METRIC_L2"):
        ours.IndexFlat(3, 23)
    assert repr(index) == "kith.faiss.IndexFlatL2(d=2, ntotal=0)"
