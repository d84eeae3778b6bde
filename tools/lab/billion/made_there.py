#!/usr/bin/env python3
"""Lets a card make and search a billion rows of bytes; the CPU makes the same rows and checks the answers.

made_there.py [--device cuda:0] [--rows 1000000000] [--queries 10000] [-k 100] [--checked 100] [--chunk 2097152]

Rows of 128 bytes are uniform: eight bytes are a mixed number of 64 bits (Steele, Lea, Flood: Fast splittable
pseudorandom number generators, 2014). CuPy makes them on the card, chunk by chunk, and `with_` puts each chunk behind
the others, into room that was reserved once. With `--device cpu` NumPy makes them. The check makes all rows once more,
by NumPy, searches each chunk on the CPU and merges the keys. Prints what it measured; the exit code is 1 where an
answer differs.
"""

import argparse
import collections
import concurrent.futures
import os
import sys
import time

import kith
import numpy as np

COLUMNS, WORDS, REPEATS = 128, 16, 3
QUERIES_FROM = 1 << 40  # rows that are no training rows


def made(xp, first, count):
    """Returns rows first, first + 1, ... as [count, 128] bytes, by NumPy or CuPy."""
    x = xp.arange(first * WORDS, (first + count) * WORDS, dtype=xp.uint64)
    x *= xp.uint64(0x9E3779B97F4A7C15)
    x ^= x >> xp.uint64(30)
    x *= xp.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> xp.uint64(27)
    x *= xp.uint64(0x94D049BB133111EB)
    x ^= x >> xp.uint64(31)
    return x.view(xp.uint8).reshape(count, COLUMNS)


def chunks(rows, chunk):
    return [(first, min(chunk, rows - first)) for first in range(0, rows, chunk)]


def index_of(options, xp):
    index = None
    for first, count in chunks(options.rows, options.chunk):
        rows = made(xp, first, count)
        if index is None:
            index = kith.Index(rows, "squared_l2", device=options.device, reserve=options.rows)
        else:
            index = index.with_(rows)
    return index


def made_ahead(options):
    """Yields all chunks in order, made by half of the cores, a few of them in advance."""
    workers = max(1, (os.cpu_count() or 2) // 2)
    waiting = collections.deque()
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        for first, count in chunks(options.rows, options.chunk):
            waiting.append((first, pool.submit(made, np, first, count)))
            if len(waiting) > 2 * workers:
                number, rows = waiting.popleft()
                yield number, rows.result()
        for number, rows in waiting:
            yield number, rows.result()


def checked(options, queries):
    """Returns the Neighbors that the CPU finds."""
    merged = None
    for first, rows in made_ahead(options):
        index = kith.Index(rows, "squared_l2", device="cpu", first_row=first)
        keys = index.search_keys(queries, options.k)
        merged = keys if merged is None else kith.merge([merged, keys])
    return kith.finish("squared_l2", merged)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--rows", type=int, default=1_000_000_000)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("-k", type=int, default=100)
    parser.add_argument("--checked", type=int, default=100, help="how many queries the CPU answers, too")
    parser.add_argument("--chunk", type=int, default=1 << 21, help="rows that are made at a time")
    options = parser.parse_args()
    if options.device.startswith("cuda"):
        import cupy as xp
    else:
        xp = np
    begin = time.perf_counter()
    index = index_of(options, xp)
    print(f"{options.rows} rows made by {xp.__name__} and put into the index: {time.perf_counter() - begin:.2f} s")
    print(f"memory of the index: {index.memory_bytes} bytes, {index.memory_bytes / options.rows:.2f} a row")
    queries = made(np, QUERIES_FROM, options.queries)
    seconds = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        found = index.search(queries, options.k)
        seconds.append(time.perf_counter() - begin)
    print(f"{options.queries} queries, k = {options.k}: {sorted(seconds)[REPEATS // 2]:.3f} s, the median of {REPEATS}")
    if not options.checked:
        return 0
    begin = time.perf_counter()
    right = checked(options, queries[: options.checked])
    same = np.array_equal(found.row[: options.checked], right.row) and np.array_equal(
        found.distance[: options.checked].view(np.uint32), right.distance.view(np.uint32)
    )
    print(f"{options.checked} answers by the CPU in {time.perf_counter() - begin:.1f} s: {'the same' if same else 'DIFFERENT'}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
