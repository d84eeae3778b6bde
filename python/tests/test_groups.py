"""Tests searches by groups: docs/howto/many-small-searches.md."""

import pickle

import numpy as np
import pytest

import kith


def random_groups(random, groups, most):
    sizes = random.integers(0, most, groups)
    return np.concatenate(([0], np.cumsum(sizes)))


def expected_of(rows, queries, of_rows, of_queries, k, own=False, from_group=False):
    distance = np.full((len(queries), k), np.inf, np.float32)
    row = np.full((len(queries), k), -1, np.int64)
    for g in range(len(of_rows) - 1):
        first, end = of_rows[g], of_rows[g + 1]
        some = slice(of_queries[g], of_queries[g + 1])
        most = min(k, end - first - own)
        if most < 1 or some.start == some.stop:
            continue
        found = kith.Index(rows[first:end], device="cpu").search(queries[some], most, exclude_self_from=0 if own else None)
        distance[some, :most], row[some, :most] = found.distance, found.row + (0 if from_group else first)
    return distance, row


@pytest.mark.parametrize("from_group", [False, True])
def test_the_answer_of_a_group_is_that_of_an_index_of_its_rows(from_group):
    random = np.random.default_rng(1)
    of_rows, of_queries = random_groups(random, 40, 30), random_groups(random, 40, 9)
    rows = random.integers(0, 9, (of_rows[-1], 3)).astype(np.float32)
    queries = random.integers(0, 9, (of_queries[-1], 3)).astype(np.float32)
    index = kith.Index(rows, groups=of_rows, device="cpu")
    found = index.search(queries, 7, groups=of_queries, rows_from_group=from_group)
    distance, row = expected_of(rows, queries, of_rows, of_queries, 7, from_group=from_group)
    assert np.array_equal(found.row, row) and np.array_equal(found.distance, distance)
    assert "groups         40" in index.explain(len(rows), 7)


def test_a_graph_by_borders_by_a_batch_and_by_clouds():
    random = np.random.default_rng(2)
    lengths = random.integers(0, 12, 20)
    borders = np.concatenate(([0], np.cumsum(lengths)))
    rows = random.integers(0, 5, (borders[-1], 2)).astype(np.float32)
    distance, row = expected_of(rows, rows, borders, borders, 4, own=True)
    batch = np.repeat(np.arange(20), lengths)
    by_borders = kith.knn_graph(rows, 4, groups=borders, device="cpu")
    by_batch = kith.knn_graph(rows, 4, batch=batch, device="cpu")
    for found in (by_borders, by_batch):
        assert np.array_equal(found.row, row) and np.array_equal(found.distance, distance)
    clouds = np.full((20, 12, 2), np.nan, np.float32)
    inside = np.arange(12) < lengths[:, None]
    clouds[inside] = rows
    found = kith.knn_graph(clouds, 4, lengths=lengths, device="cpu")
    assert found.row.shape == (20, 12, 4)
    assert np.array_equal(found.distance[inside], distance)
    assert np.array_equal(found.row[inside], np.where(row < 0, -1, row - borders[batch][:, None]))
    assert (found.row[~inside] == -1).all() and np.isinf(found.distance[~inside]).all()
    whole = random.random((5, 8, 3), np.float32)
    assert kith.knn_graph(whole, 2, device="cpu").row.max() < 8


def test_within_and_doubles():
    rows = np.array([[0], [1], [1], [5]])
    index = kith.Index(rows.astype(np.float64), groups=[0, 2, 4], device="cpu")
    assert index.search(rows.astype(np.float64), 3).row.tolist() == [[0, 1, -1], [1, 0, -1], [2, 3, -1], [3, 2, -1]]
    floats = kith.Index(rows.astype(np.float32), groups=[0, 2, 4], device="cpu")
    found = floats.within(rows.astype(np.float32), 1.5, rows_from_group=True)
    assert found.first.tolist() == [0, 2, 4, 5, 6] and found.row.tolist() == [0, 1, 1, 0, 0, 1]


def test_refusals_say_what_to_do():
    rows = np.zeros((4, 2), np.float32)
    with pytest.raises(kith.InvalidArgument, match=r"batch\[2\] = 0 behind 1; put the rows of a group side by side"):
        kith.knn_graph(rows, 1, batch=[0, 1, 0, 1], device="cpu")
    with pytest.raises(kith.InvalidArgument, match="batch: 3 numbers for 4 rows; pass one a row"):
        kith.knn_graph(rows, 1, batch=[0, 1, 1], device="cpu")
    with pytest.raises(kith.InvalidArgument, match="groups is given, but batch names the groups already; leave it out"):
        kith.knn_graph(rows, 1, batch=[0, 0, 1, 1], groups=[0, 4], device="cpu")
    with pytest.raises(kith.InvalidArgument, match="lengths are of clouds; pass X of shape"):
        kith.knn_graph(rows, 1, lengths=[4], device="cpu")
    with pytest.raises(kith.InvalidArgument, match=r"lengths=\[5\]; pass 1 numbers from 0 to 4"):
        kith.knn_graph(rows[None], 1, lengths=[5], device="cpu")
    with pytest.raises(kith.InvalidArgument, match="groups of rows end at 3; give borders that ascend from 0 to 4"):
        kith.Index(rows, groups=[0, 3], device="cpu")


def test_counts_and_pairs_are_those_of_each_group_alone():
    rows = np.random.default_rng(6).random((30, 2), np.float32)
    index = kith.Index(rows, groups=[0, 12, 12, 30], device="cpu")
    alone = [(0, kith.Index(rows[:12], device="cpu")), (12, kith.Index(rows[12:], device="cpu"))]
    radii = np.array([[0.1, 0.3]])
    expected = np.concatenate([one.count(rows[:12] if first == 0 else rows[12:], radii) for first, one in alone])
    assert index.count(rows, radii).tolist() == expected.tolist()
    assert index.two_point(rows, radii[0]).tolist() == expected.sum(axis=0).tolist()
    asked = rows[[3, 20, 29]]
    assert index.count(asked, 0.3, groups=[0, 1, 1, 3]).tolist() == expected[[3, 20, 29], 1].tolist()
    blocks = [(first, block) for first, one in alone for block in one.pairs(0.3)]
    found = list(index.pairs(0.3))
    assert [block.first.tolist() for block in found] == [(block.first + first).tolist() for first, block in blocks]
    assert [block.second.tolist() for block in found] == [(block.second + first).tolist() for first, block in blocks]
    assert [block.distance.tolist() for block in found] == [block.distance.tolist() for _, block in blocks]


def test_what_does_not_go_by_groups_is_refused():
    rows = np.zeros((4, 2), np.float32)
    index = kith.Index(rows, groups=[0, 1, 4], device="cpu")
    asks = {
        "keys of shards": lambda: index.search_keys(rows, 1),
    }
    for what, ask in asks.items():
        with pytest.raises(kith.Unsupported, match=f"the rows have groups, and {what} do(es)? not go by them; make an"):
            ask()
    with pytest.raises(kith.InvalidArgument, match="each of which keeps its rows, and deduplicate; leave one out"):
        kith.Index(rows, groups=[0, 4], deduplicate=True, device="cpu")


def test_files_and_pickles_keep_groups(tmp_path):
    rows = np.random.default_rng(9).random((30, 3), np.float32)
    index = kith.Index(rows, groups=[0, 10, 10, 30], device="cpu")
    index.save(str(tmp_path / "a.kidx"))
    for kept in (kith.Index(str(tmp_path / "a.kidx"), device="cpu"), pickle.loads(pickle.dumps(index))):
        assert np.array_equal(kept.search(rows, 4).row, index.search(rows, 4).row)


def test_votes_and_averages_are_those_of_each_group_alone():
    random = np.random.default_rng(5)
    rows, labels, values = random.random((40, 3), np.float32), random.integers(0, 3, 40), random.random(40)
    borders = [0, 12, 12, 40]
    voter = kith.Classifier(rows, labels, groups=borders, device="cpu")
    mean = kith.Regressor(rows, values, groups=borders, device="cpu")
    first, last = slice(0, 12), slice(12, 40)
    for one in (first, last):
        alone = kith.Classifier(rows[one], labels[one], device="cpu").predict(rows[one], 4)
        assert voter.predict(rows, 4)[one].tolist() == alone.tolist()
        expected = kith.Regressor(rows[one], values[one], device="cpu").predict(rows[one], 4)
        assert mean.predict(rows, 4)[one].tobytes() == expected.tobytes()
    assert voter.predict(rows[:2], 1, groups=[0, 1, 1, 2]).tolist() == [labels[0], voter.predict(rows[1:2], 1, groups=[0, 0, 0, 1])[0]]
    assert voter.predict(rows[:1], 1, groups=[0, 0, 1, 1], no_label=-9).tolist() == [-9]
    assert np.isnan(mean.predict(rows[:1], 1, groups=[0, 0, 1, 1])[0])


def test_the_nearest_within_a_radius():
    rows = np.array([[0], [1], [1], [5]], np.float32)
    index = kith.Index(rows, groups=[0, 2, 4], device="cpu")
    assert index.search(rows, 2, radius=1.0).row.tolist() == [[0, 1], [1, 0], [2, -1], [3, -1]]
