"""Tests that Dask's index with a prepared metric gives the bits of one index of all rows."""

import kith
import numpy as np
import pytest

from test_prepared_metrics import CASES, NAMES, data

pytest.importorskip("distributed")
import dask.array  # noqa: E402
import kith.dask  # noqa: E402
from distributed import Client  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def client():
    with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as made:
        yield made


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_shards_give_the_bits_of_one_index(case, tmp_path):
    metric, takes, _ = case
    X, Q = data(metric, "float64", False)
    one = kith.Index(X, metric, "cpu", **takes)
    right = one.search(Q, 5)
    one.save(tmp_path / "a.kidx")
    blocks = dask.array.from_array(X, chunks=((100, 200), (5,)))
    for index in (
        kith.dask.Index.from_array(X, metric, "cpu", shards=3, **takes),
        kith.dask.Index.from_array(blocks, metric, "cpu", **takes),
        kith.dask.Index.from_index_file(tmp_path / "a.kidx", device="cpu", shards=2),
    ):
        found = index.search(Q, 5)
        assert np.array_equal(found.row, right.row) and np.array_equal(found.distance, right.distance)


def test_haversine_is_double_whatever_the_rows_are():
    places = np.float32([[0.1, 0.2], [0.3, -1], [-1, 2], [0.1, 0.21]])
    index = kith.dask.Index.from_array(places, "haversine", "cpu", shards=2)
    right = kith.Index(places, "haversine", "cpu").search(places, 2)
    found = index.search(places, 2)
    assert np.array_equal(found.row, right.row) and np.array_equal(found.distance, right.distance)


TERMS = [
    ("minkowski", {"p": 3}, "f32"),
    ("minkowski", {"p": 1.5, "w": [1, 2, 0, 0.5, 3]}, "f64"),
    ("minkowski", {"p": 1}, "f32"),
    ("gower", {}, "f32"),
    ("gower", {"categorical": [1, 3], "ranges": [2, 0, 3, 0, 0.5]}, "f32"),
    ("gower", {"categorical": [3, 1]}, "f64"),
    ("matching", {}, "f64"),
    ("seuclidean", {}, "f32"),
    ("seuclidean", {}, "f64"),
]


@pytest.fixture
def mixed():
    random = np.random.default_rng(446)
    X, Q = random.normal(size=(300, 5)) * 3, random.normal(size=(9, 5)) * 3
    for rows in (X, Q):
        rows[:, [1, 3]] = np.floor(rows[:, [1, 3]])
    return X, Q


def same(found, right):
    assert found.distance.dtype == right.distance.dtype
    return np.array_equal(found.row, right.row) and np.array_equal(found.distance, right.distance)


@pytest.mark.parametrize("metric, takes, arithmetic", TERMS)
def test_terms_of_columns_and_what_is_learned_of_them(mixed, metric, takes, arithmetic, tmp_path):
    X, Q = mixed
    one = kith.Index(X, metric, "cpu", arithmetic=arithmetic, **takes)
    right, radius = one.search(Q, 300), float(one.search(Q, 9).distance[0, 8])
    near = one.within(Q, radius)
    one.save(tmp_path / "a.kidx")
    np.save(tmp_path / "a.npy", X)
    how = {"arithmetic": arithmetic, **takes}
    blocks = dask.array.from_array(X, chunks=((100, 1, 199), (2, 3)))
    for index in (
        kith.dask.Index.from_array(X, metric, "cpu", shards=3, **how),
        kith.dask.Index.from_array(blocks, metric, "cpu", **how),
        kith.dask.Index.from_files(tmp_path / "a.npy", metric, "cpu", shard_rows=70, **how),
        kith.dask.Index.from_index_file(tmp_path / "a.kidx", device="cpu", shards=2),
    ):
        assert index.metric == one.metric
        assert same(index.search(Q, 300), right)
        assert np.array_equal(index.within(Q, radius).row, near.row)
        assert np.array_equal(index.within(Q, radius).distance, near.distance)


def test_frames_with_categories():
    pandas = pytest.importorskip("pandas")
    kinds = pandas.Categorical(["cat", "dog", "cat", "cow"])
    frame = pandas.DataFrame({"size": [1.0, 2.0, 5.0, 3.0], "kind": kinds, "age": [3, 4, 7, 2]})
    asked = pandas.DataFrame({"size": [1.0, 5.0], "kind": ["dog", "hen"], "age": [3, 7]})
    index = kith.dask.Index.from_array(frame, "gower", "cpu", shards=3)
    assert same(index.search(asked, 4), kith.Index(frame, "gower", "cpu").search(asked, 4))
    with pytest.raises(kith.InvalidArgument, match="choose the columns in the order of the training rows"):
        index.search(asked[["kind", "size", "age"]], 1)


@pytest.mark.parametrize(
    "metric, takes", [("minkowski", {"p": 3}), ("gower", {"categorical": [1, 3]}), ("l1", {"w": [1, 2, 3, 4, 5]})]
)
def test_estimators_take_metric_params(mixed, metric, takes):
    ours = pytest.importorskip("kith.sklearn")
    X, Q = mixed
    how = {"n_neighbors": 5, "weights": "distance", "metric": metric, "metric_params": takes, "device": "cpu"}
    labels, values = np.arange(300) % 3, np.arange(300.0)
    right = ours.KNeighborsClassifier(**how).fit(X, labels).predict_proba(Q)
    assert np.array_equal(np.asarray(kith.dask.KNeighborsClassifier(**how).fit(X, labels).predict_proba(Q)), right)
    right = ours.KNeighborsRegressor(**how).fit(X, values).predict(Q)
    assert np.array_equal(kith.dask.KNeighborsRegressor(**how).fit(X, values).predict(Q), right)


def test_bad_parameters_and_rows_are_named():
    X = np.arange(12.0).reshape(6, 2)
    X[:, 1] %= 2
    with pytest.raises(kith.InvalidArgument, match="without V, and 1 row has no variances; pass V, or more rows"):
        kith.dask.Index.from_array(X[:1], "seuclidean", "cpu")
    with pytest.raises(kith.InvalidArgument, match="minkowski without p; give one, such as 3"):
        kith.dask.Index.from_array(X, "minkowski", "cpu", shards=2)
    with pytest.raises(kith.InvalidArgument, match="V of column 0 is 0; give a finite number above 0"):
        kith.dask.Index.from_array(np.zeros((6, 1)), "seuclidean", "cpu", shards=2)
    for bad in (np.nan, np.inf):
        X[4, 1] = bad
        for metric in ("gower", "seuclidean"):
            with pytest.raises(kith.InvalidArgument, match="row 4, column 1 (holds|is)"):
                kith.dask.Index.from_array(X, metric, "cpu", shards=2)
    with pytest.raises(kith.Unsupported, match="gower takes categorical and ranges; leave the others out"):
        kith.dask.KNeighborsRegressor(metric="gower", metric_params={"w": [1, 2]}).fit(X, np.arange(6.0))
