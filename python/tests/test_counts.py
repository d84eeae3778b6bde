"""Searches for the k nearest within a radius, beside those without."""

import numpy as np
import pytest

import kith


@pytest.fixture(name="rows")
def rows_fixture():
    return np.random.default_rng(5).integers(0, 6, (200, 3)).astype(np.float32)


@pytest.fixture(name="index")
def index_fixture(rows):
    return kith.Index(rows, device="cpu")


def test_the_k_nearest_within_a_radius(index, rows):
    found, all_rows = index.search(rows, 30, radius=1.0), index.search(rows, 30)
    beyond = all_rows.distance > 1
    assert (found.row == np.where(beyond, -1, all_rows.row)).all()
    assert (found.distance == np.where(beyond, np.inf, all_rows.distance)).all()


def test_what_is_refused(index, rows):
    with pytest.raises(kith.InvalidArgument, match="pass one"):
        index.search(rows, 3, radius=[1.0, 2.0])
