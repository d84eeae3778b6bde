#!/usr/bin/env python3
"""Time an index whose rows repeat each other, with equal rows kept once and without.

    PYTHONPATH=python tools/lab/repeated/measure.py [--rows 200000] [--columns 38] [--turns 9] [--device cpu]

Rows are like records of network connections: most values are 0, and copies are drawn by a power law. For each share of
rows that repeat others it prints medians of the processor's milliseconds, of all threads, by turns: to make an index that
keeps each row, that keeps equal rows once, and that chooses; and to search each for 10 neighbours of 1, 100 and 1,000
queries, the second time. Answers must be equal.
"""
import argparse
import time

import kith
import numpy as np

WAYS = {"each": False, "once": True, "chosen": None}


def repeated(rows: int, columns: int, share: float) -> np.ndarray:
    random = np.random.default_rng(1)
    distinct = round(rows * (1 - share))
    zero = random.random((distinct, columns)) < 0.6
    different = np.where(zero, 0, np.round(random.exponential(50, zero.shape))) + random.random((distinct, 1))
    weights = 1 / np.arange(1, distinct + 1) ** 1.1
    copies = random.choice(distinct, rows - distinct, p=weights / weights.sum())
    return np.concatenate([different, different[copies]])[random.permutation(rows)].astype(np.float32)


def seconds(work):
    begin = time.process_time()
    result = work()
    return time.process_time() - begin, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=38)
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--device", default="cpu")
    asked = parser.parse_args()
    for share in (0.7, 0.6, 0.5, 0.3, 0.0):
        rows = repeated(asked.rows, asked.columns, share)
        took: dict = {}
        for _ in range(asked.turns):
            answers = set()
            for name, way in WAYS.items():
                make, index = seconds(lambda: kith.Index(rows, "squared_l2", asked.device, deduplicate=way))
                took.setdefault((name, "make"), []).append(make)
                for m in (1, 100, 1000):
                    queries = rows[:m] + np.float32(0.25)
                    index.search(queries, 10)
                    search, found = seconds(lambda: index.search(queries, 10))
                    took.setdefault((name, m), []).append(search)
                    answers.add((m, found.distance.tobytes(), found.row.tobytes()))
            assert len(answers) == 3, "answers differ"
        print(f"{share:.0%} repeated", *(f"{name} {what}: {1e3 * np.median(times):.1f}" for (name, what), times in took.items()))


if __name__ == "__main__":
    main()
