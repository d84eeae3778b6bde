"""Tests what the estimators of kith.sklearn answer, and what they refuse."""

import warnings

import kith
import numpy as np
import pytest

pytest.importorskip("sklearn")
import kith.sklearn as ours  # noqa: E402
import sklearn.neighbors as theirs  # noqa: E402
from sklearn.datasets import load_wine  # noqa: E402

from estimators import (  # noqa: E402
    BY_K,
    fitted,
)


@pytest.mark.parametrize("name", BY_K)
@pytest.mark.parametrize(
    "k, kind", [(0, ValueError), (-1, ValueError), (81, ValueError), (2.5, ValueError), (True, ValueError)]
)
def test_k_outside_its_range(name, close, k, kind):
    model = fitted(name, *close)
    with pytest.raises(kind, match="n_neighbors"):
        model.kneighbors(close[0], k)
    with pytest.raises(ValueError, match="n_neighbors = 80"):
        model.kneighbors(None, 80)


@pytest.mark.parametrize(
    "metric, p, name",
    [
        ("minkowski", 1, "l1"),
        ("minkowski", 2, "l2"),
        ("minkowski", np.inf, "linf"),
        ("cityblock", 2, "l1"),
        ("chebyshev", 2, "linf"),
        ("sqeuclidean", 2, "squared_l2"),
        ("cosine", 2, "cosine"),
        ("infinity", 2, "linf"),
        ("euclidean", 2, "l2"),
    ],
)
def test_metrics(close, metric, p, name):
    X, y = close
    model = fitted("NearestNeighbors", X, y, metric=metric, p=p)
    assert model.effective_metric_ == name
    metric = "chebyshev" if metric == "infinity" else metric  # scikit-learn lists the name infinity, but refuses it
    other = theirs.NearestNeighbors(metric=metric, p=p, algorithm="brute").fit(X.astype(np.float64))
    mine, expected = model.kneighbors(X + np.float32(0.1)), other.kneighbors((X + np.float32(0.1)).astype(np.float64))
    assert np.allclose(mine[0], expected[0], rtol=1e-5, atol=1e-6)
    assert (mine[1] == expected[1]).mean() > 0.99


def test_neighbours_of_the_fitted_rows(close):
    X, y = close
    model = fitted("NearestNeighbors", X, y, n_neighbors=3, radius=0.3)
    distance, row = model.kneighbors()
    assert not (row == np.arange(80)[:, None]).any()
    assert np.array_equal(row, theirs.NearestNeighbors(n_neighbors=3, algorithm="brute").fit(X).kneighbors()[1])
    lists = model.radius_neighbors(return_distance=False)
    assert lists.shape == (80,) and lists.dtype == object and all(q not in one for q, one in enumerate(lists))
    classifier = fitted("KNeighborsClassifier", X, y)
    assert classifier.score(None, y) == (classifier.predict(None) == y).mean() < 1


def test_graphs(close):
    X, y = close
    mine, other = (
        fitted("NearestNeighbors", X, y, radius=0.4),
        theirs.NearestNeighbors(radius=0.4, algorithm="brute").fit(X),
    )
    for mode in ("connectivity", "distance"):
        for asked in ("kneighbors_graph", "radius_neighbors_graph"):
            for rows in (None, X[:9] + np.float32(0.01)):
                graph, their_graph = (getattr(one, asked)(rows, mode=mode) for one in (mine, other))
                assert graph.shape == their_graph.shape and np.allclose(
                    graph.toarray(), their_graph.toarray(), atol=1e-4
                )
    with pytest.raises(kith.InvalidArgument, match="mode='x'"):
        mine.kneighbors_graph(mode="x")


def test_the_transformer(close):
    X = close[0]
    for mode in ("distance", "connectivity"):
        mine, other = (side.KNeighborsTransformer(mode=mode, n_neighbors=4) for side in (ours, theirs))
        one, two = mine.fit_transform(X), other.fit_transform(X)
        assert np.allclose(one.toarray(), two.toarray(), atol=1e-3)
        assert mine.get_feature_names_out().tolist() == other.get_feature_names_out().tolist()


def test_kiths_own_parameters():
    X, y = np.array([[0.0], [1], [3], [4]]), np.array(["b", "b", "a", "a"])
    query = [[1.9]]
    assert fitted("KNeighborsClassifier", X, y, n_neighbors=4).predict(query)[0] == "a"
    assert fitted("KNeighborsClassifier", X, y, n_neighbors=4, tie="nearest").predict(query)[0] == "b"
    abstaining = fitted("KNeighborsClassifier", X, y, n_neighbors=4, tie="abstain")
    with pytest.raises(kith.InvalidArgument, match="no class wins for 1 of 1.*no_label"):
        abstaining.predict(query)
    assert abstaining.set_params(no_label="neither").predict(query).tolist() == ["neither"]
    assert abstaining.predict(
        [[0.0], [1.9]],
    ).tolist() == ["neither", "neither"]
    for priors in ([1, 3], {"a": 1, "b": 3}):
        model = fitted("KNeighborsClassifier", X, y, n_neighbors=4, priors=priors)
        assert model.predict(query)[0] == "b" and model.predict_proba(query).tolist() == [[0.25, 0.75]]
    for costs in ([[0, 1], [9, 0]], {"a": {"a": 0, "b": 1}, "b": {"a": 9, "b": 0}}):
        assert fitted("KNeighborsClassifier", X, y, n_neighbors=4, costs=costs).predict(query)[0] == "b"
    with pytest.raises(kith.InvalidArgument, match="priors is for"):
        fitted("KNeighborsClassifier", X, y, priors={"a": 1, "c": 2}, n_neighbors=1).predict(query)
    with pytest.raises(kith.InvalidArgument, match="tie"):
        fitted("KNeighborsClassifier", X, y, tie="first", n_neighbors=1).predict(query)
    with pytest.raises(kith.InvalidArgument, match="function as weights"):
        fitted("KNeighborsClassifier", X, y, tie="nearest", weights=np.exp, n_neighbors=1).predict(query)


def test_who_abstains_within_a_radius_is_no_outlier():
    model = fitted(
        "RadiusNeighborsClassifier", [[0.0], [2.0]], ["a", "b"], tie="abstain", outlier_label="out", no_label="?"
    )
    assert model.predict([[1.0], [9.0], [0.1]]).tolist() == ["?", "out", "a"]


def test_a_device_as_a_parameter(close):
    from sklearn.base import clone

    model = ours.KNeighborsClassifier(device=kith.Device("cpu"))
    assert clone(model).fit(*close).score(*close) == model.fit(*close).score(*close)


def test_outliers_of_a_radius(close):
    X, y = close
    far = np.array([[99.0, 99, 99], X[0]])
    with pytest.raises(ValueError, match=r"No neighbors found for test samples \[0\]"):
        fitted("RadiusNeighborsClassifier", X, y).predict(far)
    for label, expected in ((7, 7), ("most_frequent", np.bincount(y).argmax()), (1, 1)):
        mine, other = (side.RadiusNeighborsClassifier(outlier_label=label).fit(X, y) for side in (ours, theirs))
        assert mine.predict(far)[0] == expected == other.predict(far)[0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert np.allclose(mine.predict_proba(far), other.predict_proba(far))
    with pytest.warns(UserWarning, match="not in training classes"):
        fitted("RadiusNeighborsClassifier", X, y, outlier_label=7).predict_proba(far)
    with pytest.raises(TypeError, match="outlier_label='x'"):
        fitted("RadiusNeighborsClassifier", X, y, outlier_label="x")
    with pytest.warns(UserWarning, match="predicting NaN"):
        assert np.isnan(fitted("RadiusNeighborsRegressor", X, y).predict(far)).tolist() == [True, False]


def test_names_of_columns(iris):
    pd = pytest.importorskip("pandas")
    X, y = load_wine(return_X_y=True, as_frame=True)
    model = fitted("KNeighborsClassifier", X, y)
    assert model.feature_names_in_.tolist() == X.columns.tolist()
    with pytest.raises(ValueError, match="[Ff]eature names"):
        model.predict(X[X.columns[::-1]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(X.to_numpy())
    assert isinstance(pd.Series(model.predict(X), index=X.index), pd.Series)


@pytest.mark.parametrize("name", BY_K)
def test_neighbours_as_a_frame(name, close):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(close[0], columns=list("abc"), index=[f"row{i}" for i in range(80)])
    model = fitted(name, X, close[1])
    frame = model.kneighbors_frame(X[:4], 3)
    assert frame.columns.tolist() == ["query", "rank", "neighbor", "distance"] and len(frame) == 12
    assert frame["query"].tolist() == [f"row{q}" for q in range(4) for _ in range(3)]
    distance, row = model.kneighbors(X[:4], 3)
    assert frame["neighbor"].tolist() == [f"row{i}" for i in row.ravel()]
    assert frame["distance"].tolist() == distance.ravel().tolist() and frame["rank"].tolist() == [0, 1, 2] * 4
    assert model.kneighbors_frame(None, 2)["query"].tolist()[:3] == ["row0", "row0", "row1"]
    plain = fitted(name, *close).kneighbors_frame(close[0][:2], 2)
    assert plain["query"].tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("n_jobs", [None, -1, 1, 2, -2])
def test_threads(close, n_jobs):
    X, y = close
    assert np.array_equal(
        fitted("KNeighborsClassifier", X, y, n_jobs=n_jobs).predict_proba(X),
        fitted("KNeighborsClassifier", X, y).predict_proba(X),
    )


def test_answers_are_the_same_on_opencl(close):
    X, y = close
    if not any(one.backend == "opencl" for one in kith.devices()):
        pytest.skip("there is no OpenCL device")
    for weights in ("uniform", "distance"):
        one, two = (
            ours.KNeighborsClassifier(weights=weights, device=device).fit(X, y) for device in ("cpu", "opencl:0")
        )
        assert np.array_equal(one.predict_proba(X), two.predict_proba(X))
        assert np.array_equal(one.kneighbors(X)[0], two.kneighbors(X)[0])
