#!/usr/bin/env python3
"""Libraries that search exactly on a CPU, beside kith in one process: the first answer, and later ones.

    cpu_peers.py [--case wide,one,many] [--turns 15] [--threads 2] [--peers faiss,sklearnex] [--json FILE]

Needs NumPy, the Python package kith and the peers: faiss-cpu, scikit-learn-intelex, usearch, scipy, pykdtree. The
first answer begins with rows in memory and nothing else: it takes an Index, or what a peer has in its place, and one
search. Then the same queries are asked again, 300 times or for half a second: a later answer is one of the last third,
when what pays with time, such as boxes, is there. The libraries take turns. Each cell is the median in milliseconds, of
the wall clock and of the processors. `knn` is kith.knn, which makes an index only where that pays, and keeps none: its
later answers are first ones, in memory that is there. Rows of a peer that are not kith's are counted: peers compute
otherwise, so those that tie, or nearly, may differ. Trees search up to 16 columns; usearch makes no index, and needs
memory for all distances, so it is left out where these are many.
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
    "longer": (100_000, 64, 1_000, 10, False),
    "sixteen": (50_000, 16, 1_000, 10, False),
    "eight": (100_000, 8, 1_000, 10, False),
    "cloud": (200_000, 3, 10_000, 16, False),
    "point": (200_000, 3, 1, 16, False),
    "plane": (1_000_000, 2, 1_000, 1, False),
    "table": (1_000, 16, 1_000, 5, False),
    "call": (1_000, 16, 1, 5, False),
}
MOST_COLUMNS_OF_TREES, MOST_DISTANCES_OF_USEARCH = 16, 10**9


def kith_searcher(rows, threads):
    import kith
    index = kith.Index(rows, "l2", "cpu")
    return lambda queries, k: index.search(queries, k, threads=threads).row


def knn_searcher(rows, threads):
    import kith  # without an index: each answer is a first one
    return lambda queries, k: kith.knn(rows, queries, k, "l2", "cpu", threads=threads).row


def faiss_searcher(rows, threads):
    import faiss
    faiss.omp_set_num_threads(threads)
    index = faiss.IndexFlatL2(rows.shape[1])
    index.add(rows)
    return lambda queries, k: index.search(queries, k)[1]


def sklearnex_searcher(rows, threads):
    from sklearnex.neighbors import NearestNeighbors
    algorithm = "kd_tree" if rows.shape[1] <= MOST_COLUMNS_OF_TREES else "brute"
    index = NearestNeighbors(algorithm=algorithm, n_jobs=threads).fit(rows)
    return lambda queries, k: index.kneighbors(queries, k, return_distance=False)


def usearch_searcher(rows, threads):
    from usearch.index import MetricKind, search
    return lambda queries, k: search(rows, queries, k, MetricKind.L2sq, exact=True, threads=threads).keys


def scipy_searcher(rows, threads):
    from scipy.spatial import KDTree
    tree = KDTree(rows)
    return lambda queries, k: tree.query(queries, k, workers=threads)[1]


def pykdtree_searcher(rows, threads):
    from pykdtree.kdtree import KDTree  # OMP_NUM_THREADS threads
    tree = KDTree(rows)
    return lambda queries, k: tree.query(queries, k)[1]


SEARCHERS = {"kith": kith_searcher, "knn": knn_searcher, "faiss": faiss_searcher, "sklearnex": sklearnex_searcher,
             "usearch": usearch_searcher, "scipy": scipy_searcher, "pykdtree": pykdtree_searcher}
TREES = ("scipy", "pykdtree")


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
    again = []
    begin = time.perf_counter()
    while not again or (len(again) < 300 and time.perf_counter() - begin < 0.5):
        again.append(timed(lambda: search(queries, k))[1])
    return found, of_first, again[len(again) * 2 // 3:]


def measure(case, asked, numpy):
    n, dims, m, k, whole = CASES[case]
    draw = numpy.random.default_rng(1)
    rows, queries = draw.random((n, dims), numpy.float32), draw.random((m, dims), numpy.float32)
    if whole:
        rows, queries = numpy.floor(rows * 256), numpy.floor(queries * 256)
    names = ["kith", "knn", *asked.peers.split(",")]
    left_out = TREES if dims > MOST_COLUMNS_OF_TREES else ()
    left_out += ("usearch",) if n * m > MOST_DISTANCES_OF_USEARCH else ()
    names = [name for name in names if name not in left_out]
    times = {name: ([], []) for name in names}
    found = {}
    for turn in range(asked.turns + 1):
        for name in names:
            answer, first, again = one_turn(name, rows, queries, k, asked.threads)
            found[name] = numpy.asarray(answer).reshape(m, k)
            if turn > 0:  # the first loads libraries and starts threads
                times[name][0].append(first)
                times[name][1].extend(again)
    result = {"case": case, "n": n, "dims": dims, "m": m, "k": k}
    for name in names:
        for what, values in zip(("first", "later"), times[name]):
            wall, busy = zip(*values)
            result[f"{name} {what}"] = [round(statistics.median(wall), 4), round(statistics.median(busy), 4)]
        others = numpy.sort(found[name].astype(numpy.int64), 1) != numpy.sort(found["kith"], 1)
        result[f"{name} other queries"] = int(others.any(1).sum())
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", default=",".join(CASES))
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peers", default="faiss,sklearnex,usearch,scipy,pykdtree")
    parser.add_argument("--json")
    asked = parser.parse_args()
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):  # read when they are loaded
        os.environ[variable] = str(asked.threads)
    import numpy
    results = []
    for case in asked.case.split(","):
        results.append(measure(case, asked, numpy))
        print(json.dumps(results[-1]), file=sys.stderr, flush=True)
    json.dump(results, sys.stdout, indent=1)
    print()
    if asked.json:
        with open(asked.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
