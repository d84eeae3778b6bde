#!/usr/bin/env python3
"""Write the table of what single precision loses, in docs/howto/doubles.md, from searches by kith of made data.

    tools/lost_digits.py [--check] [--kith KITH] [--page PAGE]

Each data set is searched in single precision, in single precision once its columns are centred, and in double
precision. A query has a wrong set if single precision finds other rows than double precision does.

    --check      write nothing: fail if the page has another table
    --kith KITH  the command; default: kith of PATH
    --page PAGE  default: docs/howto/doubles.md

Exit: 0 the page has the table, 1 it has not, or kith failed, 2 usage.
"""
import argparse
import math
import random
import struct
import subprocess
import sys
import tempfile
from array import array
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- tools/lost_digits.py -->\n", "<!-- end of tools/lost_digits.py -->"
ROWS = 10_000


def lidar(draw):
    """Returns points of a laser scan: 4 a square metre, with three decimal places."""
    return [[round(base + draw.random() * width, 3) for base, width in ((691_000, 50), (5_334_000, 50), (520, 30))]
            for _ in range(ROWS)]


def seconds(draw):
    """Returns unix times of one day beside a normal value."""
    return [[1_700_000_000 + draw.randrange(86_400), draw.gauss(0, 1)] for _ in range(ROWS)]


def addresses(draw):
    """Returns places of a town of 5 km by 5 km, with seven decimal places."""
    return [[round(139.70 + draw.random() * 0.055, 7), round(35.65 + draw.random() * 0.045, 7)] for _ in range(ROWS)]


def stars(draw):
    """Returns the directions of the stars of a cluster, 0.1 degrees wide."""
    rows = []
    for _ in range(ROWS):
        east, north = (math.radians(middle + 0.1 * (draw.random() - 0.5)) for middle in (201.7, -47.5))
        rows.append([math.cos(north) * math.cos(east), math.cos(north) * math.sin(east), math.sin(north)])
    return rows


def normals(draw):
    return [[draw.gauss(0, 1) for _ in range(3)] for _ in range(ROWS)]


# what it is, its unit, k, and the function that makes it
DATA = [
    ("laser scan in UTM metres, 50 m by 50 m", "metre", 10, lidar),
    ("unix seconds of one day, and a value", "second", 10, seconds),
    ("addresses of a town, in degrees", "degree", 10, addresses),
    ("unit vectors to the stars of a cluster, 0.1 degrees wide", "radian", 10, stars),
    ("standard normals, 3 columns", "1", 10, normals),
]


def write_rows(path, rows):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}".ljust(117) + "\n"
    values = array("d", [value for row in rows for value in row])
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values.tobytes())


def read_matrix(path, k):
    """Returns the lines of a file of `k` columns, each as a list of numbers."""
    lines = [[float(cell) for cell in line.split(" ")] for line in path.read_text().splitlines()]
    if any(len(line) != k for line in lines):
        sys.exit(f"lost_digits.py: {path} has not {k} columns")
    return lines


def searched(kith, folder, k, prepare):
    """Returns the rows and the distances of the k nearest other rows of each row."""
    rows, distances = folder / "rows.txt", folder / "distances.txt"
    command = [kith, "graph", "--quiet", "--device", "cpu", "--train", folder / "train.npy", "-k", k, "--prepare",
               prepare, "--out", rows, "--out-distance", distances]
    if subprocess.run([str(word) for word in command], check=False).returncode != 0:
        sys.exit("lost_digits.py: kith failed")
    return [[int(row) for row in line] for line in read_matrix(rows, k)], read_matrix(distances, k)


def wrong_sets(right, found):
    return sum(set(a) != set(b) for a, b in zip(right, found))


def worst_error(rows, found, distances):
    """Returns the largest error of the distance of a pair in single precision."""
    return max(abs(distance - math.dist(rows[q], rows[row])) for q, near in enumerate(found)
               for row, distance in zip(near, distances[q]))


def table(kith):
    lines = [
        "| data | k | queries with a wrong set | the same, centred | worst error of a distance | unit |",
        "|---|--:|--:|--:|--:|---|",
    ]
    for title, unit, k, make in DATA:
        rows = make(random.Random(42))
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_rows(folder / "train.npy", rows)
            right, _ = searched(kith, folder, k, "arithmetic=f64")
            found, distances = searched(kith, folder, k, "arithmetic=f32")
            centred, _ = searched(kith, folder, k, "arithmetic=f32,centre=yes")
        shares = [f"{100 * wrong_sets(right, one) / ROWS:.2f} %" for one in (found, centred)]
        error = worst_error(rows, found, distances)
        error = f"{error:.0f}" if error >= 100 else f"{error:.2g}"
        lines.append(f"| {title} | {k} | {shares[0]} | {shares[1]} | {error} | {unit} |")
    return "\n".join(lines)


def main():
    options = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    options.add_argument("--check", action="store_true")
    options.add_argument("--kith", default="kith")
    options.add_argument("--page", type=Path, default=ROOT / "docs/howto/doubles.md")
    asked = options.parse_args()
    text = asked.page.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"lost_digits.py: {asked.page} has no place for the table")
    made = before + begin + "\n" + table(asked.kith) + "\n\n" + end + after
    if asked.check and made != text:
        sys.exit(f"lost_digits.py: {asked.page} has another table; run tools/lost_digits.py")
    if not asked.check:
        asked.page.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
