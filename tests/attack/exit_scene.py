"""Searches on threads while the interpreter ends; exits.py runs this. sys.argv[1] has its settings as JSON."""
import atexit
import json
import os
import signal
import sys
import threading
import time

import kith
import numpy as np

words = json.loads(sys.argv[1])
random = np.random.default_rng(words["seed"])
rows = random.normal(size=(words["n"], 16)).astype(np.float32)
queries = random.normal(size=(words["m"], 16)).astype(np.float32)
device = words["device"]
index = kith.Index(rows, device=device)
voter = kith.Classifier(rows, np.arange(len(rows)) % 3, device=device)
begun = threading.Semaphore(0)
progress = {"none": False, "function": lambda fraction: None, "slow": lambda fraction: time.sleep(0.002),
            "bar": True}[words["progress"]]


def stream():
    return kith.Index(rows, device=device, storage="stream", chunk_rows=max(1, len(rows) // 7))


WORK = {
    "search": lambda: index.search(queries, 5, progress=progress),
    "within": lambda: index.within(queries, 3.0, progress=progress),
    "keys": lambda: index.search_keys(queries, 5, progress=progress),
    "predict": lambda: voter.predict(queries, 5, progress=progress),
    "stream": lambda: stream().search(queries, 5, progress=progress),
    "index": lambda: kith.Index(rows, device=device),
    "updates": lambda: index.with_(queries).without([1]).compact().search(queries, 5, progress=progress),
    "graph": lambda: kith.knn_graph(rows[:300], 3, device=device, progress=progress),
}
work = WORK[words["work"]]


def at_work():
    begun.release()
    for _ in range(words["times"]):
        work()


came = []


def end_by_handler(*_):
    came.append(True)
    sys.exit(3)


def leave():
    how = words["end"]
    if how == "exit":
        sys.exit(3)
    if how == "error":
        raise RuntimeError("planned")
    if how == "os._exit":
        os._exit(3)
    if how == "abort":
        os.abort()
    if how in ("SIGTERM", "SIGINT"):
        os.kill(os.getpid(), getattr(signal, how))
        time.sleep(30)
    if how == "alarm":  # a handler ends the program while the main thread searches
        signal.signal(signal.SIGALRM, end_by_handler)
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        while not came:
            work()
        sys.exit(3)  # Python drops an exception raised within a __del__
    if how == "closed devices":
        kith.close_devices()
    if how == "fork":
        child = os.fork()
        if child == 0:
            sys.exit(3)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


class Late:
    """Searches while the interpreter is being torn down."""

    def __del__(self):
        try:
            index.search(queries[:1], 1)
        except Exception:  # Python has already removed some modules
            pass


if words["late"] == "atexit":
    atexit.register(lambda: index.search(queries, 2, progress=progress))
elif words["late"] == "__del__":
    sys.late = Late()
daemon = words["threads_are"] == "daemon"
for _ in range(words["threads"]):
    threading.Thread(target=at_work, daemon=daemon).start()
for _ in range(words["threads"]):
    begun.acquire()
time.sleep(words["delay"])
leave()
