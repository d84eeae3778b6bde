"""Tests rows that stay in a file or an array."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

import numpy as np
import pytest

import kith


@pytest.fixture
def rows() -> np.ndarray:
    return np.random.default_rng(25).integers(0, 6, (200, 7)).astype(np.float32)


def test_a_file_and_an_array_answer_as_resident_rows(tmp_path: Path, rows: np.ndarray) -> None:
    path = tmp_path / "rows.npy"
    np.save(path, rows)
    whole = kith.Index(rows, device="cpu").search(rows[:9], 11)
    for source in (path, str(path), rows, np.load(path, mmap_mode="r")):
        index = kith.Index(source, device="cpu", storage="stream", chunk_rows=33)
        assert index.storage == "stream"
        found = index.search(rows[:9], 11)
        assert np.array_equal(found.row, whole.row)
        assert np.array_equal(found.distance, whole.distance)
    assert kith.Index(path, device="cpu").storage == "resident"


@pytest.mark.parametrize("residence", ["stream", "quantized", "resident"])
@pytest.mark.parametrize("mapped", ["memmap", "mmap", "part"])
def test_a_map_that_is_cut_is_a_bad_file(tmp_path: Path, residence: str, mapped: str) -> None:
    rows = np.random.default_rng(26).standard_normal((9000, 8)).astype(np.float32)
    path = tmp_path / "rows"
    rows.tofile(path)
    array = np.memmap(path, np.float32, "r", shape=rows.shape)
    if mapped == "mmap":
        with path.open("rb") as file:
            array = np.frombuffer(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ), np.float32).reshape(rows.shape)
    elif mapped == "part":
        array, rows = array[100::2], rows[100::2]
    index = kith.Index(array, device="cpu", storage=residence)
    whole = kith.Index(rows, device="cpu").search(rows[:9], 11)
    found = index.search(rows[:9], 11)
    assert np.array_equal(found.row, whole.row)
    assert np.array_equal(found.distance, whole.distance)
    os.truncate(path, 0)
    if residence != "resident":
        with pytest.raises(kith.BadFile, match="the file ends here"):
            index.search(rows[:9], 11)
    with pytest.raises(kith.BadFile, match="the file ends here"):
        kith.Index(array, device="cpu", storage=residence).search(rows[:9], 11)


def test_a_checkpoint_stays_and_is_gone_on_from(tmp_path: Path, rows: np.ndarray) -> None:
    index = kith.Index(rows, device="cpu", storage="stream", chunk_rows=50)
    kept = tmp_path / "kept"
    found = index.search(rows[:3], 5, checkpoint=kept)
    assert kept.exists()
    again = index.search(rows[:3], 5, checkpoint=str(kept))
    assert np.array_equal(found.row, again.row)
    with pytest.raises(kith.InvalidArgument, match="other queries"):
        index.search(rows[:4], 5, checkpoint=kept)
    with pytest.raises(kith.Unsupported, match="checkpoint"):
        kith.Index(rows, device="cpu").search(rows[:3], 5, checkpoint=kept)


def test_files_of_doubles_and_of_wide_integers_are_read_by_ranges(tmp_path: Path) -> None:
    a = 5411000 + np.random.default_rng(27).uniform(-100, 100, (300, 2))
    for x in (a, (a * 1000).astype(np.int64), (a * 100).astype(np.uint32), a.astype(np.int32)):
        np.save(tmp_path / "map.npy", x)
        index = kith.Index(tmp_path / "map.npy", device="cpu", storage="stream")
        found, right = index.search(x, 5), kith.Index(x, device="cpu", arithmetic="f64").search(x, 5)
        assert index.arithmetic == "f64"
        assert np.array_equal(found.row, right.row) and np.array_equal(found.distance, right.distance)
    np.save(tmp_path / "map.npy", a.astype(">f8"))
    with pytest.raises(kith.Unsupported, match=r"as in numpy.save\('new.npy', a.astype\('f8'\)\)$"):
        kith.Index(tmp_path / "map.npy")


def test_options_of_an_index_arrive_at_rows_that_stay(rows: np.ndarray) -> None:
    shard = kith.Index(rows, device="cpu", storage="stream", chunk_rows=50, first_row=1000)
    assert shard.search_keys(rows[:1], 1).row.item() >= 1000
    with pytest.raises(kith.InvalidArgument, match='placement: there is none called "both"'):
        kith.Index(rows, device="cpu", storage="stream", placement="both")


def test_options_of_other_rows_are_refused(tmp_path: Path, rows: np.ndarray) -> None:
    kith.Index(rows, device="cpu").save(tmp_path / "a.kidx")
    with pytest.raises(kith.InvalidArgument, match="kith.Index: ids is given, but an index file has its own; leave it"):
        kith.Index(tmp_path / "a.kidx", device="cpu", ids=[1])
    with pytest.raises(kith.InvalidArgument, match="kith.Index: rows is given, but it is for an index file; leave it"):
        kith.Index(rows, device="cpu", rows=(0, 3))
    with pytest.raises(kith.InvalidArgument, match="metric='l1', but that of the file is l2"):
        kith.Index(tmp_path / "a.kidx", "l1", "cpu")


def test_what_is_refused(tmp_path: Path, rows: np.ndarray) -> None:
    with pytest.raises(kith.BadFile, match="none.npy"):
        kith.Index(tmp_path / "none.npy")
    with pytest.raises(kith.InvalidArgument, match='storage: there is none called "streem"; did you mean stream'):
        kith.Index(rows, device="cpu", storage="streem")
    with pytest.raises(kith.InvalidArgument, match="element"):
        kith.Index(rows, element="bytes")
