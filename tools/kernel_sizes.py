#!/usr/bin/env python3
"""List the kernels of both GPU back ends by their lines and parameters, longest first.

  tools/kernel_sizes.py                   all of them
  tools/kernel_sizes.py --over            those above the limits; exit code 1 if there are any
"""

import argparse
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_LINES, MOST_PARAMETERS = 100, 16
FOLDERS = {"kernels_cl": (".cl", r"\bkernel\s"), "kernels_cuda": (".cu", r"\b__global__\s")}


def without_comments(text: str) -> str:
    """Returns the text without comments; lines keep their numbers."""
    return re.sub(r"//[^\n]*", "", text)


def closing(text: str, at: int, pair: str) -> int:
    """Returns the place of the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == pair[0]) - (text[i] == pair[1])
        if depth == 0:
            return i
    raise ValueError("a bracket stays open")


def parameter_count(parameters: str, macros: dict[str, str]) -> int:
    """Counts the parameters of a list, some of which are macros that stand for several."""
    for name, body in macros.items():
        parameters = re.sub(rf"\b{name}\b", lambda _: body, parameters)
    depth, count = 0, 1 if parameters.strip() else 0
    for letter in parameters:
        depth += (letter in "(<[{") - (letter in ")>]}")
        count += letter == "," and depth == 0
    return count


def kernels_of(path: pathlib.Path, start: str, macros: dict[str, str]) -> list[tuple[int, int, str]]:
    """Returns (lines, parameters, name) for each kernel of a file."""
    text, found = without_comments(path.read_text()), []
    for match in re.finditer(start, text):
        name = re.compile(r"(\w+)\s*\(").search(text, match.end())
        while name and name.group(1) in ("__attribute__", "__launch_bounds__", "reqd_work_group_size", "bounds"):
            after = closing(text, name.end() - 1, "()")
            name = re.compile(r"(\w+)\s*\(").search(text, after)
        if not name:
            continue
        end = closing(text, name.end() - 1, "()")
        begin = text.find("{", end)
        if begin < 0 or ";" in text[end:begin]:
            continue  # a declaration
        body = closing(text, begin, "{}")
        lines = text.count("\n", match.start(), body) + 1
        found.append((lines, parameter_count(text[name.end() : end], macros), name.group(1)))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--over", action="store_true", help="only those above the limits")
    over_only = parser.parse_args().over
    rows = []
    for folder, (ending, start) in FOLDERS.items():
        files = sorted((ROOT / folder).rglob("*"))
        text = "".join(path.read_text() for path in files if path.is_file()).replace("\\\n", " ")
        macros = {
            name: body
            for name, body in re.findall(r"^#define (\w+) +(.+)$", text, re.M)
            if re.search(r"\b(global|local)\b.*,", body)
        }
        for path in files:
            if path.suffix in (ending, ".cuh"):
                rows += [(*kernel, path.relative_to(ROOT)) for kernel in kernels_of(path, start, macros)]
    over = [row for row in rows if row[0] > MOST_LINES or row[1] > MOST_PARAMETERS]
    for lines, parameters, name, path in sorted(over if over_only else rows, key=lambda row: row[:2], reverse=True):
        print(f"{lines:4} lines {parameters:3} parameters  {name}  {path}")
    print(f"{len(rows)} kernels, {len(over)} of more than {MOST_LINES} lines or {MOST_PARAMETERS} parameters")
    return 1 if over_only and over else 0


if __name__ == "__main__":
    raise SystemExit(main())
