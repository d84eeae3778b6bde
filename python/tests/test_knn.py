"""Tests kith.knn beside an index of the same rows: bits, refusals, where answers go."""

import kith
import kith.faiss
import numpy as np
import pytest
from kith._core._types import BIT_METRICS

from reference import whole

METRICS = ["l2", "squared_l2", "l1", "linf", "negative_dot", "cosine"]


def same(X, Q, k, metric="l2", device="cpu", of_index=None, **options):
    """Compare the answers, or the refusals, of kith.knn and of an index."""

    def told(call):
        try:
            return call()
        except kith.Error as error:
            return type(error), str(error)

    index = {} if of_index is None else of_index
    expected = told(lambda: kith.Index(X, metric, device, **index).search(Q, k, **options))
    found = told(lambda: kith.knn(X, Q, k, metric, device, **index, **options))
    if isinstance(expected[0], type):
        assert found == (expected[0], expected[1].replace("kith.Index.search", "kith.knn").replace("kith.Index", "kith.knn"))
        return None
    assert found.distance.dtype == expected.distance.dtype and found.row.dtype == np.int64
    assert np.array_equal(found.row, expected.row) and np.array_equal(found.distance, expected.distance)
    return found


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("n, m, dims, k", [(1, 1, 1, 1), (7, 3, 2, 7), (5000, 2, 40, 30), (5000, 300, 40, 3)])
def test_bits_are_those_of_an_index(device, random, metric, n, m, dims, k):
    same(1 + whole(random, n, dims), 1 + whole(random, m, dims), k, metric, device)


@pytest.mark.parametrize("metric", kith.metrics())
def test_every_metric_of_floats(device, random, metric):
    of_index = {"mahalanobis": {"V": np.diag([1.0, 2.0])}, "minkowski": {"p": 1.5}}.get(metric)
    X, Q = random.random((400, 2), np.float32), random.random((3, 2), np.float32)
    if metric in BIT_METRICS:
        X, Q = random.random((400, 30)) < 0.5, random.random((3, 30)) < 0.5
    found = same(X, Q, 8, metric, device, of_index)
    assert found is not None and found.distance.dtype == (np.float64 if metric == "haversine" else np.float32)
    out = np.empty((3, 8), found.distance.dtype), np.empty((3, 8), np.int64)
    assert same(X, Q, 8, metric, device, of_index, out=out).distance is out[0]


def test_frames_of_categories(device):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": ["x", "y", "x"], "b": ["u", "u", "v"]}, dtype="category")
    assert same(frame, frame[:2], 3, "matching", device).row[0].tolist() == [0, 1, 2]


@pytest.mark.parametrize("kind", [np.float16, np.uint8, np.int8, np.float64, np.int32, bool])
def test_elements(device, random, kind):
    X, Q = (random.integers(0, 2, (3000, 50)).astype(kind) for _ in range(2))
    for asked in (Q[:3], Q[:3].astype(np.float32), Q[:3].astype(float)):
        same(X, asked, 20, "l2", device)
    same(X.astype(np.float32), Q[:3], 20, "l2", device)


def test_rows_of_other_layouts(device, random):
    X, Q = random.random((6000, 80), np.float32), random.random((4, 80), np.float32)
    for rows in (X[::2], X[:, 3:60], np.asfortranarray(X), X.tolist()[:500]):
        same(rows, Q[:, : np.shape(rows)[1]], 9, "l2", device)
    for queries in (Q[::-1], Q.tolist(), Q[:0]):
        same(X, queries, 9, "l2", device)


def test_options_of_a_search(device, random):
    X, Q = whole(random, 4000, 30), whole(random, 3, 30)
    for options in (
        {"filter": np.arange(4000) % 3 == 0},
        {"filter": [5, 7, 3999]},
        {"radius": 60.0},
        {"radius": -1.0},
        {"radius": float("nan")},
        {"threads": 1},
        {"memory_limit": 1 << 24},
        {"how": {"proposer": "none"}},
        {"how": {"colour": 1}},
    ):
        same(X, Q, 8, "l2", device, **options)
    same(X, X[100:103], 8, "l2", device, exclude_self_from=100)


def test_rows_that_say_to_be_wider_than_memory(device):
    rows = np.lib.stride_tricks.as_strided(np.zeros(4, np.float32), (1, 2**58), (4, 4))
    same(rows, np.zeros((1, 4), np.float32), 1, "l2", device)


def test_metric_of_none_is_l2(device, random):
    X, Q = whole(random, 400, 6), whole(random, 3, 6)
    assert np.array_equal(kith.knn(X, Q, 8, None, device).distance, same(X, Q, 8, "l2", device).distance)
    assert np.array_equal(kith.knn(X, Q, 8, device=device).row, same(X, Q, 8, None, device).row)


def test_paths(device, random, tmp_path):
    X, Q = whole(random, 400, 6), whole(random, 3, 6)
    np.save(tmp_path / "x.npy", X)
    kith.Index(X, "l1", device).save(tmp_path / "x.kith")
    for path in (tmp_path / "x.npy", str(tmp_path / "x.npy")):
        assert same(path, Q, 8, "l1", device) is not None
    assert np.array_equal(same(tmp_path / "x.kith", Q, 8, None, device).row, same(X, Q, 8, "l1", device).row)
    with pytest.raises(kith.InvalidArgument, match="that of the file is l1"):
        kith.knn(tmp_path / "x.kith", Q, 8, "l2", device)


def test_options_of_an_index(device, random):
    X, Q = 1 + whole(random, 400, 6), 1 + whole(random, 3, 6)
    same(X, Q, 8, "l2", device, {"features": [0, 5]})
    same(X, Q, 8, "l2", device, {"centre": True})
    same(X, Q, 8, "l2", device, {"box": np.full(6, 40.0)})
    same(X, Q, 8, "l1", device, {"w": np.arange(6.0)})
    same(X, Q, 8, "minkowski", device, {"p": 1.5})
    same(X, Q, 8, "l2", device, {"arithmetic": "f64"})
    same(X, Q, 8, "gower", device, {"categorical": [1]})
    for metric in ("correlation", "braycurtis", "canberra", "nan_euclidean"):
        same(X, Q, 8, metric, device)
    codes = random.integers(0, 256, (500, 8), np.uint8)
    same(codes, codes[:3], 8, "hamming", device, {"element": "bits"})
    same(codes > 100, codes[:3] > 100, 8, "jaccard", device)


def test_what_an_index_refuses(device, random):
    X, Q = whole(random, 4000, 30), whole(random, 3, 30)
    bad, bad_query = X.copy(), Q.copy()
    bad[3999, 29], bad_query[2, 1] = np.nan, np.inf
    for rows, queries in ((bad, Q), (X, bad_query), (bad, bad_query), (X, Q[:, 1:]), (X[:0], Q), (X[:, :0], Q)):
        same(rows, queries, 3, "l2", device)
    for k in (-1, 0, 4001, 2.5, True):
        same(X, Q, k, "l2", device)
        same(bad, Q, k, "l2", device)
    for queries in (Q[0], Q[None], [["a"] * 30], Q.astype(complex)):
        same(X, queries, 3, "l2", device)
        same(bad, queries, 3, "l2", device)
    same(bad, Q, 3, "l2", device, radius="far")
    same(X, Q, 3, "euclidaen", device)
    same(X, Q, 3, "l2", "cpo")
    same(np.zeros((9, 2), np.float32), Q[:, :2], 3, "cosine", device)
    same(X * np.float32(1e30), Q * np.float32(1e10), 3, "negative_dot", device)


def test_arrays_to_write_to(device, random):
    X, Q = random.random((4000, 30), np.float32), random.random((3, 30), np.float32)
    out = np.empty((3, 5), np.float32), np.empty((3, 5), np.int64)
    found = kith.knn(X, Q, 5, device=device, out=out)
    assert found.distance is out[0] and found.row is out[1]
    assert np.array_equal(out[1], kith.Index(X, device=device).search(Q, 5).row)
    with pytest.raises(kith.InvalidArgument, match="kith.knn: out's distance"):
        kith.knn(X, Q, 4, device=device, out=out)
    with pytest.raises(kith.InvalidArgument, match="kith.knn: .* and X share memory"):
        kith.knn(X, Q, 1, device=device, out=(X.reshape(-1)[:3].reshape(3, 1), np.empty((3, 1), np.int64)))


def test_frames_keep_the_order_of_columns(device, random):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(random.random((50, 3), np.float32), columns=["a", "b", "c"])
    assert kith.knn(frame, frame[:2], 1, device=device).row.tolist() == [[0], [1]]
    with pytest.raises(kith.InvalidArgument, match="kith.knn: Q: columns .*'c', 'b', 'a'"):
        kith.knn(frame, frame[["c", "b", "a"]], 1, device=device)


def test_queries_of_torch_get_tensors(device, random):
    torch = pytest.importorskip("torch")
    X, Q = torch.from_numpy(random.random((500, 9), np.float32)), torch.from_numpy(random.random((3, 9), np.float32))
    found = kith.knn(X, Q, 4, device=device)
    assert isinstance(found.row, torch.Tensor)
    assert found.row.tolist() == torch.cdist(Q, X).topk(4, largest=False).indices.tolist()


def test_progress_and_its_exceptions(random):
    X, Q, seen = random.random((200_000, 40), np.float32), random.random((2, 40), np.float32), []
    found = kith.knn(X, Q, 5, device="cpu", progress=seen.append)
    assert seen == sorted(seen) and len(seen) > 1 and seen[-1] == 1
    assert np.array_equal(found.row, kith.Index(X, device="cpu").search(Q, 5).row)

    def refuse(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        kith.knn(X, Q, 5, device="cpu", progress=refuse)


@pytest.mark.parametrize("metric", [kith.faiss.METRIC_L2, kith.faiss.METRIC_INNER_PRODUCT, kith.faiss.METRIC_L1])
def test_faiss_knn_is_that_of_a_flat_index(device, random, metric):
    X, Q = whole(random, 3000, 40), whole(random, 4, 40)
    index = kith.faiss.IndexFlat(40, metric, device)
    index.add(X)
    for k in (1, 6, 3000, 3001):
        found, expected = kith.faiss.knn(Q, X, k, metric, device), index.search(Q, k)
        assert type(found) is tuple
        assert all(np.array_equal(one, other) and one.dtype == other.dtype for one, other in zip(found, expected))
    for k in (0, 2.0):
        with pytest.raises(kith.InvalidArgument, match="k"):
            kith.faiss.knn(Q, X, k, metric, device)
    with pytest.raises(kith.InvalidArgument, match="columns"):
        kith.faiss.knn(Q[:, 1:], X, 1, metric, device)
    X[7, 3] = np.nan
    for queries, k in ((Q[:, 1:], 1), (Q[0], 1), (Q, 2.0), (Q, 1)):  # what is wrong with the rows is told first
        with pytest.raises(kith.InvalidArgument, match="row 7"):
            kith.faiss.knn(queries, X, k, metric, device)
