"""Tests that Python ends soon, without a message and with its own exit code while other threads still search."""

import subprocess
import sys
import textwrap

import kith
import numpy as np
import pytest
from kith._core import _watch

BEGIN = """
    import sys, threading, time
    import numpy as np, kith
    random = np.random.default_rng(3)
    X, Q = random.random((3000, 64), np.float32), random.random((400, 64), np.float32)
    index = kith.Index(X, device="cpu")
    voter = kith.Classifier(X, np.arange(len(X)) % 3, device="cpu")
    long = kith.Index(random.random((20000, 256), np.float32), device="cpu")
    many = random.random((200000, 256), np.float32)
    threads = {"threads": 1, "how": {"proposer": "none"}}
    def often(work):
        def forever():
            while True:
                work()
        for _ in range(4):
            threading.Thread(target=forever, daemon=True).start()
    def once(work):
        threading.Thread(target=work, daemon=True).start()
"""
WORKS = {
    "search": "often(lambda: index.search(Q, 5))",
    "progress": "often(lambda: index.search(Q, 5, progress=lambda _: None))",
    "progress_that_works": "often(lambda: index.search(Q, 5, progress=lambda _: sum(range(1000))))",
    "within": "often(lambda: index.within(Q, 1.0, progress=lambda _: None))",
    "keys": "often(lambda: kith.finish('l2', kith.merge([index.search_keys(Q, 5)])))",
    "votes": "often(lambda: voter.predict(Q, 5, progress=lambda _: None))",
    "rows": "often(lambda: kith.Index(X, device='cpu').with_(X).without([1]).compact())",
    "file": "often(lambda: index.save(sys.argv[1] + str(threading.get_ident()), progress=lambda _: None))",
    "long": "once(lambda: long.search(many, 5, **threads))",
    "long_with_progress": "once(lambda: long.search(many, 5, progress=lambda _: None, **threads))",
}
ENDS = ["", "sys.exit(0)", "threading.Thread(target=lambda: time.sleep(0.01)).start()"]


def ended(program, *arguments):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(BEGIN) + textwrap.dedent(program), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
    )


def check_quiet(work, pause, end, tmp_path):
    process = ended(f"{WORKS[work]}\ntime.sleep({pause})\n{end}", tmp_path / "saved")
    assert (process.returncode, process.stdout, process.stderr) == (0, "", ""), (pause, end)


@pytest.mark.parametrize("work", WORKS)
def test_python_ends_quietly(work, tmp_path):
    check_quiet(work, 0.05, "", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("work", WORKS)
def test_python_ends_quietly_many_times(work, tmp_path):
    for repeat in range(12):
        check_quiet(work, 0.005 * repeat, ENDS[repeat % len(ENDS)], tmp_path)


def test_the_main_thread_searches_to_the_end():
    """Functions registered at atexit before kith's run after it, and may wait for a thread that searches."""
    process = ended("""
        import atexit
        from kith._core import _ending
        def last():
            print(index.search(Q[:1], 1).row.shape, worker.is_alive())
            worker.join()
        atexit.unregister(_ending._end)
        atexit.register(last)
        atexit.register(_ending._end)
        worker = threading.Thread(target=lambda: [index.search(Q, 5) for _ in range(10**9)], daemon=True)
        worker.start()
        time.sleep(0.05)
    """)
    assert (process.returncode, process.stdout.split(")")[0], process.stderr) == (0, "(1, 1", "")


def test_the_end_does_not_wait_for_an_import():
    """A handler of signals that raises in an import may leave Python's lock of that module to no thread."""
    process = ended("""
        begun = threading.Event()
        class Forever:
            def find_spec(self, name, *_):
                if name.startswith("tqdm"):
                    begun.set()
                    threading.Event().wait()
        sys.meta_path.insert(0, Forever())
        once(lambda: index.search(Q, 5, progress=True))
        assert begun.wait(20)
    """)
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")


def test_tqdm_is_looked_for_once():
    process = ended("""
        asked = []
        class Absent:
            def find_spec(self, name, *_):
                if name.startswith("tqdm"):
                    asked.append(name)
                    raise ModuleNotFoundError(name)
        sys.meta_path.insert(0, Absent())
        for _ in range(3):
            index.search(Q, 5, progress=True)
        print(asked)
    """)
    assert (process.returncode, process.stdout) == (0, "['tqdm']\n")


def test_a_forked_child_waits_for_no_thread_of_its_parent():
    process = ended("""
        import os, warnings
        warnings.simplefilter("ignore")
        once(lambda: long.search(many, 5, **threads))
        time.sleep(0.1)
        child = os.fork()
        if child == 0:
            print(index.search(Q[:1], 1).row.shape)
        else:
            print(os.waitpid(child, 0)[1])
    """)
    assert (process.returncode, process.stdout, process.stderr) == (0, "(1, 1)\n0\n", "")


def refuse_to_start(_):
    raise RuntimeError("can't start new thread")


def test_without_a_thread_a_search_goes_on_this_one(monkeypatch):
    monkeypatch.setattr(_watch.threading.Thread, "start", refuse_to_start)
    monkeypatch.setattr(_watch, "LONG", 1)
    index, seen = kith.Index(np.eye(4, dtype=np.float32), device="cpu"), []
    assert index.search(np.eye(4, dtype=np.float32), 1).row[:, 0].tolist() == [0, 1, 2, 3]
    assert index.search(np.eye(4, dtype=np.float32), 1, progress=seen.append).row[:, 0].tolist() == [0, 1, 2, 3]
    assert seen and seen == sorted(seen)
    with pytest.raises(kith.InvalidArgument, match="k = 5"):
        index.search(np.eye(4, dtype=np.float32), 5)

    def refuse(fraction):
        raise LookupError(fraction)

    with pytest.raises(LookupError):
        index.search(np.eye(4, dtype=np.float32), 1, progress=refuse)


def test_without_a_thread_ctrl_c_is_heard():
    """With stacks of 64 TiB, which no machine has, Python cannot start threads."""
    process = ended("""
        import os, signal
        signal.signal(signal.SIGINT, signal.default_int_handler)
        killer = f"import os, time; time.sleep(0.5); os.kill({os.getpid()}, 2)"
        import subprocess
        other = subprocess.Popen([sys.executable, "-c", killer])
        threading.stack_size(1 << 46)
        try:
            long.search(many, 5, **threads)
        except KeyboardInterrupt:
            print("interrupted")
        other.wait()
        print(index.search(Q, 5, progress=lambda _: None).row.shape)
    """)
    assert (process.returncode, process.stdout, process.stderr) == (0, "interrupted\n(400, 5)\n", "")


def test_what_a_handler_of_signals_raises_is_no_lack_of_threads(monkeypatch):
    def start(_):
        raise RuntimeError("a handler's own")

    monkeypatch.setattr(_watch.threading.Thread, "start", start)
    monkeypatch.setattr(_watch, "LONG", 1)
    index = kith.Index(np.eye(4, dtype=np.float32), device="cpu")
    with pytest.raises(RuntimeError, match="a handler's own"):
        index.search(np.eye(4, dtype=np.float32), 1)
