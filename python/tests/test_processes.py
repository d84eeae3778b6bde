"""Tests kith in several processes: fork, spawn, joblib, a prefork server, and beside other libraries' threads."""

import multiprocessing
import os
import socket
import struct
import subprocess
import sys
import textwrap
import warnings

import kith
import numpy as np
import pytest

from reference import neighbors, whole

TRAIN = whole(np.random.default_rng(1), 3000, 16)
QUERIES = whole(np.random.default_rng(2), 200, 16)


def search(device="cpu"):
    return [array.tobytes() for array in kith.Index(TRAIN, device=device).search(QUERIES, 9)]


def expected():
    distance, row = neighbors(TRAIN, QUERIES, 9)
    return [distance.tobytes(), row.astype(np.int64).tobytes()]


_inherited = {}


def search_inherited(_):
    return [array.tobytes() for array in _inherited["index"].search(QUERIES, 9)]


def in_children(context, function, arguments, processes=2):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn about fork in a process with threads
        with multiprocessing.get_context(context).Pool(processes) as pool:
            return pool.map_async(function, arguments).get(timeout=120)


@pytest.mark.parametrize(
    "context",
    ["fork", pytest.param("spawn", marks=pytest.mark.slow), pytest.param("forkserver", marks=pytest.mark.slow)],
)
def test_children_get_the_same_bits(context):
    assert search() == expected()  # the parent's threads run before the children start
    assert in_children(context, search, ["cpu"] * 4) == [expected()] * 4


def test_a_forked_child_searches_the_index_of_its_parent():
    _inherited["index"] = kith.Index(TRAIN, device="cpu")
    assert search_inherited(0) == expected()
    assert in_children("fork", search_inherited, range(4)) == [expected()] * 4
    assert search_inherited(0) == expected()


def refused(device):
    try:
        return search(device)
    except kith.Unavailable as error:
        return str(error)


@pytest.mark.slow
def test_a_gpu_opened_before_the_fork_is_refused_in_words():
    others = [one.spec for one in kith.devices() if one.backend != "cpu"]
    if not others:
        pytest.skip("there is no OpenCL or CUDA device")
    assert search(others[0]) == expected()
    for answer in in_children("fork", refused, [others[0]] * 2):
        assert isinstance(answer, str) and "fork" in answer
    assert in_children("fork", search, ["cpu"]) == [expected()]
    assert in_children("spawn", search, [others[0]]) == [expected()]


@pytest.mark.slow
def test_joblib():
    joblib = pytest.importorskip("joblib")
    neighbours = pytest.importorskip("kith.sklearn").NearestNeighbors(device="cpu", n_neighbors=9).fit(TRAIN)
    for backend in ("loky", "threading", "multiprocessing"):
        parts = joblib.Parallel(n_jobs=2, backend=backend)(
            joblib.delayed(neighbours.kneighbors)(part, return_distance=False) for part in np.array_split(QUERIES, 4)
        )
        assert np.concatenate(parts).tobytes() == expected()[1]


@pytest.mark.slow
def test_grid_search_in_processes():
    pytest.importorskip("sklearn")
    import kith.sklearn
    from sklearn.model_selection import GridSearchCV

    model = kith.sklearn.KNeighborsClassifier(device="cpu")
    grid = GridSearchCV(model, {"n_neighbors": [1, 3, 5]}, cv=3, n_jobs=2).fit(TRAIN, TRAIN[:, 0].astype(int))
    alone = GridSearchCV(model, {"n_neighbors": [1, 3, 5]}, cv=3).fit(TRAIN, TRAIN[:, 0].astype(int))
    assert np.array_equal(grid.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])


def test_a_prefork_server():
    """Works like a web server: the index is made, then workers are forked, and each accepts on the same socket."""
    index = kith.Index(TRAIN, device="cpu")
    index.search(QUERIES, 9)
    with socket.create_server(("127.0.0.1", 0)) as server:
        workers = [_forked_worker(server, index) for _ in range(2)]
        try:
            for _ in range(6):
                with socket.create_connection(server.getsockname(), timeout=60) as client:
                    client.sendall(struct.pack("!i", len(QUERIES)))
                    with client.makefile("rb") as answer:
                        assert answer.read() == b"".join(expected())
        finally:
            for worker in workers:
                os.kill(worker, 9)
                os.waitpid(worker, 0)


def _forked_worker(server, index):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        worker = os.fork()
    if worker:
        return worker
    try:
        while True:
            connection, _ = server.accept()
            with connection:
                (count,) = struct.unpack("!i", connection.recv(4))
                for array in index.search(QUERIES[:count], 9):
                    connection.sendall(array.tobytes())
    finally:
        os._exit(1)


@pytest.mark.slow
@pytest.mark.parametrize("first", ["kith", "other"])
@pytest.mark.parametrize("other", ["sklearn", "faiss", "torch"])
def test_beside_other_runtimes(first, other):
    """Searches of kith and of a library with OpenMP alternate in one process: neither hangs, and bits stay the same."""
    pytest.importorskip(other)
    work = {
        "sklearn": "from sklearn.neighbors import NearestNeighbors\nnn = NearestNeighbors(algorithm='brute').fit(x)\nother = lambda: nn.kneighbors(x[:50])",
        "faiss": "import faiss\nother = lambda: faiss.knn(x[:50], x, 5)",
        "torch": "import torch\nt = torch.from_numpy(x)\nother = lambda: (t[:50] @ t.T).topk(5)",
    }[other]
    program = textwrap.dedent("""
        import numpy as np
        x = np.random.default_rng(0).random((4000, 32), np.float32)
        {work}
        if {other_first}: other()
        import kith
        index = kith.Index(x, device="cpu")
        once = index.search(x[:50], 5).row.tobytes()
        for _ in range(20):
            other()
            assert index.search(x[:50], 5).row.tobytes() == once
        print("done")
    """).format(work="\n".join(work.splitlines()), other_first=first == "other")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout == "done\n", done.stderr


class Rows:
    """Is a PyTorch data set whose items are neighbours, found in the worker."""

    def __init__(self, index):
        self.index = index

    def __len__(self):
        return len(QUERIES)

    def __getitem__(self, number):
        return self.index.search(QUERIES[number : number + 1], 9).row[0]


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
def test_workers_of_pytorchs_data_loader(workers):
    torch = pytest.importorskip("torch")
    loader = torch.utils.data.DataLoader(Rows(kith.Index(TRAIN, device="cpu")), batch_size=50, num_workers=workers)
    rows = torch.cat([batch for batch in loader]).numpy()
    assert rows.tobytes() == expected()[1]


def test_threads_share_an_index():
    from concurrent.futures import ThreadPoolExecutor

    index = kith.Index(TRAIN, device="cpu")
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: [a.tobytes() for a in index.search(QUERIES, 9)], range(32)))
    assert answers == [expected()] * 32
