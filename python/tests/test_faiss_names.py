"""Tests kith.faiss as programs for FAISS use it: names, signs of zero, selectors, files."""

import copy
import inspect
import os
import pickle
import types

import kith
import numpy as np
import pytest
from kith import faiss as ours
from kith.faiss import _flat

from reference import whole

theirs = pytest.importorskip("faiss", reason="faiss-cpu is not installed")


def public(module):
    return [
        name
        for name in dir(module)
        if not name.startswith("_") and not isinstance(getattr(module, name), types.ModuleType)
    ]


def test_every_name_of_faiss_is_there_or_refused_with_a_way():
    there, refused = [], []
    for name in public(theirs):
        try:
            getattr(ours, name)
        except kith.Unsupported as error:
            refused.append(name)
            assert str(error).startswith(f"kith.faiss: {name}; ") and len(str(error)) < 180
        else:
            there.append(name)
    assert set(ours.__all__) == set(there) and len(refused) > 500


@pytest.mark.parametrize(
    "name, way",
    [
        ("IndexIVFFlat", "IndexFlatL2"),
        ("IndexIDMap", "kith.Index\\(X, ids=ids\\)"),
        ("IndexIDMap2", "kith.Index\\(X, ids=ids\\)"),
        ("IndexBinaryFlat", 'element="bits"'),
        ("GpuIndexFlatL2", 'device="cuda:0"'),
        ("StandardGpuResources", 'device="cuda:0"'),
        ("index_cpu_to_gpu", 'device="cuda:0"'),
        ("index_cpu_to_all_gpus", 'device="cuda:0"'),
        ("Kmeans", "sklearn.cluster.KMeans"),
        ("PCAMatrix", "sklearn.decomposition.PCA"),
        ("METRIC_Canberra", "METRIC_L1"),
        ("SearchParametersIVF", "SearchParameters\\(sel="),
        ("serialize_index", "pickle.dumps"),
    ],
)
def test_ways(name, way):
    with pytest.raises(kith.Unsupported, match=way):
        getattr(ours, name)
    with pytest.raises(kith.Unsupported, match=way):
        exec(f"from kith.faiss import {name}")


def test_names_of_nobody():
    for name in ("__path_of_nothing__", "_private", "pytest_plugins", "load_tests", "bvec_checksum"):
        assert not hasattr(ours, name)
    assert inspect.getmodule(ours.knn).__name__.startswith("kith.faiss")


def test_every_method_of_faiss_is_there_or_refused_with_a_way():
    index = ours.IndexFlatL2(2, "cpu")
    for name in ("add", "search", "range_search", "assign", "reset", "train", "d", "ntotal", "metric_type", "is_trained"):
        assert hasattr(index, name)
    for name, way in [
        ("add_with_ids", "ids=ids"),
        ("remove_ids", "without"),
        ("reconstruct", "keep the array"),
        ("reconstruct_n", "keep the array"),
        ("search_and_reconstruct", "keep the array"),
        ("merge_from", "kith.merge"),
    ]:
        with pytest.raises(kith.Unsupported, match=way):
            getattr(index, name)
    assert not hasattr(index, "nprobe") and isinstance(index, ours.Index)
    with pytest.raises(AttributeError):
        index.no_such


VALUES = np.array([[0, 1], [1, 0], [-1, 0], [0, 0], [2, -3]], np.float32)


@pytest.mark.parametrize("name", ["IndexFlatIP", "IndexFlatL2"])
@pytest.mark.parametrize("k", [1, 3, 5, 7])
def test_bits_of_distances(device, name, k):
    """Signs of zeros must agree, too: FAISS returns no -0."""
    mine, other = getattr(ours, name)(2, device), getattr(theirs, name)(2)
    for rows in (VALUES[:3], VALUES[3:]):
        mine.add(rows)
        other.add(rows)
    assert mine.search(VALUES, k)[0].tobytes() == other.search(VALUES, k)[0].tobytes()
    D = np.empty((5, k), np.float32)
    assert mine.search(VALUES, k, D=D)[0] is D and D.tobytes() == other.search(VALUES, k)[0].tobytes()
    for threshold in (-0.5, 0.0, 1.5):
        lists = [index.range_search(VALUES, threshold) for index in (mine, other)]
        assert np.array_equal(lists[0][0], lists[1][0]) and lists[0][0].dtype == lists[1][0].dtype
        for q in range(5):
            part = slice(int(lists[0][0][q]), int(lists[0][0][q + 1]))
            mine_is, other_is = (sorted(zip(rows[part].tolist(), d[part].tolist())) for _, d, rows in lists)
            assert mine_is == other_is and [str(d) for _, d in mine_is] == [str(d) for _, d in other_is]
    knn = [module.knn(VALUES, VALUES, 3, module.METRIC_INNER_PRODUCT)[0] for module in (ours, theirs)]
    assert knn[0].tobytes() == knn[1].tobytes()


def test_numbers_that_are_not_whole():
    flat = ours.IndexFlatL2(2, "cpu")
    flat.add(VALUES)
    for bad in (2.0, 2.5, "2", None, np.float32(2)):
        for call in (lambda: ours.IndexFlatL2(bad), lambda: flat.search(VALUES, bad), lambda: ours.IndexFlat(2, bad)):
            words = r"is no whole number, .*; pass an int|is of type float(32)?; pass int\(2.0\)"
            with pytest.raises(kith.InvalidArgument, match=words):
                call()
    assert ours.IndexFlatL2(np.int64(2)).d == 2 and type(ours.IndexFlatL2(np.int64(2)).d) is int
    assert flat.search(VALUES, np.int64(2))[1].shape == (5, 2)


_kept = []  # FAISS itself keeps no reference to what it points at


def selectors(module):
    mask, few, low = np.packbits(np.arange(40) % 3 == 0, bitorder="little"), np.array([1, 2, 30]), np.array([255, 1], np.uint8)
    batch, span = module.IDSelectorBatch(np.array([7, 3, 3, 39, 1000, 12, -5])), module.IDSelectorRange(5, 20)
    bitmap = module.IDSelectorBitmap(mask)
    made = [
        batch,
        span,
        bitmap,
        module.IDSelectorAll(),
        module.IDSelectorArray(few),
        module.IDSelectorBitmap(low),
        module.IDSelectorNot(span),
        module.IDSelectorAnd(batch, span),
        module.IDSelectorOr(batch, span),
        module.IDSelectorXOr(bitmap, span),
        module.IDSelectorRange(30, 100),
    ]
    _kept.extend([mask, few, low, made])
    return [module.SearchParameters(sel=one) for one in made]


@pytest.mark.parametrize("name", ["IndexFlatIP", "IndexFlatL2"])
@pytest.mark.parametrize("k", [1, 4, 40, 45])
def test_selectors(device, random, name, k):
    rows, queries = whole(random, 40, 3, 1000), whole(random, 6, 3, 1000)
    mine, other = getattr(ours, name)(3, device), getattr(theirs, name)(3)
    mine.add(rows)
    other.add(rows)
    for my_params, their_params in zip(selectors(ours), selectors(theirs)):
        found, right = mine.search(queries, k, params=my_params), other.search(queries, k, params=their_params)
        assert found[0].tobytes() == right[0].tobytes()
        unique = np.array([[np.sum(line == value) == 1 for value in line] for line in right[0]])
        assert np.array_equal(found[1][unique], right[1][unique])
        found, right = mine.range_search(queries, 9e5, params=my_params), other.range_search(queries, 9e5, params=their_params)
        assert np.array_equal(found[0], right[0])
    nothing = ours.SearchParameters(sel=ours.IDSelectorRange(50, 100))  # FAISS itself crashes on this
    assert mine.search(queries, k, params=nothing)[1].max() == -1
    assert mine.search(queries, k, params=ours.SearchParameters())[0].tobytes() == mine.search(queries, k)[0].tobytes()


def test_selectors_are_checked():
    flat = ours.IndexFlatL2(2, "cpu")
    assert flat.search(VALUES, 2, params=ours.SearchParameters(sel=ours.IDSelectorAll()))[1].max() == -1
    flat.add(VALUES)
    for params in (3, theirs.SearchParameters(), ours.IDSelectorAll()):
        with pytest.raises(kith.InvalidArgument, match="pass kith.faiss.SearchParameters"):
            flat.search(VALUES, 1, params=params)
    with pytest.raises(kith.InvalidArgument, match="pass an IDSelector of kith.faiss"):
        ours.SearchParameters(sel=[1, 2])
    with pytest.raises(kith.InvalidArgument, match="bitmap of dtype int64"):
        ours.IDSelectorBitmap([1, 2])
    with pytest.raises(kith.InvalidArgument, match="indices: dtype float64"):
        ours.IDSelectorBatch([1.5])


def test_normalize(random):
    x = random.normal(size=(50, 7)).astype(np.float32)
    x[3] = 0
    x[4] = 1e-30  # its square underflows in float32
    right = x.astype(np.float64) / np.maximum(np.linalg.norm(x.astype(np.float64), axis=1), 1e-300)[:, None]
    beside = x.copy()
    assert ours.normalize_L2(x) is None and np.array_equal(x, right.astype(np.float32))
    theirs.normalize_L2(beside)
    assert np.abs(x - beside)[5:].max() < 2e-7 and not x[3].any()
    for bad in (x.astype(np.float64), x[:, ::2], x[0], x.tolist(), np.asfortranarray(x)):
        with pytest.raises(kith.InvalidArgument, match="pass a writeable, C-contiguous NumPy array of float32"):
            ours.normalize_L2(bad)


def test_factories():
    assert type(ours.index_factory(4, "Flat")) is ours.IndexFlatL2
    assert type(ours.index_factory(4, "Flat", ours.METRIC_INNER_PRODUCT)) is ours.IndexFlatIP
    assert ours.index_factory(4, "Flat", metric=ours.METRIC_L1, device="cpu").metric_type == ours.METRIC_L1
    for description, way in [
        ("IVF100,Flat", "pass 'Flat'"),
        ("HNSW32", "pass 'Flat'"),
        ("IDMap,Flat", "ids=ids"),
        ("IDMap2,Flat", "ids=ids"),
        ("L2norm,Flat", "normalize_L2"),
        ("flat", "pass 'Flat'"),
    ]:
        with pytest.raises(kith.Unsupported, match=way):
            ours.index_factory(4, description)
    with pytest.raises(kith.InvalidArgument):
        ours.index_factory(4, None)


@pytest.mark.parametrize("metric", ["METRIC_L2", "METRIC_INNER_PRODUCT", "METRIC_L1", "METRIC_Linf"])
def test_files(device, tmp_path, random, metric):
    rows = whole(random, 20, 3)
    index = ours.IndexFlat(3, getattr(ours, metric), device)
    index.add(rows)
    ours.write_index(index, str(tmp_path / "a.index"))
    again = ours.read_index(str(tmp_path / "a.index"), device=device)
    assert (again.d, again.ntotal, again.metric_type) == (3, 20, getattr(ours, metric))
    for mine, other in zip(again.search(rows, 25), index.search(rows, 25)):
        assert mine.tobytes() == other.tobytes()
    again.add(rows[:1])
    assert (again.ntotal, index.ntotal) == (21, 20)


def test_files_that_are_none(tmp_path):
    path = str(tmp_path / "a.index")
    with pytest.raises(kith.InvalidArgument, match="has no rows, so no file holds it; add some first"):
        ours.write_index(ours.IndexFlatL2(2), path)
    with pytest.raises(kith.InvalidArgument, match="pass a flat index of kith.faiss"):
        ours.write_index(kith.Index(VALUES), path)
    other = theirs.IndexFlatL2(2)
    other.add(VALUES)
    theirs.write_index(other, path)
    with pytest.raises(kith.BadFile, match="a.index"):
        ours.read_index(path)
    for index in (
        kith.Index(VALUES[:2], "cosine"),
        kith.Index(VALUES, "squared_l2", ids=[1, 2, 3, 4, 9]),
        kith.Index(VALUES, "squared_l2").without([1]),
        kith.Index(VALUES, "squared_l2", first_row=7),
        kith.Index(VALUES.astype(np.float64), "squared_l2"),
    ):
        index.save(path)
        with pytest.raises(kith.Unsupported, match="kith.Index opens it"):
            ours.read_index(path)


def test_threads(monkeypatch):
    monkeypatch.setattr(_flat, "_threads", 0)
    assert ours.omp_get_max_threads() == len(os.sched_getaffinity(0))
    ours.omp_set_num_threads(1)
    assert ours.omp_get_max_threads() == 1
    seen = []

    class Rows:
        rows = 5

        def search(self, *_, threads, **__):
            seen.append(threads)

        def within(self, *_, threads, **__):
            seen.append(threads)
            return np.zeros(6, np.int64), np.zeros(0, np.float32), np.zeros(0, np.int64)

    flat = ours.IndexFlatL2(2, "cpu")
    flat._index = Rows()
    flat.search(VALUES, 2)
    flat.range_search(VALUES, 1.0)
    assert seen == [1, 1]
    for bad in (0, -1, 2**32, 1.5):
        with pytest.raises(kith.InvalidArgument):
            ours.omp_set_num_threads(bad)


def test_gpus_are_counted():
    assert ours.get_num_gpus() == sum(one.spec.startswith("cuda:") for one in kith.devices())


def test_an_answer_of_assign_and_copies(random):
    rows = whole(random, 20, 3)
    index = ours.IndexFlatIP(3, "cpu")
    index.add(rows)
    assert np.array_equal(index.assign(rows, 2), index.search(rows, 2)[1])
    for other in (copy.copy(index), copy.deepcopy(index), pickle.loads(pickle.dumps(index))):
        assert type(other) is ours.IndexFlatIP and other.search(rows, 2)[0].tobytes() == index.search(rows, 2)[0].tobytes()
