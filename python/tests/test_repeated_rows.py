"""Tests that equal rows which an index keeps once are found as those that it keeps each."""

import kith
import numpy as np
import pytest


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
def test_answers_stay(device, dtype):
    random = np.random.default_rng(3)
    rows = random.integers(0, 4, (500, 3)).astype(dtype)
    once = kith.Index(rows, "l2", device, deduplicate=True)
    each = kith.Index(rows, "l2", device, deduplicate=False)
    chosen = np.arange(500) % 3 == 0
    for searched in (dict(), dict(filter=chosen)):
        one, other = (index.search(rows[:40], 30, **searched) for index in (once, each))
        assert np.array_equal(one.row, other.row) and np.array_equal(one.distance, other.distance)
    one, other = (index.without([0, 7]).compact().search(rows[:40], 30) for index in (once, each))
    assert np.array_equal(one.row, other.row) and np.array_equal(one.distance, other.distance)


def test_first_of_copies(device):
    rows = np.array([[1, 2], [1, 2], [3, 4], [1, 2]], np.float32)
    found = kith.Index(rows, device=device, deduplicate=True).search(rows[:1], 3)
    assert found.row.tolist() == [[0, 1, 3]] and found.distance.tolist() == [[0, 0, 0]]


def test_files_have_their_own(device, tmp_path):
    path = str(tmp_path / "a.kidx")
    kith.Index(np.ones((4, 2), np.float32), device=device, deduplicate=True).save(path)
    assert kith.Index(path, device=device).search(np.ones((1, 2), np.float32), 4).row.tolist() == [[0, 1, 2, 3]]
    with pytest.raises(kith.InvalidArgument, match="deduplicate is given, but an index file has its own"):
        kith.Index(path, device=device, deduplicate=True)
