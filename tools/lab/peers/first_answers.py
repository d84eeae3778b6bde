#!/usr/bin/env python3
"""Libraries that search exactly on a CPU, beside kith in one process: the first answer, and later ones.

    first_answers.py [--case wide,one,many] [--turns 15] [--threads 2] [--peers faiss,sklearnex] [--json FILE]

Needs NumPy, the Python package kith and the peers: faiss-cpu, scikit-learn-intelex. The first answer begins with
rows in memory and nothing else: it takes an Index, or what a peer has in its place, and one search. The libraries
take turns. Each cell is the median in milliseconds, of the wall clock and of the processors. Rows of a peer that
are not kith's are counted: peers compute otherwise, so those that tie, or nearly, may differ.
"""
import argparse
import json
import os
import statistics
import sys
import time

CASES = {  # n, dims, m, k, whether elements are whole numbers from 0 to 255
    "wide": (5_000, 784, 500, 5, True),
    "one": (250_000, 128, 1, 10, False),
    "many": (50_000, 128, 250, 10, False),
}


def kith_searcher(rows, threads):
    import kith
    index = kith.Index(rows, "l2", "cpu")
    return lambda queries, k: index.search(queries, k, threads=threads).row


def faiss_searcher(rows, threads):
    import faiss
    faiss.omp_set_num_threads(threads)
    index = faiss.IndexFlatL2(rows.shape[1])
    index.add(rows)
    return lambda queries, k: index.search(queries, k)[1]


def sklearnex_searcher(rows, threads):
    from sklearnex.neighbors import NearestNeighbors
    index = NearestNeighbors(algorithm="brute", n_jobs=threads).fit(rows)
    return lambda queries, k: index.kneighbors(queries, k, return_distance=False)


SEARCHERS = {"kith": kith_searcher, "faiss": faiss_searcher, "sklearnex": sklearnex_searcher}


def timed(call):
    """What a call returns, with milliseconds of the wall clock and of the processors."""
    wall, busy = time.perf_counter(), time.process_time()
    answer = call()
    return answer, ((time.perf_counter() - wall) * 1e3, (time.process_time() - busy) * 1e3)


def one_turn(name, rows, queries, k, threads):
    def first():
        search = SEARCHERS[name](rows, threads)
        return search, search(queries, k)

    (search, found), of_first = timed(first)
    return found, of_first, timed(lambda: search(queries, k))[1]


def measure(case, asked, numpy):
    n, dims, m, k, whole = CASES[case]
    draw = numpy.random.default_rng(1)
    rows, queries = draw.random((n, dims), numpy.float32), draw.random((m, dims), numpy.float32)
    if whole:
        rows, queries = numpy.floor(rows * 256), numpy.floor(queries * 256)
    names = ["kith", *asked.peers.split(",")]
    times = {name: ([], []) for name in names}
    found = {}
    for turn in range(asked.turns + 1):
        for name in names:
            found[name], first, again = one_turn(name, rows, queries, k, asked.threads)
            if turn > 0:  # the first loads libraries and starts threads
                times[name][0].append(first)
                times[name][1].append(again)
    result = {"case": case, "n": n, "dims": dims, "m": m, "k": k}
    for name in names:
        for what, values in zip(("first", "again"), times[name]):
            wall, busy = zip(*values)
            result[f"{name} {what}"] = [round(statistics.median(wall), 3), round(statistics.median(busy), 3)]
        others = numpy.sort(found[name], 1) != numpy.sort(found["kith"], 1)
        result[f"{name} other queries"] = int(others.any(1).sum())
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", default=",".join(CASES))
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peers", default="faiss,sklearnex")
    parser.add_argument("--json")
    asked = parser.parse_args()
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):  # read when they are loaded
        os.environ[variable] = str(asked.threads)
    import numpy
    results = [measure(case, asked, numpy) for case in asked.case.split(",")]
    json.dump(results, sys.stdout, indent=1)
    print()
    if asked.json:
        with open(asked.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
