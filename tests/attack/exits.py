#!/usr/bin/env python3
"""Runs Python programs that end while their threads search.

    exits.py --device SPEC --first SEED --cases N [--seconds S]

A seed draws how the program ends (its last line, sys.exit, an exception, a signal, a handler, fork, ...), what its threads
do, with or without progress, and what is still asked when it ends. Each ends within 60 s by the exit code that Python
has for it, and says nothing of a fatal error.

`--plant` lets the first program abort: it must be found.

The last line counts. Exit status: 0 nothing found; 1 something; 2 wrong arguments.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import time

import numpy as np

from again import FOLDER, again

SCENE = "exit_scene.py"
SECONDS = 60
ENDS = {"last line": 0, "exit": 3, "error": 1, "os._exit": 3, "SIGTERM": -15, "SIGINT": -2, "alarm": 3, "closed devices": 0,
        "fork": 3}
WORK = ("search", "within", "keys", "predict", "stream", "index", "updates", "graph")
FATAL = re.compile("FATAL|Fatal|terminate called|Segmentation|pure virtual|free\\(\\)|corrupt|exception not rethrown")


def draw(seed, device):
    random = np.random.default_rng(seed)

    def one_of(several):
        return several[int(random.integers(0, len(several)))]

    words = {"seed": seed, "device": device, "end": one_of(list(ENDS)), "work": one_of(WORK),
             "progress": one_of(["none", "function", "slow", "bar"]), "threads": int(random.integers(1, 7)),
             "threads_are": one_of(["daemon", "daemon", "joined"]),
             "late": one_of(["nothing", "nothing", "atexit", "__del__"]),
             "n": int(one_of([50, 2000, 20000])), "m": int(one_of([1, 20, 200])), "delay": float(random.uniform(0, 0.05))}
    words["times"] = 3 if words["threads_are"] == "joined" else 10**9
    # Contract, section 7: a device with a driver works in the parent only.
    if words["end"] == "fork" and device != "cpu":
        words["end"] = "exit"
    return words


def what_is_wrong(words):
    try:
        run = subprocess.run([sys.executable, "-B", FOLDER / SCENE, json.dumps(words)], capture_output=True, timeout=SECONDS,
                             stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return f"does not end within {SECONDS} s"
    said = run.stderr.decode("utf-8", "replace")
    if run.returncode != ENDS.get(words["end"], 0):
        return f"ends with {run.returncode} instead of {ENDS.get(words['end'], 0)}:\n{said[-1500:]}"
    found = FATAL.search(said)
    return f"says {found.group()}:\n{said[-1500:]}" if found else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--plant", action="store_true")
    options = parser.parse_args()
    end, wrong, ended = time.monotonic() + options.seconds, 0, 0

    def one(seed):
        if time.monotonic() > end:
            return None
        words = draw(seed, options.device)
        if options.plant and seed == options.first:
            words["end"] = "abort"
        return words, what_is_wrong(words)

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for done in pool.map(one, range(options.first, options.first + options.cases)):
            if done is None:
                continue
            ended += 1
            words, said = done
            if said:
                wrong += 1
                print(f"WRONG: seed {words['seed']} on {options.device}: {said}\n"
                      f"  again: {again(SCENE, json.dumps(words))}", flush=True)
    print(f"{ended} programs on {options.device} from seed {options.first}: {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
