#!/usr/bin/env python3
"""Measure the parts of a search by kith.dask that simulate.py puts together.

measure.py [--out docs/measured] [--samples N] [--device NAME]

It needs kith, dask and distributed, and runs four workers on this machine. Seconds, each as a list of samples:

  task     what the scheduler and the client take for one task, of graphs of 2,000 tasks that do nothing
  merge    kith.merge of eight lists of 10,000 queries, k = 10
  finish   kith.finish of 10,000 queries, k = 10
  recover  from the SIGKILL of a worker to the start of its task on another one
Without a unit:
  noise    a search's time divided by the least of all, which shows how even equal tasks are
"""

import argparse
import os
import signal
import sys
import time
from pathlib import Path

import dask
import kith
import numpy as np
from distributed import Client, LocalCluster

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "measured"))
import results  # noqa: E402


def seconds(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def nothing(*_):
    return None


def time_tasks(client, samples, count=2000):
    lazy = dask.delayed(nothing)

    def graph():
        name = os.urandom(8).hex()
        inner = [lazy(dask_key_name=f"nothing-{name}-{i}") for i in range(count - count // 8)]
        outer = [lazy(inner[8 * i : 8 * i + 8], dask_key_name=f"eight-{name}-{i}") for i in range(count // 8)]
        client.gather(client.compute(outer))

    graph()
    return [seconds(graph) / count for _ in range(samples)]


def time_recovery(client):
    """Returns the seconds from the death of a worker until its task begins on another one."""

    def begins():
        begun = time.time()
        time.sleep(1)
        return begun

    pids = client.run(os.getpid)
    future = client.submit(begins, pure=False)
    victim = None
    while victim is None:
        victim = next((worker for worker, keys in client.processing().items() if future.key in keys), None)
    time.sleep(0.3)
    killed = time.time()
    os.kill(pids[victim], signal.SIGKILL)
    return future.result() - killed


def keys_of_shards(m=10_000, k=10):
    random = np.random.default_rng(0)
    queries = random.random((m, 2), np.float32)
    return [
        kith.Index(random.random((50, 2), np.float32), device="cpu", first_row=50 * i).search_keys(queries, k)
        for i in range(8)
    ]


def time_search(samples):
    random = np.random.default_rng(0)
    index = kith.Index(random.random((20_000, 32), np.float32), device="cpu")
    queries = random.random((200, 32), np.float32)
    times = [seconds(lambda: index.search_keys(queries, 10, threads=1)) for _ in range(samples + 3)][3:]
    return [one / min(times) for one in times]


def measure(samples):
    lists = keys_of_shards()
    merged = kith.merge(lists)
    found = {
        "noise": time_search(samples),
        "merge": [seconds(lambda: kith.merge(lists)) for _ in range(samples)],
        "finish": [seconds(lambda: kith.finish("l2", merged)) for _ in range(samples)],
    }
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        with LocalCluster(
            n_workers=4, threads_per_worker=1, memory_limit=0, dashboard_address=":0", silence_logs=50
        ) as cluster:
            with Client(cluster) as client:
                found["task"] = time_tasks(client, max(3, samples // 5))
                found["recover"] = []
                for _ in range(max(3, samples // 5)):
                    client.wait_for_workers(4, timeout=60)
                    found["recover"].append(time_recovery(client))
    return {name: [float(f"{value:.4g}") for value in sorted(values)] for name, values in sorted(found.items())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=results.FOLDER, help="where DATE-scale.json goes")
    parser.add_argument("--device", default="CPU", help="the machine, as the file shall call it")
    parser.add_argument("--samples", type=int, default=40)
    options = parser.parse_args()
    results.write("scale", options.device, {"parts": measure(options.samples)}, options.out)


if __name__ == "__main__":
    main()
