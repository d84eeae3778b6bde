#!/usr/bin/env python3
"""Measures how the length of chunks changes the seconds and memory of a search of rows that stay in their file.

measure.py --kith build/bin/kith [--rows 4000000] [--queries 200] [--out docs/measured] [--device NAME]

Rows are random bytes of 32 columns. Each point is the fastest of three runs of `kith search --device cpu --place
residence=stream,memory-limit=LIMIT`; a chunk takes a quarter of the limit. Memory is the most that the process had. A run
with residence=resident comes first, and all must have its answers.
"""

import argparse
import os
import random
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "measured"))
import results  # noqa: E402

COLUMNS, REPEATS = 32, 3
LIMITS = (2, 8, 32, 128, 512)  # MiB


def write_rows(path, rows, seed):
    drawn = random.Random(seed)
    with open(path, "wb") as file:
        file.write(struct.pack("<II", rows, COLUMNS))
        while rows > 0:
            some = min(rows, 100_000)
            file.write(drawn.randbytes(some * COLUMNS))
            rows -= some


def run(command):
    """Returns the seconds and MiB of one process."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"measure.py: {' '.join(command)} failed; see above")
    return time.monotonic() - begin, used.ru_maxrss / 1024


def measure(kith, rows, queries):
    with tempfile.TemporaryDirectory() as folder:
        train, asked, found = f"{folder}/base.u8bin", f"{folder}/query.u8bin", f"{folder}/found.ivecs"
        write_rows(train, rows, 1)
        write_rows(asked, queries, 2)
        command = [kith, "search", "--device", "cpu", "--train", train, "--queries", asked, "-k", "10",
                   "--out-index", found]  # fmt: skip
        points, right = [], None
        for limit in (None, *LIMITS):
            how = ["--place", "residence=resident" if limit is None else f"residence=stream,memory-limit={limit}M"]
            runs = [run(command + how) for _ in range(REPEATS)]
            answers = Path(found).read_bytes()
            right = right or answers
            if answers != right:
                sys.exit(f"measure.py: a limit of {limit} MiB has other answers than resident rows")
            seconds, memory = min(one for one, _ in runs), max(one for _, one in runs)
            points.append({"limit": limit, "seconds": round(seconds, 3), "memory": round(memory, 1)})
            print(points[-1], flush=True)
    return {"rows": rows, "queries": queries, "columns": COLUMNS, "points": points}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kith", default="kith")
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--out", type=Path, default=results.FOLDER, help="where DATE-streams.json goes")
    parser.add_argument("--device", default="CPU", help="the machine, as the file shall call it")
    options = parser.parse_args()
    results.write("streams", options.device, measure(options.kith, options.rows, options.queries), options.out)


if __name__ == "__main__":
    main()
