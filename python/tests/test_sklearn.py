"""Tests that kith.sklearn meets scikit-learn's rules for estimators."""

import copy
import pickle
import warnings

import kith
import numpy as np
import pytest

pytest.importorskip("sklearn")
import kith.sklearn as ours  # noqa: E402
import sklearn.neighbors as theirs  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

from estimators import (  # noqa: E402
    CLASSIFIERS,
    NAMES,
    REGRESSORS,
    SUPERVISED,
    fitted,
    made,
)


def asked(model):
    """Returns the method by which the estimator answers queries."""
    return next(getattr(model, name) for name in ("predict", "transform", "kneighbors") if hasattr(model, name))


@pytest.mark.parametrize("name", NAMES)
def test_check_estimator(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(made(name), on_fail=None, on_skip=None)
    failed = [(one["check_name"], one["exception"]) for one in results if one["status"] == "failed"]
    assert not failed
    assert sum(one["status"] == "passed" for one in results) >= 35


@pytest.mark.parametrize("name", NAMES)
def test_parameters_and_defaults_are_scikit_learns(name):
    mine, other = getattr(ours, name)().get_params(), getattr(theirs, name)().get_params()
    own = {"device": "auto"}
    if name in CLASSIFIERS:
        own.update(tie="smallest_label", priors=None, costs=None, no_label=None)
    assert mine == {**other, **own}


@pytest.mark.parametrize("name", NAMES)
def test_copies_and_pickles_give_the_same(name, close):
    X, y = close
    model = fitted(name, X, y)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), clone(model).fit(X, y)):
        mine, other = asked(model)(X), asked(again)(X)
        if hasattr(mine, "toarray"):
            mine, other = mine.toarray(), other.toarray()
        assert np.array_equal(mine, other)
    assert len(pickle.dumps(model)) < X.nbytes + y.nbytes + 4000


def test_a_pipeline_and_a_grid(iris):
    X, y = iris
    pipeline = make_pipeline(StandardScaler(), made("KNeighborsClassifier"))
    grid = GridSearchCV(
        pipeline,
        {"kneighborsclassifier__n_neighbors": [1, 5, 9], "kneighborsclassifier__weights": ["uniform", "distance"]},
        cv=3,
    )
    grid.fit(X, y)
    their_grid = GridSearchCV(
        make_pipeline(StandardScaler(), theirs.KNeighborsClassifier(algorithm="brute")), grid.param_grid, cv=3
    ).fit(X, y)
    assert np.allclose(grid.cv_results_["mean_test_score"], their_grid.cv_results_["mean_test_score"], atol=0.02)
    assert grid.best_score_ > 0.95
    assert (
        cross_val_score(
            made("KNeighborsRegressor"), X[:, :3], X[:, 3], cv=KFold(3, shuffle=True, random_state=0)
        ).mean()
        > 0.9
    )


@pytest.mark.parametrize("kind", ["text", "object", "categories", "strings", "Int64", "bool", "float", "negative"])
def test_labels_of_any_dtype(iris, kind):
    X, y = iris
    pd = pytest.importorskip("pandas")
    names = np.array(["ant", "bee", "cow"])
    y = {
        "text": lambda: names[y],
        "object": lambda: names[y].astype(object),
        "categories": lambda: pd.Series(pd.Categorical(names[y], ["cow", "unused", "bee", "ant"])),
        "strings": lambda: pd.Series(names[y], dtype="string"),
        "Int64": lambda: pd.Series(y, dtype="Int64"),
        "bool": lambda: y == 1,
        "float": lambda: y.astype(np.float64),
        "negative": lambda: y - 1,
    }[kind]()
    model = fitted("KNeighborsClassifier", X, y)
    values = np.asarray(y.astype(object) if hasattr(y, "cat") else y)
    assert sorted(model.classes_) == sorted(set(values.tolist()))
    assert (model.predict(X) == values).mean() > 0.9
    assert model.score(X, values) > 0.9


def test_missing_labels_are_refused(iris):
    pd = pytest.importorskip("pandas")
    X, y = iris
    y = pd.Series(y, dtype="Int64")
    y[7] = pd.NA
    with pytest.raises(kith.InvalidArgument, match="missing labels"):
        fitted("KNeighborsClassifier", X, y)


@pytest.mark.parametrize("name", SUPERVISED)
@pytest.mark.parametrize(
    "weights",
    ["uniform", "distance", lambda d: d * 0 + 1 if d.dtype != object else np.array([x * 0 + 1 for x in d], object)],
)
def test_several_outputs(name, close, weights):
    X, y = close
    both = np.column_stack([y, X[:, 0] > 0.5]).astype(np.int64)
    if name in REGRESSORS:
        both = both.astype(np.float64)
    model = fitted(name, X, both, weights=weights)
    expected = np.column_stack([fitted(name, X, both[:, i], weights=weights).predict(X) for i in range(2)])
    assert np.array_equal(model.predict(X), expected) and model.predict(X).shape == (80, 2)
    if name in CLASSIFIERS:
        assert [one.shape for one in model.predict_proba(X)] == [(80, 2)] * 2
        assert [one.tolist() for one in model.classes_] == [[0, 1]] * 2 and model.outputs_2d_


@pytest.mark.parametrize("name", SUPERVISED)
def test_a_function_as_weights_is_what_the_name_is(name, close):
    X, y = close
    Q = X[:20] + np.float32(0.01)

    def inverse(distance):
        if distance.dtype == object:
            return np.array([*[1 / one for one in distance], None], object)[:-1]
        return 1 / distance

    named, given = (fitted(name, X, y, weights=weights) for weights in ("distance", inverse))
    assert np.allclose(named.predict(Q), given.predict(Q), rtol=1e-6)
    if name in CLASSIFIERS:
        assert np.allclose(named.predict_proba(Q), given.predict_proba(Q), rtol=1e-5)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "parameters, words",
    [
        ({"algorithm": "kd_tree"}, "no trees.*'brute'"),
        ({"algorithm": "ball_tree"}, "no trees.*'brute'"),
        ({"algorithm": "fast"}, "choose 'auto' or 'brute'"),
        ({"p": 2.3}, "p=2.3; choose 0.5, 1, 1.5 and so on"),
        ({"metric": lambda a, b: 0.0}, "callable metric"),
        ({"metric": "precomputed"}, "pass the rows themselves"),
        ({"metric": "nan_euclidean", "metric_params": {"w": [1, 2, 3]}}, "nan_euclidean takes nothing"),
        ({"metric": "haversine"}, "haversine"),
        ({"metric": "linf", "metric_params": {"w": [1, 2, 3]}}, "linf takes nothing"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"device": "tpu"}, "tpu"),
    ],
)
def test_refusals_say_what_to_use(name, close, parameters, words):
    with pytest.raises(kith.Error, match=words):
        getattr(ours, name)(**{"device": "cpu", **parameters}).fit(*close)


@pytest.mark.parametrize("name", NAMES)
def test_sparse_rows_are_refused(name, close):
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match="toarray"):
        fitted(name, sparse.csr_matrix(close[0]), close[1])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "value, words", [(np.nan, "NaN"), (np.inf, "infinity"), (1e300, "infinity or a value too large")]
)
def test_values_that_are_no_numbers_are_refused(name, close, value, words):
    X, y = close[0].astype(np.float64), close[1]
    X[7, 1] = value
    if value != 1e300:
        with pytest.raises(ValueError, match=words):
            fitted(name, X, y)
    model = fitted(name, *close)  # rows of float32
    with pytest.raises(ValueError, match=words):
        asked(model)(X)
