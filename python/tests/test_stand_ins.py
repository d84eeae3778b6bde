"""Tests GPU arrays as input and output, with stand-ins for PyTorch, CuPy and JAX; test_gpu.py has the real ones."""

import contextlib
import sys
import types

import kith
import numpy as np
import pytest

from reference import neighbors, whole
from stand_ins import Place

with contextlib.suppress(kith.Unavailable):
    import kith.sklearn  # before there are stand-ins, which SciPy would take for the real ones


class OnGPU:
    """Is an array that NumPy cannot read by itself."""

    is_sparse = False
    place = Place()

    def __init__(self, array):
        self.held = array
        self.dtype, self.nbytes = array.dtype, array.nbytes

    def __array__(self, *_, **__):
        raise TypeError("can't convert a tensor on cuda:0 to numpy")

    def detach(self):
        return self

    def element_size(self):
        return self.held.itemsize

    def nelement(self):
        return self.held.size

    def cpu(self):
        return types.SimpleNamespace(numpy=lambda: self.held)


class Tensor(OnGPU):
    __module__ = "torch"
    device = OnGPU.place


class CupyArray(OnGPU):
    __module__ = "cupy._core.core"
    device = OnGPU.place


class JaxArray(OnGPU):
    __module__ = "jaxlib._jax"

    def devices(self):
        return {self.place}

    def __array__(self, *_, **__):
        return self.held


@pytest.fixture(params=[Tensor, CupyArray, JaxArray])
def kind(request, monkeypatch):
    def to_gpu(array):
        return request.param(array)

    torch = types.SimpleNamespace(
        Tensor=Tensor,
        bfloat16="bfloat16",
        from_numpy=lambda array: types.SimpleNamespace(to=lambda place: to_gpu(array)),
    )
    cupy = types.SimpleNamespace(ndarray=CupyArray, asnumpy=lambda x: x.held, asarray=to_gpu)
    jax = types.SimpleNamespace(Array=JaxArray, device_put=lambda array, place: to_gpu(array))
    for name, module in (("torch", torch), ("cupy", cupy), ("jax", jax)):
        monkeypatch.setitem(sys.modules, name, module)
    return request.param


def test_in_and_out(kind, random):
    train, queries = whole(random, 300, 4), whole(random, 9, 4)
    with pytest.warns(kith.HostCopyWarning, match="kith.Index: X: a.* on cuda:0; .* so 0.0 MiB are copied") as told:
        index = kith.Index(kind(train), device="cpu")
    assert told[0].filename == __file__
    with pytest.warns(kith.HostCopyWarning):
        found = index.search(kind(queries), 5)
    assert type(found.row) is type(found.distance) is kind
    assert np.array_equal(found.row.held, neighbors(train, queries, 5)[1])
    with pytest.warns(kith.HostCopyWarning):
        lists = index.within(kind(queries), 2.0)
    for mine, other in zip(lists, index.within(queries, 2.0)):
        assert type(mine) is kind and np.array_equal(mine.held, other)


def test_double_precision(kind, random):
    train, queries = random.random((90, 4)), random.random((9, 4))
    with pytest.warns(kith.HostCopyWarning):
        index = kith.Index(kind(train), device="cpu")
    assert index.arithmetic == "f64"
    with pytest.warns(kith.HostCopyWarning):
        found = index.search(kind(queries), 5)
    with pytest.warns(kith.HostCopyWarning):
        lists = index.within(kind(queries), 0.5)
    for mine, other in zip((*found, *lists), (*index.search(queries, 5), *index.within(queries, 0.5))):
        assert type(mine) is kind and mine.held.dtype == other.dtype and np.array_equal(mine.held, other)


def test_outputs_of_the_caller_stay_his(kind, random):
    train, queries = whole(random, 300, 4), whole(random, 9, 4)
    out = np.empty((9, 5), np.float32), np.empty((9, 5), np.int64)
    with pytest.warns(kith.HostCopyWarning):
        assert kith.Index(train, device="cpu").search(kind(queries), 5, out=out).row is out[1]


def test_labels_and_values(kind, random):
    X, y = whole(random, 90, 4), random.integers(0, 2, 90)
    with pytest.warns(kith.HostCopyWarning, match="kith.Classifier: labels: a.* on cuda:0"):
        voter = kith.Classifier(X, kind(y), device="cpu")
    prices = kith.Regressor(X, y, device="cpu")
    for ask in (voter.predict, voter.predict_proba, prices.predict):
        with pytest.warns(kith.HostCopyWarning):
            found = ask(kind(X), 3)
        assert type(found) is kind and np.array_equal(found.held, ask(X, 3))


def test_estimators(kind, random):
    ours = pytest.importorskip("kith.sklearn")
    X, y = whole(random, 90, 4), random.integers(0, 2, 90)
    with pytest.warns(kith.HostCopyWarning):
        model = ours.KNeighborsClassifier(device="cpu").fit(kind(X), y)
    with pytest.warns(kith.HostCopyWarning):
        assert np.array_equal(model.predict(kind(X)), model.predict(X))


def test_sparse_tensors_and_arrays_on_several_devices(monkeypatch, random):
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(bfloat16=None))
    tensor = Tensor(whole(random, 3, 2))
    tensor.is_sparse = True
    with pytest.raises(kith.Unsupported, match="to_dense"):
        kith.Index(tensor, device="cpu")
    array = JaxArray(whole(random, 3, 2))
    array.devices = lambda: {Place(), Place()}
    with pytest.raises(kith.Unsupported, match="2 devices; gather it"):
        kith.Index(array, device="cpu")
