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


def test_shards_have_no_variances_of_their_own():
    X, _ = data("seuclidean", "float64", False)
    with pytest.raises(kith.InvalidArgument, match="'seuclidean' without V, of which each shard would have its own"):
        kith.dask.Index.from_array(X, "seuclidean", "cpu", shards=2)


@pytest.mark.parametrize("metric, takes", [("minkowski", {"p": 3}), ("gower", {"categorical": [1]}), ("matching", {})])
def test_metrics_that_need_a_parameter_of_the_index_are_refused(metric, takes, tmp_path):
    X = np.arange(12.0).reshape(6, 2)
    words = f"metric='{metric}', whose distances follow from keys by a parameter"
    with pytest.raises(kith.Unsupported, match=words):
        kith.dask.Index.from_array(X, metric, "cpu", shards=2)
    kith.Index(X, metric, "cpu", **takes).save(tmp_path / "a.kidx")
    with pytest.raises(kith.Unsupported, match=words):
        kith.dask.Index.from_index_file(tmp_path / "a.kidx", device="cpu", shards=2)
    np.save(tmp_path / "a.npy", X)
    with pytest.raises(kith.Unsupported, match=words):
        kith.dask.Index.from_files(tmp_path / "a.npy", metric, "cpu")
