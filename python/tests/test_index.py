"""Tests kith.Index: bits, options, refusals."""

import copy
import pickle
import re

import kith
import numpy as np
import pytest

from reference import distances, neighbors, whole

METRICS = ["squared_l2", "l2", "l1", "linf", "negative_dot"]


def same(found, expected):
    assert found.distance.dtype == np.float32 and found.row.dtype == np.int64
    assert np.array_equal(found.row, expected[1])
    assert np.array_equal(found.distance, expected[0])


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("n, m, dims, k", [(1, 1, 1, 1), (7, 3, 2, 7), (500, 40, 9, 10), (1000, 5, 33, 300)])
def test_search_is_exact(device, random, metric, n, m, dims, k):
    train, queries = whole(random, n, dims), whole(random, m, dims)
    same(kith.Index(train, metric, device).search(queries, k), neighbors(train, queries, k, metric))


def test_default_metric_is_l2(device, random):
    assert kith.Index(whole(random, 5, 2), device=device).metric == "l2"


def test_other_names_of_metrics(device, random):
    assert kith.Index(whole(random, 5, 2), "Euclidean", device).metric == "l2"
    with pytest.raises(kith.InvalidArgument, match="euclidaen.*euclidean|did you mean"):
        kith.Index(whole(random, 5, 2), "euclidaen", device)


@pytest.mark.parametrize("called, metric", [("ip", "negative_dot"), ("l2sq", "squared_l2"), ("cos", "cosine")])
def test_metrics_by_the_names_of_faiss_and_usearch(device, random, called, metric):
    assert kith.Index(1 + whole(random, 5, 2), called, device).metric == metric


def test_errors_are_known_by_the_name_that_callers_use():
    import pickle
    import traceback

    with pytest.raises(kith.InvalidArgument) as raised:
        kith.Index([[1.0]], "euclidaen", "cpu")
    assert "kith.InvalidArgument: " in "".join(traceback.format_exception_only(raised.type, raised.value))
    again = pickle.loads(pickle.dumps(raised.value))
    assert type(again) is kith.InvalidArgument
    assert {one.__module__ for one in (kith.Error, kith.BadFile, kith.PrecisionWarning)} == {"kith"}


def test_no_queries(device, random):
    found = kith.Index(whole(random, 5, 2), device=device).search(np.empty((0, 2), np.float32), 3)
    assert found.row.shape == (0, 3) and found.distance.shape == (0, 3)


def test_out(device, random):
    train, queries = whole(random, 50, 4), whole(random, 6, 4)
    index = kith.Index(train, device=device)
    out = np.full((6, 3), np.nan, np.float32), np.full((6, 3), -7, np.int64)
    found = index.search(queries, 3, out=out)
    assert found.distance is out[0] and found.row is out[1]
    same(found, neighbors(train, queries, 3))


@pytest.mark.parametrize(
    "out",
    [
        (np.empty((6, 3), np.float64), np.empty((6, 3), np.int64)),
        (np.empty((6, 3), np.float32), np.empty((6, 3), np.int32)),
        (np.empty((6, 2), np.float32), np.empty((6, 3), np.int64)),
        (np.empty((3, 6), np.float32).T, np.empty((6, 3), np.int64)),
        (np.empty((6, 3), np.float32), [[0] * 3] * 6),
        np.empty((6, 3), np.float32),
    ],
)
def test_out_that_does_not_fit(device, random, out):
    with pytest.raises(kith.InvalidArgument, match="kith.Index.search: out"):
        kith.Index(whole(random, 50, 4), device=device).search(whole(random, 6, 4), 3, out=out)


@pytest.mark.parametrize("n", [31, 32, 33, 100])
def test_filter_mask_for_all_queries(device, random, n):
    train, queries = whole(random, n, 3), whole(random, 7, 3)
    mask = random.random(n) < 0.5
    found = kith.Index(train, device=device).search(queries, 20, filter=mask)
    same(found, neighbors(train, queries, 20, counts=np.broadcast_to(mask, (7, n))))


def test_filter_mask_a_query(device, random):
    train, queries = whole(random, 70, 3), whole(random, 7, 3)
    mask = random.random((7, 70)) < 0.1
    found = kith.Index(train, device=device).search(queries, 20, filter=mask)
    same(found, neighbors(train, queries, 20, counts=mask))
    assert (found.row == -1).any() and np.isinf(found.distance[found.row == -1]).all()


def test_filter_row_numbers(device, random):
    train, queries = whole(random, 70, 3), whole(random, 7, 3)
    mask = np.zeros(70, bool)
    mask[[3, 69, 5]] = True
    found = kith.Index(train, device=device).search(queries, 5, filter=[69, 3, 5])
    same(found, neighbors(train, queries, 5, counts=np.broadcast_to(mask, (7, 70))))
    none = kith.Index(train, device=device).search(queries, 5, filter=[])
    assert (none.row == -1).all()


@pytest.mark.parametrize(
    "mask", [np.ones(69, bool), np.ones((3, 70), bool), np.ones(70, np.float32), [[1, 2]], [70], [-1]]
)
def test_filter_that_does_not_fit(device, random, mask):
    with pytest.raises(kith.InvalidArgument, match="filter|row"):
        kith.Index(whole(random, 70, 3), device=device).search(whole(random, 7, 3), 5, filter=mask)


def test_a_product_that_underflows_is_0_without_a_sign(device):
    tiny = np.array([[1e-30]], np.float32)
    index = kith.Index(tiny, metric="negative_dot", device=device)
    assert index.search(tiny, 1).distance.tobytes() == bytes(4)
    assert index.within(tiny, 0).distance.tobytes() == bytes(4)


def test_exclude_self_from(device, random):
    train = whole(random, 40, 2, 3)  # many duplicates
    counts = ~np.eye(40, dtype=bool)
    found = kith.Index(train, device=device).search(train[10:20], 5, exclude_self_from=10)
    same(found, neighbors(train, train[10:20], 5, counts=counts[10:20]))


def test_features(device, random):
    train, queries = whole(random, 60, 5), whole(random, 4, 5)
    found = kith.Index(train, device=device, features=[4, 1]).search(queries, 6)
    same(found, neighbors(train[:, [1, 4]], queries[:, [1, 4]], 6))


def test_with(device, random):
    train, queries = whole(random, 60, 5), whole(random, 4, 5)
    first = kith.Index(train[:25], device=device)
    both = first.with_(train[25:])
    assert len(first) == 25 and len(both) == 60
    same(both.search(queries, 30), neighbors(train, queries, 30))


@pytest.mark.parametrize("metric", METRICS)
def test_within(device, random, metric):
    train, queries = whole(random, 200, 3), whole(random, 9, 3)
    by = distances(train, queries, metric)
    radius = float(np.median(by))
    found = kith.Index(train, metric, device).within(queries, radius)
    assert found.first[0] == 0 and found.first[-1] == len(found.row) == (by <= np.float32(radius)).sum()
    expected = neighbors(train, queries, 200, metric)
    for q in range(9):
        inside = expected[0][q] <= np.float32(radius)
        mine = slice(found.first[q], found.first[q + 1])
        assert np.array_equal(found.row[mine], expected[1][q][inside])
        assert np.array_equal(found.distance[mine], expected[0][q][inside])


def test_within_a_radius_a_query(device, random):
    train = whole(random, 200, 3)
    index = kith.Index(train, device=device)
    both = index.within(train[:2], [0.0, 3.0])
    assert both.first[1] == (distances(train, train[:1], "l2") <= 0).sum()
    assert both.first[2] - both.first[1] == (distances(train, train[1:2], "l2") <= 3).sum()
    with pytest.raises(kith.InvalidArgument, match="radi"):
        index.within(train[:2], [1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    "queries, k, words",
    [
        (np.zeros((2, 4), np.float32), 3, "columns|4"),
        (np.zeros((2, 3), np.float32), 0, "k = 0"),
        (np.zeros((2, 3), np.float32), 71, "k = 71"),
        (np.zeros((2, 3), np.float32), 2.5, "whole number"),
        (np.full((2, 3), np.nan, np.float32), 3, "row 0"),
        (np.zeros(3, np.float32), 3, "dimensions"),
    ],
)
def test_refusals(device, random, queries, k, words):
    with pytest.raises(kith.InvalidArgument, match=words) as raised:
        kith.Index(whole(random, 70, 3), device=device).search(queries, k)
    assert isinstance(raised.value, ValueError) and raised.value.code == 2
    assert ": " in str(raised.value)


def test_nan_in_rows_is_named(device):
    rows = np.zeros((3, 2), np.float32)
    rows[1, 1] = np.nan
    with pytest.raises(kith.InvalidArgument, match="row 1.*column 1"):
        kith.Index(rows, device=device)


def test_devices():
    found = kith.devices()
    assert found[0].spec == "cpu" or "cpu" in [one.spec for one in found]
    assert {one.name for one in found.backends} >= {"cpu", "opencl", "cuda"}
    for one in found.backends:
        assert bool(one.reason) != any(device.backend == one.name for device in found)
    assert "cpu" in repr(found)


def test_device_that_is_not_there(random):
    with pytest.raises(kith.InvalidArgument, match="tpu"):
        kith.Index(whole(random, 3, 2), device="tpu")
    with pytest.raises(kith.Unavailable) as raised:
        kith.Index(whole(random, 3, 2), device="opencl:77")
    assert raised.value.code == 4


def test_an_open_device_is_taken(random):
    device = kith.Device("cpu")
    assert kith.Index(whole(random, 3, 2), device=device).device is device
    assert device.info.spec == "cpu" and device.info.backend == "cpu"


def test_open_devices_are_used_again_and_closed(random):
    one, two = (kith.Index(whole(random, 3, 2), device="cpu") for _ in range(2))
    assert one.device is two.device
    kith.close_devices()
    assert one.search(np.zeros((1, 2), np.float32), 1).row.shape == (1, 1)
    assert kith.Index(whole(random, 3, 2), device="cpu").device is not one.device


def test_texts_for_people(device, random):
    index = kith.Index(whole(random, 70, 3), device=device)
    assert repr(index).startswith("kith.Index(70 rows x 3 columns, metric='l2', device='")
    assert "selector" in index.explain(10, 5) or "select" in index.explain(10, 5)
    assert index.memory_bytes >= 70 * 3 * 4 and index.dims == 3 and index.rows == 70


def test_an_index_is_pickled_with_its_rows(device, random):
    index = kith.Index(whole(random, 70, 3), device=device)
    again, queries = pickle.loads(pickle.dumps(index)), whole(random, 4, 3)
    assert again.device.info.spec == index.device.info.spec
    same(again.search(queries, 9), index.search(queries, 9))


def test_copies_of_what_never_changes(random):
    device = kith.Device("cpu")
    index = kith.Index(whole(random, 3, 2), device=device)
    assert copy.deepcopy(index) is index and copy.copy(index) is index and copy.deepcopy(device) is device
    assert pickle.loads(pickle.dumps(device)).info == device.info
    with pytest.raises(TypeError, match="not copied"):
        copy.copy(index._handle)


def test_a_metric_that_is_no_name(random):
    with pytest.raises(kith.InvalidArgument, match="metric=3; pass a name, one of squared_l2"):
        kith.Index(whole(random, 3, 2), 3)


def test_metrics():
    assert {*METRICS, "cosine"} <= set(kith.metrics())


def test_selectors_give_the_same(random):
    train, queries = whole(random, 300, 4), whole(random, 20, 4)
    index = kith.Index(train, device="cpu")
    for selector in index.device.info.selectors:
        same(index.search(queries, 9, how={"selector": selector}), neighbors(train, queries, 9))
    with pytest.raises(kith.Error, match="selector|choose"):
        index.search(queries, 9, how={"selector": "no_such"})


def test_threads_and_memory_limit(random):
    train, queries = whole(random, 300, 4), whole(random, 20, 4)
    index = kith.Index(train, device="cpu")
    same(index.search(queries, 9, threads=1, memory_limit=1 << 20), neighbors(train, queries, 9))
    with pytest.raises(kith.OutOfMemory) as raised:
        index.search(queries, 9, memory_limit=1)
    assert isinstance(raised.value, MemoryError)
    with pytest.raises(kith.InvalidArgument, match="threads"):
        index.search(queries, 9, threads=-1)


def test_an_index_is_made_once(random):
    train = whole(random, 5, 2)
    index = kith.Index(train, device="cpu")
    with pytest.raises(kith.InvalidArgument, match="make another"):
        index.__init__(train[:2], device="cpu")
    same(index.search(train, 1), neighbors(train, train, 1, "l2"))


def test_knn_graph_warns_once(device):
    X = np.array([[0.1], [0.2], [0.7]]) + 1e6
    with pytest.warns(kith.PrecisionWarning, match="kith.knn_graph: X: column 0: float32 keeps") as told:
        found = kith.knn_graph(X, 1, device=device, arithmetic="f32")
    assert len(told) == 1 and told[0].filename == __file__
    assert np.array_equal(found.row, [[1], [0], [1]])


def test_bytes_in_texts_for_people():
    small = kith.Index(np.zeros((100, 4), np.float32), device="cpu")
    assert re.search(r", metric='l2', device='cpu', \d+\.\d KiB of device memory\)$", repr(small))
    assert not repr(small).endswith(" 0.0 KiB of device memory)")
    assert re.search(r", [1-9]\.\d MiB of device memory\)$", repr(kith.Index(np.zeros((9999, 32), np.float32), device="cpu")))
