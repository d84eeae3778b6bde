"""Tests that many threads can use the same objects of kith, with a GIL and without."""

import gc
import queue
import subprocess
import sys
import sysconfig
import textwrap
import threading
import weakref

import kith
import numpy as np
import pytest
from kith._core import _library

from reference import neighbors, whole
from threads import together

THREADS = 8
TRAIN = whole(np.random.default_rng(11), 600, 12)
QUERIES = whole(np.random.default_rng(12), 64, 12)
LABELS = np.arange(len(TRAIN)) % 7


def as_bytes(*arrays):
    return [np.ascontiguousarray(array).tobytes() for array in arrays]


def expected(train, k):
    distance, row = neighbors(train, QUERIES, k)
    return as_bytes(distance, row.astype(np.int64))


@pytest.fixture
def index(device):
    return kith.Index(TRAIN, device=device)


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has a GIL")
def test_the_gil_stays_off():
    program = "import sys, kith, kith.files, kith.faiss; print(sys._is_gil_enabled())"
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout == "False\n", done.stderr


def test_searches(index):
    few, many = expected(TRAIN, 3), expected(TRAIN, 20)
    lists = as_bytes(*index.within(QUERIES, 9.0))
    graph = as_bytes(*index.search(TRAIN, 4, exclude_self_from=0))

    def work(number):
        for _ in range(6):
            assert as_bytes(*index.search(QUERIES, 3)) == few
            assert as_bytes(*index.search(QUERIES, 20, threads=1 + number % 3)) == many
            assert as_bytes(*index.within(QUERIES, 9.0)) == lists
            assert as_bytes(*index.search(TRAIN, 4, exclude_self_from=0)) == graph
            assert len(index.explain(64, 3)) > 0 and index.memory_bytes > 0 and "600 rows" in repr(index)

    together(THREADS, work)


def test_rows_that_come_and_go(index):
    """Every thread changes the same index in its own way, and must see only its own rows."""

    def work(number):
        more = TRAIN[: 5 + number] + np.float32(number)
        gone = np.arange(number, 600, 7)
        grown = expected(np.concatenate([TRAIN, more]), 5)
        kept = np.delete(np.arange(600), gone)
        distance, row = neighbors(TRAIN[kept], QUERIES, 5)
        left = as_bytes(distance, kept[row].astype(np.int64))
        for _ in range(4):
            larger, fewer = index.with_(more), index.without(gone)
            assert as_bytes(*larger.search(QUERIES, 5)) == grown
            assert as_bytes(*fewer.search(QUERIES, 5)) == left
            assert as_bytes(*fewer.compact().search(QUERIES, 5)) == left
            assert fewer.numbers().tolist() == kept.tolist()
        return len(larger), len(fewer)

    assert together(THREADS, work) == [(605 + i, 600 - len(range(i, 600, 7))) for i in range(THREADS)]
    assert as_bytes(*index.search(QUERIES, 5)) == expected(TRAIN, 5)


def test_keys_of_shards_are_merged(device):
    shards = [kith.Index(TRAIN[i : i + 200], device=device, first_row=i) for i in (0, 200, 400)]
    once = expected(TRAIN, 6)
    circle = as_bytes(*kith.Index(TRAIN, device=device).within(QUERIES, 9.0))

    def work(number):
        for turn in range(4):
            order = [shards[(number + turn + i) % 3] for i in range(3)]
            keys = kith.merge([shard.search_keys(QUERIES, 6) for shard in order])
            assert as_bytes(*kith.finish("l2", keys)) == once
            lists = kith.merge([shard.within_keys(QUERIES, 9.0) for shard in order])
            assert as_bytes(*kith.finish("l2", lists)) == circle
        return kith.digest(keys)

    assert len(set(together(THREADS, work))) == 1


def test_models(device):
    voter = kith.Classifier(TRAIN, LABELS, device=device)
    prices = kith.Regressor(TRAIN, LABELS * 0.5, device=device)
    label, share = voter.predict(QUERIES, 5).tobytes(), voter.predict_proba(QUERIES, 5).tobytes()
    mean = prices.predict(QUERIES, 5).tobytes()

    def work(number):
        for _ in range(4):
            assert voter.predict(QUERIES, 5).tobytes() == label
            assert voter.predict_proba(QUERIES, 5).tobytes() == share
            assert prices.predict(QUERIES, 5).tobytes() == mean
            own = voter.without([number]).with_(TRAIN[:1], [100 + number])
            assert own.classes.tolist() == [*range(7), 100 + number]
            assert own.index().next_row == 601

    together(THREADS, work)
    assert voter.classes.tolist() == list(range(7))


def test_an_error_has_the_text_of_its_thread(index):
    def work(number):
        for turn in range(60):
            k = 1000 + 100 * number + turn
            with pytest.raises(kith.InvalidArgument, match=f"k = {k} "):
                index.search(QUERIES[:1], k)
            with pytest.raises(kith.InvalidArgument, match=f"{k}"):
                index.without([k])
            with pytest.raises(kith.InvalidArgument, match=f"no-{k}"):
                kith.Index(TRAIN, f"no-{k}", index.device)

    together(THREADS, work)


def test_progress_is_told_to_the_search_that_asked(index):
    once = expected(TRAIN, 3)

    def work(number):
        for _ in range(5):
            seen = []
            assert as_bytes(*index.search(QUERIES, 3, progress=seen.append)) == once
            assert seen and seen == sorted(seen) and seen[-1] <= 1

            def refuse(fraction):
                raise LookupError(number)

            with pytest.raises(LookupError, match=str(number)):
                index.search(QUERIES, 3, progress=refuse)

    together(THREADS, work)


def test_other_threads_free_what_one_made(device):
    """Handles pass between threads, and any thread may drop the last reference, also through a cycle found by gc."""
    made, dead = queue.Queue(), []

    def work(number):
        if number % 2:
            for _ in range(40):
                one = kith.Index(TRAIN, device=device)
                weakref.finalize(one, dead.append, number)
                more = one.with_(QUERIES)
                loop = [one, more]
                loop.append(loop)
                made.put((more, weakref.ref(loop[0])))
        else:
            for _ in range(40):
                more, one = made.get(timeout=60)
                assert as_bytes(*more.search(QUERIES, 1))[0] == bytes(4 * len(QUERIES))
                one()
                gc.collect(0)

    together(4, work)
    gc.collect()
    assert len(dead) == 80


def test_a_handle_is_freed_once():
    freed = queue.SimpleQueue()
    handles = queue.SimpleQueue()
    for value in range(1, 2001):
        handles.put(_library.Handle(value, freed.put))

    def work(_):
        while True:
            try:
                handles.get_nowait()
            except queue.Empty:
                return

    together(THREADS, work)
    assert sorted(freed.get_nowait() for _ in range(freed.qsize())) == list(range(1, 2001))


def test_a_handle_of_the_caller_lives_as_long_as_its_search(device):
    """The last reference to an index disappears while it is being searched."""
    once = expected(TRAIN, 9)
    for _ in range(10):
        holder = [kith.Index(TRAIN, device=device)]
        begun = threading.Barrier(THREADS)

        def work(number, holder=holder, begun=begun):
            search = holder[0].search
            begun.wait(60)
            if number == 0:
                holder.clear()
            return as_bytes(*search(QUERIES, 9))

        assert together(THREADS, work) == [once] * THREADS


def test_everything_is_first_touched_at_once(device):
    """In a fresh process many threads first use submodules, devices, files and metrics."""
    program = textwrap.dedent("""
        import sys, threading
        sys.path.insert(0, sys.argv[1])
        import numpy as np
        from threads import together
        X = np.arange(30, dtype=np.float32).reshape(15, 2)
        def work(number):
            import kith
            kith.files, kith.faiss
            if number % 2:
                kith.devices(), kith.metrics()
            index = kith.Index(X, device=sys.argv[2])
            assert index.search(X, 1).row[:, 0].tolist() == list(range(15))
            return index.device
        devices = together(16, work)
        print(len(set(map(id, devices))))
    """)
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", program, __file__.rpartition("/")[0], device],
            capture_output=True, text=True, timeout=240,
        )  # fmt: skip
        assert done.stdout == "1\n", done.stderr
