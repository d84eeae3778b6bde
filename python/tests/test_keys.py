"""Tests that merged keys of shards equal the keys of one index, bit for bit."""

import pickle
import struct

import kith
import numpy as np
import pytest

from reference import whole

METRICS = ["squared_l2", "l2", "l1", "linf", "negative_dot", "cosine"]


def cut(random, n, parts):
    """Returns the first rows of uneven parts, and n."""
    return [0, *sorted(random.choice(np.arange(1, n), parts - 1, replace=False).tolist()), n]


def shards_of(train, places, metric, device):
    """Makes a shard for each part, on `device` and the CPU in turn."""
    largest = max(kith.largest_element(train[a:b]) for a, b in zip(places, places[1:]))
    return [
        kith.Index(train[a:b], metric, device if i % 2 else "cpu", first_row=a, largest=largest)
        for i, (a, b) in enumerate(zip(places, places[1:]))
    ]


def same(found, expected):
    assert type(found) is type(expected)
    for one, other in zip(found, expected):
        assert one.dtype == other.dtype and np.array_equal(one, other)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("parts, k", [(1, 3), (2, 5), (5, 60), (17, 9)])
def test_shards_are_one_index(device, random, metric, parts, k):
    n = 90
    train, queries = 1 + whole(random, n, 4), 1 + whole(random, 7, 4)
    index = kith.Index(train, metric, device)
    lists = [shard.search_keys(queries, k) for shard in shards_of(train, cut(random, n, parts), metric, device)]
    random.shuffle(lists)
    middle = len(lists) // 2
    groups = [kith.merge(part) for part in (lists[:middle], lists[middle:]) if part]
    merged = kith.merge(reversed(groups))
    same(merged, index.search_keys(queries, k))
    same(kith.finish(metric, merged), index.search(queries, k))
    assert kith.digest(merged) == kith.digest(index.search_keys(queries, k))
    same(kith.merge([merged, *lists]), merged)  # merging merged keys again changes nothing


@pytest.mark.parametrize("metric", METRICS)
def test_within(device, random, metric):
    n = 90
    train, queries = 1 + whole(random, n, 4), 1 + whole(random, 7, 4)
    index = kith.Index(train, metric, device)
    distance = index.search(queries, n).distance
    radius = distance[:, n // 3]  # one radius per query, which includes its ties
    lists = [shard.within_keys(queries, radius) for shard in shards_of(train, cut(random, n, 6), metric, device)]
    merged = kith.merge([kith.merge(lists[3:]), *lists[:3]])
    same(merged, index.within_keys(queries, radius))
    same(kith.finish(metric, merged), index.within(queries, radius))


def test_leave_one_out(device, random):
    train = whole(random, 60, 2)  # has duplicates
    index = kith.Index(train, device=device)
    lists = [shard.search_keys(train, 6) for shard in shards_of(train, cut(random, 60, 4), "l2", device)]
    kept = kith.leave_out(kith.merge(lists), np.arange(60))
    same(kith.finish("l2", kept), index.search(train, 5, exclude_self_from=0))
    with pytest.raises(kith.InvalidArgument, match="59 rows for 60 queries"):
        kith.leave_out(lists[0], np.arange(59))


def test_filter(device, random):
    n = 90
    train, queries = whole(random, n, 4), whole(random, 7, 4)
    counts = random.random((7, n)) < 0.1
    index = kith.Index(train, device=device)
    places = cut(random, n, 5)
    lists = [
        shard.search_keys(queries, 12, filter=counts[:, a:b])
        for shard, a, b in zip(shards_of(train, places, "l2", device), places, places[1:])
    ]
    same(kith.finish("l2", kith.merge(lists)), index.search(queries, 12, filter=counts))


def test_rows_beyond_32_bits(device):
    first = 2**40
    shard = kith.Index(np.zeros((3, 2), np.float32), device=device, first_row=first)
    assert shard.first_row == first
    keys = shard.search_keys(np.zeros((1, 2), np.float32), 5)
    assert keys.row.tolist() == [[first, first + 1, first + 2, -1, -1]]
    assert keys.value.tolist() == [[0x80000000] * 3 + [0xFFFFFFFF] * 2]


def test_digest(random):
    def fnv(data):
        total = 0xCBF29CE484222325
        for byte in data:
            total = (total ^ byte) * 0x100000001B3 % 2**64
        return total

    train, queries = whole(random, 20, 3), whole(random, 4, 3)
    keys = kith.Index(train, device="cpu").search_keys(queries, 25)
    data = struct.pack("<qq", 4, 25)
    for value, row in zip(keys.value.ravel().tolist(), keys.row.ravel().tolist()):
        data += struct.pack("<Iq", value, row)
    assert kith.digest(keys) == fnv(data)
    same(pickle.loads(pickle.dumps(keys)), keys)


def test_bad_rows_are_named_by_their_number(random):
    train = whole(random, 40, 3)
    train[[13, 29], 1] = np.nan
    with pytest.raises(kith.InvalidArgument) as one:
        kith.Index(train, device="cpu")
    told = []
    for a in (0, 10, 20, 30):
        try:
            kith.Index(train[a : a + 10], device="cpu", first_row=a)
        except kith.InvalidArgument as error:
            told.append(str(error))
    assert told == [str(one.value), str(one.value).replace("row 13", "row 29")]


def test_products_that_may_overflow_are_refused_by_the_largest_of_all(random):
    train, queries = np.ones((4, 2), np.float32), np.full((2, 2), 1e30, np.float32)
    train[3, 1] = 1e20
    with pytest.raises(kith.InvalidArgument) as one:
        kith.Index(train, "dot", "cpu").search(queries, 1)
    for shard in shards_of(train, [0, 2, 4], "dot", "cpu"):
        with pytest.raises(kith.InvalidArgument) as other:
            shard.search_keys(queries, 1)
        assert str(other.value) == str(one.value)
    with pytest.raises(kith.InvalidArgument, match="largest = 5, but the training rows reach 1.0"):
        kith.Index(train, "dot", "cpu", largest=5)


def test_largest_element():
    X = np.array([[1, -7, 2], [5, 0, 100]], np.float32)
    assert kith.largest_element(X) == 100
    assert kith.largest_element(X, features=[0, 1]) == 7


def test_refusals(random):
    train = whole(random, 20, 3)
    shard = kith.Index(train, device="cpu")
    keys, radius_keys = shard.search_keys(train, 3), shard.within_keys(train, 1.0)
    for lists, told in [
        ([], "there is no list"),
        ([keys, radius_keys], "lists of Keys, RadiusKeys"),
        ([tuple(keys)], "lists of tuple"),
        ([keys, shard.search_keys(train, 4)], r"list 1 is \[20, 4\], but list 0 is \[20, 3\]"),
        ([radius_keys, shard.within_keys(train[:3], 1.0)], "list 1 has 3 queries, but list 0 has 20"),
        ([kith.Keys(keys.value, keys.row[:, :2])], r"list 0 with value \[20, 3\] and row \[20, 2\]"),
        ([keys, kith.Keys(keys.value[:, ::-1], keys.row)], "list 1, query 0, rank"),
        ([kith.RadiusKeys(radius_keys.first, radius_keys.value[:-1], radius_keys.row)], "pass first"),
    ]:
        with pytest.raises(kith.InvalidArgument, match=told):
            kith.merge(lists)
    with pytest.raises(kith.InvalidArgument, match="value 1073741824 at place 0 is that of no distance"):
        kith.finish("l2", kith.Keys(np.array([[1 << 30]], np.uint32), np.array([[0]])))
    with pytest.raises(kith.InvalidArgument, match="nonsense"):
        kith.finish("nonsense", keys)
    with pytest.raises(kith.InvalidArgument, match="kith.digest: keys of type tuple"):
        kith.digest(tuple(keys))
    with pytest.raises(kith.InvalidArgument, match="first_row: -1 is below 0"):
        kith.Index(train, device="cpu", first_row=-1)
    with pytest.raises(kith.InvalidArgument, match="k = 0"):
        shard.search_keys(train, 0)
