"""Tests rows from every kind of array that programs use."""

import array
import warnings

import kith
import numpy as np
import pytest
from kith._rows._arrays import element_rows_of, rows_of

from reference import distances, neighbors, whole


def rows(x, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return rows_of(x, "X", **options).array


def test_aligned_float32_is_not_copied(random):
    x = whole(random, 9, 4)
    assert np.shares_memory(rows(x), x)
    wide = whole(random, 9, 7)
    assert np.shares_memory(rows(wide[:, 1:5]), wide)  # a row may be longer than its used columns
    assert np.shares_memory(rows(wide[::2]), wide)


@pytest.mark.parametrize(
    "view", [lambda x: x[:, 1:5], lambda x: x[::2], lambda x: x[::-1], lambda x: x[:, ::2], lambda x: x.T]
)
def test_views_are_read_as_they_are(device, random, view):
    x = view(whole(random, 9, 7))
    index = kith.Index(x, device=device)
    assert index.search(np.ascontiguousarray(x), 1).distance.max() == 0
    assert index.search(x, 1).distance.max() == 0


@pytest.mark.parametrize(
    "kind", ["float16", "int8", "uint8", "int16", "uint16", "bool", "int32", "int64", "uint64", "float64", ">f4", ">i2"]
)
def test_exact_values_of_other_dtypes(random, kind):
    x = random.integers(0, 100, (20, 3)).astype(kind)
    assert np.array_equal(rows(x), x.astype(np.float64)) and rows(x).dtype == np.float32


def test_unaligned_rows(random):
    octets = np.zeros(9 * 4 * 4 + 1, np.uint8)
    x = octets[1:].view(np.float32).reshape(9, 4)
    x[:] = whole(random, 9, 4)
    assert rows(x).flags.aligned and np.array_equal(rows(x), x)



@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nan_and_infinity_of_float64_reach_the_library(device, value):
    with pytest.raises(kith.InvalidArgument, match="row 1"):
        kith.Index(np.array([[0.0], [value]]), device=device)


@pytest.mark.parametrize("x", [[["a"]], [[1j]], [[None]], np.zeros(3), np.zeros((2, 2, 2)), np.float32(3)])
def test_what_is_no_rows_of_numbers(x):
    with pytest.raises(kith.InvalidArgument, match="X: "):
        rows_of(x, "X")


def test_lists_and_buffers(random):
    assert np.array_equal(rows([[1, 2], [3, 4]]), [[1, 2], [3, 4]])
    view = memoryview(array.array("f", [1, 2, 3, 4])).cast("B").cast("f", (2, 2))
    assert np.array_equal(rows(view), [[1, 2], [3, 4]])


def test_masked_arrays():
    x = np.ma.masked_array(np.ones((2, 2), np.float32), [[0, 0], [0, 1]])
    with pytest.raises(kith.InvalidArgument, match=r"masked values; fill them in \(x.filled\(value\)\)"):
        rows_of(x, "X")
    assert np.array_equal(rows(np.ma.masked_array(np.ones((2, 2), np.float32))), np.ones((2, 2)))


def test_sparse_rows_are_refused_with_advice():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(kith.Unsupported, match="toarray"):
        rows_of(sparse.csr_matrix(np.eye(3)), "X")


class OnlyDLPack:
    def __init__(self, array, kind=1):
        self._array, self._kind = array, kind

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._kind, 0


def test_dlpack_is_not_copied(random):
    x = whole(random, 9, 4)
    for kind in (1, 3, 11):  # host memory, also pinned by CUDA or ROCm
        assert np.shares_memory(rows(OnlyDLPack(x, kind)), x)
    for kind in (2, 4, 10):  # memory of CUDA, OpenCL and ROCm
        with pytest.raises(kith.Unsupported, match="in the memory of a GPU"):
            rows(OnlyDLPack(x, kind))


class OnlyCuda:
    __cuda_array_interface__ = {"shape": (1, 1), "typestr": "<f4", "data": (0, False), "version": 3}


def test_other_gpu_arrays_are_refused_with_advice():
    with pytest.raises(kith.Unsupported, match="torch.as_tensor|cupy.asarray"):
        rows_of(OnlyCuda(), "X")


def test_bfloat16(random):
    types = pytest.importorskip("ml_dtypes")
    x = whole(random, 9, 4).astype(types.bfloat16)
    assert np.array_equal(rows(x), x.astype(np.float32))


def test_arrow(random):
    arrow = pytest.importorskip("pyarrow")
    x = whole(random, 9, 2)
    assert np.array_equal(rows(arrow.table({"a": x[:, 0], "b": x[:, 1]})), x)


def test_torch_on_the_host(device, random):
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(whole(random, 9, 4))
    assert np.shares_memory(rows(x), x.numpy())
    assert np.array_equal(rows(x.bfloat16()), x.numpy())
    assert np.array_equal(rows(x.clone().requires_grad_()), x.numpy())
    assert isinstance(kith.Index(x, device=device).search(x, 2).row, np.ndarray)


def test_frames(device, random):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(whole(random, 9, 2), columns=["a", "b"], index=list("rstuvwxyz"))
    index = kith.Index(frame, device=device)
    assert index.search(frame, 1).distance.max() == 0
    with pytest.raises(kith.InvalidArgument, match=r"\['b', 'a'\].*\['a', 'b'\]"):
        index.search(frame[["b", "a"]], 1)
    assert np.array_equal(rows(frame.astype("Int64")), frame.to_numpy())
    with pytest.raises(kith.InvalidArgument, match="column 'b' has dtype"):
        kith.Index(frame.assign(b="text"), device=device)
    missing = frame.astype("Float64")
    missing.iloc[3, 1] = pd.NA
    with pytest.raises(kith.InvalidArgument, match="row 3.*column 1"):
        kith.Index(missing, device=device)


SMALL = ["float16", "uint8", "int8", "bool", ">f2"]


@pytest.mark.parametrize("kind", SMALL)
@pytest.mark.parametrize("view", [lambda x: x, lambda x: x[:, 1:5], lambda x: x[::-1], lambda x: x[:, ::2], lambda x: x.T])
def test_small_elements_give_the_bits_of_float32(device, random, kind, view):
    most = 2 if kind == "bool" else 100
    x = view(random.integers(0, most, (9, 9)).astype(kind))
    same = np.ascontiguousarray(x, np.float32)
    index = kith.Index(x, device=device)
    for found in (index.search(x, 4), index.search(same, 4), kith.Index(same, device=device).search(x, 4)):
        distance, row = neighbors(same, same, 4)
        assert np.array_equal(found.distance, distance) and np.array_equal(found.row, row)
    assert np.array_equal(index.with_(x[:3]).search(x, 12).row, index.with_(same[:3]).search(same, 12).row)
    assert np.array_equal(index.within(x, 9).row, kith.Index(same, device=device).within(same, 9).row)


@pytest.mark.parametrize("kind", ["float16", "uint8", "int8", "bool"])
def test_small_elements_are_not_copied(random, kind):
    x = random.integers(0, 2, (9, 4)).astype(kind)
    for view in (x, x[::2], x[:, 1:3]):
        assert np.shares_memory(element_rows_of(view, "X", False).array, x)


def test_bfloat16_as_it_is(device, random):
    x = whole(random, 9, 4)
    index = kith.Index(x, device=device)
    types = pytest.importorskip("ml_dtypes")
    small = x.astype(types.bfloat16)
    assert np.shares_memory(element_rows_of(small, "X", False).array, small)
    assert np.array_equal(index.search(small, 4).row, index.search(x, 4).row)


def test_bfloat16_of_torch_as_it_is(device, random):
    torch = pytest.importorskip("torch")
    x = whole(random, 9, 4)
    tensor = torch.from_numpy(x).bfloat16()
    assert element_rows_of(tensor, "X", False).struct.element == 2
    expected = kith.Index(x, device=device).search(x, 4).row
    assert np.array_equal(kith.Index(tensor, device=device).search(tensor, 4).row, expected)


def test_nan_of_float16_is_refused(device):
    with pytest.raises(kith.InvalidArgument, match="row 1, column 0 holds NaN"):
        kith.Index(np.array([[1], [np.nan]], np.float16), device=device)


def test_bits(device, random):
    bits = random.integers(0, 2, (40, 37)).astype(bool)
    codes = np.packbits(bits, axis=1)
    index = kith.Index(codes, "Hamming", device, element="bits")
    assert (index.dims, index.metric) == (40, "hamming")  # whole bytes
    distance, row = neighbors(bits.astype(np.float32), bits[:7].astype(np.float32), 9, "l1")
    found = index.search(codes[:7], 9)
    assert np.array_equal(found.distance, distance) and np.array_equal(found.row, row)
    wide = np.full((40, 9), 255, np.uint8)
    wide[:, 1:6] = codes
    assert np.array_equal(index.search(wide[:7, 1:6], 9).row, row)
    twice = bits.astype(np.float32)[np.r_[0:40, 0:40]]
    assert np.array_equal(index.with_(codes).search(codes[:7], 80).row, neighbors(twice, twice[:7], 80, "l1")[1])
    near = distances(twice[:40], twice[:7], "l1") <= 12
    assert np.array_equal(np.diff(index.within(codes[:7], 12).first), near.sum(axis=1))


def test_bits_are_never_guessed(device):
    codes = np.zeros((3, 2), np.uint8)
    with pytest.raises(kith.InvalidArgument, match="are u8, but hamming compares bits"):
        kith.Index(codes, "hamming", device)
    with pytest.raises(kith.InvalidArgument, match="are bits, but l2 measures numbers"):
        kith.Index(codes, device=device, element="bits")
    with pytest.raises(kith.InvalidArgument, match="element='u8'; pass 'bits'"):
        kith.Index(codes, device=device, element="u8")
    with pytest.raises(kith.InvalidArgument, match="dtype float32, and element='bits' takes uint8"):
        kith.Index(codes.astype(np.float32), "hamming", device, element="bits")
    index = kith.Index(codes, "hamming", device, element="bits")
    with pytest.raises(kith.InvalidArgument, match="Q: dtype int64, and element='bits' takes uint8"):
        index.search([[1, 2]], 1)
