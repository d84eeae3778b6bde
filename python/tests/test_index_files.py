"""Tests kith.Index.save and kith.Index of a file: the same bits, and files that are no index files."""

import pickle

import kith
import numpy as np
import pytest

from reference import whole

METRICS = ["squared_l2", "l2", "l1", "linf", "negative_dot", "cosine"]


def same(found, expected):
    assert np.array_equal(found.row, expected.row)
    assert np.array_equal(found.distance.view(np.uint32), expected.distance.view(np.uint32))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.uint8, np.int8])
def test_an_index_comes_back(device, random, tmp_path, metric, dtype):
    train, queries = whole(random, 300, 7).astype(dtype), whole(random, 9, 7)
    train[:, 0] = np.maximum(train[:, 0], 1)  # avoids rows of zeros
    queries[:, 0] = np.maximum(queries[:, 0], 1)
    index = kith.Index(train, metric, device, features=[6, 0, 3])
    index.save(tmp_path / "a.kidx")
    for on in (device, "cpu"):
        opened = kith.Index(tmp_path / "a.kidx", device=on)
        assert (opened.metric, opened.rows, opened.dims) == (metric, 300, 7)
        same(opened.search(queries, 20), index.search(queries, 20))
    info = kith.index_file_info(str(tmp_path / "a.kidx"))
    element = {"float32": "f32", "float16": "f16", "uint8": "u8", "int8": "i8"}[np.dtype(dtype).name]
    assert (info.metric, info.rows, info.dims, info.features) == (metric, 300, 7, 3)
    assert info.element == ("f32" if metric == "cosine" else element)
    assert info.bytes == (tmp_path / "a.kidx").stat().st_size


def test_bits_and_shards(device, random, tmp_path):
    codes = random.integers(0, 256, (50, 9), np.uint8)
    index = kith.Index(codes, "hamming", device, element="bits", first_row=1000)
    index.save(tmp_path / "a.kidx")
    opened = kith.Index(tmp_path / "a.kidx", device=device)
    assert opened.first_row == 1000
    assert kith.digest(opened.search_keys(codes, 5)) == kith.digest(index.search_keys(codes, 5))


def test_progress(random, tmp_path):
    told = []
    index = kith.Index(whole(random, 50, 3), device="cpu")
    index.save(tmp_path / "a.kidx", progress=told.append)
    assert told == sorted(told) and told[-1] == 1
    told.clear()
    kith.Index(tmp_path / "a.kidx", device="cpu", progress=told.append)
    assert told == [0, 1]

    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kith.Index(tmp_path / "a.kidx", device="cpu", progress=stop)
    with pytest.raises(KeyboardInterrupt):
        index.save(tmp_path / "b.kidx", progress=stop)
    assert not (tmp_path / "b.kidx").exists()


@pytest.mark.parametrize("metric", ["l2", "negative_dot", "cosine"])
def test_parts_are_the_whole(random, tmp_path, metric):
    X, Q = 1 + whole(random, 90, 4), 1 + whole(random, 7, 4)
    index = kith.Index(X, metric, device="cpu", ids=np.arange(90) * 3).without([0, 3, 120])
    index.save(tmp_path / "a.kidx")
    info = kith.index_file_info(tmp_path / "a.kidx")
    assert (info.rows, info.removed) == (87, 3)
    largest = float(np.abs(X).max())
    parts = [
        kith.Index(tmp_path / "a.kidx", device="cpu", rows=rows, largest=largest)
        for rows in [(0, 1), (1, 50), (50, 90)]
    ]
    assert [part.rows for part in parts] == [0, 47, 40]
    merged = kith.merge([part.search_keys(Q, 5) for part in parts])
    same(kith.finish(metric, merged), index.search(Q, 5))
    for rows, words in [((0, 91), "rows = 91"), ((5, 5), "are none"), ((-1, 5), "-1")]:
        with pytest.raises(kith.InvalidArgument, match=words):
            kith.Index(tmp_path / "a.kidx", device="cpu", rows=rows)


def test_removed_rows_of_a_file_stay_removed(random, tmp_path):
    X = whole(random, 40, 3)
    index = kith.Index(X, device="cpu").without([0, 7, 20])
    index.save(tmp_path / "a.kidx")
    for opened in (kith.Index(tmp_path / "a.kidx", device="cpu"), pickle.loads(pickle.dumps(index))):
        assert opened.numbers().tolist() == index.numbers().tolist()
        same(opened.search(X, 37), index.search(X, 37))


def test_refusals(random, tmp_path):
    index = kith.Index(whole(random, 50, 3), device="cpu")
    index.save(tmp_path / "a.kidx")
    content = (tmp_path / "a.kidx").read_bytes()
    (tmp_path / "a.kidx").write_bytes(content[:-1])
    with pytest.raises(kith.BadFile, match="the file ends here, but"):
        kith.Index(tmp_path / "a.kidx", device="cpu")
    (tmp_path / "a.kidx").write_bytes(content[:4200] + bytes([content[4200] ^ 1]) + content[4201:])
    with pytest.raises(kith.BadFile, match="byte 4096: the checksum of the .* bytes from here on does not match"):
        kith.Index(tmp_path / "a.kidx", device="cpu")
    with pytest.raises(kith.BadFile, match="No such file"):
        kith.Index(tmp_path / "none.kidx", device="cpu")
    with pytest.raises(kith.BadFile, match="zero byte"):
        kith.Index("a\0b", device="cpu")
    with pytest.raises(kith.BadFile, match="make the folder first"):
        index.save(tmp_path / "no" / "a.kidx")


def test_a_pickle_keeps_names_of_columns(random):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(whole(random, 20, 2), columns=["a", "b"])
    index = pickle.loads(pickle.dumps(kith.Index(frame, device="cpu")))
    with pytest.raises(kith.InvalidArgument, match="columns"):
        index.search(frame[["b", "a"]], 1)
