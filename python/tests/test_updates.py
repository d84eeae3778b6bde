"""Tests that rows of kith.Index can be added and removed, and that they keep their numbers."""

import kith
import numpy as np
import pytest

from reference import neighbors, whole


def test_numbers_stay(device):
    index = kith.Index(np.array([[5], [1], [2], [1]], np.float32), "l1", device)
    zero = np.zeros((1, 1), np.float32)
    fewer = index.without([1])
    for at in (fewer, fewer.compact()):
        found = at.search(zero, 3)
        assert found.row.tolist() == [[3, 2, 0]] and found.distance.tolist() == [[1, 2, 5]]
        assert (len(at), at.next_row, at.positions) == (3, 4, 4)
        assert at.numbers().tolist() == [0, 2, 3]
    more = fewer.compact().with_(zero)
    assert more.search(zero, 2).row.tolist() == [[4, 3]]
    assert index.search(zero, 2).row.tolist() == [[1, 3]]


def test_ids(device):
    zero = np.zeros((1, 1), np.float32)
    index = kith.Index(np.array([[1], [2], [1]], np.float32), "l1", device, ids=[900, 7, 30])
    assert index.search(zero, 3).row.tolist() == [[30, 900, 7]]
    more = index.without([30]).with_(zero, ids=[1000])
    assert more.search(zero, 3).row.tolist() == [[1000, 900, 7]]
    assert more.next_row == 1001
    # The filter is by position: rows 7, 30, 900, 1000.
    assert more.search(zero, 2, filter=[0, 1, 3]).row.tolist() == [[1000, 7]]
    assert more.search(zero, 2, filter=np.array([True, True, False, True])).row.tolist() == [[1000, 7]]
    assert more.search_keys(zero, 2).row.tolist() == [[1000, 900]]
    assert more.within(zero, 1).row.tolist() == [1000, 900]


def test_as_an_index_built_anew(device, random):
    train, queries = whole(random, 200, 3), whole(random, 9, 3)
    index = kith.Index(train, "l2", device).without(np.arange(0, 200, 3)).without([1, 199])
    left = index.numbers()
    assert left.tolist() == sorted(set(range(200)) - set(range(0, 200, 3)) - {1, 199})
    expected = neighbors(train[left], queries, 7, "l2")
    for at in (index, index.compact()):
        found = at.search(queries, 7)
        assert np.array_equal(found.row, left[expected[1]])
        assert np.array_equal(found.distance, expected[0])


def test_reserve(device, random):
    train = random.integers(0, 256, (300, 20), np.uint8)
    queries = random.integers(0, 256, (9, 20), np.uint8)
    expected = kith.Index(train.astype(np.float32), "l2", device).search(queries.astype(np.float32), 7)
    index = kith.Index(train[:1], "l2", device, reserve=300)
    for begin in range(1, 300, 61):
        index = index.with_(train[begin : begin + 61])
    for asked in (queries, queries.astype(np.float32)):
        found = index.search(asked, 7)
        assert np.array_equal(found.row, expected.row)
        assert np.array_equal(found.distance, expected.distance)
    with pytest.raises(kith.InvalidArgument, match="kith.Index: reserve: -1 is below 0"):
        kith.Index(train, "l2", device, reserve=-1)


def test_refusals(device):
    index = kith.Index(np.array([[1], [2]], np.float32), "l1", device)
    with pytest.raises(kith.InvalidArgument, match="there is no row 2 to remove"):
        index.without([2])
    with pytest.raises(kith.InvalidArgument, match="all 2 rows would be removed"):
        index.without([0, 1])
    with pytest.raises(kith.InvalidArgument, match="both have the id 4"):
        kith.Index(np.array([[1], [2]], np.float32), "l1", device, ids=[4, 4])
    with pytest.raises(kith.InvalidArgument, match="1 ids for 2 rows"):
        index.with_(np.array([[1], [2]], np.float32), ids=[4])
