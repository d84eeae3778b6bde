"""Tests filters, radii and counts that limit a search, and which of them are refused."""

import contextlib
import re

import kith
import kith.faiss
import numpy as np
import pytest


WAYS = {
    "search": lambda index, Q, mask: index.search(Q, 2, filter=mask).row,
    "within": lambda index, Q, mask: index.within(Q, 9, filter=mask).row,
    "search_keys": lambda index, Q, mask: index.search_keys(Q, 2, filter=mask).row,
    "within_keys": lambda index, Q, mask: index.within_keys(Q, 9, filter=mask).row,
}
MASK = [0, 0, 0, 0, 1, 1, 1, 1]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "mask",
    [
        MASK,
        tuple(MASK),
        *(np.array(MASK, kind) for kind in ("int64", "int32", "uint8", "int8", "uint64")),
        [0] * 8,
        [1] * 8,
    ],
)
def test_a_mask_of_numbers_is_refused_with_both_ways(device, way, mask):
    index = kith.Index(np.arange(8, dtype=np.float32)[:, None], device=device)
    with pytest.raises(
        kith.InvalidArgument, match="filter: numbers 0 and 1 of dtype .*, which may be a mask or row numb"
    ) as raised:
        WAYS[way](index, [[0.0]], mask)
    as_mask, as_rows = re.search(r"pass (numpy.*) for the mask, (numpy.*) for rows 0 and 1", str(raised.value)).groups()
    for advice, rows in ((as_mask, np.flatnonzero(mask)), (as_rows, sorted(set(np.ravel(mask).tolist())))):
        found = WAYS[way](index, [[0.0]], eval(advice, {"numpy": np, "x": mask}))
        assert set(found.ravel().tolist()) - {-1} == set(list(rows)[: 2 if "search" in way else 9])


def test_a_mask_of_numbers_a_query(device):
    index = kith.Index(np.arange(4, dtype=np.float32)[:, None], device=device)
    for mask in ([[0, 1, 1, 0], [1, 0, 0, 1]], np.eye(2, 4, dtype=np.uint8)):
        with pytest.raises(kith.InvalidArgument, match=r"filter: numbers 0 and 1 .* shape \(2, 4\), for 4 rows"):
            index.search([[0.0], [3.0]], 1, filter=mask)
        assert index.search([[0.0], [3.0]], 1, filter=np.asarray(mask, bool)).row.shape == (2, 1)


def test_numbers_that_name_each_row_once_are_row_numbers(device):
    """Row numbers as numpy.flatnonzero(...) returns them are never refused, even for few rows."""
    for n, rows in ((1, [0]), (2, [0, 1]), (2, [1, 0]), (2, [1]), (3, [0, 1]), (8, [0, 1]), (8, [0, 1, 1]), (8, [])):
        index = kith.Index(np.arange(n, dtype=np.float32)[:, None], device=device)
        found = index.search([[0.0]], n, filter=rows).row
        assert set(found.ravel().tolist()) - {-1} == set(rows)
    for n, rows in ((2, [0, 0]), (2, [1, 1]), (3, [0, 1, 0])):
        with pytest.raises(kith.InvalidArgument, match="may be a mask or row numbers"):
            kith.Index(np.arange(n, dtype=np.float32)[:, None], device=device).search([[0.0]], 1, filter=rows)


def test_a_mask_goes_by_position(device):
    index = kith.Index(np.arange(4, dtype=np.float32)[:, None], device=device).without([1])
    with pytest.raises(kith.InvalidArgument, match="for 4 rows, which may be a mask"):
        index.search([[0.0]], 1, filter=[0, 0, 1, 1])
    assert index.search([[0.0]], 2, filter=[0, 2, 2]).row.tolist() == [[0, 2]]


def test_masks_of_columns_and_of_rows_that_go(device):
    X = np.arange(16, dtype=np.float32).reshape(4, 4)
    mask = np.array([True, False, False, True])
    for make in (lambda x: kith.Index(X, device=device, features=x), lambda x: kith.Index(X, device=device).without(x)):
        with pytest.raises(
            kith.InvalidArgument, match=r"a mask of bool; pass the numbers that it marks: numpy.flatnonzero\(x\)"
        ):
            make(mask)
        make(np.flatnonzero(mask))
        with pytest.raises(kith.InvalidArgument, match="is named twice"):
            make(mask.astype(int))


@pytest.mark.parametrize("metric", ["l2", "squared_l2", "l1", "linf", "cosine"])
@pytest.mark.parametrize("radius", [-1, -1e-50, -np.inf, np.float32(-0.5), [1, -1]])
def test_a_radius_below_0_is_refused(device, metric, radius):
    X = np.array([[1, 2], [2, 1], [3, 3]], np.float32)
    index = kith.Index(X, metric, device)
    for within in (index.within, index.within_keys):
        with pytest.raises(
            kith.InvalidArgument, match=rf"radius: -.* is below 0, and no distance is; give a .* for {metric}"
        ):
            within(X[:2], radius)
        assert len(within(X[:2], np.maximum(radius, 0.0)).row) >= 2


def test_a_radius_below_0_of_products(device):
    X = np.array([[1, 2], [2, 1], [3, 3]], np.float32)
    assert kith.Index(X, "ip", device).within(X[:1], -5).row.tolist() == [2, 0]


@pytest.mark.parametrize("radius", ["near", [[1], [2, 3]], object()])
def test_a_radius_that_is_no_number(device, radius):
    with pytest.raises(kith.InvalidArgument, match="radius: .* (is no number; give a distance|as many)"):
        kith.Index([[0.0]], device=device).within([[0.0]], radius)


COUNTS = {
    "k": lambda index, x: index.search([[0.0]], x),
    "exclude_self_from": lambda index, x: index.search([[0.0]], 1, exclude_self_from=x),
    "threads": lambda index, x: index.search([[0.0]], 1, threads=x),
    "memory_limit": lambda index, x: too_little(lambda: index.search([[0.0]], 1, memory_limit=x)),
    "k of keys": lambda index, x: index.search_keys([[0.0]], x),
    "prepare": lambda index, x: index.prepare(x, 1),
    "explain": lambda index, x: index.explain(1, x),
    "queries that are explained": lambda index, x: index.explain(x, 1),
    "knn": lambda index, x: kith.knn([[0.0], [1.0]], [[0.0]], x, device="cpu"),
    "knn_graph": lambda index, x: kith.knn_graph([[0.0], [1.0]], x, device="cpu"),
    "first_row": lambda index, x: kith.Index([[0.0]], device="cpu", first_row=x),
    "reserve": lambda index, x: kith.Index([[0.0]], device="cpu", reserve=x),
    "Classifier": lambda index, x: kith.Classifier([[0.0]], [1], device="cpu").predict([[0.0]], x),
    "Regressor": lambda index, x: kith.Regressor([[0.0]], [1], device="cpu").predict([[0.0]], x),
    "chunk_rows": lambda index, x: kith.Index(np.ones((2, 1)), device="cpu", storage="stream", chunk_rows=x),
    "faiss": lambda index, x: flat().search([[0.0]], x),
    "columns of faiss": lambda index, x: kith.faiss.IndexFlatL2(x),
}


def too_little(search):
    with contextlib.suppress(kith.OutOfMemory):  # one byte is too little
        search()


def flat():
    made = kith.faiss.IndexFlatL2(1, "cpu")
    made.add([[0.0]])
    return made


def test_who_was_called_is_named():
    for called, what in ((COUNTS["k"], "kith.Index.search: k"), (COUNTS["knn_graph"], "kith.knn_graph: k")):
        with pytest.raises(kith.InvalidArgument, match=f"^{what}: 1.0 is of type float"):
            called(kith.Index([[0.0], [1.0]], device="cpu"), 1.0)


@pytest.mark.parametrize("what", COUNTS)
@pytest.mark.parametrize("value, words", [(1.0, r"1.0 is of type float; pass int\(1.0\)"), (np.float32(1), "of type float32; pass int"),
    (1.5, "1.5 is no whole number, but of type float; pass an int"), ("1", "'1' is no whole number, but of type str"),
    (True, "True is no whole number, but of type bool"), ([1], r"\[1\] is no whole number, but of type list")])  # fmt: skip
def test_a_count_is_an_int(what, value, words):
    with pytest.raises(kith.InvalidArgument, match=words):
        COUNTS[what](kith.Index([[0.0], [1.0]], device="cpu"), value)
    for one in (1, np.int32(1), np.uint8(1), np.array(1)):
        COUNTS[what](kith.Index([[0.0], [1.0]], device="cpu"), one)
