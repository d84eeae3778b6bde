"""Tests arrays of PyTorch and CuPy on a GPU, as input and output, on the caller's stream. Skipped without a GPU."""

import contextlib
import warnings

import kith
import numpy as np
import pytest
from kith._core._types import BIT_METRICS, GAP_METRICS

from reference import neighbors, whole


def _torch():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch has no GPU here")
    return torch


def _cupy():
    cupy = pytest.importorskip("cupy")
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:
        pytest.skip("CuPy has no GPU here")
    return cupy


@contextlib.contextmanager
def copies(spec, match, place="cuda:0"):
    """Expects the warning that an array passes through the host, unless it is on the device itself."""
    if spec != place:
        with pytest.warns(kith.HostCopyWarning, match=match):
            yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error", kith.HostCopyWarning)
        yield


def specs():
    return [one.spec for one in kith.devices() if one.backend in ("cpu", "cuda")]


def test_tensors():
    torch = _torch()
    random = np.random.default_rng(0)
    train, queries = whole(random, 3000, 24), whole(random, 100, 24)
    distance, row = neighbors(train, queries, 7)
    for spec in specs():
        with copies(spec, "tensor on cuda:0"):
            found = kith.Index(torch.from_numpy(train).cuda(), device=spec).search(torch.from_numpy(queries).cuda(), 7)
        assert (
            found.row.device.type == "cuda" and found.row.dtype == torch.int64 and found.distance.dtype == torch.float32
        )
        assert np.array_equal(found.row.cpu().numpy(), row) and np.array_equal(found.distance.cpu().numpy(), distance)


def test_a_tensor_that_a_stream_is_still_writing():
    torch = _torch()
    random = np.random.default_rng(1)
    train, queries = whole(random, 3000, 24), whole(random, 100, 24)
    index = kith.Index(train, device=specs()[-1])
    large = torch.ones((6000, 6000), device="cuda")
    for stream in (torch.cuda.Stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream), copies(specs()[-1], "tensor on cuda:0"):
            late = torch.zeros((100, 24), device="cuda")
            for _ in range(20):
                large = large @ large * 1e-4  # the copy below must wait for this
            late.copy_(torch.from_numpy(queries).cuda())
            found = index.search(late, 7)
            again = found.row + 0
        stream.synchronize()
        assert np.array_equal(again.cpu().numpy(), neighbors(train, queries, 7)[1])


def test_cupy_arrays():
    cupy = _cupy()
    random = np.random.default_rng(2)
    train, queries = whole(random, 3000, 24), whole(random, 100, 24)
    for spec in specs():
        with copies(spec, "CuPy array on cuda:0"):
            found = kith.Index(cupy.asarray(train), device=spec).search(cupy.asarray(queries), 7)
        assert isinstance(found.row, cupy.ndarray)
        assert np.array_equal(cupy.asnumpy(found.row), neighbors(train, queries, 7)[1])


def test_every_element_and_layout_on_the_device():
    torch = _torch()
    if "cuda:0" not in specs():
        pytest.skip("kith has no CUDA device here")
    random = np.random.default_rng(8)
    train = torch.from_numpy(random.integers(0, 100, (3000, 24)).astype(np.float32)).cuda()
    wide = torch.from_numpy(random.integers(0, 100, (100, 60)).astype(np.float32)).cuda()
    kinds = (torch.float32, torch.float16, torch.bfloat16, torch.uint8, torch.int8)
    for metric in ("l2", "negative_dot", "cosine", "l1"):
        for kind in kinds:
            queries = (wide + 1).to(kind)[:, 7:31]
            host = kith.Index(train.cpu().numpy() + 1, metric, "cpu").search(queries.float().cpu().numpy(), 9)
            with copies("cuda:0", ""):
                index = kith.Index((train + 1).to(kind), metric, "cuda:0")
                found = index.search(queries, 9)
                turned = index.search(queries.t().contiguous().t(), 9)
            for mine in (found, turned):
                assert mine.row.device.type == "cuda"
                assert np.array_equal(mine.row.cpu().numpy(), host.row)
                assert mine.distance.cpu().numpy().tobytes() == host.distance.tobytes()
    codes = torch.from_numpy(random.integers(0, 256, (500, 9), dtype=np.uint8)).cuda()
    bits = kith.Index(codes, "hamming", "cuda:0", element="bits").search(codes[:40], 5)
    host = kith.Index(codes.cpu().numpy(), "hamming", "cpu", element="bits").search(codes[:40].cpu().numpy(), 5)
    assert np.array_equal(bits.row.cpu().numpy(), host.row)


# What a metric needs beside rows.
NEEDED = {
    "minkowski": {"p": 1.5},
    "gower": {"categorical": [3]},
    "nan_gower": {"categorical": [3]},
    "mahalanobis": {"V": np.eye(9) + 0.25},
}


@pytest.mark.parametrize("metric", kith.metrics())
def test_distances_by_every_metric_are_those_of_the_host(metric):
    torch = _torch()
    if "cuda:0" not in specs():
        pytest.skip("kith has no CUDA device here")
    random = np.random.default_rng(21)
    if metric in BIT_METRICS:  # of which some have codes: docs/contract.md, section 1
        train, queries = (random.integers(0, 256, (rows, 1200), dtype=np.uint8) for rows in (400, 30))
        needed = {"element": "bits"}
    else:
        columns = 2 if metric == "haversine" else 9
        train, queries = (random.random((rows, columns), dtype=np.float32) for rows in (400, 30))
        needed = NEEDED.get(metric, {})
        if metric in GAP_METRICS:
            for rows in (train, queries):
                rows[random.random(rows.shape) < 0.6] = np.nan
    host = kith.Index(train, metric, "cpu", **needed).search(queries, 390)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kith.HostCopyWarning)
        found = kith.Index(torch.from_numpy(train).cuda(), metric, "cuda:0", **needed).search(
            torch.from_numpy(queries).cuda(), 390
        )
    assert found.row.is_cuda and np.array_equal(found.row.cpu().numpy(), host.row)
    assert found.distance.cpu().numpy().tobytes() == host.distance.tobytes()


@pytest.mark.parametrize("arithmetic", ["f64", "f32"])
def test_float64_on_the_device_is_what_it_is_on_the_host(arithmetic):
    torch = _torch()
    if "cuda:0" not in specs():
        pytest.skip("kith has no CUDA device here")
    random = np.random.default_rng(12)
    plain = random.normal(size=(3000, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = kith.knn_graph(torch.from_numpy(plain).cuda(), 4, device="cuda:0", arithmetic=arithmetic)
        index = kith.Index(torch.from_numpy(plain).cuda()[:, 1:4], device="cuda:0", arithmetic=arithmetic)
        part = index.search(torch.from_numpy(plain[:50]).cuda()[:, 1:4], 4)
        host = kith.knn_graph(plain, 4, device="cpu", arithmetic=arithmetic)
        host_part = kith.Index(plain[:, 1:4], device="cpu", arithmetic=arithmetic).search(plain[:50, 1:4], 4)
    for mine, other in ((found, host), (part, host_part)):
        assert mine.row.is_cuda and np.array_equal(mine.row.cpu().numpy(), other.row)
        assert mine.distance.cpu().numpy().tobytes() == other.distance.tobytes()
        assert other.distance.dtype == (np.float64 if arithmetic == "f64" else np.float32)


def test_float64_that_loses_digits_is_told_of_as_on_the_host():
    torch = _torch()
    if "cuda:0" not in specs():
        pytest.skip("kith has no CUDA device here")
    plain = np.random.default_rng(12).normal(size=(3000, 5))
    far = plain + np.array([0, 0, 1e9, 0, 0])
    told = []
    for rows, spec in ((torch.from_numpy(far).cuda(), "cuda:0"), (far, "cpu")):
        with pytest.warns(kith.PrecisionWarning) as warned:
            kith.Index(rows, device=spec, arithmetic="f32")
        told.append([str(one.message).partition("; ")[0] for one in warned])
    assert told[0] == told[1]
    far[7, 1] = 1e300
    with pytest.raises(kith.InvalidArgument, match="row 7, column 1: 1e.300 is too large for single precision"):
        kith.Index(torch.from_numpy(far).cuda(), device="cuda:0", arithmetic="f32")


def test_filters_own_rows_ids_and_removed_rows_on_the_device():
    torch = _torch()
    if "cuda:0" not in specs():
        pytest.skip("kith has no CUDA device here")
    train = whole(np.random.default_rng(9), 500, 4)
    rows = torch.from_numpy(train).cuda()
    index = kith.Index(rows, device="cuda:0")
    host = kith.Index(train, device="cpu")
    ids = np.arange(1000, 1500)
    pairs = (
        (index.search(rows[:9], 3, filter=np.arange(100, 200)), host.search(train[:9], 3, filter=np.arange(100, 200))),
        (index.search(rows[:9], 3, exclude_self_from=0), host.search(train[:9], 3, exclude_self_from=0)),
        (kith.knn_graph(rows, 3, device="cuda:0"), kith.knn_graph(train, 3, device="cpu")),
        (index.without([3]).search(rows[:9], 3), host.without([3]).search(train[:9], 3)),
        (kith.Index(rows, device="cuda:0", ids=ids).search(rows[:9], 3), kith.Index(train, ids=ids).search(train[:9], 3)),
        (index.with_(rows).search(rows[:9], 3), host.with_(train).search(train[:9], 3)),
    )
    for mine, other in pairs:
        assert mine.row.device.type == "cuda" and np.array_equal(mine.row.cpu().numpy(), other.row)
        assert mine.distance.cpu().numpy().tobytes() == other.distance.tobytes()
    bad = rows.clone()
    bad[7, 2] = float("nan")
    with pytest.raises(kith.InvalidArgument, match="training row 7, column 2 holds NaN"):
        kith.Index(bad, device="cuda:0")


def test_within_gives_gpu_arrays():
    torch = _torch()
    train = whole(np.random.default_rng(3), 500, 4)
    index = kith.Index(train, device=specs()[-1])
    host = index.within(train[:9], 2.0)
    with pytest.warns(kith.HostCopyWarning):
        found = index.within(torch.from_numpy(train[:9]).cuda(), 2.0)
    for mine, other in zip(found, host):
        assert mine.device.type == "cuda" and np.array_equal(mine.cpu().numpy(), other)


def test_estimators_take_tensors():
    torch = _torch()
    pytest.importorskip("sklearn")
    from kith.sklearn import KNeighborsClassifier

    random = np.random.default_rng(4)
    X, y = whole(random, 300, 4), random.integers(0, 3, 300)
    on_host = KNeighborsClassifier(device=specs()[-1]).fit(X, y).predict(X)
    with pytest.warns(kith.HostCopyWarning):
        assert np.array_equal(
            KNeighborsClassifier(device=specs()[-1]).fit(torch.from_numpy(X).cuda(), y).predict(X), on_host
        )


def test_every_gpu_gives_the_bits_of_the_cpu():
    gpus = [one.spec for one in kith.devices() if one.kind == "gpu"]
    if not gpus:
        pytest.skip("there is no GPU here")
    random = np.random.default_rng(5)
    X, Q = random.random((20000, 100), np.float32), random.random((500, 100), np.float32)
    expected = kith.Index(X, device="cpu").search(Q, 20)
    for spec in gpus:
        found = kith.Index(X, device=spec).search(Q, 20)
        assert found.distance.tobytes() == expected.distance.tobytes() and found.row.tobytes() == expected.row.tobytes()


def test_tensors_on_a_second_gpu():
    torch = _torch()
    if torch.cuda.device_count() < 2:
        pytest.skip("there is one GPU here")
    random = np.random.default_rng(6)
    train, queries = whole(random, 3000, 24), whole(random, 100, 24)
    row = neighbors(train, queries, 7)[1]
    for spec in ("cuda:0", "cuda:1"):
        index = kith.Index(train, device=spec)
        for place in ("cuda:0", "cuda:1"):
            with copies(spec, f"tensor on {place}", place):
                found = index.search(torch.from_numpy(queries).to(place), 7)
            assert str(found.row.device) == place and np.array_equal(found.row.cpu().numpy(), row)


def test_two_gpus_searched_from_threads():
    from concurrent.futures import ThreadPoolExecutor

    gpus = [one.spec for one in kith.devices() if one.backend == "cuda"]
    if len(gpus) < 2:
        pytest.skip("there are not two CUDA devices here")
    random = np.random.default_rng(7)
    X, Q = random.random((20000, 100), np.float32), random.random((500, 100), np.float32)
    expected = kith.Index(X, device="cpu").search(Q, 20)
    indices = [kith.Index(X, device=spec) for spec in gpus]
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda i: indices[i % len(indices)].search(Q, 20), range(32)):
            assert (
                found.distance.tobytes() == expected.distance.tobytes()
                and found.row.tobytes() == expected.row.tobytes()
            )
