"""Tests Ctrl-C, progress, and what else must go on while kith works."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import kith
import numpy as np
import pytest
from kith._core import _structs, _watch


def long_search(seconds=20.0):
    """Returns an index and queries whose search takes about `seconds` on one thread."""
    random = np.random.default_rng(3)
    index = kith.Index(random.random((20000, 256), np.float32), device="cpu")
    few = random.random((64, 256), np.float32)
    options = {"threads": 1, "how": {"proposer": "none"}}
    took = seconds
    for _ in range(5):  # takes the shortest time, since other programs may have used the cores
        begin = time.perf_counter()
        index.search(few, 5, **options)
        took = min(took, time.perf_counter() - begin)
    return index, np.tile(few, (max(2, int(seconds / took)), 1)), options


class Enough(Exception):
    pass


def raise_enough(*_):
    raise Enough


def step_seconds(index, queries, options):
    """Returns the seconds of one step, which nothing interrupts: 1/4 by the plan, more on shared cores."""
    begin = time.perf_counter()
    with pytest.raises(Enough):
        index.search(queries, 5, progress=raise_enough, **options)
    return time.perf_counter() - begin


@pytest.mark.slow
def test_ctrl_c_stops_a_search_after_its_step():
    program = textwrap.dedent("""
        import signal, sys, time
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
        sys.path.insert(0, sys.argv[1])
        from test_watch import long_search, step_seconds
        index, queries, options = long_search()
        step = step_seconds(index, queries, options)
        print("searching", flush=True)
        begin = time.monotonic()
        try:
            index.search(queries, 5, **options)
            print("ended by itself", time.monotonic() - begin)
        except KeyboardInterrupt:
            print("interrupted", time.monotonic(), step, flush=True)
        print(index.search(queries[:1], 1, **options).row.shape)
    """)
    process = subprocess.Popen(
        [sys.executable, "-c", program, os.path.dirname(__file__)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "searching\n"
    time.sleep(1.0)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    word, when, step = process.stdout.readline().split()
    assert word == "interrupted" and float(when) - sent < 0.5 + 3 * float(step)
    assert process.stdout.readline() == "(1, 1)\n"  # the index still works
    assert process.wait() == 0


def test_a_handler_that_raises_ends_the_search(monkeypatch):
    before = signal.signal(signal.SIGALRM, raise_enough)
    try:
        index, queries, options = long_search()
        step = step_seconds(index, queries, options)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        begin = time.perf_counter()
        with pytest.raises(Enough):
            index.search(queries, 5, **options)
        assert time.perf_counter() - begin < 0.7 + 3 * step
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_an_interrupted_search_has_ended_when_its_error_comes_out():
    """Until Python 3.12 an interrupted join() may consider a thread ended that still writes to the caller's arrays."""
    ended = []

    def ask(_):
        time.sleep(0.5)
        ended.append(1)
        return 0

    before = signal.signal(signal.SIGALRM, raise_enough)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(Enough):
            _watch._run(ask, _structs.search_options(), None)
        assert ended == [1]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_the_gil_is_free_while_kith_works():
    index, queries, options = long_search(1.0)
    counted = [0]
    ended = threading.Event()

    def count():
        while not ended.is_set():
            time.sleep(0.005)  # not ended.wait(): without a GIL that spins first, which is slow on shared cores
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    # Not in the main thread, so a plain call.
    worker = threading.Thread(target=lambda: index.search(queries, 5, **options))
    worker.start()
    worker.join()
    ended.set()
    thread.join()
    assert counted[0] > 20


def test_progress_rises_to_one(device):
    random = np.random.default_rng(3)
    index = kith.Index(random.random((3000, 64), np.float32), device=device)
    seen = []
    found = index.search(random.random((500, 64), np.float32), 5, progress=seen.append)
    assert seen == sorted(seen) and 0 <= seen[0] and seen[-1] <= 1
    assert np.array_equal(found.row, index.search(random_again(), 5).row)


def random_again():
    random = np.random.default_rng(3)
    random.random((3000, 64), np.float32)
    return random.random((500, 64), np.float32)


def test_what_progress_raises_ends_the_search(device):
    random = np.random.default_rng(3)
    index = kith.Index(random.random((3000, 64), np.float32), device=device)

    def refuse(fraction):
        raise LookupError(fraction)

    with pytest.raises(LookupError):
        index.search(random.random((500, 64), np.float32), 5, progress=refuse)


def test_a_bar(device, capsys):
    random = np.random.default_rng(3)
    index = kith.Index(random.random((3000, 64), np.float32), device=device)
    queries = random.random((500, 64), np.float32)
    expected = index.search(queries, 5)
    assert np.array_equal(index.search(queries, 5, progress=True).row, expected.row)


@pytest.fixture
def without_tqdm(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    _watch._tqdm.cache_clear()
    yield
    _watch._tqdm.cache_clear()


def test_a_bar_without_tqdm(without_tqdm, capsys):
    bar = _watch._bar(True)
    for fraction in (0.0, 0.504, 0.505, 1.0):
        bar(fraction)
    bar.close()
    assert capsys.readouterr().err == "\rkith   0%\rkith  50%\rkith 100%\n"


def test_short_searches_take_no_thread(monkeypatch):
    index = kith.Index(np.eye(4, dtype=np.float32), device="cpu")
    monkeypatch.setattr(_watch, "_run", None)
    index.search(np.eye(4, dtype=np.float32), 2)
    monkeypatch.setattr(_watch, "LONG", 1)
    with pytest.raises(TypeError):
        index.search(np.eye(4, dtype=np.float32), 2)


def test_searches_like_quick_ones_take_no_thread(monkeypatch):
    random = np.random.default_rng(3)
    index = kith.Index(random.random((2000, 4), np.float32), device="cpu")
    queries = random.random((20, 4), np.float32)
    taken = []
    run = _watch._run
    monkeypatch.setattr(_watch, "_run", lambda *arguments: taken.append(1) or run(*arguments))

    def threads_of(queries, n=1, **options):
        taken.clear()
        for _ in range(n):
            index.search(queries, 2, **options)
        return len(taken)

    monkeypatch.setattr(_watch, "LONG", 1)
    monkeypatch.setattr(_watch, "MOMENT", 1000.0)
    assert threads_of(queries, 3) == 1  # the first alone, which nothing was known of
    assert threads_of(queries[:10]) == 0
    assert threads_of(np.tile(queries, (2, 1)), 2) == 1  # more work than one that was quick
    assert threads_of(queries, progress=lambda _: None) == 1
    monkeypatch.setattr(_watch, "MOST_OF_QUICK", 20 * 2000 * 4)
    assert threads_of(np.tile(queries, (3, 1)), 3) == 3  # whatever it takes, it might take long
    assert threads_of(queries) == 0
    assert threads_of(queries, 2, filter=np.ones(len(index), bool)) == 2
    index.search(queries, 3)
    assert threads_of(queries, 2) == 1  # the last was another search
    with pytest.raises(kith.InvalidArgument):
        index.search(np.full((20, 4), np.inf, np.float32), 2)
    assert threads_of(queries, 2) == 1  # the last has failed
    monkeypatch.setattr(_watch, "MOMENT", 0.0)
    assert threads_of(queries, 3) == 2  # the first was not quick after all


def test_predictions_like_quick_ones_take_no_thread(monkeypatch):
    random = np.random.default_rng(3)
    voter = kith.Classifier(random.random((2000, 4), np.float32), np.arange(2000) % 3, device="cpu")
    queries = random.random((20, 4), np.float32)
    monkeypatch.setattr(_watch, "LONG", 1)
    monkeypatch.setattr(_watch, "MOMENT", 1000.0)
    expected = voter.predict(queries, 5)
    voter.predict_proba(queries, 5)
    monkeypatch.setattr(_watch, "_run", None)
    assert np.array_equal(voter.predict(queries, 5), expected)
    for other in ({"exclude_self_from": 0}, {"how": {"proposer": "none"}}):
        with pytest.raises(TypeError):
            voter.predict(queries, 5, **other)
        voter._handle.quick = (5, 0), 10**9
    with pytest.raises(TypeError):
        voter.predict(queries, 4)


def test_errors_come_through_the_other_thread(monkeypatch):
    monkeypatch.setattr(_watch, "LONG", 1)
    index = kith.Index(np.eye(4, dtype=np.float32), device="cpu")
    with pytest.raises(kith.InvalidArgument, match="k = 5"):
        index.search(np.eye(4, dtype=np.float32), 5)
    assert index.search(np.eye(4, dtype=np.float32), 1).row[:, 0].tolist() == [0, 1, 2, 3]
