"""Tests keys that no search returns, and what the library's merge() says about them."""

import kith
import numpy as np
import pytest
from kith._core import _key_checks

ONE, TWO, INFINITY = 0xBF800000, 0xC0000000, 0xFF800000
NONE = (0xFFFFFFFF, -1)


def keys_of(*lists):
    """Makes keys of pairs (value, row) for each query."""
    table = np.array(lists, np.int64).reshape(len(lists), -1, 2)
    return kith.Keys(table[..., 0].astype(np.uint32), table[..., 1].copy())


def radius_keys_of(*lists):
    first = np.cumsum([0, *map(len, lists)])
    table = np.array([pair for pairs in lists for pair in pairs], np.int64).reshape(-1, 2)
    return kith.RadiusKeys(first, table[:, 0].astype(np.uint32), table[:, 1].copy())


def said_by(function, *arguments):
    with pytest.raises(kith.InvalidArgument) as error:
        function(*arguments)
    return str(error.value)


WRONG = [
    [[(ONE, -5), (TWO, 7)]],
    [[(ONE, 5), (TWO, -7)]],
    [[(TWO, 5), (ONE, 7)]],
    [[(ONE, 7), (ONE, 5)]],
    [[(ONE, 7), (ONE, 7)]],
    [[(ONE, 1), (TWO, 2)], [(TWO, 1), (ONE, 2)]],
    [[(ONE, 1), (INFINITY + 1, 2)]],
    [[(0x007FFFFE, 1), (ONE, 2)]],
    [[(ONE, 1), (0xFFFFFFFF, 2)]],
    [[(ONE, 1), (0xFFFFFFFE, -1)]],
    [[NONE, (ONE, 1)]],
    [[(ONE, 1), NONE], [NONE, (0xFFFFFFFF, 0)]],
]
RIGHT = [
    [[(ONE, 1), (TWO, 0)]],
    [[(ONE, 1), (ONE, 2)], [(ONE, 1), (ONE, 2)]],
    [[(TWO, 1), (INFINITY, 2)], [(ONE, 0), NONE], [NONE, NONE], [(0x80000000, 2**62), NONE]],
]


@pytest.mark.parametrize("at_once", [1, 2, 3, 1 << 20])
def test_finish_and_digest_say_what_merge_says(monkeypatch, at_once):
    monkeypatch.setattr(_key_checks, "_AT_ONCE", at_once)
    for lists in WRONG:
        keys = keys_of(*lists)
        expected = said_by(kith.merge, [keys]).partition(", query ")[2]
        assert said_by(kith.finish, "l2", keys) == f"kith.finish: keys, query {expected}"
        assert said_by(kith.digest, keys) == f"digest: the keys, query {expected}"  # the library's own message
    for lists in RIGHT:
        keys = keys_of(*lists)
        assert kith.merge([keys]).row.tolist() == keys.row.tolist()
        assert kith.finish("l2", keys).row.tolist() == keys.row.tolist()
        kith.digest(keys)


@pytest.mark.parametrize("at_once", [1, 2, 3, 1 << 20])
def test_the_same_within_a_radius(monkeypatch, at_once):
    monkeypatch.setattr(_key_checks, "_AT_ONCE", at_once)
    padded = [[[(ONE, 1), NONE]], [[NONE]], [[], [(ONE, 3)], [], [NONE], []]]
    for lists in [*WRONG, *padded, [[], [(TWO, 1), (ONE, 2)]]]:
        keys = radius_keys_of(*lists)
        expected = said_by(kith.merge, [keys]).partition(", query ")[2]
        assert said_by(kith.finish, "l2", keys) == f"kith.finish: keys, query {expected}"
    for lists in [*RIGHT[:2], [[], [(TWO, 5)], [], [(ONE, 5), (TWO, 0)], []], [[]]]:
        keys = radius_keys_of(*lists)
        found = kith.finish("l2", keys)
        assert (found.first.tolist(), found.row.tolist()) == (keys.first.tolist(), keys.row.tolist())


def test_random_keys_are_judged_as_by_merge(random):
    refused = 0
    for _ in range(300):
        m, k = random.integers(1, 5, 2)
        value = random.choice(np.array([ONE, TWO, INFINITY, NONE[0], INFINITY + 1], np.uint32), (m, k))
        row = random.integers(-1, 4, (m, k))
        if random.random() < 0.7:
            order = np.lexsort((row.astype(np.uint64), value), axis=1)
            value, row = np.take_along_axis(value, order, 1), np.take_along_axis(row, order, 1)
        keys = kith.Keys(value, row)
        try:
            kith.merge([keys])
        except kith.InvalidArgument as error:
            refused += 1
            assert said_by(kith.digest, keys).partition(", ")[2] == str(error).partition(", ")[2]
        else:
            kith.digest(keys)
    assert 20 < refused < 290


def test_lists_that_do_not_ascend_or_end_outside():
    value, row = np.full(3, ONE, np.uint32), np.arange(3)
    for first, told in [
        ([0, 5, 3], r"first\[1\] = 5, first\[2\] = 3; give queries \+ 1 places that begin with 0"),
        ([0, -1, 3], r"first\[0\] = 0, first\[1\] = -1"),
        ([1, 2, 3], r"first\[0\] = 1"),
        ([-1, 3], r"first\[0\] = -1"),
        ([0, 5, 2], "pass first"),
        ([0, 2**62], "pass first"),
        ([0], "pass first"),
    ]:
        keys = kith.RadiusKeys(np.array(first), value, row)
        for call in (lambda keys=keys: kith.finish("l2", keys), lambda keys=keys: kith.merge([keys])):
            with pytest.raises(kith.InvalidArgument, match=told):
                call()


def test_numbers_that_are_no_keys():
    for value, row, told in [
        ([[1.5]], [[0]], "value of dtype float64; pass uint32"),
        ([[ONE]], [[0.0]], "row of dtype float64; pass int64"),
        ([[-1]], [[0]], "value of dtype int64 with numbers outside uint32"),
        ([[2**32 + ONE]], [[0]], "value of dtype int64 with numbers outside uint32"),
        (np.array([[ONE]]), np.array([[2**63]], np.uint64), "row of dtype uint64 with numbers outside int64"),
        ([["a"]], [[0]], "value of dtype <U1"),
    ]:
        for call in (kith.digest, lambda keys: kith.finish("l2", keys), lambda keys: kith.merge([keys])):
            with pytest.raises(kith.InvalidArgument, match=told):
                call(kith.Keys(np.asarray(value), np.asarray(row)))
    assert kith.finish("l2", kith.Keys([[ONE]], [[3]])).distance.tolist() == [[1.0]]
