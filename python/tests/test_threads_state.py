"""Tests state that threads may change at once: devices by name, flat indices, estimators, files, new searches."""

import copy
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import kith
import numpy as np
import pytest
from kith import faiss
from kith._core import _device, _structs, _watch
from kith._core._locks import Lock

from reference import neighbors, whole
from threads import together

THREADS = 8
TRAIN = whole(np.random.default_rng(21), 300, 8)
QUERIES = whole(np.random.default_rng(22), 32, 8)


# ---- Devices by name ----


def test_a_device_is_opened_once(device, monkeypatch):
    opened, real = [], _device.Device

    class Slow(real):
        def __init__(self, spec):
            opened.append(spec)
            time.sleep(0.05)
            super().__init__(spec)

    monkeypatch.setattr(_device, "Device", Slow)
    kith.close_devices()
    found = together(THREADS, lambda _: _device.open_device(device))
    kith.close_devices()
    assert opened == [device] and len(set(map(id, found))) == 1


def test_devices_are_closed_while_others_open_and_search(device):
    expected = neighbors(TRAIN, QUERIES, 4)[1].tolist()

    def work(number):
        for _ in range(15):
            if number == 0:
                kith.close_devices()
            assert kith.Index(TRAIN, device=device).search(QUERIES, 4).row.tolist() == expected

    together(THREADS, work)


def test_what_a_closed_device_calls_may_open_one():
    kith.close_devices()
    again = []
    weakref.finalize(_device.open_device("cpu"), lambda: again.append(_device.open_device("cpu")))
    together(1, lambda _: kith.close_devices(), seconds=20)
    assert again and _device.open_device("cpu") is again[0]


# ---- Locks ----


def test_a_lock_is_free_in_copies_and_in_a_forked_child():
    program = textwrap.dedent("""
        import copy, os, pickle, threading, warnings
        from kith._core._locks import Lock
        warnings.simplefilter("ignore", DeprecationWarning)  # of fork in a process that has threads
        lock, taken = Lock(), threading.Event()
        def hold():
            with lock.held(), lock.held():  # as often as it asks
                taken.set()
                threading.Event().wait()
        threading.Thread(target=hold, daemon=True).start()
        taken.wait()
        for other in (copy.copy(lock), copy.deepcopy(lock), pickle.loads(pickle.dumps(lock))):
            with other.held():
                pass
        child = os.fork()
        if child == 0:
            with lock.held():
                os._exit(7)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        os._exit(0)
    """)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "7\n", done.stderr


def test_a_lock_is_held_by_one():
    lock, inside = Lock(), []

    def work(number):
        for _ in range(200):
            with lock.held():
                inside.append(number)
                assert inside == [number]
                inside.pop()

    together(THREADS, work)


# ---- kith.faiss ----


def test_a_flat_index_loses_no_row(device):
    flat = faiss.IndexFlatL2(8, device=device)
    together(THREADS, lambda number: [flat.add(TRAIN[number : number + 1]) for _ in range(20)])
    assert flat.ntotal == 20 * THREADS
    distance, row = flat.search(TRAIN[:THREADS], 20)
    assert not distance.any() and sorted(row.ravel().tolist()) == list(range(20 * THREADS))


def test_a_flat_index_is_searched_while_it_is_reset(device):
    flat = faiss.IndexFlatIP(8, device=device)

    def work(number):
        for _ in range(60):
            if number == 0:
                flat.reset()
            elif number == 1:
                flat.add(TRAIN[:3])
            else:
                row = flat.search(QUERIES, 3)[1]
                assert (row == -1).all() or (row >= 0).all()
                lims, _, rows = flat.range_search(QUERIES, -1e30)
                assert lims[-1] == len(rows) and len(rows) % len(QUERIES) == 0

    together(THREADS, work)


class Flickering(faiss.IndexFlatL2):
    """Is an attribute that another thread resets between two reads."""

    _held = None

    @property
    def _index(self):
        held, self._held = self._held, None
        return held

    @_index.setter
    def _index(self, index):
        self._held = index


def test_a_flat_index_is_looked_at_once(device):
    flat = Flickering(8, device=device)
    for ask in (lambda: flat.search(QUERIES, 5), lambda: flat.search(QUERIES, 400)):
        flat._index = kith.Index(TRAIN, "squared_l2", device)
        distance, row = ask()
        assert np.array_equal(row[:, :5], neighbors(TRAIN, QUERIES, 5)[1])
    flat._index = kith.Index(TRAIN, "squared_l2", device)
    assert flat.range_search(QUERIES, 1e30)[0][-1] == len(TRAIN) * len(QUERIES)


def test_copies_of_a_flat_index(device):
    flat = faiss.IndexFlatL2(8, device=device)
    flat.add(TRAIN)
    for other in (copy.deepcopy(flat), pickle.loads(pickle.dumps(flat))):
        other.add(TRAIN[:1])
        assert (flat.ntotal, other.ntotal) == (300, 301)


# ---- kith.sklearn ----

ESTIMATORS = [
    "NearestNeighbors",
    "KNeighborsTransformer",
    "KNeighborsClassifier",
    "RadiusNeighborsClassifier",
    "KNeighborsRegressor",
    "RadiusNeighborsRegressor",
]


def made(name, device, X, y):
    sklearn = pytest.importorskip("kith.sklearn")
    return getattr(sklearn, name)(device=device, **({"radius": 1e6} if name.startswith("Radius") else {})).fit(X, y)


def asked(model):
    answer = model.transform(QUERIES).toarray() if hasattr(model, "transform") else getattr(
        model, "predict", getattr(model, "kneighbors", None))(QUERIES)  # fmt: skip
    return [np.asarray(part).tobytes() for part in (answer if isinstance(answer, tuple) else (answer,))]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_in_a_pool(name, device, monkeypatch):
    """A pickled estimator goes to its device once, whichever thread comes first."""
    y = np.arange(len(TRAIN)) % 5
    once = made(name, device, TRAIN, y)
    fresh, counted = pickle.loads(pickle.dumps(once)), []
    attributes = set(vars(fresh))  # scikit-learn iterates over them, so none may be added meanwhile
    make = type(fresh)._make

    def slow(self):
        counted.append(threading.get_ident())
        time.sleep(0.02)
        return make(self)

    monkeypatch.setattr(type(fresh), "_make", slow)
    answers = together(THREADS, lambda _: [asked(fresh) for _ in range(3)])
    assert answers == [[asked(once)] * 3] * THREADS and len(counted) == 1
    assert set(vars(fresh)) == attributes
    assert asked(pickle.loads(pickle.dumps(fresh))) == asked(copy.deepcopy(fresh)) == asked(once)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_estimator_a_thread(name, device):
    def work(number):
        X = TRAIN[number * 20 :]
        y = np.arange(len(X)) % 5
        return asked(made(name, device, X, y))

    assert together(THREADS, work) == [work(number) for number in range(THREADS)]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_second_fit_forgets_the_first(name, device):
    first = made(name, device, TRAIN, np.arange(len(TRAIN)) % 5)
    search = "radius_neighbors" if name.startswith("Radius") else "kneighbors"
    getattr(first, search)(QUERIES)
    X, y = TRAIN[:40] + 1, np.arange(40) % 3
    again, alone = getattr(first.fit(X, y), search)(QUERIES), getattr(made(name, device, X, y), search)(QUERIES)
    for one, other in zip(again, alone):
        assert [part.tolist() for part in one] == [part.tolist() for part in other]


# ---- kith.files ----


def test_files_are_saved_at_once(tmp_path, monkeypatch):
    """The umask belongs to the process: if one thread changes it to read it, files of other threads get it."""
    real = os.umask
    before = real(0o027)
    monkeypatch.setattr(os, "umask", lambda mask: (real(mask), time.sleep(0.01))[0])
    try:
        together(THREADS, lambda i: [kith.files.save(tmp_path / f"{i}-{turn}.fbin", TRAIN) for turn in range(3)])
    finally:
        assert real(before) == 0o027
    files = list(tmp_path.iterdir())
    assert len(files) == 3 * THREADS and {file.stat().st_mode & 0o777 for file in files} == {0o640}
    assert all(np.array_equal(kith.files.open(file), TRAIN) for file in files)


def test_one_file_is_saved_at_once(tmp_path):
    together(THREADS, lambda number: kith.files.save(tmp_path / "a.fbin", np.full((50, 4), number, np.float32)))
    assert [file.name for file in tmp_path.iterdir()] == ["a.fbin"]
    assert len(np.unique(kith.files.open(tmp_path / "a.fbin"))) == 1


# ---- The beginning of a search that can be interrupted ----


@pytest.mark.parametrize("seconds", [0.0, 0.3])
def test_ctrl_c_while_the_thread_of_a_search_starts(monkeypatch, seconds):
    """When KeyboardInterrupt is raised, the search has ended or never starts: it writes to the caller's arrays."""

    class Late(threading.Thread):
        def start(self):
            starts = threading.Timer(seconds, super().start)
            starts.start()
            if seconds == 0.0:
                starts.join()
            raise KeyboardInterrupt

    begun, ended = [], []

    def ask(_):
        begun.append(1)
        time.sleep(0.1)
        ended.append(1)
        return 0

    monkeypatch.setattr(_watch, "threading", type("Threads", (), {**vars(threading), "Thread": Late}))
    with pytest.raises(KeyboardInterrupt):
        _watch._run(ask, _structs.search_options(), None)
    assert begun == ended
    time.sleep(2 * seconds)
    assert begun == ended == ([] if seconds else [1])
