"""Yields twenty real and artificial data sets that come with scikit-learn: name, rows of float64, labels or values."""

import numpy as np
from sklearn import datasets


def classes():
    """Yields name, rows and labels."""
    yield from _real()
    made = {
        "blobs": lambda: datasets.make_blobs(600, 8, centers=5, cluster_std=3.0, random_state=1),
        "moons": lambda: datasets.make_moons(600, noise=0.3, random_state=2),
        "circles": lambda: datasets.make_circles(600, noise=0.2, factor=0.5, random_state=3),
        "classification": lambda: datasets.make_classification(600, 20, n_informative=8, n_classes=4, random_state=4),
        "many_columns": lambda: datasets.make_classification(300, 500, n_informative=50, n_classes=3, random_state=5),
        "gaussian_quantiles": lambda: datasets.make_gaussian_quantiles(
            n_samples=600, n_features=6, n_classes=3, random_state=6
        ),
        "hastie": lambda: datasets.make_hastie_10_2(600, random_state=7),
        "whole_numbers": _whole_numbers,
        "duplicates": _duplicates,
    }
    for name, make in made.items():
        X, y = make()
        yield name, X.astype(np.float64), y.astype(np.int64)


def _real():
    for name in ("iris", "wine", "digits", "breast_cancer"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield name, X.astype(np.float64), y.astype(np.int64)


def _whole_numbers():
    random = np.random.default_rng(8)
    X = random.integers(0, 4, (600, 3))
    return X, X.sum(axis=1) % 3


def _duplicates():
    random = np.random.default_rng(9)
    X = random.random((60, 4))[random.integers(0, 60, 600)]
    return X, random.integers(0, 3, 600)


def values():
    """Yields name, rows and values."""
    for name in ("diabetes", "linnerud"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield name, X.astype(np.float64), y
    made = {
        "friedman1": lambda: datasets.make_friedman1(600, noise=1.0, random_state=10),
        "friedman2": lambda: datasets.make_friedman2(600, random_state=11),
        "friedman3": lambda: datasets.make_friedman3(600, random_state=12),
        "s_curve": lambda: datasets.make_s_curve(600, noise=0.1, random_state=13),
        "swiss_roll": lambda: datasets.make_swiss_roll(600, noise=0.5, random_state=14),
    }
    for name, make in made.items():
        X, y = make()
        yield name, X.astype(np.float64), y
