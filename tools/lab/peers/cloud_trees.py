#!/usr/bin/env python3
"""Times SciPy's cKDTree on the workloads of `kith-lab bench` with few columns, beside kith in one process.

    cloud_trees.py [--workload cloud3,allknn3] [--scale 1] [--threads 2] [--device cpu] [--json FILE]

Needs NumPy, SciPy and the Python package kith. Both get the same uniform rows. cKDTree
computes in double precision, so some of its rows, which tie or nearly tie, are not kith's; these are counted.
Seconds are by the host's clock, the least of three.
"""
import argparse
import json
import time

import numpy as np
from scipy.spatial import cKDTree

import kith

WORKLOADS = {  # n, dims, m, k; m = 0: the rows themselves
    "cloud3": (1_000_000, 3, 20_000, 16),
    "allknn3": (1_000_000, 3, 0, 17),
    "uniform8": (1_000_000, 8, 10_000, 10),
}


def least(call, repeats=3):
    """Returns the seconds of the fastest of some calls, and what it returned."""
    best, answer = float("inf"), None
    for _ in range(repeats):
        begin = time.perf_counter()
        answer = call()
        best = min(best, time.perf_counter() - begin)
    return best, answer


def measure(name, scale, threads, device):
    n, dims, m, k = WORKLOADS[name]
    n, m = int(n * scale), int(m * scale)
    draw = np.random.default_rng(1)
    rows = draw.random((n, dims), np.float32)
    queries = draw.random((m, dims), np.float32) if m else rows
    tree_build, tree = least(lambda: cKDTree(rows), 1)
    tree_search, (_, theirs) = least(lambda: tree.query(queries, k, workers=threads))
    index = kith.Index(rows, "l2", device)
    build, _ = least(lambda: index.prepare(len(queries), k), 1)
    search, found = least(lambda: index.search(queries, k, threads=threads))
    return {
        "workload": name,
        "rows": n,
        "queries": len(queries),
        "threads": threads,
        "cKDTree build": tree_build,
        "cKDTree search": tree_search,
        "kith build": build,
        "kith search": search,
        "other rows": int((np.sort(found.row, 1) != np.sort(theirs, 1)).any(1).sum()),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workload", default=",".join(WORKLOADS))
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json")
    asked = parser.parse_args()
    results = [measure(name, asked.scale, asked.threads, asked.device) for name in asked.workload.split(",")]
    for result in results:
        print(", ".join(f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}"
                        for key, value in result.items()))
    if asked.json:
        with open(asked.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
