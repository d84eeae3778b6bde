#!/usr/bin/env python3
"""Time one call for one query in Python and in C++, in one run. Prints microseconds, which are medians.

calls.py --library build/lib/libkith.so.0 [--cxx c++]
"""

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def cpp(library, compiler):
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "call")
        include = HERE.parents[1] / "lib" / "include"
        command = [compiler, "-std=c++20", "-O2", "-I", include, HERE / "call.cpp", library]
        subprocess.run([*map(str, command), f"-Wl,-rpath,{library.parent}", "-o", program], check=True)
        return float(subprocess.run([program], check=True, capture_output=True, text=True).stdout)


def median(call, calls=500, rounds=21):
    taken = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        taken.append((time.perf_counter() - begin) / calls * 1e6)
    return statistics.median(taken)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--cxx", default="c++")
    arguments = parser.parse_args()
    library = arguments.library.resolve()
    os.environ["KITH_LIBRARY"] = str(library)
    import kith
    import numpy as np

    X = np.random.default_rng(0).random((1000, 16), np.float32)
    index = kith.Index(X, device="cpu")
    out = np.empty((1, 5), np.float32), np.empty((1, 5), np.int64)
    query = X[:1].copy()
    rows = [
        ("C++, Index::search", cpp(library, arguments.cxx)),
        ("Python, search", median(lambda: index.search(query, 5))),
        ("Python, search(out=...)", median(lambda: index.search(query, 5, out=out))),
        ("C++, once more", cpp(library, arguments.cxx)),
    ]
    print("n = 1000, dims = 16, m = 1, k = 5, CPU; microseconds a call, median of 21 rounds of 500")
    for name, taken in rows:
        print(f"{name:26}{taken:8.2f}")
    print(f"{'Python more than C++':26}{rows[1][1] - min(rows[0][1], rows[3][1]):8.2f}")


if __name__ == "__main__":
    main()
