"""Metrics by terms of columns: minkowski, gower, matching and canberra, beside NumPy's operations."""

import pickle

import numpy as np
import pytest

import kith
import kith.sklearn as ours

N, M, DIMS = 400, 9, 4


@pytest.fixture
def data():
    random = np.random.default_rng(44)
    train, queries = random.normal(size=(N, DIMS)) * 3, random.normal(size=(M, DIMS)) * 3
    for rows in (train, queries):
        rows[:, [0, 2]] = np.floor(rows[:, [0, 2]])
        rows[::7] = 0
    return train.astype(np.float32), queries.astype(np.float32)


def power(t, p):
    product = None
    for _ in range(int(p)):
        product = t if product is None else product * t
    if p != int(p):
        product = np.sqrt(t) if product is None else product * np.sqrt(t)
    return product


def quotient(a, b):
    sums = np.abs(a) + np.abs(b)
    return np.where(sums == 0, sums.dtype.type(0), np.abs(a - b) / np.where(sums == 0, sums.dtype.type(1), sums))


def check_sums(index, queries, train, terms, kind):
    """Check rows and their order by sums of terms(d, a, b) in ascending columns; returns distances and sums."""
    sums = np.zeros((len(queries), len(train)), kind)
    for d in range(train.shape[1]):
        sums = sums + terms(d, queries[:, None, d].astype(kind), train[None, :, d].astype(kind)).astype(kind)
    order = np.argsort(sums, axis=1, kind="stable")[:, :11]
    found = index.search(queries, 11)
    assert found.distance.dtype == kind and (found.row == order).all()
    return found.distance, np.take_along_axis(sums, order, 1)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("p", [0.5, 1.5, 3, 4.5, 8])
def test_minkowski(device, data, kind, p):
    train, queries = (rows.astype(kind) for rows in data)
    index = kith.Index(train, "minkowski", device, p=p)
    shown, sums = check_sums(index, queries, train, lambda d, a, b: power(np.abs(a - b), p), kind)
    assert np.allclose(shown, sums.astype(float) ** (1 / p), rtol=1e-6, atol=0)
    radius = float(shown[1, 5])
    assert (index.count(queries, radius) == (index.search(queries, N).distance <= radius).sum(1)).all()


@pytest.mark.parametrize("p, name", [(1, "l1"), (2, "l2"), (np.inf, "linf")])
def test_minkowski_by_other_names(device, data, p, name):
    train, queries = data
    index, right = kith.Index(train, "minkowski", device, p=p), kith.Index(train, name, device)
    assert index.metric == name
    for one, other in zip(index.search(queries, 5), right.search(queries, 5)):
        assert (one == other).all()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_canberra_and_matching(device, data, kind):
    train, queries = (rows.astype(kind) for rows in data)
    shown, sums = check_sums(
        kith.Index(train, "canberra", device), queries, train, lambda d, a, b: quotient(a, b), kind
    )
    assert (shown == sums).all()
    shown, sums = check_sums(kith.Index(train, "matching", device), queries, train, lambda d, a, b: a != b, kind)
    assert (shown == sums / kind(DIMS)).all()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_gower(device, data, kind):
    train, queries = (rows.astype(kind) for rows in data)
    ranges = train.max(0).astype(float) - train.min(0).astype(float)

    def terms(d, a, b):
        if d in (0, 2):
            return a != b
        return np.abs((a.astype(float) / ranges[d]).astype(kind) - (b.astype(float) / ranges[d]).astype(kind))

    for given in (None, ranges):
        index = kith.Index(train, "gower", device, categorical=[2, 0], ranges=given)
        shown, sums = check_sums(index, queries, train, terms, kind)
        assert (shown == sums / kind(DIMS)).all()
    again = pickle.loads(pickle.dumps(index))
    assert (again.search(queries, 3).distance == shown[:, :3]).all()


def test_frames_with_categories(device):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"size": [1.0, 2.0, 5.0], "kind": pandas.Categorical(["cat", "dog", "cat"]), "age": [3, 4, 7]}
    )
    asked = pandas.DataFrame({"size": [1.0, 5.0], "kind": ["dog", "cow"], "age": [3, 7]})
    index = kith.Index(frame, "gower", device)
    found = index.search(asked, 3)
    assert found.row.tolist() == [[1, 0, 2], [2, 1, 0]]
    assert found.distance.tolist() == [[0.5 / 3, 1 / 3, 1.0], [1 / 3, 2.5 / 3, 1.0]]
    again = pickle.loads(pickle.dumps(index))
    assert again.search(asked, 3).row.tolist() == found.row.tolist()
    assert index.with_(frame).search(asked, 1).row.tolist() == [[1], [2]]
    assert kith.knn_graph(frame, 1, "gower", device).row.tolist() == [[1], [0], [0]]
    kinds = frame[["kind"]]
    assert kith.Index(kinds, "matching", device).search(kinds, 2).row.tolist() == [[0, 2], [1, 0], [0, 2]]
    with pytest.raises(kith.InvalidArgument, match=r"row 1, column 1 \('kind'\) holds 'cow', which is no category"):
        index.with_(asked)
    with pytest.raises(kith.InvalidArgument, match=r"row 0, column 1 \('kind'\) holds no category"):
        index.search(asked.assign(kind=[None, "cat"]), 1)
    with pytest.raises(kith.InvalidArgument, match="choose the columns in the order of the training rows"):
        index.search(asked[["kind", "size", "age"]], 1)
    with pytest.raises(kith.InvalidArgument, match=r"kith.Index: categorical: dtype int64, shape \(\); pass whole"):
        kith.Index(frame, "gower", device, categorical=5)
    with pytest.raises(kith.InvalidArgument, match="categorical names column 2 twice; name each once"):
        kith.Index(frame, "gower", device, categorical=[2, 2])
    two = kith.Index(frame, "gower", device, categorical=[1, 2]).search(asked, 1)
    assert two.row.tolist() == [[0], [2]]


@pytest.mark.parametrize(
    "metric, how, words",
    [
        ("minkowski", {}, "minkowski without p; give one"),
        ("minkowski", {"p": 2.3}, "p = 2.3; choose 0.5, 1, 1.5"),
        ("minkowski", {"p": "3"}, "p='3'; choose 0.5, 1, 1.5"),
        ("l2", {"p": 3}, "p is 3, which minkowski takes"),
        ("l2", {"categorical": [0]}, "there are categorical columns, which gower and nan_gower take"),
        ("gower", {"categorical": [9]}, "categorical names column 9, but rows have 4 columns"),
        ("gower", {"ranges": [1, 2]}, "ranges has 2 values for rows of 4 columns"),
        ("gower", {"ranges": [[1, 2]]}, r"pass numbers of shape \[dims\]"),
        ("canberra", {"w": [1, 1, 1, 1]}, "canberra is none of l1, l2, squared_l2 and minkowski"),
    ],
)
def test_refusals(data, metric, how, words):
    with pytest.raises(kith.InvalidArgument, match=words):
        kith.Index(data[0], metric, "cpu", **how)


@pytest.mark.parametrize("arithmetic", ["f32", "f64"])
@pytest.mark.parametrize("metric, how, parameter", [("minkowski", {"p": 3}, 3), ("gower", {}, 2), ("matching", {}, 2)])
def test_keys_have_distances_by_the_parameter_of_the_index(device, metric, how, parameter, arithmetic):
    index = kith.Index(np.arange(12.0).reshape(6, 2), metric, device, arithmetic=arithmetic, **how)
    assert index.parameter == parameter
    asked = np.ones((1, 2))
    keys, near = index.search_keys(asked, 4), index.within_keys(asked, 3.0)
    for found, right in (
        (kith.finish(metric, keys, index.parameter), index.search(asked, 4)),
        (kith.finish(metric, near, index.parameter), index.within(asked, 3.0)),
    ):
        assert np.array_equal(found.row, right.row) and np.array_equal(found.distance, right.distance)
    for found in (keys, near):
        with pytest.raises(kith.InvalidArgument, match=f"distances by {metric} with the parameter 0; give"):
            kith.finish(metric, found)
    with pytest.raises(kith.InvalidArgument, match="parameter='3'; pass Index.parameter of the shards"):
        kith.finish(metric, keys, "3")
    assert kith.Index(asked, "minkowski", device, p=2).parameter == 0


@pytest.mark.parametrize(
    "how",
    [
        {"metric": "minkowski", "p": 3},
        {"metric": "minkowski", "p": 1.5, "metric_params": {"w": np.array([1, 2, 0.5, 3])}},
        {"metric": "canberra"},
        {"metric": "chebyshev"},
        {"metric": "hamming", "algorithm": "brute"},
    ],
)
def test_names_of_scikit_learn(data, how):
    theirs = pytest.importorskip("sklearn.neighbors")
    train, queries = (rows.astype(np.float64) for rows in data)
    mine = ours.NearestNeighbors(n_neighbors=6, device="cpu", **how).fit(train)
    right = theirs.NearestNeighbors(n_neighbors=6, **how).fit(train)
    distance, _ = right.kneighbors(queries)
    assert np.allclose(mine.kneighbors(queries)[0], distance, rtol=1e-12)
