"""Tests arguments at the limits of C: huge k, threads, arrays that overlap, orders of columns."""

import sys
import types

import kith
import numpy as np
import pytest
from kith import faiss
from kith._rows import _arrays, _host

from reference import whole

HUGE = [2**63 - 1, 2**63, 2**64, 2**64 + 1, 2**64 + 3, 10**30, 10**9, -(2**63), -(2**63) - 1, -(2**64) + 1, -5, 0, 9]


@pytest.fixture
def rows(random):
    return whole(random, 8, 3)


def calls_with(rows, device):
    index = kith.Index(rows, device=device)
    voter = kith.Classifier(rows, [0, 1] * 4, device=device)
    mean = kith.Regressor(rows, np.arange(8.0), device=device)
    source = kith.Index(rows, device=device, storage="stream", chunk_rows=3)
    return [
        lambda k: index.search(rows, k),
        lambda k: index.search(rows, k, filter=[1, 2]),
        lambda k: index.search(rows, k, exclude_self_from=0),
        lambda k: index.search(np.repeat(rows, 100_000, axis=0), k),
        lambda k: index.prepare(5, k),
        lambda k: index.explain(5, k),
        lambda k: voter.predict(rows, k),
        lambda k: voter.predict_proba(rows, k),
        lambda k: mean.predict(rows, k),
        lambda k: source.search(rows, k),
        lambda k: kith.knn_graph(rows, k, device=device),
    ]


@pytest.mark.parametrize("k", HUGE)
def test_k_of_any_size_is_refused_before_memory_is_asked(rows, device, k):
    for number, call in enumerate(calls_with(rows, device)):
        words = f"k = {k} is out of range for an index of 8 rows.*; choose k from 1 to [78]$|{k} does not fit in 64 bits"
        with pytest.raises(kith.InvalidArgument, match=words):
            call(k)
            pytest.fail(f"call {number}")


@pytest.mark.parametrize("k", [2**63, 2**64 + 1, -(2**64) + 1, 0, -5])
def test_keys_and_flat_indices_refuse_what_c_cannot_say(rows, k):
    index, flat = kith.Index(rows, device="cpu"), faiss.IndexFlatL2(3, "cpu")
    flat.add(rows)
    for call in (lambda: index.search_keys(rows, k), lambda: flat.search(rows, k)):
        with pytest.raises(kith.InvalidArgument, match=str(k)):
            call()


def test_lists_that_fit_no_memory_are_told(rows):
    """Both may ask for more neighbours than there are rows, and get padding."""
    index, flat = kith.Index(rows, device="cpu"), faiss.IndexFlatL2(3, "cpu")
    flat.add(rows)
    for k in (2**62, 2**63 - 1):
        for call in (lambda k=k: index.search_keys(rows, k), lambda k=k: flat.search(rows, k)):
            with pytest.raises(kith.OutOfMemory, match="GiB, which the host does not have; choose a smaller k"):
                call()
    assert index.search_keys(rows, 10).row[:, 8:].max() == -1


def test_threads_that_c_cannot_count(rows):
    index, voter = kith.Index(rows, device="cpu"), kith.Classifier(rows, [0, 1] * 4, device="cpu")
    for threads in (2**32, 2**32 + 1, 2**64 + 1, -1):
        for call in (
            lambda: index.search(rows, 1, threads=threads),
            lambda: index.within(rows, 1.0, threads=threads),
            lambda: voter.predict(rows, 1, threads=threads),
        ):
            with pytest.raises(kith.InvalidArgument, match=f"threads: {threads}"):
                call()


def overlapping(rows, k):
    """Yields pairs of arrays that share memory, and the message for each."""
    m = len(rows)
    both = np.zeros(m * k * 12, np.uint8)
    distance, row = both[: 4 * m * k].view(np.float32).reshape(m, k), np.empty((m, k), np.int64)
    over = both[: 8 * m * k].view(np.int64).reshape(m, k)
    end = both[4 * m * k - 8 : 12 * m * k - 8].view(np.int64).reshape(m, k)
    return distance, row, [over, end]


def test_outputs_that_share_memory_are_refused(rows, device):
    index = kith.Index(rows, device=device)
    distance, row, shared = overlapping(rows, 4)
    for other in shared:
        with pytest.raises(kith.InvalidArgument, match="out's distance and out's row share memory; pass an array"):
            index.search(rows, 4, out=(distance, other))
    queries = whole(np.random.default_rng(1), 8, 4)
    four = kith.Index(queries.copy(), device=device)
    with pytest.raises(kith.InvalidArgument, match="out's distance and Q share memory"):
        four.search(queries, 4, out=(queries, row))
    with pytest.raises(kith.InvalidArgument, match="out's row and Q share memory"):
        four.search(row.view(np.float32)[:, 4:], 4, out=(distance, row))
    assert four.search(queries, 4, out=(distance, row)).row is row


def test_outputs_that_share_memory_with_rows_that_stay_are_refused(random):
    rows = whole(random, 40, 4)
    index = kith.Index(rows, device="cpu", storage="stream", chunk_rows=7)
    with pytest.raises(kith.InvalidArgument, match="out's distance and source share memory"):
        index.search(rows[:3].copy(), 4, out=(rows[10:13], np.empty((3, 4), np.int64)))


def test_flat_indices_refuse_them_too(rows):
    flat = faiss.IndexFlatL2(3, "cpu")
    flat.add(rows)
    distance, _, shared = overlapping(rows, 4)
    with pytest.raises(kith.InvalidArgument, match="share memory"):
        flat.search(rows, 4, D=distance, I=shared[0])
    with pytest.raises(kith.InvalidArgument, match="share memory"):
        flat.search(rows, 3, D=rows)


@pytest.mark.parametrize("order", ["C", "F"])
def test_bfloat16_in_any_order_becomes_rows_in_order(random, order):
    numbers = whole(random, 9, 4, 100)
    bits = (numbers.view(np.uint32) >> 16).astype(np.uint16)
    brain = np.asarray(bits, order=order).view(_host._BFLOAT16)
    rows = _arrays.rows_of(brain, "x")
    assert rows.array.flags.c_contiguous and np.array_equal(rows.array, numbers)
    assert kith.largest_element(brain) == numbers.max()
    flat = faiss.IndexFlatL2(4, "cpu")
    flat.add(brain)
    assert flat.search(brain, 1)[0].max() == 0
    assert kith.Index(brain, device="cpu").search(brain, 1).distance.max() == 0


def tensor(array):
    """Imitates PyTorch's bfloat16 on the CPU, which NumPy can only read as int16."""
    fake = types.SimpleNamespace(bfloat16="bfloat16", int16="int16")
    made = type("Tensor", (), {"__module__": "torch", "is_sparse": False, "dtype": "bfloat16"})()
    made.shape, made.ndim, made.device = array.shape, 2, types.SimpleNamespace(type="cpu")
    made.detach = lambda: made
    made.view = lambda _: types.SimpleNamespace(numpy=lambda: array.view(np.int16))
    return made, fake


@pytest.mark.parametrize("order", ["C", "F"])
def test_estimators_take_bfloat16(random, order, monkeypatch):
    estimators = pytest.importorskip("kith.sklearn")
    numbers = whole(random, 9, 4, 100)
    bits = np.asarray((numbers.view(np.uint32) >> 16).astype(np.uint16), order=order)
    brain, torch = tensor(bits)
    monkeypatch.setitem(sys.modules, "torch", torch)
    model = estimators.NearestNeighbors(n_neighbors=2, device="cpu").fit(brain)
    plain = estimators.NearestNeighbors(n_neighbors=2, device="cpu").fit(numbers)
    assert np.array_equal(model.kneighbors(brain)[1], plain.kneighbors(numbers)[1])
    assert np.array_equal(model.kneighbors(brain)[0], plain.kneighbors(numbers)[0])


def test_whole_numbers_are_numbers_of_64_bits():
    """Every function that passes a whole number to ctypes checks it by `whole`."""
    from kith._core import _checks

    for value in (2**63, -(2**63) - 1, 2**64):
        for check in (_checks.whole, _checks.not_negative, _checks.thread_count):
            with pytest.raises(kith.InvalidArgument, match="does not fit in 64 bits; pass less than 2\\^63"):
                check(value, "x")
