#!/usr/bin/env python3
"""Time counts of rows within radii on the CPU beside SciPy's cKDTree, in one process.

    PYTHONPATH=python KITH_LIBRARY=build/lib/libkith.so python3 tools/lab/peers/cloud_counts.py [--rows N] [--mean M]

N uniform rows of 3 columns (100,000) are the queries, too; the radius holds about M of them (30). Each time is the
least of some calls, in seconds. Ends with an error if kith's counts are not those of its lists; cKDTree counts in
double precision, and how many of its counts differ is printed.
"""
import argparse
import time

import numpy as np
from scipy.spatial import cKDTree

import kith


def timed(name, work, calls=3):
    seconds = []
    for _ in range(calls):
        begin = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - begin)
    print(f"| {name} | {min(seconds):.3f} |", flush=True)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100000)
    parser.add_argument("--mean", type=float, default=30)
    asked = parser.parse_args()
    rows = np.random.default_rng(1).random((asked.rows, 3), dtype=np.float32)
    radius = float((asked.mean / (asked.rows * 4 / 3 * np.pi)) ** (1 / 3))
    radii = np.geomspace(radius / 4, radius * 4, 10)
    index = kith.Index(rows, device="cpu")
    index.prepare(asked.rows, 32)
    doubles = rows.astype(np.float64)
    tree = cKDTree(doubles)
    counts = timed("kith `count`", lambda: index.count(rows, radius))
    timed("kith `search`, k = 32", lambda: index.search(rows, 32))
    timed("kith `search`, k = 32 within the radius", lambda: index.search(rows, 32, radius=radius))
    lists = timed("kith `within`", lambda: index.within(rows, radius))
    timed("kith `pairs`", lambda: sum(len(block.first) for block in index.pairs(radius)))
    timed("kith `two_point`, 10 radii", lambda: index.two_point(rows, radii))
    others = {
        workers: timed(
            f"cKDTree `query_ball_point(return_length=True)`, workers = {workers}",
            lambda workers=workers: tree.query_ball_point(doubles, radius, return_length=True, workers=workers),
            2,
        )
        for workers in (1, 2)
    }
    timed("cKDTree `query_pairs`", lambda: tree.query_pairs(radius, output_type="ndarray"), 1)
    timed("cKDTree `count_neighbors`, 10 radii", lambda: tree.count_neighbors(tree, radii), 1)
    assert (counts == np.diff(lists.first)).all(), "counts are not those of the lists"
    print(f"{counts.mean():.1f} rows a query; cKDTree has other counts for {(counts != others[1]).sum()} queries")


if __name__ == "__main__":
    main()
