"""Declares helpers for the tests of kith.sklearn."""

import pytest

pytest.importorskip("sklearn")
import kith.sklearn as ours  # noqa: E402

NAMES = [name for name in ours.__all__ if name[0].isupper() and name != "KNNImputer"]  # test_imputer.py tests that
SUPERVISED = [name for name in NAMES if name.endswith(("Classifier", "Regressor"))]
CLASSIFIERS = [name for name in NAMES if name.endswith("Classifier")]
REGRESSORS = [name for name in NAMES if name.endswith("Regressor")]
BY_K = ["KNeighborsClassifier", "KNeighborsRegressor", "KNeighborsTransformer", "NearestNeighbors"]


def made(name, **parameters):
    return getattr(ours, name)(device="cpu", **parameters)


def fitted(name, X, y, **parameters):
    return made(name, **parameters).fit(X, y)
