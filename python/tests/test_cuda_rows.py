"""Tests how kith describes arrays on a CUDA device to the library, with stand-ins for PyTorch and CuPy."""

import sys
import types

import numpy as np
import pytest
from kith._rows import _cuda

from stand_ins import Place


class Tensor:
    __module__ = "torch"
    is_sparse = False
    device = Place()

    def __init__(self, array):
        self.held = array
        self.dtype, self.shape = f"torch.{array.dtype.name}", array.shape

    def detach(self):
        return self

    def resolve_neg(self):
        return self

    def stride(self, axis):
        return self.held.strides[axis] // self.held.itemsize

    def contiguous(self):
        return Tensor(np.ascontiguousarray(self.held))

    def element_size(self):
        return self.held.itemsize

    def data_ptr(self):
        return self.held.__array_interface__["data"][0]

    def __len__(self):
        return len(self.held)


class CupyArray:
    __module__ = "cupy._core.core"
    device = Place()

    def __init__(self, array):
        self.held = array
        self.dtype, self.shape, self.strides, self.itemsize = array.dtype, array.shape, array.strides, array.itemsize
        self.data = types.SimpleNamespace(ptr=array.__array_interface__["data"][0])

    def __len__(self):
        return len(self.held)


@pytest.fixture(params=[Tensor, CupyArray])
def kind(request, monkeypatch):
    made = request.param
    torch = types.SimpleNamespace(
        float32=np.float32,
        float64=np.float64,
        int64=np.int64,
        cuda=types.SimpleNamespace(current_stream=lambda device: types.SimpleNamespace(cuda_stream=77)),
        empty=lambda shape, dtype, device: Tensor(np.empty(shape, dtype)),
    )
    cupy = types.SimpleNamespace(
        float32=np.float32,
        float64=np.float64,
        int64=np.int64,
        cuda=types.SimpleNamespace(get_current_stream=lambda: types.SimpleNamespace(ptr=77)),
        ascontiguousarray=lambda x: CupyArray(np.ascontiguousarray(x.held)),
        empty=lambda shape, dtype: CupyArray(np.empty(shape, dtype)),
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    return made


ELEMENTS = [("float32", 0), ("float16", 1), ("uint8", 3), ("int8", 4), ("bool", 3), ("float64", 6)]


@pytest.mark.parametrize("element, code", ELEMENTS)
def test_elements(kind, element, code):
    array = np.zeros((5, 8), element)
    rows = _cuda.rows_on_cuda(kind(array), False, "cuda:0", doubles=element == "float64")
    struct = rows.struct
    assert (struct.element, struct.where, struct.stream) == (code, 1, 77)
    assert (struct.rows, struct.cols, struct.stride_bytes) == (5, 8, 8 * array.itemsize)
    assert struct.data == array.__array_interface__["data"][0] and len(rows.array) == 5


def test_layouts(kind):
    wide = np.arange(60, dtype=np.float32).reshape(5, 12)
    part = _cuda.rows_on_cuda(kind(wide[:, 3:7]), False, "cuda:0").struct
    assert (part.data - wide.__array_interface__["data"][0], part.stride_bytes, part.cols) == (12, 48, 4)
    turned = _cuda.rows_on_cuda(kind(wide.T), False, "cuda:0")
    assert (turned.struct.rows, turned.struct.cols, turned.struct.stride_bytes) == (12, 5, 20)
    assert np.array_equal(turned.array.held, wide.T) and turned.array.held.flags.c_contiguous


def test_bits(kind):
    packed = _cuda.rows_on_cuda(kind(np.zeros((3, 2), np.uint8)), True, "cuda:0").struct
    assert (packed.element, packed.cols, packed.stride_bytes) == (5, 16, 2)
    assert _cuda.rows_on_cuda(kind(np.zeros((3, 2), np.int8)), True, "cuda:0") is None


def test_what_goes_through_the_host(kind):
    floats = np.zeros((3, 2), np.float32)
    for array, spec in (
        (floats.astype(np.float64), "cuda:0"),
        (floats[0], "cuda:0"),
        (floats[:0], "cuda:0"),
        (floats, "cuda:1"),
        (floats, "cpu"),
        (floats, "opencl:0"),
    ):
        assert _cuda.rows_on_cuda(kind(array), False, spec) is None
    assert _cuda.rows_on_cuda(floats, False, "cuda:0") is None


@pytest.mark.parametrize("wide", [False, True])
def test_answers(kind, wide):
    rows = _cuda.rows_on_cuda(kind(np.zeros((3, 2), np.float32)), False, "cuda:0")
    distance, row, at, behind = rows.answers((3, 4), wide)
    assert type(distance) is type(row) is kind
    assert distance.held.dtype == (np.float64 if wide else np.float32) and row.held.dtype == np.int64 and row.held.shape == (3, 4)
    assert (at, behind) == tuple(one.held.__array_interface__["data"][0] for one in (distance, row))
    struct = _cuda.answers_struct(at, behind, rows.struct.stream, wide)
    assert struct.element == (6 if wide else 0)
    assert (struct.distance, struct.row, struct.where, struct.stream) == (at, behind, 1, 77)
