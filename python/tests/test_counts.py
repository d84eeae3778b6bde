"""Counts, pairs and searches within a radius, beside plain NumPy."""

import numpy as np
import pytest

import kith


@pytest.fixture(name="rows")
def rows_fixture():
    return np.random.default_rng(5).integers(0, 6, (200, 3)).astype(np.float32)


@pytest.fixture(name="index")
def index_fixture(rows):
    return kith.Index(rows, device="cpu")


def test_counts_are_those_of_within(index, rows):
    queries = rows[:20] + np.float32(0.5)
    found = index.within(queries, 2.0)
    expected = np.diff(found.first)
    assert index.count(queries, 2.0).tolist() == expected.tolist()
    each = np.linspace(1, 3, 20)
    assert index.count(queries, each).tolist() == np.diff(index.within(queries, each).first).tolist()
    table = index.count(queries, [[1.0, 2.0, 3.0]])
    assert table.shape == (20, 3) and table.dtype == np.int64
    assert table[:, 1].tolist() == expected.tolist()
    assert index.two_point(queries, [1.0, 2.0, 3.0]).tolist() == table.sum(axis=0).tolist()


def test_radii_are_those_of_within():
    rows = np.array([[0], [0.1]], np.float32)
    index = kith.Index(rows, device="cpu")  # float32(0.1) is above 0.1
    assert np.diff(index.within(rows, 0.1).first).tolist() == index.count(rows, 0.1).tolist() == [2, 2]
    assert index.count(rows, 0.1, strict=True).tolist() == [1, 1]
    assert index.search(rows, 2, radius=0.1).row.tolist() == [[0, 1], [1, 0]]
    assert [len(block.first) for block in index.pairs(0.1)] == [1]


def test_strict_counts_leave_out_the_radius_itself(index, rows):
    far = np.linalg.norm(rows[:, None].astype(np.float64) - rows[None], axis=2)
    assert index.count(rows, 1.0).tolist() == (far <= 1).sum(axis=1).tolist()
    assert index.count(rows, 1.0, strict=True).tolist() == (far < 1).sum(axis=1).tolist()
    assert index.count(rows, 1.0, True, exclude_self_from=0).tolist() == ((far < 1).sum(axis=1) - 1).tolist()
    some = np.arange(200) % 2 == 0
    assert index.count(rows, 1.0, filter=some).tolist() == (far[:, some] <= 1).sum(axis=1).tolist()


def test_pairs_come_once(index, rows):
    blocks = list(index.pairs(1.0))
    first, second, distance = (np.concatenate(parts) for parts in zip(*blocks))
    far = np.linalg.norm(rows[:, None].astype(np.float64) - rows[None], axis=2)
    expected = sorted((i, far[i, j], j) for i, j in zip(*np.nonzero(np.triu(far <= 1, 1))))
    assert list(zip(first, distance, second)) == expected
    assert isinstance(blocks[0], kith.Pairs) and blocks[0].distance.dtype == np.float32
    some = np.arange(0, 200, 2)
    assert all((block.first % 2 == 0).all() and (block.second % 2 == 0).all() for block in index.pairs(1.0, filter=some))
    wide = kith.Index(rows.astype(np.float64), device="cpu", arithmetic="f64")
    assert next(wide.pairs(1.0)).distance.dtype == np.float64
    assert list(index.pairs(0.5))[0].distance.max() == 0


def test_the_k_nearest_within_a_radius(index, rows):
    found, all_rows = index.search(rows, 30, radius=1.0), index.search(rows, 30)
    beyond = all_rows.distance > 1
    assert (found.row == np.where(beyond, -1, all_rows.row)).all()
    assert (found.distance == np.where(beyond, np.inf, all_rows.distance)).all()


def test_what_is_refused(index, rows):
    with pytest.raises(kith.InvalidArgument, match="radii of shape"):
        index.count(rows, [1.0, 2.0])
    with pytest.raises(kith.InvalidArgument, match="ascend"):
        index.count(rows, [[2.0, 1.0]])
    with pytest.raises(kith.InvalidArgument, match="NaN"):
        index.count(rows, float("nan"))
    with pytest.raises(kith.InvalidArgument, match="below 0"):
        index.count(rows, -1.0)
    with pytest.raises(kith.InvalidArgument, match="pass one list"):
        index.two_point(rows, [[1.0]])
    with pytest.raises(kith.InvalidArgument, match="NaN"):
        index.pairs(float("nan"))
    with pytest.raises(kith.InvalidArgument, match="pass one"):
        index.search(rows, 3, radius=[1.0, 2.0])
