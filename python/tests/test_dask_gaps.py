"""Tests that Dask's index and estimators take missing values as one index of all rows does."""

import kith
import numpy as np
import pytest

from test_gaps import METRIC, holes

pytest.importorskip("distributed")
import dask.array  # noqa: E402
import kith.dask  # noqa: E402
from distributed import Client  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def client():
    with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as made:
        yield made


def test_shards_give_the_bits_of_one_index(random, tmp_path):
    X, Q = holes(random, 60), holes(random, 9)
    one = kith.Index(X, METRIC, "cpu")
    right, near = one.search(Q, 60), one.within(Q, 1.5)
    one.save(tmp_path / "a.kidx")
    np.save(tmp_path / "a.npy", X)
    for index in (
        kith.dask.Index.from_array(X, METRIC, "cpu", shards=3),
        kith.dask.Index.from_array(dask.array.from_array(X, chunks=((25, 35), (6,))), METRIC, "cpu"),
        kith.dask.Index.from_files([tmp_path / "a.npy"], METRIC, "cpu", shard_rows=40),
        kith.dask.Index.from_index_file(tmp_path / "a.kidx", device="cpu", shards=2),
    ):
        found = index.search(Q, 60)
        assert np.array_equal(found.row, right.row) and np.array_equal(found.distance, right.distance)
        assert np.array_equal(index.within(Q, 1.5).row, near.row)


def test_ranges_are_those_of_the_values_in_all_shards(random):
    X, Q = holes(random, 60), holes(random, 9)
    X[:20, 3] = np.nan
    right = kith.Index(X, "nan_gower", "cpu", categorical=[1]).search(Q, 60)
    found = kith.dask.Index.from_array(X, "nan_gower", "cpu", shards=3, categorical=[1]).search(Q, 60)
    assert np.array_equal(found.row, right.row) and np.array_equal(found.distance, right.distance)


def test_frames_that_miss_categories():
    pandas = pytest.importorskip("pandas")
    kinds = pandas.Categorical(["cat", None, "cat", "cow"])
    frame = pandas.DataFrame({"size": [1.0, 2.0, None, 3.0], "kind": kinds})
    asked = pandas.DataFrame({"size": [None, 2.0], "kind": ["cow", None]})
    right = kith.Index(frame, "nan_gower", "cpu").search(asked, 4)
    found = kith.dask.Index.from_array(frame, "nan_gower", "cpu", shards=3).search(asked, 4)
    assert np.array_equal(found.row, right.row) and np.array_equal(found.distance, right.distance)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_estimators_have_the_answers_of_one(random, weights):
    ours = pytest.importorskip("kith.sklearn")
    X, Q = holes(random, 60), holes(random, 9)
    how = {"n_neighbors": 3, "metric": METRIC, "weights": weights}
    labels, values = np.arange(60) % 3, np.arange(60.0)
    right = ours.KNeighborsRegressor(**how, device="cpu").fit(X, values).predict(Q)
    found = kith.dask.KNeighborsRegressor(**how, device="cpu").fit(X, values).predict(Q)
    assert np.array_equal(found, right, equal_nan=True) and np.isnan(found[5])
    right = ours.KNeighborsClassifier(**how, device="cpu").fit(X, labels).predict_proba(Q)
    voter = kith.dask.KNeighborsClassifier(**how, device="cpu").fit(X, labels)
    assert np.array_equal(np.asarray(voter.predict_proba(Q)), right) and not right[5].any()
    with pytest.raises(kith.InvalidArgument, match="no class wins .*; leave queries without neighbours out, or call predict"):
        voter.predict(Q)


def test_lost_digits_are_told():
    with pytest.warns(kith.PrecisionWarning, match="column 0: float32 keeps its values to 64"):
        kith.dask.Index.from_array(np.array([[1e9], [1e9 + 30], [np.nan]]), METRIC, "cpu", shards=1)
