"""Tests that kith.files.open on HDF5 reads only data in the file itself, and follows no link to other files."""

import kith
import numpy as np
import pytest
from kith import files

h5py = pytest.importorskip("h5py")
SECRET = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "secret.raw").write_bytes(SECRET.tobytes())
    with h5py.File(tmp_path / "secret.h5", "w") as file:
        file["train"] = SECRET
    return tmp_path


@pytest.mark.parametrize("mmap", [True, False])
def test_elements_in_other_files_are_refused(folder, mmap):
    with h5py.File(folder / "a.h5", "w") as file:
        outside = [(str(folder / "secret.raw"), 0, SECRET.nbytes)]
        file.create_dataset("external", SECRET.shape, np.float32, external=outside)
        layout = h5py.VirtualLayout(SECRET.shape, np.float32)
        layout[:] = h5py.VirtualSource(folder / "secret.h5", "train", SECRET.shape)
        file.create_virtual_dataset("virtual", layout)
        file["own"] = 2 * SECRET
    for name in ("external", "virtual"):
        with pytest.raises(kith.BadFile, match=f"a.h5: '{name}' has its elements in other files; if you know"):
            files.open(folder / "a.h5", name, mmap=mmap)
    assert files.open(folder / "a.h5", "own", mmap=mmap).tolist() == (2 * SECRET).tolist()


def test_links_name_nothing(folder):
    with h5py.File(folder / "a.h5", "w") as file:
        file["external"] = h5py.ExternalLink(str(folder / "secret.h5"), "train")
        file["soft"] = h5py.SoftLink("/external")
        file["inside"] = h5py.SoftLink("/group/own")
        file["dangling"] = h5py.SoftLink("/none")
        file["group/own"] = SECRET
        file["group/out"] = h5py.ExternalLink(str(folder / "secret.h5"), "train")
    with h5py.File(folder / "a.h5") as file:  # h5py itself follows the links
        assert file["soft"][:].tolist() == SECRET.tolist()
    for name in ("external", "soft", "inside", "dangling", "group", "group/out", "group/own", "/", "..", "/external"):
        with pytest.raises(kith.InvalidArgument, match="has no array called .*: there is none"):
            files.open(folder / "a.h5", name)
    with pytest.raises(kith.InvalidArgument):
        files.open(folder / "a.h5")


def test_a_second_hard_link_is_the_files_own(folder):
    with h5py.File(folder / "a.h5", "w") as file:
        file["group/own"] = SECRET
        file["train"] = file["group/own"]
    assert files.open(folder / "a.h5").tolist() == SECRET.tolist()


def test_elements_that_are_no_numbers_are_refused(folder):
    with h5py.File(folder / "a.h5", "w") as file:
        file["texts"] = ["a", "b"]
        file["pairs"] = np.zeros(3, [("a", "f4"), ("b", "i4")])
        file["complex"] = np.zeros(3, np.complex64)
        file["long"] = np.zeros(3, np.longdouble)
        file["bytes"] = np.array([b"ab"])
        file.create_dataset("lists", (2,), h5py.vlen_dtype(np.int32))
        file.create_dataset("references", (2,), h5py.ref_dtype)
        file["half"] = np.ones((2, 2), np.float16)
    for name in ("texts", "pairs", "complex", "long", "bytes", "lists", "references"):
        with pytest.raises(kith.BadFile, match=f"a.h5: '{name}' holds no numbers of 1, 2, 4 or 8 bytes"):
            files.open(folder / "a.h5", name)
    assert files.open(folder / "a.h5", "half").dtype == np.float16


def test_bytes_before_the_file(folder):
    """A user block shifts all mapped data."""
    with h5py.File(folder / "a.h5", "w", userblock_size=1024) as file:
        file["train"] = SECRET
    assert isinstance(files.open(folder / "a.h5"), np.memmap)
    assert files.open(folder / "a.h5").tolist() == SECRET.tolist()
