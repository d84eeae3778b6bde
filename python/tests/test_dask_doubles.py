"""Tests that a cluster computes in double precision, with the bits of one index, one classifier and one regressor."""

import kith
import numpy as np
import pytest

from reference import whole

pytest.importorskip("distributed")
import dask.array as da  # noqa: E402
import kith.dask  # noqa: E402
import kith.sklearn  # noqa: E402
from distributed import Client  # noqa: E402

METRICS = ["squared_l2", "l2", "l1", "linf", "negative_dot", "cosine"]
N, M, K = 211, 17, 9


@pytest.fixture(scope="module", autouse=True)
def client():
    with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as made:
        yield made


def same(found, expected):
    for one, other in zip(found, expected):
        assert one.dtype == other.dtype and np.array_equal(one, other)


def made(random, kind, rows, columns=3):
    """Returns rows of doubles on which float32 and float64 differ, or on which a proof may fail."""
    x = random.random((rows, columns))
    if kind == "map":
        return 5334000 + np.round(100 * x, 3)
    if kind == "near ties":  # many rows are equal, and others one float
        return 5334000 + random.integers(0, 5, (rows, columns)) / 2.0**20
    return {"random": x, "huge": x * 1e100, "tiny": x * 1e-42}[kind]


def check(index, one, queries):
    assert (index.arithmetic, index.rows, index.metric) == (one.arithmetic, one.rows, one.metric)
    right = one.search(queries, K)
    assert right.distance.dtype == np.float64
    same(index.search(queries, K, tile=5), right)
    same(index.search(queries, one.rows), one.search(queries, one.rows))
    radius = right.distance[:, -1]
    same(index.within(queries, radius, tile=5), one.within(queries, radius))
    same(index.within(queries, float(radius[0])), one.within(queries, float(radius[0])))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", ["random", "map", "near ties", "huge", "tiny"])
def test_arrays_are_one_index(random, metric, kind):
    train, queries = made(random, kind, N), made(random, kind, M)
    one = kith.Index(train, metric, "cpu")
    check(kith.dask.Index.from_array(train, metric, "cpu", shards=5), one, queries)
    blocks = da.from_array(train, chunks=((100, 0, 1, 110), (2, 1)))
    check(kith.dask.Index.from_array(blocks, metric, "cpu"), one, queries)


def test_files_and_kinds_of_queries(random, tmp_path):
    train, queries = made(random, "map", N), made(random, "map", M)
    np.save(tmp_path / "a.npy", train[:150])
    np.save(tmp_path / "b.npy", train[150:].astype(">f8"))
    np.save(tmp_path / "queries.npy", queries)
    one = kith.Index(train, device="cpu")
    one.without([3, 150]).save(tmp_path / "a.kidx")
    named = kith.Index(train, device="cpu", ids=random.permutation(3 * N)[:N])
    named.save(tmp_path / "ids.kidx")
    index = kith.dask.Index.from_files(str(tmp_path / "?.npy"), device="cpu", shard_rows=80)
    check(index, one, queries)
    check(kith.dask.Index.from_index_file(tmp_path / "a.kidx", "cpu", shards=4), one.without([3, 150]), queries)
    check(kith.dask.Index.from_index_file(tmp_path / "ids.kidx", "cpu", shards=4), named, queries)
    right = one.search(queries, K)
    same(index.search(tmp_path / "queries.npy", K, tile=4), right)
    lazy = index.search(da.from_array(queries, chunks=((10, 7), 2)), K)
    assert [array.dtype for array in lazy] == [np.float64, np.int64]
    same((array.compute() for array in lazy), right)
    found = index.search(queries, K, out=str(tmp_path / "found"))
    assert found.distance.dtype == np.float64
    same(found, right)
    assert index.verify(queries, 5, share=1, seed=1).repeated == 3
    for asked in (queries.astype(np.float32), whole(random, M, 3).astype(np.uint8), np.full((2, 3), 2**53, np.int64)):
        same(index.search(asked, K), one.search(asked, K))
    with pytest.raises(kith.InvalidArgument, match="9007199254740993 is beyond 2\\^53"):
        index.search(np.full((2, 3), 2**53 + 1, np.int64), K)


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.uint8, np.int64])
def test_elements_of_any_kind(random, kind):
    train = whole(random, N, 3).astype(kind)
    one = kith.Index(train, device="cpu", arithmetic="f64")
    check(kith.dask.Index.from_array(train, device="cpu", shards=3, arithmetic="f64"), one, train[:M])
    blocks = da.from_array(train, chunks=(90, 3))
    check(kith.dask.Index.from_array(blocks, device="cpu", arithmetic="f64"), one, train[:M])
    assert kith.dask.Index.from_array(train, device="cpu", shards=3).arithmetic == "f32"


def test_single_precision_when_it_is_asked_for(random, tmp_path):
    train, queries = random.random((N, 3)), random.random((M, 3))
    np.save(tmp_path / "a.npy", train)
    right = kith.Index(train, device="cpu", arithmetic="f32").search(queries, K)
    assert right.distance.dtype == np.float32
    for index in (
        kith.dask.Index.from_array(train, device="cpu", shards=3, arithmetic="f32"),
        kith.dask.Index.from_array(da.from_array(train, chunks=(50, 3)), device="cpu", arithmetic="f32"),
        kith.dask.Index.from_files(str(tmp_path / "a.npy"), device="cpu", shard_rows=60, arithmetic="f32"),
    ):
        assert index.arithmetic == "f32"
        same(index.search(queries, K), right)


def test_frames(random):
    pd = pytest.importorskip("pandas")
    train = pd.DataFrame(made(random, "map", N), columns=["x", "y", "z"])
    index = kith.dask.Index.from_array(train, device="cpu", shards=2)
    check(index, kith.Index(train, device="cpu"), train[:M])


def test_what_is_refused(random, tmp_path):
    np.save(tmp_path / "a.npy", random.random((5, 3)))
    np.save(tmp_path / "b.npy", random.random((5, 3)).astype(np.float32))
    both = str(tmp_path / "*.npy")
    with pytest.raises(kith.InvalidArgument, match="b.npy holds float32, but .*a.npy float64, and shards compute in one"):
        kith.dask.Index.from_files(both, device="cpu")
    assert kith.dask.Index.from_files(both, device="cpu", arithmetic="f64").arithmetic == "f64"
    with pytest.raises(kith.InvalidArgument, match="arithmetic='f16'; pass one of automatic, f32, f64"):
        kith.dask.Index.from_files(both, device="cpu", arithmetic="f16")
    with pytest.raises(kith.InvalidArgument, match="arithmetic='f64' with a centre"):
        kith.dask.Index.from_array(random.random((5, 3)), device="cpu", arithmetic="f64", centre=True)
    with pytest.raises(kith.InvalidArgument, match="rows 2: .*: 9007199254740993 is beyond|beyond 2\\^53"):
        kith.dask.Index.from_array(np.full((4, 3), 2**53 + 1), device="cpu", shards=2, arithmetic="f64")
    large = np.full((4, 3), 1e200)
    with pytest.raises(kith.InvalidArgument, match="dims \\* both may overflow double"):
        kith.dask.Index.from_array(large, "negative_dot", "cpu", shards=2).search(large, 1)


@pytest.mark.parametrize("weights, kind", [("uniform", "map"), ("distance", "map"), ("distance", "tiny")])
def test_estimators_follow_their_rows(random, weights, kind):
    train, queries = made(random, kind, N), made(random, kind, M)
    queries = np.vstack([queries, train[:3], np.nextafter(train[3:6], 0)])  # distances of 0, and below float32's steps
    labels, values = random.integers(0, 4, N), random.random((N, 2))
    for X, y, z in (
        (train, labels, values),
        (da.from_array(train, chunks=(60, 3)), da.from_array(labels, chunks=60), da.from_array(values, chunks=(60, 1))),
    ):
        mine = kith.dask.KNeighborsClassifier(K, weights=weights, device="cpu").fit(X, y)
        one = kith.sklearn.KNeighborsClassifier(K, weights=weights, device="cpu").fit(train, labels)
        assert mine.index_.arithmetic == "f64"
        same([mine.predict(queries)], [one.predict(queries)])
        same([mine.predict_proba(queries)], [one.predict_proba(queries)])
        mine = kith.dask.KNeighborsRegressor(K, weights=weights, device="cpu").fit(X, z)
        one = kith.sklearn.KNeighborsRegressor(K, weights=weights, device="cpu").fit(train, values)
        same([mine.predict(queries)], [one.predict(queries)])
    numbers = 10**9 + random.integers(0, 9, (N, 3))  # whole, and no float32
    mine = kith.dask.KNeighborsRegressor(K, weights=weights, device="cpu").fit(numbers, values)
    one = kith.sklearn.KNeighborsRegressor(K, weights=weights, device="cpu").fit(numbers, values)
    same([mine.predict(numbers)], [one.predict(numbers)])
    single = kith.dask.KNeighborsRegressor(K, weights=weights, device="cpu").fit(train.astype(np.float32), values)
    assert single.index_.arithmetic == "f32"
