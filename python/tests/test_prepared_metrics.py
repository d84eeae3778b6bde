"""Tests prepared metrics and weights of columns beside maps written from the contract, and beside SciPy."""

import copy
import math
import pickle

import kith
import numpy as np
import pytest

DIMS = 5
KINDS = ("float32", "float64")


def some_rows(seed, count, whole):
    """Returns rows of floats; whole numbers have ties and equal values."""
    random = np.random.default_rng(seed)
    X = np.floor(random.normal(size=(count, DIMS)) * 3) if whole else random.normal(size=(count, DIMS)) * 4 + 1
    X[:, 0] += 64  # so that no row is constant
    return np.float32(X).astype(np.float64)


RANDOM = np.random.default_rng(7)
ROOT = RANDOM.normal(size=(DIMS, DIMS))
COVARIANCE = ROOT @ ROOT.T + np.eye(DIMS)
COVARIANCE = (COVARIANCE + COVARIANCE.T) / 2
INVERSE = np.linalg.inv(COVARIANCE)
WEIGHTS = np.array([0.5, 2, 0, 1, 3.25])
VARIANCES = WEIGHTS + 0.3

# metric, what it takes, the metric that compares the prepared rows
CASES = [
    ("correlation", {}, "cosine"),
    ("spearman", {}, "cosine"),
    ("seuclidean", {"V": VARIANCES}, "l2"),
    ("mahalanobis", {"V": COVARIANCE}, "l2"),
    ("mahalanobis", {"VI": INVERSE}, "l2"),
    ("hellinger", {}, "l2"),
    ("angular", {}, "cosine"),
    ("l1", {"w": WEIGHTS}, "l1"),
    ("l2", {"w": WEIGHTS}, "l2"),
    ("squared_l2", {"w": WEIGHTS}, "squared_l2"),
]
NAMES = ["-".join([metric, *takes]) for metric, takes, _ in CASES]


def factor(matrix):
    """Returns C of the matrix C C^T, each operation rounded once."""
    c = [[0.0] * DIMS for _ in range(DIMS)]
    for j in range(DIMS):
        for i in range(j, DIMS):
            s = (float(matrix[i][j]) + float(matrix[j][i])) / 2
            for k in range(j):
                s -= c[i][k] * c[j][k]
            c[i][j] = math.sqrt(s) if i == j else s / c[j][j]
    return c


def prepared(metric, takes, x):
    """Returns what one row becomes, by the contract."""
    x = [float(value) for value in x]
    if metric == "angular":
        return x
    if metric == "correlation":
        total = 0.0
        for value in x:
            total += value
        return [value - total / DIMS for value in x]
    if metric == "spearman":
        ranks = [sum(o < value for o in x) + (sum(o == value for o in x) + 1) / 2 for value in x]
        return [rank - (DIMS + 1) / 2 for rank in ranks]
    if metric == "seuclidean":
        return [value / math.sqrt(v) for value, v in zip(x, takes["V"])]
    if metric == "hellinger":
        return [math.sqrt(value / 2) for value in x]
    if metric == "l1":
        return [value * float(w) for value, w in zip(x, takes["w"])]
    if metric != "mahalanobis":
        return [value * math.sqrt(w) for value, w in zip(x, takes["w"])]
    y = [0.0] * DIMS
    if "VI" in takes:
        c = factor(takes["VI"])
        for d in range(DIMS):
            for i in range(d, DIMS):
                y[d] += c[i][d] * x[i]
        return y
    c = factor(takes["V"])
    for d in range(DIMS):
        y[d] = x[d]
        for j in range(d):
            y[d] -= c[d][j] * y[j]
        y[d] /= c[d][d]
    return y


def shown(metric, found):
    """Returns answers as they are shown: by angular, the angles of the distances by cosine."""
    if metric != "angular":
        return found
    half = np.minimum(np.sqrt(found.distance.astype(np.float64) / 2), 1)
    angles = np.array([2 * math.asin(value) for value in half.ravel()]).reshape(half.shape)
    return kith.Neighbors(angles.astype(found.distance.dtype), found.row)


def same(metric, a, b):
    """Compares bits; but angles beside math.asin, which need not be correctly rounded, within a unit."""
    return np.array_equal(a, b) if metric != "angular" else bool((abs(a - b) <= 2 * np.spacing(b)).all())


def data(metric, kind, whole):
    X, Q = some_rows(1, 300, whole), some_rows(2, 20, whole)
    if metric == "hellinger":
        X, Q = abs(X), abs(Q)
    return X.astype(kind), Q.astype(kind)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_bits_are_those_of_the_prepared_rows(case, kind, whole):
    metric, takes, chain = case
    X, Q = data(metric, kind, whole)
    index = kith.Index(X, metric, "cpu", **takes)
    assert index.metric == metric and index.arithmetic == ("f32" if kind == "float32" else "f64")
    A, B = (np.array([prepared(metric, takes, row) for row in rows], kind) for rows in (Q, X))
    right = shown(metric, kith.Index(B, chain, "cpu").search(A, 7))
    for found in (
        index.search(Q, 7),
        kith.Index(X[:100], metric, "cpu", **takes).with_(X[100:]).search(Q, 7),
        pickle.loads(pickle.dumps(index)).search(Q, 7),
        copy.deepcopy(index).search(Q, 7),
        index.search(Q.astype(np.float64), 7) if kind == "float64" else index.search(Q, 7),
    ):
        assert np.array_equal(found.row, right.row) and same(metric, found.distance, right.distance)
    radius = right.distance[0, 4]
    near = index.within(Q[:1], radius)
    assert near.row.tolist() == [r for r, d in zip(*(one[0] for one in (right.row, right.distance))) if d <= radius] or (
        len(near.row) >= 5
    )
    labels = np.arange(len(X)) % 3
    assert kith.Classifier(X, labels, metric, "cpu", **takes).predict(Q, 1).tolist() == labels[right.row[:, 0]].tolist()
    graph = kith.knn_graph(X, 2, metric, "cpu", **takes)
    own = shown(metric, kith.Index(B, chain, "cpu").search(B, 2, exclude_self_from=0))
    assert np.array_equal(graph.row, own.row) and same(metric, graph.distance, own.distance)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_files_keep_the_metric_and_what_it_takes(case, tmp_path):
    metric, takes, _ = case
    X, Q = data(metric, "float64", False)
    index = kith.Index(X, metric, "cpu", **takes)
    index.save(tmp_path / "a.kidx")
    info = kith.index_file_info(tmp_path / "a.kidx")
    assert info.metric == metric and info.prepared
    opened = kith.Index(tmp_path / "a.kidx", device="cpu")
    assert opened.metric == metric
    assert np.array_equal(opened.search(Q, 5).distance, index.search(Q, 5).distance)
    with pytest.raises(kith.InvalidArgument, match="w is given, but an index file has its own"):
        kith.Index(tmp_path / "a.kidx", device="cpu", w=WEIGHTS)


def as_scipy(metric, takes, Q, X):
    distance = pytest.importorskip("scipy.spatial.distance")
    stats = pytest.importorskip("scipy.stats")
    if metric == "spearman":
        Q, X = stats.rankdata(Q, axis=1), stats.rankdata(X, axis=1)
    if metric in ("correlation", "spearman"):
        return distance.cdist(Q, X, "correlation")
    if metric == "hellinger":
        return distance.cdist(np.sqrt(Q / 2), np.sqrt(X / 2))
    if metric == "angular":
        return np.arccos(np.clip(1 - distance.cdist(Q, X, "cosine"), -1, 1))
    if metric == "mahalanobis":
        return distance.cdist(Q, X, metric, VI=takes.get("VI", INVERSE))
    if metric == "seuclidean":
        return distance.cdist(Q, X, metric, V=takes["V"])
    return distance.cdist(Q, X, {"l1": "cityblock", "l2": "euclidean", "squared_l2": "sqeuclidean"}[metric], w=takes["w"])


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_beside_scipy_every_difference_is_a_tie_or_a_rounding(case, whole):
    metric, takes, _ = case
    X, Q = data(metric, "float64", whole)
    found, right = kith.Index(X, metric, "cpu", **takes).search(Q, 6), as_scipy(metric, takes, Q, X)
    theirs = np.sort(right, axis=1)[:, :6]
    room = (1e-7 if metric == "angular" else 1e-12) * max(1, right.max())  # arccos is steep at 1
    assert abs(np.take_along_axis(right, found.row, 1) - theirs).max() <= room  # rows as near as theirs
    assert abs(found.distance - theirs).max() <= room


def test_seuclidean_takes_the_variance_of_the_rows():
    X, Q = data("seuclidean", "float64", False)
    own = kith.Index(X, "seuclidean", "cpu").search(Q, 4)
    given = kith.Index(X, "seuclidean", "cpu", V=np.var(X, axis=0, ddof=1)).search(Q, 4)
    assert np.array_equal(own.distance, given.distance)
    for kind in KINDS:
        rows = X.astype(kind)
        learned = kith.Index(rows, "seuclidean", "cpu").search(Q.astype(kind), 4).distance
        V = np.var(rows, axis=0, ddof=1, dtype=np.float64)
        assert np.array_equal(learned, kith.Index(rows, "seuclidean", "cpu", V=V).search(Q.astype(kind), 4).distance)
    message = "seuclidean without V, and 1 row has none; give one variance a column, or more rows"
    with pytest.raises(kith.InvalidArgument, match=message):
        kith.Index(X[:1], "seuclidean", "cpu")


def test_degrees_are_those_of_numpy(tmp_path):
    random = np.random.default_rng(5)
    X, Q = (random.uniform((-90, -180), (90, 180), (n, 2)) for n in (400, 20))
    right = kith.Index(np.radians(X), "haversine", "cpu").search(np.radians(Q), 6)
    index = kith.Index(X, "haversine", "cpu", degrees=True)
    index.save(tmp_path / "a.kidx")
    for one in (index, kith.Index(tmp_path / "a.kidx", device="cpu"), pickle.loads(pickle.dumps(index))):
        found = one.search(Q, 6)
        assert np.array_equal(found.row, right.row) and np.array_equal(found.distance, right.distance)
    graph = kith.knn_graph(X, 2, "haversine", "cpu", degrees=True)
    assert np.array_equal(graph.distance, kith.knn_graph(np.radians(X), 2, "haversine", "cpu").distance)
    ours = pytest.importorskip("kith.sklearn")
    model = ours.NearestNeighbors(n_neighbors=6, metric="haversine", metric_params={"degrees": True}, device="cpu").fit(X)
    assert np.array_equal(model.kneighbors(Q)[0], right.distance)
    with pytest.raises(kith.InvalidArgument, match="degrees are asked for, which haversine takes, but the metric is l2"):
        kith.Index(X, "l2", "cpu", degrees=True)
    with pytest.raises(kith.InvalidArgument, match="degrees=1; pass True or False"):
        kith.Index(X, "haversine", "cpu", degrees=1)
    with pytest.raises(kith.InvalidArgument, match="the latitude 91, beyond 90; give degrees, the latitude first"):
        kith.Index(np.array([[91.0, 0]]), "haversine", "cpu", degrees=True)


def test_files_tell_how_many_groups_they_have(tmp_path):
    X = np.arange(12.0).reshape(6, 2)
    for groups, count in (([0, 2, 2, 6], 3), (None, 0)):
        kith.Index(X, "l2", "cpu", groups=groups).save(tmp_path / "a.kidx")
        assert kith.index_file_info(tmp_path / "a.kidx").groups == count


def test_scikit_learns_names_and_metric_params():
    ours, theirs = pytest.importorskip("kith.sklearn"), pytest.importorskip("sklearn.neighbors")
    X, Q = data("l2", "float64", False)
    for metric, takes in [
        ("correlation", None),
        ("seuclidean", {"V": VARIANCES}),
        ("mahalanobis", {"VI": INVERSE}),
        ("minkowski", {"w": WEIGHTS}),
    ]:
        mine = ours.NearestNeighbors(n_neighbors=4, metric=metric, metric_params=takes, device="cpu").fit(X)
        other = theirs.NearestNeighbors(n_neighbors=4, metric=metric, metric_params=takes, algorithm="brute").fit(X)
        (a, i), (b, j) = mine.kneighbors(Q), other.kneighbors(Q)
        assert np.array_equal(i, j) and np.allclose(a, b, rtol=1e-9, atol=1e-9)
        assert set(mine.effective_metric_params_) == set(takes or {})
        y = np.arange(len(X)) % 3
        voter = ours.KNeighborsClassifier(3, metric=metric, metric_params=takes, device="cpu").fit(X, y)
        assert pickle.loads(pickle.dumps(voter)).predict(Q).tolist() == voter.predict(Q).tolist()
    with pytest.raises(kith.Unsupported, match="metric_params={'V': 1}, but correlation takes nothing"):
        ours.NearestNeighbors(metric="correlation", metric_params={"V": 1}, device="cpu").fit(X)


@pytest.mark.parametrize(
    "metric, takes, why",
    [
        ("mahalanobis", {}, "mahalanobis with neither a covariance nor its inverse"),
        ("mahalanobis", {"V": [1, 2]}, r"V has shape \[2\]; pass numbers of shape \[dims, dims\]"),
        ("mahalanobis", {"V": np.eye(4)}, "V has 16 values for rows of 5 columns"),
        ("mahalanobis", {"V": -np.eye(5)}, "V is not positive definite"),
        ("seuclidean", {"V": [1, 1, 0, 1, 1]}, "V of column 2 is 0"),
        ("l2", {"w": [1, 1, 1, -1, 1]}, "w of column 3 is -1"),
        ("l2", {"w": "a"}, r"w has shape \[\]; pass numbers of shape \[dims\]"),
        ("cosine", {"w": WEIGHTS}, "cosine is none of l1, l2, squared_l2 and minkowski"),
        ("l2", {"V": VARIANCES}, "V is given, which seuclidean and mahalanobis take, but the metric is l2; leave it out"),
        ("cosine", {"V": np.eye(5)}, "V is given, which seuclidean and mahalanobis take, but the metric is cosine"),
        ("seuclidean", {"VI": np.eye(5)}, "VI is given, which mahalanobis takes, but the metric is seuclidean"),
        ("seuclidean", {"V": np.eye(5)}, r"V has shape \[5, 5\]; pass numbers of shape \[dims\]"),
        ("hellinger", {}, "row 0, column 1 holds -1, below 0"),
        ("correlation", {"centre": True}, "there is a centre, and rows are prepared for correlation already"),
    ],
)
def test_what_is_refused(metric, takes, why):
    X = np.array([[1, -1, 3, 4, 5], [2, 2, 3, 4, 9]], np.float64)
    with pytest.raises(kith.InvalidArgument, match=why):
        kith.Index(X, metric, "cpu", **takes)


def test_constant_rows_correlate_with_none():
    X, Q = data("l2", "float64", False)
    index = kith.Index(X, "correlation", "cpu")
    with pytest.raises(kith.InvalidArgument, match="query row 1 holds 3 in each column that counts"):
        index.search(np.array([[1, 2, 3, 4, 5], [3, 3, 3, 3, 3]], np.float64), 1)
