"""Tests an index in a periodic box beside an oracle written from the contract, and beside SciPy's boxsize."""

import copy
import itertools
import pickle
from fractions import Fraction

import kith
import numpy as np
import pytest

LENGTHS = (10.0, 3.7, 8.0)
MASKS = [
    tuple(0.0 if is_open else length for is_open, length in zip(mask, LENGTHS))
    for mask in itertools.product((0, 1), repeat=3)
]
METRICS = ("l2", "squared_l2", "l1", "linf")


def points(seed, count):
    return np.random.default_rng(seed).random((count, 3)) * 20 - 7


X, Q = points(1, 900), points(2, 40)


def moved(rows, box):
    """Returns rows in the box: moved in double precision, then rounded."""
    inside = np.array(rows, np.float64)
    for d, length in enumerate(box):
        if length:
            inside[:, d] = np.mod(inside[:, d], length)
    inside = inside.astype(np.float32)
    for d, length in enumerate(box):
        if length:
            inside[inside[:, d] >= np.float32(length), d] = 0
    return inside


def values(queries, rows, box, metric):
    """Returns the distances that are shown, [m, n]; exact products of floats are doubles, and so is their sum here."""
    a, b = moved(queries, box), moved(rows, box)
    total = np.zeros((len(a), len(b)), np.float32)
    for d, length in enumerate(box):
        t = np.abs(a[:, None, d] - b[None, :, d])
        if length:
            t = np.minimum(t, np.float32(length) - t)
        if metric == "l1":
            total = total + t
        elif metric == "linf":
            total = np.maximum(total, t)
        else:
            total = (t.astype(np.longdouble) * t + total).astype(np.float32)
    return total


def nearest(queries, rows, box, metric, k):
    all_values = values(queries, rows, box, metric)
    row = np.argsort(all_values, axis=1, kind="stable")[:, :k]
    near = np.take_along_axis(all_values, row, 1)
    return row, np.sqrt(near) if metric == "l2" else near


def same(found, right):
    assert found.row.tolist() == right[0].tolist()
    assert found.distance.view(np.uint32).tolist() == right[1].view(np.uint32).tolist()


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("box", MASKS)
def test_every_mask_has_the_bits_of_the_contract(metric, box, device):
    index = kith.Index(X, metric, device, box=box, arithmetic="f32")
    assert index.box.tolist() == list(box)
    same(index.search(Q, 5), nearest(Q, X, box, metric, 5))
    shown = values(Q, X, box, metric)
    shown = np.sqrt(shown) if metric == "l2" else shown
    found = index.within(Q, 1.5)
    assert np.diff(found.first).tolist() == (shown <= 1.5).sum(1).tolist()
    assert index.count(Q, 1.5).ravel().tolist() == (shown <= 1.5).sum(1).tolist()


def test_the_box_goes_with_the_index(tmp_path, device):
    box = MASKS[1]
    index = kith.Index(X[:500], device=device, box=list(box), arithmetic="f32").with_(X[500:])
    right = nearest(Q, X, box, "l2", 4)
    index.save(tmp_path / "a.kidx")
    assert kith.index_file_info(tmp_path / "a.kidx").periodic
    opened = kith.Index(tmp_path / "a.kidx", device=device)
    for other in (index, index.compact(), opened, copy.copy(index), pickle.loads(pickle.dumps(index))):
        assert other.box.tolist() == list(box)
        same(other.search(Q, 4), right)
    assert kith.Index(X, device=device).box is None
    own = kith.knn_graph(X, 3, device=device, box=box, arithmetic="f32")
    shown = values(X, X, box, "l2")
    shown[np.arange(len(X)), np.arange(len(X))] = np.inf
    assert own.row.tolist() == np.argsort(shown, axis=1, kind="stable")[:, :3].tolist()


def test_float32_and_integers_are_the_doubles_that_they_equal(device):
    rows, asked = np.round(X * 4), np.round(Q * 4)
    right = nearest(asked, rows, (10, 0, 7), "l1", 5)
    for kind in (np.float32, np.int32, np.int64):
        index = kith.Index(rows.astype(kind), "l1", device, box=(10, 0, 7), arithmetic="f32")
        same(index.search(asked.astype(kind), 5), right)
        same(index.search(asked.tolist(), 5), right)


def test_neighbours_are_those_of_scipy(device):
    spatial = pytest.importorskip("scipy.spatial")
    box = np.array(LENGTHS)
    tree = spatial.cKDTree(np.mod(X, box), boxsize=box)
    index = kith.Index(X, device=device, box=box)
    distance, row = tree.query(np.mod(Q, box), 4)
    found = index.search(Q, 4)
    assert (found.row == row).all()
    assert np.allclose(found.distance, distance, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("metric", METRICS)
def test_float64_has_the_bits_of_doubles(metric, device):
    box = MASKS[2]
    inside = lambda rows: np.where(np.array(box) > 0, np.mod(rows, [length or 1 for length in box]), rows)  # noqa: E731
    a, b = inside(Q[:8]), inside(X)
    total = [[Fraction(0)] * len(b) for _ in a]
    for d, length in enumerate(box):
        t = np.abs(a[:, None, d] - b[None, :, d])
        t = np.minimum(t, length - t) if length else t
        for q in range(len(a)):
            for row in range(len(b)):
                one, s = Fraction(t[q, row]), total[q][row]
                exact = s + one if metric == "l1" else max(s, one) if metric == "linf" else s + one * one
                total[q][row] = Fraction(float(exact))
    right = np.array([[float(value) for value in row] for row in total])
    row = np.argsort(right, axis=1, kind="stable")[:, :4]
    near = np.take_along_axis(right, row, 1)
    index = kith.Index(X, metric, device, box=box)
    assert index.arithmetic == "f64" and index.box.tolist() == list(box)
    found = index.search(Q[:8], 4)
    assert found.row.tolist() == row.tolist()
    assert found.distance.tolist() == (np.sqrt(near) if metric == "l2" else near).tolist()
    assert pickle.loads(pickle.dumps(index)).search(Q[:8], 4).row.tolist() == row.tolist()


def test_classes_and_values_see_the_box(device):
    box, labels = MASKS[0], np.arange(len(X)) % 3
    row, _ = nearest(Q, X, box, "l2", 1)
    classifier = kith.Classifier(X, labels, device=device, box=box, arithmetic="f32")
    assert classifier.predict(Q, 1).tolist() == labels[row[:, 0]].tolist()


def test_what_is_refused(device):
    for box, why in (
        ((1, 2), "the box has 2 lengths for rows of 3 columns; give one a column, 0 for an open one"),
        ((1, -2, 3), "the box is -2 long in column 1; give a length above 0 that a float can have, or 0"),
        ((1, np.nan, 3), "the box is nan long in column 1; give a length"),
    ):
        with pytest.raises(kith.InvalidArgument, match=why):
            kith.Index(X, device=device, box=box)
    for box in ([], 7, "abc", [[1, 2, 3]]):
        with pytest.raises(kith.InvalidArgument, match="; pass one length a column, 0 for an open one"):
            kith.Index(X, device=device, box=box)
    with pytest.raises(kith.InvalidArgument, match="a box is for differences of values, and cosine"):
        kith.Index(X, "cosine", device, box=LENGTHS)
    with pytest.raises(kith.InvalidArgument, match="there are a box, .*, and a centre; leave one of them out"):
        kith.Index(X, device=device, box=LENGTHS, centre=True)
    path = "x.kidx"
    with pytest.raises(kith.InvalidArgument, match="kith.Index: box is given, but an index file has its own"):
        kith.Index(path, device=device, box=LENGTHS)
    with pytest.raises(kith.Unsupported, match="box in double precision, of rows that stay in a source"):
        kith.Index(X.astype(np.float64), device=device, box=LENGTHS, storage="stream")
