"""Tests kith.sklearn as programs for scikit-learn use it: classes, names, graphs, and advice for other metrics."""

import kith
import numpy as np
import pytest

pytest.importorskip("sklearn")
import kith.sklearn as ours  # noqa: E402
import sklearn.neighbors as theirs  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.metrics.pairwise import haversine_distances  # noqa: E402
from sklearn.neighbors._base import KNeighborsMixin, NeighborsBase, RadiusNeighborsMixin  # noqa: E402

from estimators import NAMES, fitted, made  # noqa: E402


@pytest.mark.parametrize("name", NAMES)
def test_isinstance_of_scikit_learns_classes(name):
    model = made(name)
    assert isinstance(model, getattr(theirs, name)) and issubclass(getattr(ours, name), getattr(theirs, name))
    assert isinstance(model, NeighborsBase)
    assert isinstance(model, KNeighborsMixin) == hasattr(model, "kneighbors")
    assert isinstance(model, RadiusNeighborsMixin) == hasattr(model, "radius_neighbors")
    others = [other for other in NAMES if other != name]
    assert not any(isinstance(model, getattr(theirs, other)) for other in others)
    assert not isinstance(getattr(theirs, name)(), getattr(ours, name))


def condensed(n_neighbors):
    """Interprets a parameter as imbalanced-learn's CondensedNearestNeighbour and OneSidedSelection do."""
    if n_neighbors is None:
        estimator = theirs.KNeighborsClassifier(n_neighbors=1)
    elif isinstance(n_neighbors, int):
        estimator = theirs.KNeighborsClassifier(n_neighbors=n_neighbors)
    elif isinstance(n_neighbors, theirs.KNeighborsClassifier):
        estimator = clone(n_neighbors)
    return estimator


def neighbors_object(nn_object, additional=0):
    """Interprets a parameter as imbalanced-learn's samplers do."""
    if isinstance(nn_object, int):
        return theirs.NearestNeighbors(n_neighbors=nn_object + additional)
    if not isinstance(nn_object, KNeighborsMixin):
        raise TypeError(nn_object)
    return clone(nn_object)


def test_the_code_of_imbalanced_learn(close):
    X, y = close
    model = condensed(made("KNeighborsClassifier", n_neighbors=1))
    assert type(model) is ours.KNeighborsClassifier and np.array_equal(model.fit(X, y).predict(X), y)
    nearest = neighbors_object(made("NearestNeighbors", n_neighbors=4))
    assert type(nearest) is ours.NearestNeighbors
    right = theirs.NearestNeighbors(n_neighbors=4, algorithm="brute").fit(X).kneighbors(X)[1]
    assert np.array_equal(nearest.fit(X).kneighbors(X)[1], right)


def test_imbalanced_learn_itself(close):
    under = pytest.importorskip("imblearn.under_sampling", reason="imbalanced-learn is not installed")
    X, y = close
    for sampler in (under.CondensedNearestNeighbour, under.OneSidedSelection):
        mine, other = (
            sampler(n_neighbors=module.KNeighborsClassifier(1), random_state=0).fit_resample(X, y)[0]
            for module in (ours, theirs)
        )
        assert np.array_equal(mine, other)


def test_functions_of_scikit_learn_take_kiths_estimators(close):
    X, y = close
    model = fitted("NearestNeighbors", X, y)
    assert (theirs.kneighbors_graph(model, 3) != ours.kneighbors_graph(X, 3, device="cpu")).nnz == 0
    assert (theirs.radius_neighbors_graph(model, 0.3) != ours.radius_neighbors_graph(X, 0.3, device="cpu")).nnz == 0


def test_every_name_of_scikit_learn_is_there_or_refused_with_a_way():
    refused = []
    for name in theirs.__all__:
        if name in ours.__all__:
            assert getattr(ours, name).__doc__
            continue
        refused.append(name)
        for get in (lambda name=name: getattr(ours, name), lambda name=name: exec(f"from kith.sklearn import {name}")):
            with pytest.raises(kith.Unsupported, match=f"kith.sklearn: {name}; "):
                get()
    assert set(ours.__all__) - set(theirs.__all__) == {"KNNImputer"} and "LocalOutlierFactor" in refused
    for name in ("nonsense", "__wrapped__", "KNeighborsClasifier"):
        assert not hasattr(ours, name)


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
@pytest.mark.parametrize("include_self", [True, False, "auto"])
def test_graphs(close, mode, include_self):
    X, y = close
    for asked, other in [
        (ours.kneighbors_graph, theirs.kneighbors_graph),
        (ours.radius_neighbors_graph, theirs.radius_neighbors_graph),
    ]:
        how = {"mode": mode, "include_self": include_self}
        size = 4 if asked is ours.kneighbors_graph else 0.4
        mine = asked(X, size, device="cpu", **how)
        right = other(X, size, **how)
        assert mine.shape == right.shape and (mine.indptr == right.indptr).all()
        assert np.allclose(mine.toarray(), right.toarray(), atol=1e-6)
        again = asked(fitted("NearestNeighbors", X, y), size, **how)
        assert (again != mine).nnz == 0 and (again.indices == mine.indices).all()


def test_graphs_of_frames_by_other_metrics(close):
    pd = pytest.importorskip("pandas")
    X, _ = close
    frame = pd.DataFrame(X, columns=list("abc"))
    with np.errstate(all="raise"):
        mine = ours.kneighbors_graph(frame, 3, metric="minkowski", p=1, include_self=True, device="cpu")
    assert (mine != theirs.kneighbors_graph(X, 3, p=1, include_self=True)).nnz == 0


def test_graphs_are_checked(close):
    X, y = close
    model = fitted("NearestNeighbors", X, y, metric="l1")
    for call, told in [
        (lambda: ours.kneighbors_graph(model, 3), "metric='minkowski', but the estimator has 'l1'; pass the same"),
        (lambda: ours.radius_neighbors_graph(model, 3, metric="l1", p=1), "p=1, but the estimator has 2"),
        (lambda: ours.kneighbors_graph(X, 3, include_self="yes"), "choose True, False or 'auto'"),
        (lambda: ours.kneighbors_graph(X, 3, mode="both"), "mode='both'; choose 'connectivity' or 'distance'"),
        (lambda: ours.kneighbors_graph(X, 80), "n_neighbors < n_samples_fit"),
        (lambda: ours.radius_neighbors_graph(X, "1"), "radius='1'; pass a number"),
    ]:
        with pytest.raises(kith.InvalidArgument, match=told):
            call()


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
def test_a_transformer_by_radius(close, mode):
    X, _ = close
    mine = made("RadiusNeighborsTransformer", mode=mode, radius=0.4)
    other = theirs.RadiusNeighborsTransformer(mode=mode, radius=0.4, algorithm="brute")
    a, b = mine.fit_transform(X), other.fit_transform(X)
    assert a.shape == b.shape and (a.indptr == b.indptr).all() and np.allclose(a.toarray(), b.toarray(), atol=1e-3)
    assert np.allclose(mine.transform(X[:3]).toarray(), other.transform(X[:3]).toarray(), atol=1e-3)
    assert mine.get_feature_names_out().tolist() == other.get_feature_names_out().tolist()
    with pytest.raises(kith.InvalidArgument, match="mode='both'"):
        made("RadiusNeighborsTransformer", mode="both").fit(X)


def test_haversine_is_scikit_learns(random):
    places = np.column_stack([random.uniform(-1.5, 1.5, 200), random.uniform(-3.1, 3.1, 200)])
    right = haversine_distances(places[:9], places)
    mine = ours.NearestNeighbors(n_neighbors=5, metric="haversine", device="cpu").fit(places)
    distance, row = mine.kneighbors(places[:9])
    assert np.array_equal(row, np.argsort(right, axis=1)[:, :5])
    assert np.allclose(distance, np.sort(right, axis=1)[:, :5], rtol=1e-12, atol=1e-12)
    found = kith.Index(places.astype(np.float32), "haversine", "cpu").search(places[:9], 5)
    assert found.distance.dtype == np.float64 and np.allclose(found.distance, distance, atol=1e-6)
