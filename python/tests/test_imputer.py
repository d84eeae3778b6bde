"""Tests kith.sklearn.KNNImputer beside scikit-learn's."""

import warnings

import kith
import numpy as np
import pytest

impute = pytest.importorskip("sklearn.impute")
ours = pytest.importorskip("kith.sklearn")


def table(random, rows, columns, share):
    """Returns whole numbers, of which squared distances are exact, with this share missing."""
    X = random.integers(0, 40, (rows, columns)).astype(np.float64)
    X[random.random(X.shape) < share] = np.nan
    return X


@pytest.mark.parametrize("share", [0.02, 0.3, 0.8])
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_like_scikit_learn(device, random, share, weights):
    X, Q = random.normal(size=(300, 6)), random.normal(size=(80, 6))
    for rows in (X, Q):
        rows[random.random(rows.shape) < share] = np.nan
    for k in (1, 4, 60):
        mine = ours.KNNImputer(n_neighbors=k, weights=weights, device=device).fit(X)
        theirs = impute.KNNImputer(n_neighbors=k, weights=weights).fit(X)
        for asked in (X, Q):
            assert np.allclose(mine.transform(asked), theirs.transform(asked), rtol=1e-5, atol=1e-6)


def test_few_donors_are_looked_for_beyond_the_list(device, random):
    X = table(random, 400, 5, 0.1)
    X[20:, 4] = np.nan  # one row in twenty has the last column
    mine = ours.KNNImputer(n_neighbors=3, device=device).fit(X).transform(X)
    near = kith.Index(X, "nan_euclidean", device).search(X[20:], 3, filter=~np.isnan(X[:, 4]))
    assert np.array_equal(mine[20:, 4], X[near.row, 4].sum(axis=1) / 3)


def test_what_stands_for_missing_and_what_is_kept(device, random):
    X = table(random, 60, 4, 0.3)
    X[:, 2] = np.nan
    marked = np.where(np.isnan(X), -1, X)
    for more in ({}, {"keep_empty_features": True}, {"add_indicator": True}):
        mine = ours.KNNImputer(device=device, **more).fit_transform(X)
        assert mine.shape == impute.KNNImputer(**more).fit_transform(X).shape
        by_mark = ours.KNNImputer(missing_values=-1, device=device, **more).fit_transform(marked)
        assert np.array_equal(mine, by_mark)
    alone = np.full((1, 4), np.nan)
    filled = ours.KNNImputer(device=device).fit(X).transform(alone)
    assert np.allclose(filled[0], np.nanmean(X[:, [0, 1, 3]], axis=0), rtol=1e-12)
    assert np.isnan(X).any()  # the caller's rows stay as they were


NONE = float("nan")


@pytest.mark.parametrize("power", [0, -100, -1000, 100, 500, 900])
@pytest.mark.parametrize("offset", [0, 1.7e9, 2.0**40])
def test_offsets_and_scales_change_no_donor(device, random, power, offset):
    X = table(random, 200, 5, 0.2)
    for weights in ("uniform", "distance"):
        right = ours.KNNImputer(weights=weights, device=device).fit_transform(X)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = ours.KNNImputer(weights=weights, device=device).fit_transform(np.ldexp(X + offset, power))
        back = np.ldexp(found, -power) - offset
        assert np.allclose(back, right, rtol=0, atol=2e-3 if offset else 1e-12)


def test_an_offset_as_scikit_learn(device):
    X = [[1.7e9, NONE], [1.7e9 + 30, 1], [1.7e9 + 5, 5]]
    assert ours.KNNImputer(n_neighbors=1, device=device).fit_transform(X)[0].tolist() == [1.7e9, 5]
    outlier = [*X, [0, 9]]
    assert ours.KNNImputer(n_neighbors=1, device=device).fit_transform(outlier)[0, 1] == 5
    wide = ours.KNNImputer(n_neighbors=1, device=device).fit([[1.7e308, 1], [-1.7e308, 2], [1e308, 3], [NONE, 4]])
    assert wide.transform([[1.6e308, NONE], [-1e308, NONE]])[:, 1].tolist() == [1, 2]


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_offsets_and_small_values_together(device, random, weights):
    X = random.normal(size=(200, 4)) + [1e9, -1e6, 0, 1e12]
    X[random.random(X.shape) < 0.2] = np.nan
    how = {"n_neighbors": 3, "weights": weights}
    mine = ours.KNNImputer(**how, device=device).fit_transform(X)
    near = X - np.nanmedian(X, axis=0)  # scikit-learn's own sums lose the digits of an offset
    right = impute.KNNImputer(**how).fit_transform(near) + np.nanmedian(X, axis=0)
    assert np.allclose(mine, right, rtol=0, atol=1e-3)
    small = np.column_stack([np.full(200, 1e300), near[:, :3] * 1e-300])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ours.KNNImputer(**how, device=device).fit_transform(small)
    again = ours.KNNImputer(**how, device=device).fit_transform(np.column_stack([np.full(200, 1.0), near[:, :3]]))
    assert np.allclose(found[:, 1:] * 1e300, again[:, 1:], rtol=1e-6, atol=1e-6)


def test_what_float32_cannot_tell(device):
    fitted = ours.KNNImputer(n_neighbors=1, device=device).fit([[1, 2], [3, 4.0]])
    with pytest.raises(kith.InvalidArgument, match=r"X: row 1, column 0: 1e\+30 is too far .*; make the value missing"):
        fitted.transform([[1, 2], [1e30, NONE]])
    with pytest.warns(kith.PrecisionWarning, match="KNNImputer: X: rows 3 and 4, which differ, .*; leave columns out"):
        ours.KNNImputer(device=device).fit([[0, 1], [0, 1], [0, 1], [9, 1], [9 + 1e-12, 1]])


def test_weights_that_say_nothing(device):
    X = [[1, NONE], [2, 10], [3, 20], [4, 60], [NONE, NONE]]
    for weights, right in (
        (lambda far: np.full_like(far, np.nan), 30),
        (np.zeros_like, 30),
        (lambda far: np.where(far > 2, np.nan, 1), 10),
        (lambda far: np.where(far > 2, np.inf, 1), 20),
    ):
        found = ours.KNNImputer(n_neighbors=2, weights=weights, device=device).fit_transform(X)
        assert found[0, 1] == right and found[4].tolist() == [2.5, 30]


def test_parameters_and_checks_are_scikit_learns(device):
    from sklearn.utils.estimator_checks import check_estimator

    own = {"n_jobs": None, "device": "auto"}
    assert ours.KNNImputer().get_params() == {**impute.KNNImputer().get_params(), **own}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(ours.KNNImputer(device=device), on_fail=None, on_skip=None)
    assert not [(one["check_name"], one["exception"]) for one in results if one["status"] == "failed"]
    assert sum(one["status"] == "passed" for one in results) >= 35


def test_refusals_and_copies(device, random):
    from sklearn.base import clone

    X = table(random, 30, 3, 0.2)
    with pytest.raises(kith.Unsupported, match="choose 'nan_euclidean', or sklearn.impute.KNNImputer"):
        ours.KNNImputer(metric=lambda a, b, missing_values: 0.0).fit(X)
    with pytest.raises(kith.InvalidArgument, match="return one weight for each distance"):
        ours.KNNImputer(weights=lambda far: far[:, :1], device=device).fit_transform(X)
    with pytest.raises(ValueError, match="n_neighbors"):
        ours.KNNImputer(n_neighbors=0).fit(X)
    imputer = clone(ours.KNNImputer(n_neighbors=2, device=device))
    assert imputer.get_params()["device"] == device and isinstance(imputer, impute.KNNImputer)
