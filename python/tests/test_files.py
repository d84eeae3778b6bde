"""Tests kith.files with files written by hand, mapped memory, and files that are refused."""

import os
import struct

import kith
import numpy as np
import pytest
from kith import files

VALUES = {
    ".fbin": np.array([[1, 2.5, -0.0], [3e38, 1e-45, 4]], np.float32),
    ".u8bin": np.array([[1, 128, 255], [0, 7, 9]], np.uint8),
    ".i8bin": np.array([[1, -128, 127], [0, -7, 9]], np.int8),
    ".f16bin": np.array([[1, 65504, -6e-8], [0, -7, 0.5]], np.float16),
    ".ibin": np.array([[1, 2**31 - 1, -(2**31)], [0, -7, 9]], np.int32),
    ".fvecs": np.array([[1, 2.5, -0.0], [3e38, 1e-45, 4]], np.float32),
    ".ivecs": np.array([[1, 2**31 - 1, -(2**31)], [0, -7, 9]], np.int32),
    ".bvecs": np.array([[1, 128, 255], [0, 7, 9]], np.uint8),
    ".npy": np.array([[1, 0.1], [3, 4]]),
}


def same(found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert np.ascontiguousarray(found).tobytes() == expected.tobytes()


@pytest.mark.parametrize("ending", VALUES)
@pytest.mark.parametrize("mmap", [True, False])
def test_what_is_saved_opens_with_the_same_bits(tmp_path, ending, mmap):
    path = tmp_path / ("rows" + ending)
    files.save(path, VALUES[ending])
    found = files.open(path, mmap=mmap)
    same(found, VALUES[ending])
    assert isinstance(found, np.memmap) == mmap
    assert os.listdir(tmp_path) == [path.name]


def test_the_bytes(tmp_path):
    files.save(tmp_path / "a.u8bin", VALUES[".u8bin"])
    assert (tmp_path / "a.u8bin").read_bytes() == struct.pack("<2I6B", 2, 3, 1, 128, 255, 0, 7, 9)
    files.save(tmp_path / "a.ivecs", VALUES[".ivecs"])
    assert (tmp_path / "a.ivecs").read_bytes() == struct.pack("<4i4i", 3, 1, 2**31 - 1, -(2**31), 3, 0, -7, 9)


def test_arrays_by_name(tmp_path):
    train, test = VALUES[".npy"], VALUES[".u8bin"]
    path = tmp_path / "both.npz"
    np.savez_compressed(path, train=train, test=test)
    same(files.open(path, "train"), train)
    same(files.open(path, "test"), test)
    with pytest.raises(
        kith.InvalidArgument, match=r"both.npz: holds several arrays; name one of them by array=: train, test"
    ):
        files.open(path)
    with pytest.raises(kith.InvalidArgument, match=r"has no array called 'other'; name one"):
        files.open(path, "other")
    files.save(path, train)
    same(files.open(path), train)


def test_hdf5_as_ann_benchmarks_has_it(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "toy.hdf5"
    with h5py.File(path, "w") as file:
        file["train"] = VALUES[".fbin"]
        file.create_dataset("test", data=VALUES[".u8bin"], chunks=(1, 3), compression="gzip")
    mapped = files.open(path, "train")
    assert isinstance(mapped, np.memmap)
    same(mapped, VALUES[".fbin"])
    same(files.open(path, "train", mmap=False), VALUES[".fbin"])
    packed = files.open(path, "test")
    assert not isinstance(packed, np.memmap)
    same(packed, VALUES[".u8bin"])
    files.save(path, VALUES[".npy"], "more")
    same(files.open(path), VALUES[".npy"])


def test_ground_truth(tmp_path):
    rows, far = np.array([[0, 2], [1, 0], [2, 1]]), np.array([[0, 1], [0, 4], [0, 9]], np.float32)
    path = tmp_path / "gt.ibin"
    files.save_groundtruth(path, rows, far)
    assert path.read_bytes() == struct.pack("<2I6i6f", 3, 2, 0, 2, 1, 0, 2, 1, 0, 1, 0, 4, 0, 9)
    for mmap in (True, False):
        truth = files.open_groundtruth(path, mmap=mmap)
        same(truth.rows, rows.astype(np.int32))
        same(truth.distances, far)
    files.save_groundtruth(path, rows)
    assert files.open_groundtruth(path).distances is None
    same(files.open(path), rows.astype(np.int32))
    with pytest.raises(
        kith.InvalidArgument, match=r"rows of shape \(3, 2\) but distances of \(2, 2\); they must be alike"
    ):
        files.save_groundtruth(path, rows, far[:2])
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(kith.BadFile, match="24 bytes, or with distances 48, but 25 follow; it is truncated"):
        files.open_groundtruth(path)


def test_ground_truth_of_an_index(tmp_path, random, device):
    base = random.integers(0, 256, (300, 8)).astype(np.uint8)
    distance, row = kith.Index(base.astype(np.float32), metric="squared_l2", device=device).search(
        base[:7].astype(np.float32), k=5
    )
    files.save_groundtruth(tmp_path / "gt.ibin", row, distance)
    truth = files.open_groundtruth(tmp_path / "gt.ibin")
    assert (truth.rows == row).all() and (truth.distances == distance).all()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.fbin", b"1234567", "ends after 7 bytes, within its header; copy"),
        (
            "a.fbin",
            struct.pack("<2If", 2, 1, 1),
            "announces 2 rows of 1 columns, 8 bytes, but 4 follow; it is truncated",
        ),
        ("a.u8bin", struct.pack("<2I", 0, 4), "holds 0 rows of 4 columns; a file"),
        ("a.fvecs", struct.pack("<if", -1, 1), "row 0 announces -1 elements; is its name"),
        ("a.fvecs", struct.pack("<ifif", 1, 1, 1, 1)[:-1], "8 bytes a row, but the file has 15 bytes; it is truncated"),
        ("a.fvecs", struct.pack("<ifif", 1, 1, 2, 1), "row 1 has 2 elements but row 0 has 1; every row"),
        ("a.npy", b"no", "is no .npy file, or a damaged one: .*; copy or download it again"),
        ("a.npz", b"PK\3\4", "is no .npz file, or a damaged one: .*; copy or download it again"),
    ],
)
def test_damaged(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(kith.BadFile, match=message):
        files.open(tmp_path / name)


def test_refused(tmp_path):
    with pytest.raises(kith.InvalidArgument, match=r"a.csv: its name ends in no format of kith.files; there are .fbin"):
        files.open("a.csv")
    with pytest.raises(kith.BadFile, match="none.fbin: cannot be read: there is no such file; check the name"):
        files.open("none.fbin")
    with pytest.raises(kith.InvalidArgument, match="array='x' does not go with .fbin, which holds one; leave it out"):
        files.open("a.fbin", "x")
    path = tmp_path / "kept.u8bin"
    files.save(path, [[1, 2]])
    for rows in ([[256, 1]], [[-1, 1]], [[0.5, 1]]):
        with pytest.raises(kith.InvalidArgument, match="do not fit uint8, which such a file holds; convert them first"):
            files.save(path, rows)
    with pytest.raises(kith.InvalidArgument, match=r"rows of shape \(3,\); give \[rows, columns\]"):
        files.save(path, [1, 2, 3])
    assert files.open(path).tolist() == [[1, 2]]
    with pytest.raises(ValueError):
        files.open(path)[0, 0] = 3


def test_pickled_objects_are_not_loaded(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{}], object), allow_pickle=True)
    with pytest.raises(kith.BadFile, match="is no .npy file, or a damaged one"):
        files.open(tmp_path / "a.npy")


def test_a_parser_that_other_threads_disturb_is_asked_again(tmp_path, monkeypatch):
    files.save(tmp_path / "a.npy", [[1.0, 2.0]])
    loads, asked = np.load, []

    def disturbed(*arguments, **named):
        asked.append(1)
        if len(asked) < 3:
            raise SystemError("AST constructor recursion depth mismatch (before=66, after=63)")
        return loads(*arguments, **named)

    monkeypatch.setattr(np, "load", disturbed)
    assert files.open(tmp_path / "a.npy").tolist() == [[1.0, 2.0]] and len(asked) == 3

    def broken(*_, **__):
        asked.append(1)
        raise SystemError("of another kind")

    monkeypatch.setattr(np, "load", broken)
    with pytest.raises(kith.BadFile, match="is no .npy file, or a damaged one: of another kind"):
        files.open(tmp_path / "a.npy")
    assert len(asked) == 4


def test_a_save_that_fails_leaves_what_was_there(tmp_path):
    path = tmp_path / "a.npy"
    files.save(path, [[1.0]])
    with pytest.raises(ValueError):
        files.save(path, np.array([[{}]], object))
    assert files.open(path).tolist() == [[1.0]] and os.listdir(tmp_path) == ["a.npy"]
