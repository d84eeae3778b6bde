"""Tests metrics of two sums beside SciPy and scikit-learn: docs/contract.md, section 1."""

import pickle

import kith
import numpy as np
import pytest
from kith._core._types import BIT_METRICS

spatial = pytest.importorskip("scipy.spatial.distance")
OF_BITS = tuple(metric for metric in BIT_METRICS if metric != "hamming")


def prints(random, rows, columns=100):
    """Returns rows of few to many ones; the first has none, and some repeat."""
    bits = random.random((rows, columns)) < random.random((rows, 1))
    bits[0] = False
    bits[3::7] = bits[2:-1:7][: len(bits[3::7])]
    return bits


def shares(queries, rows, metric):
    """Returns SciPy's distances, rounded to float32; 0 where it has NaN, for two rows without ones."""
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(spatial.cdist(queries, rows, metric), nan=0.0).astype(np.float32)


@pytest.mark.parametrize("metric", OF_BITS)
def test_like_scipy(device, random, metric):
    rows, queries = prints(random, 300), prints(random, 20)
    right = shares(queries, rows, metric)
    order = np.argsort(right, axis=1, kind="stable")
    index = kith.Index(rows, metric, device)
    assert (index.dims, index.metric) == (100, metric)
    found = index.search(queries, 300)
    assert np.array_equal(found.distance, np.take_along_axis(right, order, 1)) and np.array_equal(found.row, order)
    near = index.within(queries, 0.5)
    assert np.array_equal(np.diff(near.first), (right <= 0.5).sum(axis=1))
    packed = kith.Index(np.packbits(rows[:, :96], axis=1), metric, device, element="bits")
    whole = kith.Index(rows[:, :96], metric, device).search(queries[:, :96], 9)
    assert packed.dims == 96 and np.array_equal(packed.search(np.packbits(queries[:, :96], axis=1), 9).row, whole.row)
    again = pickle.loads(pickle.dumps(index))
    assert np.array_equal(again.search(np.packbits(queries, axis=1), 300).row, order)


@pytest.mark.parametrize("metric", ("jaccard", "dice", "sokalsneath"))
def test_wide_rows(device, random, metric):
    """Quotients of wide rows are compared as float64, which tells all apart."""
    rows, queries = prints(random, 300, 9001), prints(random, 5, 9001)
    with np.errstate(invalid="ignore"):
        right = np.nan_to_num(spatial.cdist(queries, rows, metric), nan=0.0)
    order = np.argsort(right, axis=1, kind="stable")
    index = kith.Index(rows, metric, device)
    found = index.search(queries, 300)
    assert np.array_equal(found.row, order)
    assert np.array_equal(found.distance, np.take_along_axis(right, order, 1).astype(np.float32))
    near = index.within(queries, 0.75)
    assert np.array_equal(np.diff(near.first), (right.astype(np.float32) <= 0.75).sum(axis=1))
    shards = kith.Index(rows[:140], metric, device), kith.Index(rows[140:], metric, device, first_row=140)
    joined = kith.finish(metric, kith.merge([shard.search_keys(queries, 9) for shard in shards]))
    assert np.array_equal(joined.row, order[:, :9]) and np.array_equal(joined.distance, found.distance[:, :9])
    again = pickle.loads(pickle.dumps(index))
    assert np.array_equal(again.search(np.packbits(queries, axis=1), 300).row, order)


def test_tanimoto_of_torch(device, random):
    torch = pytest.importorskip("torch")
    rows = prints(random, 50)
    found = kith.Index(torch.tensor(rows), "Tanimoto", device).search(torch.tensor(rows[:5]), 4)
    assert np.array_equal(found.row, kith.Index(rows, "jaccard", device).search(rows[:5], 4).row)


def test_braycurtis(device, random):
    rows, queries = random.random((200, 7)).astype(np.float32), random.random((9, 7)).astype(np.float32)
    found = kith.Index(rows, "braycurtis", device).search(queries, 200)
    right = spatial.cdist(queries.astype(float), rows.astype(float), "braycurtis")
    assert np.allclose(found.distance, np.take_along_axis(right, found.row, 1), rtol=1e-6, atol=0)
    assert (np.sort(found.row, axis=1) == np.arange(200)).all()
    index = kith.Index(rows.astype(np.float64), "braycurtis", device)
    assert index.arithmetic == "f32" and np.array_equal(index.search(queries, 200).row, found.row)
    with pytest.raises(kith.InvalidArgument, match="in arithmetic f64, in which braycurtis is not computed; give f32"):
        kith.Index(rows, "braycurtis", device, arithmetic="f64")


@pytest.mark.parametrize("metric", OF_BITS)
def test_like_scikit_learn(device, random, metric):
    neighbors = pytest.importorskip("sklearn.neighbors")
    ours = pytest.importorskip("kith.sklearn")
    rows, queries = prints(random, 150)[1:], prints(random, 12)[1:]
    labels = np.arange(149) % 3
    right = neighbors.NearestNeighbors(n_neighbors=5, metric=metric, algorithm="brute").fit(rows).kneighbors(queries)
    mine = ours.NearestNeighbors(n_neighbors=5, metric=metric, device=device).fit(rows)
    assert np.array_equal(mine.kneighbors(queries)[0], right[0].astype(np.float32))
    assert np.array_equal(mine.kneighbors(queries.astype(float))[1], mine.kneighbors(queries)[1])
    assert mine.kneighbors()[1].shape == (149, 5)
    voter = ours.KNeighborsClassifier(n_neighbors=1, metric=metric, device=device).fit(rows, labels)
    assert np.array_equal(voter.predict(queries), labels[mine.kneighbors(queries, 1)[1][:, 0]])
    mean = ours.KNeighborsRegressor(n_neighbors=1, metric=metric, device=device).fit(rows, labels)
    assert np.array_equal(mean.predict(queries), labels[mine.kneighbors(queries, 1)[1][:, 0]])
    near = ours.RadiusNeighborsClassifier(2.0, metric=metric, device=device).fit(rows, labels)
    assert len(near.predict(queries)) == 11


def test_refusals(device):
    bits = np.ones((3, 46251), bool)
    with pytest.raises(kith.InvalidArgument, match="46251 bits, but jaccard tells the quotients of at most 46250 apart"):
        kith.Index(bits, "jaccard", device)
    with pytest.raises(kith.InvalidArgument, match="are u8, but dice compares bits"):
        kith.Index(np.ones((3, 2), np.uint8), "dice", device)
    index = kith.Index(bits[:, :9], "dice", device)
    with pytest.raises(kith.InvalidArgument, match="have 16 columns"):
        index.search(np.ones((1, 10), bool)[:, :10].repeat(2, axis=1)[:, :16], 1)
    with pytest.raises(kith.InvalidArgument, match="element='bits' takes uint8"):
        index.search(np.ones((1, 9), np.float32), 1)
