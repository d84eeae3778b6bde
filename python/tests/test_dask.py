"""Tests that searches by Dask give the bits of one index, for any shards, even if workers die."""

import importlib
import os
import pickle
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import kith
import numpy as np
import pytest

from reference import whole

pytest.importorskip("distributed")
import dask  # noqa: E402
import kith.dask  # noqa: E402
from distributed import Client, LocalCluster, futures_of  # noqa: E402
from kith.dask import _client, _device, _files, _tasks  # noqa: E402

METRICS = ["squared_l2", "l2", "l1", "linf", "negative_dot", "cosine"]


@contextmanager
def cluster():
    """Start four workers, forked from a process that has imported Dask but not kith, which takes half a second.

    A worker that fetches data from a killed one gives up after this timeout; Dask's default is 30 s.
    """
    settings = {"distributed.worker.multiprocessing-method": "forkserver", "distributed.comm.timeouts.connect": "3s"}
    with dask.config.set(settings):
        local = LocalCluster(
            n_workers=4, threads_per_worker=1, dashboard_address=":0", memory_limit=0, silence_logs="CRITICAL"
        )
        with local, Client(local) as made:
            yield made


@pytest.fixture(scope="module")
def client():
    with cluster() as made:
        yield made


@pytest.fixture
def four():
    """Starts workers for one test, which may patch or kill them."""
    with cluster() as made:
        yield made


def same(found, expected):
    for one, other in zip(found, expected):
        assert one.dtype == other.dtype and np.array_equal(one, other)


def data(random, n=300, dims=4, m=23):
    """Returns rows with many ties and without zeros, so that cosine accepts them."""
    return 1 + whole(random, n, dims), 1 + whole(random, m, dims)


def written(folder, train, parts, random):
    """Writes files with uneven parts of `train`, in the order of its rows; their names sort differently."""
    places = [0, *sorted(random.choice(np.arange(1, len(train)), parts - 1, replace=False).tolist()), len(train)]
    names = [str(folder / f"{number:03}.npy") for number in random.permutation(parts)]
    for name, a, b in zip(names, places, places[1:]):
        np.save(name, train[a:b])
    return names, places


def slowly(client, function, seconds):
    """Makes every current worker wait before it runs a function of kith.dask."""

    def patch(function=function, seconds=seconds):
        import time

        import kith.dask._tasks as there

        right = getattr(there, function)

        def waits(*arguments):
            time.sleep(seconds)
            return right(*arguments)

        setattr(there, function, waits)

    client.run(patch)


def kill_one_that_runs(client, name, pids):
    """Kills a worker that is in a task of that name. Returns its address."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        for address, keys in client.processing().items():
            if address in pids and any(str(key).startswith(name) for key in keys):
                os.kill(pids.pop(address), signal.SIGKILL)
                return address
        time.sleep(0.01)
    raise AssertionError(f"no worker ever ran {name}")


# ---- The same bits ----


@pytest.mark.parametrize("metric, parts", [*((metric, 9) for metric in METRICS), ("l2", 1), ("l2", 2), ("cosine", 64)])
def test_files_are_one_index(client, random, tmp_path, metric, parts):
    train, queries = data(random)
    names, _ = written(tmp_path, train, parts, random)
    index = kith.dask.Index.from_files(names, metric, "cpu", client)
    one = kith.Index(train, metric, "cpu")
    assert (len(index), index.dims, index.shards, index.metric) == (300, 4, parts, metric)
    same(index.search(queries, 9, tile=12), one.search(queries, 9))
    if parts == 9:
        radius = one.search(queries, 40).distance[:, 39]
        same(index.within(queries, radius, tile=12), one.within(queries, radius))
        same(index.within(queries, float(radius[3])), one.within(queries, float(radius[3])))
        same(index.search(queries, 300), one.search(queries, 300))


def test_array_file_and_dask_array(client, random, tmp_path):
    import dask.array as da

    train, queries = data(random)
    expected = kith.Index(train, device="cpu").search(queries, 5)
    blocks = da.from_array(train.astype(np.uint8), chunks=((90, 0, 10, 200), (3, 1)))
    for index in (
        kith.dask.Index.from_array(blocks, device="cpu"),
        kith.dask.Index.from_array(train, device="cpu", shards=3, client=client),
    ):
        lazy = index.search(da.from_array(queries, chunks=((10, 13), 2)), 5)
        assert [array.chunks for array in lazy] == [((10, 13), (5,))] * 2
        same((array.compute() for array in lazy), expected)
        near = kith.Index(train, device="cpu").within(queries, 1.5)
        same(index.within(da.from_array(queries, chunks=7), 1.5), near)
    np.save(tmp_path / "queries.npy", queries)
    same(index.search(tmp_path / "queries.npy", 5, tile=4), expected)
    mapped = index.search(queries, 5, tile=4, out=str(tmp_path / "answers"))
    assert isinstance(mapped.row, np.memmap)
    same(mapped, expected)
    assert sorted(os.listdir(tmp_path / "answers")) == ["distance.npy", "row.npy"]
    same(index.search(queries[:0], 5), (expected.distance[:0], expected.row[:0]))


@pytest.mark.parametrize("dtype, ending", [("<f4", "fbin"), ("u1", "u8bin"), ("i1", "i8bin"), ("<f2", "f16bin")])
def test_big_ann_files(client, random, tmp_path, dtype, ending):
    train, queries = data(random, n=50)
    for name, part in (("b", train[:20]), ("a", train[20:])):
        with open(tmp_path / f"base-{name}.{ending}", "wb") as file:
            np.array(part.shape, "<u4").tofile(file)
            part.astype(dtype).tofile(file)
    index = kith.dask.Index.from_files(str(tmp_path / f"*.{ending}"), "l1", "cpu", shard_rows=8)
    assert index.shards == 4 + 3 and index.metric == "l1"
    same(index.search(queries, 6), kith.Index(np.vstack([train[20:], train[:20]]), "l1", "cpu").search(queries, 6))


def test_arrays_above_8_mb_travel_as_files(client, random, tmp_path, monkeypatch):
    train, queries = data(random)
    monkeypatch.setattr(_client, "AT_ONCE", 200)
    expected = kith.Index(train, device="cpu").search(queries, 5)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    index = kith.dask.Index.from_array(train, device="cpu", shards=3, scratch=str(scratch))
    assert len(os.listdir(scratch)) == 1  # the file stays while the index is used
    same(index.search(queries, 5, scratch=str(scratch)), expected)
    same(index.search(queries, 5), expected)  # works without scratch, since all workers are here
    assert len(os.listdir(scratch)) == 1
    monkeypatch.setattr(_client, "one_host", lambda client: False)
    with pytest.raises(kith.InvalidArgument, match="pass scratch=, a folder that all workers see"):
        index.search(queries, 5)


@pytest.mark.parametrize("metric", ["l2", "negative_dot", "cosine"])
@pytest.mark.parametrize("shards", [None, 1, 9, 64])
def test_an_index_file_is_one_index(client, random, tmp_path, metric, shards):
    train, queries = data(random)
    index = kith.Index(train, metric, device="cpu", ids=np.arange(300) * 2 + 5).without(np.arange(0, 60, 2) * 2 + 5)
    path = tmp_path / "a.kidx"
    index.save(path)
    ix = kith.dask.Index.from_index_file(path, "cpu", client, shards=shards)
    assert (ix.rows, ix.dims, ix.metric, ix.shards) == (270, 4, metric, shards or 4)
    same(ix.search(queries, 7), index.search(queries, 7))
    same(ix.within(queries, 2.5), index.within(queries, 2.5))
    assert ix.verify(queries, 3, share=1.0, device="cpu").tasks == ix.shards


@pytest.mark.parametrize("element", ["f16", "u8", "i8"])
def test_an_index_file_of_elements_and_removed_shards(client, random, tmp_path, element):
    dtype = {"f16": np.float16, "u8": np.uint8, "i8": np.int8}[element]
    train, queries = data(random)
    index = kith.Index(train.astype(dtype), "negative_dot", device="cpu").without(np.arange(100, 250))
    index.save(tmp_path / "a.kidx")
    ix = kith.dask.Index.from_index_file(tmp_path / "a.kidx", "cpu", client, shards=10)
    same(ix.search(queries, 150), index.search(queries, 150))


def test_index_files_that_are_refused(client, random, tmp_path):
    train, queries = data(random)
    path = tmp_path / "a.kidx"
    with pytest.raises(kith.BadFile, match="a.kidx"):
        kith.dask.Index.from_index_file(path, "cpu", client)
    kith.Index(train, device="cpu", first_row=7).save(path)
    with pytest.raises(kith.InvalidArgument, match="is a shard, with first_row = 7"):
        kith.dask.Index.from_index_file(path, "cpu", client)
    kith.Index(train, device="cpu").save(path)
    recipe = kith.dask.Index.from_index_file(path, "cpu", client)._recipes[1]
    kith.Index(train + 1, device="cpu").save(path)
    with pytest.raises(kith.BadFile, match="a.kidx: rows 75 to 149: .*has changed since the index was made"):
        _tasks.Shard(recipe).index()


def test_progress_and_names(client, random):
    train, queries = data(random)
    index = kith.dask.Index.from_array(train, device="cpu", shards=9)
    told = []
    names = set()

    def note(fraction):
        told.append(fraction)
        from dask.utils import key_split

        keys = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))
        names.update(key_split(key) for key in keys)

    slowly(client, "finish", 0.1)
    index.search(queries, 3, tile=6, progress=note)
    assert told == [0.25, 0.5, 0.75, 1.0]
    assert {"kith-open", "kith-queries", "kith-search", "kith-merge", "kith-finish"} >= names >= {"kith-open"}
    assert "kith.dask.Index(300 rows x 4 columns in 9 shards, metric='l2', device='cpu', scheduler='tcp://" in repr(index)


# ---- Workers that die ----


@pytest.mark.parametrize("while_in", ["search", "merge"])
def test_workers_are_killed(four, random, tmp_path, while_in):
    train, queries = data(random)
    names, _ = written(tmp_path, train, 12, random)
    index = kith.dask.Index.from_files(names, "l2", "cpu", four)
    slowly(four, while_in, 0.15)
    pids = four.run(os.getpid)
    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(index.search, queries, 9, tile=6)
        killed = {kill_one_that_runs(four, f"kith-{while_in}", pids) for _ in range(2)}
        same(answer.result(timeout=30), kith.Index(train, "l2", "cpu").search(queries, 9))
    assert len(killed) == 2
    assert not killed & set(four.nthreads())
    same(index.search(queries, 9), kith.Index(train, "l2", "cpu").search(queries, 9))


def test_workers_come_and_go(four, random):
    train, queries = data(random)
    index = kith.dask.Index.from_array(train, device="cpu", shards=8)
    expected = kith.Index(train, device="cpu").search(queries, 4)
    same(index.search(queries, 4), expected)
    four.retire_workers(list(four.nthreads())[:3])  # open shards move as recipes
    same(index.search(queries, 4), expected)
    assert len(four.nthreads()) == 1


def test_a_restarted_scheduler_is_reported(four, random):
    train, queries = data(random)
    index = kith.dask.Index.from_array(train, device="cpu")
    four.restart()
    with pytest.raises(kith.Unavailable, match="tcp://.* has lost the index: it was restarted.*make the index again"):
        index.search(queries, 4)
    same(
        kith.dask.Index.from_array(train, device="cpu").search(queries, 4),
        kith.Index(train, device="cpu").search(queries, 4),
    )


# ---- Shards that are wrong ----


def test_damaged_and_missing_files_are_named(client, random, tmp_path):
    train, _ = data(random)
    names, places = written(tmp_path, train, 5, random)
    make = kith.dask.Index.from_files
    with pytest.raises(kith.BadFile, match="no-such.npy: cannot be read"):
        make([names[0], str(tmp_path / "no-such.npy")], device="cpu")
    with pytest.raises(kith.BadFile, match=r"x\*.npy: no file has such a name"):
        make(str(tmp_path / "x*.npy"), device="cpu")
    np.save(tmp_path / "wide.npy", np.ones((3, 5)))
    with pytest.raises(kith.InvalidArgument, match="wide.npy has 5 columns, but .* has 4"):
        make([names[0], str(tmp_path / "wide.npy")], device="cpu")
    for place in (3, 1):  # the first bad row of all is named, with its file
        rows = np.load(names[place])
        rows[0, 2] = np.nan
        np.save(names[place], rows)
    with pytest.raises(kith.InvalidArgument) as told:
        make(names, device="cpu")
    assert names[1] in str(told.value) and f"row {places[1]}" in str(told.value)
    os.truncate(names[4], os.path.getsize(names[4]) - 1)
    with pytest.raises(kith.BadFile, match="it is truncated") as told:
        make(names, device="cpu")
    assert names[4] in str(told.value)
    (tmp_path / "f.npy").write_bytes(b"no array")
    with pytest.raises(kith.BadFile, match="f.npy: is no .npy file"):
        make([tmp_path / "f.npy"], device="cpu")
    np.save(tmp_path / "f.npy", np.asfortranarray(train))
    with pytest.raises(kith.InvalidArgument, match="by columns; save numbers"):
        make([tmp_path / "f.npy"], device="cpu")
    with pytest.raises(kith.InvalidArgument, match="f.csv: its name ends in no format"):
        (tmp_path / "f.csv").write_text("1,2")
        make([tmp_path / "f.csv"], device="cpu")


@pytest.mark.parametrize("how", ["cut", "replaced"])
def test_a_file_changes_under_way(four, random, tmp_path, how):
    train, queries = data(random)
    names, _ = written(tmp_path, train, 6, random)
    index = kith.dask.Index.from_files(names, "l2", "cpu", four)
    if how == "cut":
        os.truncate(names[2], os.path.getsize(names[2]) - 4)
    else:
        np.save(names[2], np.load(names[2])[::-1] + 1)
    same(index.search(queries, 5), kith.Index(train, "l2", "cpu").search(queries, 5))  # the shard is open already
    pids, [third] = four.run(os.getpid), futures_of(index._shards[2])
    for holder in four.who_has(third)[third.key]:  # forces the shard to be opened again
        os.kill(pids[holder], signal.SIGKILL)
    with pytest.raises(kith.BadFile, match="truncated" if how == "cut" else "has changed since") as told:
        index.search(queries, 5)
    assert names[2] in str(told.value)


def test_a_file_is_cut_while_it_is_read(tmp_path, monkeypatch):
    path = str(tmp_path / "a.npy")
    np.save(path, np.zeros((1000, 8), np.float32))
    expected = _files.layout_of(path)
    monkeypatch.setattr(_files, "_layout", lambda path, file: expected)
    os.truncate(path, 2000)
    with pytest.raises(kith.BadFile, match="a.npy: ends within row 58 of 1000; it was cut while it was read"):
        _files.read_rows(path, 0, 1000, expected)


# ---- Verification ----


def test_verify(four, random, tmp_path):
    train, queries = data(random)
    names, _ = written(tmp_path, train, 12, random)
    index = kith.dask.Index.from_files(names, "l2", "cpu", four)
    assert index.verify(queries, 5, tile=10)[:2] == (36, 1)
    found = index.verify(queries, 5, tile=10, share=1)
    assert found[:2] == (36, 36) and set(found.workers) <= set(four.nthreads())
    wrong = found.workers[0]

    def flip():
        import kith.dask._tasks as there

        right = there.search

        def flips(shard, queries, first, k):
            keys = right(shard, queries, first, k)
            keys.row[0, k - 1] ^= 1
            return keys

        there.search = flips

    four.run(flip, workers=[wrong])
    with pytest.raises(kith.DeviceFailure) as told:
        index.verify(queries, 5, tile=10, share=1)
    assert f"worker {wrong} is wrong for {tmp_path}" in str(told.value)
    assert not [one for one in set(four.nthreads()) - {wrong} if f"worker {one} is wrong" in str(told.value)]
    with pytest.raises(kith.InvalidArgument, match="share = 2"):
        index.verify(queries, 5, share=2)


# ---- Estimators ----


@pytest.mark.parametrize("weights, metric", [("uniform", "l1"), ("distance", "l2"), ("distance", "cosine")])
def test_estimators_are_those_of_all_rows(client, random, tmp_path, weights, metric):
    import dask.array as da

    sklearn = pytest.importorskip("kith.sklearn")
    train, queries = data(random, m=60)
    queries = np.vstack([queries, queries + np.float32(0.25), train[:20]])  # ties, rounded sums, distances of 0
    labels = np.array(["a", "bb", "ccc"])[random.integers(0, 3, 300)]
    values = random.random((300, 2))
    given = {"n_neighbors": 7, "weights": weights, "metric": metric, "device": "cpu"}
    one = sklearn.KNeighborsClassifier(**given).fit(train, labels)
    mean = sklearn.KNeighborsRegressor(**given).fit(train, values)
    lazy = da.from_array(queries, chunks=(35, 2))
    names, places = written(tmp_path, train, 3, random)
    for X, y, Y in (
        (da.from_array(train, chunks=(64, 4)), da.from_array(labels, chunks=64), da.from_array(values, chunks=(80, 1))),
        (names, labels, values),
    ):
        model = kith.dask.KNeighborsClassifier(**given).fit(X, y)
        assert model.classes_.tolist() == ["a", "bb", "ccc"] and model.n_features_in_ == 4
        for Q in (lazy, queries):
            predicted, share = model.predict(Q), model.predict_proba(Q)
            assert type(predicted) is type(share) is type(Q)
            assert np.asarray(predicted).tolist() == one.predict(queries).tolist()
            same([np.asarray(share)], [one.predict_proba(queries)])
        regressor = kith.dask.KNeighborsRegressor(**given).fit(X, Y)
        same([np.asarray(regressor.predict(lazy)), regressor.predict(queries)], [mean.predict(queries)] * 2)
        flat = kith.dask.KNeighborsRegressor(**given).fit(X, Y[:, 0])
        same([flat.predict(queries)], [sklearn.KNeighborsRegressor(**given).fit(train, values[:, 0]).predict(queries)])


def test_estimators_refuse(client, random):
    from sklearn.base import clone

    train, _ = data(random)
    model = clone(kith.dask.KNeighborsClassifier(3, device="cpu"))
    for call, told in [
        (lambda: model.fit(train, np.zeros((300, 2))), r"labels of shape \(300, 2\)"),
        (lambda: model.fit(train, np.zeros(299)), "299 answers for 300 rows"),
        (lambda: clone(model).set_params(weights=len).fit(train, np.zeros(300)), "a function as weights"),
    ]:
        with pytest.raises(kith.InvalidArgument, match=told):
            call()
    with pytest.raises(kith.Unsupported, match="negative_dot, whose distances may be negative"):
        clone(model).set_params(weights="distance", metric="dot").fit(train, np.zeros(300))


# ---- Recipes and devices ----


def test_a_shard_pickles_as_its_recipe(random, tmp_path):
    path = str(tmp_path / "a.npy")
    np.save(path, whole(random, 5000, 16))
    rows = _tasks.Rows(path, 1000, 4000, _files.layout_of(path))
    recipe = _tasks.Recipe(rows, "a.npy", "l2", "cpu", 7, None, kith.__version__)
    shard = _tasks.open_shard(recipe)
    sent = pickle.dumps(shard)
    assert len(sent) < 1000
    moved = pickle.loads(sent)
    assert dask.sizeof.sizeof(moved) == 3000 * 16 * 4  # before it is opened
    assert moved._index is None  # opening is slow, and a pickle is read where nothing may block
    same(_tasks.search(moved, np.ones((2, 16), np.float32), 0, 3), _tasks.search(shard, np.ones((2, 16), np.float32), 0, 3))
    assert dask.sizeof.sizeof(shard) == shard.index().memory_bytes >= 3000 * 16 * 4
    with pytest.raises(kith.Unsupported, match="a.npy: this worker has kith .*, but the index was made with 0.0.0"):
        _tasks.open_shard(recipe._replace(version="0.0.0"))


def test_each_process_claims_a_gpu(tmp_path):
    program = """
import sys
from types import SimpleNamespace as gpu
from kith.dask._device import claim
gpus = [gpu(pci=f"0000:{i}b:00.0", spec=f"cuda:{i}") for i in (0, 1)]
print(claim(gpus, sys.argv[1]), claim(gpus, sys.argv[1]), flush=True)
sys.stdin.read()
"""

    def start():
        process = subprocess.Popen(
            [sys.executable, "-c", program, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return process, process.stdout.readline().strip()

    first, second, third = start(), start(), start()
    assert [one[1] for one in (first, second, third)] == ["cuda:0 cuda:0", "cuda:1 cuda:1", "None None"]
    first[0].kill()
    first[0].wait()
    fourth = start()
    assert fourth[1] == "cuda:0 cuda:0"  # a lock ends with its process
    for process, _ in (second, third, fourth):
        process.communicate()
    assert _device.device_here("cpu") == "cpu"


# ---- Refusals ----


def test_refusals(client, random):
    import dask.array as da

    train, queries = data(random)
    index = kith.dask.Index.from_array(train, device="cpu")
    bad = queries.copy()
    bad[13, 0] = np.nan
    for call, told in [
        (lambda: index.search(queries, 301), "k = 301 is out of range for an index of 300 rows"),
        (lambda: index.search(queries[:, :3], 2), "Q: 3 columns, but the training rows have 4"),
        (lambda: index.search(da.zeros(3), 2), r"a dask array of shape \(3,\); pass \[rows, columns\]"),
        (lambda: index.search(da.zeros((3, 4))[da.zeros(3) > 0], 2), "compute_chunk_sizes"),
        (lambda: index.within(queries, [1.0, 2.0]), "radius: 2 radii for 23 queries"),
        (lambda: kith.dask.Index.from_array(train, "nonsense"), "nonsense"),
        (lambda: kith.dask.Index.from_array(train, shards=0), "shards = 0"),
        (lambda: kith.dask.Index.from_array(train[:0]), "has no rows"),
        (lambda: kith.dask.Index.from_files([]), "no file"),
        (lambda: index.search(bad, 2), "^search: query row 13, column 0 holds NaN"),
        (lambda: index.search(bad, 2, tile=10), "queries from 10 on: search: query row 3, column 0 holds NaN"),
        (lambda: index.within(bad, 2, tile=10), "queries from 10 on: .*: query row 3, column 0 holds NaN"),
    ]:
        with pytest.raises(kith.InvalidArgument, match=told):
            call()


def test_without_a_client():
    program = "import numpy as np, kith.dask\ntry:\n    kith.dask.Index.from_array(np.ones((2, 2)))\nexcept Exception as e:\n    print(type(e).__name__, e)"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert told.startswith("Unavailable kith.dask.Index.from_array: there is no Dask client; make one")


def test_names():
    module = importlib.import_module("kith.dask")
    for name in module.__all__:
        assert getattr(module, name).__doc__
    with pytest.raises(AttributeError, match="no_such"):
        module.no_such
