"""Tests that an index with a centre has the bits of an index of rows that were centred in double precision."""

import copy
import pickle

import kith
import numpy as np
import pytest

MIDDLE = [450000.0, 5411000.0, 300.0]


def points(seed, count):
    """Returns points on a map, in metres."""
    return np.random.default_rng(seed).random((count, 3)) * 200 + MIDDLE


X, Q = points(1, 400), points(2, 30)


def in_double(queries, rows, k):
    return np.argsort(((queries[:, None] - rows[None]) ** 2).sum(-1), axis=1, kind="stable")[:, :k]


def same(found, right):
    assert found.row.tolist() == right.row.tolist()
    assert found.distance.view(np.uint32).tolist() == right.distance.view(np.uint32).tolist()


def plain(rows, shift, metric="l2", **named):
    return kith.Index((rows - shift).astype(np.float32), metric, named.pop("device", "cpu"), **named)


def floats(rows, shift):
    return (rows - shift).astype(np.float32)


@pytest.fixture
def index(device):
    return kith.Index(X, device=device, centre=True)


def test_neighbours_are_those_in_double(index, device):
    assert (index.search(Q, 3).row == in_double(Q, X, 3)).all()
    with pytest.warns(kith.PrecisionWarning, match="; pass arithmetic='f64', by which every digit"):
        rounded = kith.Index(X, device=device, arithmetic="f32")
    assert (rounded.search(Q, 3).row != in_double(Q, X, 3)).any()


@pytest.mark.parametrize("metric", ["l2", "squared_l2", "l1", "linf", "euclidean"])
def test_every_search_has_the_bits_of_centred_rows(metric, device):
    index = kith.Index(X, metric, device, centre=True)
    shift = index.centre
    right, asked = plain(X, shift, metric, device=device), floats(Q, shift)
    same(index.search(Q, 5), right.search(asked, 5))
    same(kith.Index(X, metric, device, centre=shift).search(Q, 5), right.search(asked, 5))
    same(kith.Index(X, metric, device, centre=shift.tolist()).search(Q, 5), right.search(asked, 5))
    radius = float(right.search(asked, 3).distance[0, 2])
    for ask in ("within", "within_keys"):
        for one, other in zip(getattr(index, ask)(Q, radius), getattr(right, ask)(asked, radius)):
            assert one.tolist() == other.tolist()
    for one, other in zip(index.search_keys(Q, 4), right.search_keys(asked, 4)):
        assert one.tolist() == other.tolist()
    graph = right.search(floats(X, shift), 3, exclude_self_from=0)
    same(index.search(X, 3, exclude_self_from=0), graph)
    same(kith.knn_graph(X, 3, metric, device, centre=True), graph)
    same(kith.knn_graph(X, 3, metric, device, centre=shift), graph)


def test_the_centre_is_learned_once_and_goes_with_the_index(index, tmp_path, device):
    first = kith.Index(X[:150], device=device, centre=index.centre)
    asked = floats(Q, index.centre)
    grown = first.with_(X[150:200]).with_(X[200:])
    right = plain(X, index.centre, device=device)
    same(grown.search(Q, 5), right.search(asked, 5))
    same(grown.without([3, 170]).compact().search(Q, 5), right.without([3, 170]).search(asked, 5))
    for other in (grown, grown.without([3]), grown.compact(), copy.copy(grown), pickle.loads(pickle.dumps(grown))):
        assert other.centre.tolist() == index.centre.tolist()
        same(other.search(Q, 1), right.search(asked, 1))
    assert kith.Index(X[:9], device=device, centre=True).with_(X).centre.tolist() != index.centre.tolist()
    path = tmp_path / "a.kidx"
    grown.save(path)
    assert kith.index_file_info(path).centred
    same(kith.Index(path, device=device).search(Q, 5), right.search(asked, 5))
    parts = [kith.Index(path, device=device, rows=part).search_keys(Q, 5) for part in ((0, 77), (77, 400))]
    same(kith.finish("l2", kith.merge(parts)), right.search(asked, 5))
    plain(X, index.centre, device=device).save(path)
    assert not kith.index_file_info(path).centred


@pytest.mark.parametrize("residence", ["resident", "stream", "quantized"])
def test_sources_learn_it_and_keep_it(index, residence, tmp_path, device):
    path = tmp_path / "a.kidx"
    index.save(path)
    right = index.search(Q, 5)
    try:
        opened = kith.Index(path, device=device, storage=residence)
        assert opened.centre.tolist() == index.centre.tolist()
        same(opened.search(Q, 5), right)
        for rows in (X, np.lib.stride_tricks.as_strided(X, X.shape, X.strides)):
            for centre in (True, index.centre):
                same(kith.Index(rows, device=device, storage=residence, centre=centre).search(Q, 5), right)
    except kith.Unsupported as error:
        assert residence == "quantized" and "proposer int8" in str(error)
    with pytest.raises(kith.InvalidArgument, match="has a centre already, which is kept; leave the centre out"):
        kith.Index(path, device=device, storage=residence, centre=True)
    with pytest.raises(kith.InvalidArgument, match="a centre is for differences of values, and negative_dot"):
        kith.Index(path, "negative_dot", device, storage=residence)


@pytest.mark.parametrize("kind", ["float32", "int32", "int64", "uint32", "int16", "longdouble", ">f8"])
def test_other_numbers_are_the_doubles_that_they_equal(kind, device):
    rows, asked = (np.round(x).astype(np.int64) for x in (X - [449000, 5410000, 0], Q - [449000, 5410000, 0]))
    doubles = kith.Index(rows.astype(float), device=device, centre=True)
    typed = kith.Index(rows.astype(kind), device=device, centre=True)
    assert typed.centre.tolist() == doubles.centre.tolist()
    right = doubles.search(asked.astype(float), 5)
    for queries in (asked, asked.astype(kind), asked.astype(np.float32), asked.tolist()):
        same(typed.search(queries, 5), right)
        same(kith.Index(rows.tolist(), device=device, centre=True).search(queries, 5), right)


def test_frames(index, device):
    right = index.search(Q, 5)
    pd = pytest.importorskip("pandas")
    named = kith.Index(pd.DataFrame(X, columns=list("xyz")), device=device, centre=True)
    same(named.search(pd.DataFrame(Q, columns=list("xyz")), 5), right)
    with pytest.raises(kith.InvalidArgument, match="but the training rows have"):
        named.search(pd.DataFrame(Q, columns=list("xzy")), 5)


def test_tensors(index, device):
    torch = pytest.importorskip("torch")
    right = index.search(Q, 5)
    same(kith.Index(torch.from_numpy(X), device=device, centre=True).search(torch.from_numpy(Q), 5), right)


def test_cuda_tensors_are_moved_by_the_host(device):
    torch = pytest.importorskip("torch")
    if not device.startswith("cuda") or not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    rows, asked = X.astype(np.float32), Q.astype(np.float32)
    right = kith.Index(rows, device=device, centre=True).search(asked, 5)
    there = kith.Index(torch.from_numpy(rows).to(device), device=device, centre=True)
    found = there.search(torch.from_numpy(asked).to(device), 5)
    assert found.row.device.type == "cuda"
    assert found.row.cpu().numpy().tolist() == right.row.tolist()
    assert found.distance.cpu().numpy().tolist() == right.distance.tolist()


def test_columns_that_do_not_count(device, tmp_path):
    rows = np.c_[X, np.full(len(X), np.nan)][:, [0, 3, 1, 2]]
    asked = np.c_[Q, np.full(len(Q), 1e300)][:, [0, 3, 1, 2]]
    index = kith.Index(rows, device=device, features=[3, 0], centre=True)
    right = kith.Index(X[:, [0, 2]], device=device, centre=True)
    assert index.centre.tolist() == [right.centre[0], 0, 0, right.centre[1]]
    same(index.search(asked, 5), right.search(Q[:, [0, 2]], 5))
    index.save(tmp_path / "a.kidx")
    same(kith.Index(tmp_path / "a.kidx", device=device).search(asked, 5), right.search(Q[:, [0, 2]], 5))


@pytest.mark.parametrize("named, why", [
    ({"metric": "cosine"}, "and cosine is none of l2, squared_l2, l1 and linf; leave it out, or choose one of these"),
    ({"metric": "negative_dot"}, "and negative_dot is none of l2"),
    ({"centre": [1, 2]}, "the centre has 2 values for rows of 3 columns; give one a column"),
    ({"centre": [1, np.inf, 3]}, "the centre of column 1 is inf; give a finite number"),
    ({"centre": "mean"}, "centre='mean'; pass True for the mean of each column, or one number a column"),
    ({"centre": 3.5}, "centre=3.5; pass True"), ({"centre": []}, "pass True"), ({"centre": np.eye(3)}, "pass True"),
], ids=str)  # fmt: skip
def test_what_is_refused(named, why, device):
    named = {"centre": True, "device": device, **named}
    for storage in (None, "automatic"):
        with pytest.raises(kith.InvalidArgument) as raised:
            kith.Index(X, storage=storage, **named)
        assert why in str(raised.value) and "\n" not in str(raised.value)


def test_values_and_elements_that_are_refused(index, device):
    for kind in ("float16", "uint8", "int8", "bool"):
        few = np.ones((3, 3), kind)
        with pytest.raises(kith.InvalidArgument, match="and a centre is for f32 and f64; give these, or leave the"):
            kith.Index(few, device=device, centre=True)
        for call in (lambda: index.search(few, 1), lambda: index.with_(few)):
            with pytest.raises(kith.InvalidArgument, match="and a centre is for f32 and f64"):
                call()
    with pytest.raises(kith.InvalidArgument, match="and hamming is none of l2"):
        kith.Index(np.ones((3, 3), np.uint8), "hamming", device, element="bits", centre=True)
    bad = X.copy()
    bad[7, 1] = np.nan
    with pytest.raises(kith.InvalidArgument, match="training row 7, column 1 holds NaN"):
        kith.Index(bad, device=device, centre=True)
    with pytest.raises(kith.InvalidArgument, match="query row 7, column 1 holds NaN"):
        index.search(bad, 1)
    with pytest.raises(kith.InvalidArgument, match="query row 0, column 0 less the centre is 1e[+]300, which is too"):
        index.search([[1e300, 0, 0]], 1)
    with pytest.raises(kith.InvalidArgument, match="dtype <U1, texts|dtype"):
        kith.Index(np.array([["a", "b"]]), device=device, centre=True)
    assert kith.Index(X.astype(np.float32), device=device).centre is None
    assert kith.Index(X.astype(np.float32), device=device, centre=False).centre is None
    index.centre[:] = 0  # changes a copy only
    assert (index.search(Q, 3).row == in_double(Q, X, 3)).all()
