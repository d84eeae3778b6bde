#!/usr/bin/env python3
"""Lists lines of comments that clang-format, which leaves comments alone, does not mend.

Broken: one word alone amid a block, which a formatter or an edit pushed off the line above. A line counts where
comments stand right above and below it, all three begin in one column, and all three say something; code may stand
before the first. A line of code, such as `free(index);`, is no word.

Long: more characters than the column limit of .clang-format, in the files that clang-format formats.
"""

import argparse
import os
import re
import sys

from equal_lines import ROOTS, SLASHES, sources

FORMATTED = (".cpp", ".hpp", ".c", ".h", ".cu", ".cuh", ".cl")  # as tools/gates/sources/format.sh has them
LIMIT = 110
WORD = re.compile(r"\S*\w\S*[^\s;{}]|\w")
LONG = re.compile(r"(^|.*\s)//")


def faults(path):
    """Returns [(number, what is wrong)] for the lines of one file."""
    mark = r"///?<?|\*(?!/)" if path.endswith(SLASHES) else r"#(?!!)"
    alone, beside = re.compile(rf"\s*({mark})\s*(.*)"), re.compile(rf".*?\s({mark})\s*(.*)")
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip() for line in file]
    found = []
    for number, (above, here, below) in enumerate(zip([""] + lines, lines, lines[1:] + [""]), 1):
        block = [alone.match(above) or beside.match(above), alone.match(here), alone.match(below)]
        if all(line and line.group(2) for line in block) and len({line.start(1) for line in block}) == 1 and \
                WORD.fullmatch(block[1].group(2)):
            found.append((number, f'"{block[1].group(2)}" stands alone amid a comment'))
        if path.endswith(FORMATTED) and len(here) > LIMIT and LONG.match(here):
            found.append((number, f"a comment ends at column {len(here)}, not {LIMIT}"))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", default=".", help="the folder with the sources (this one)")
    root = parser.parse_args().root
    found = [f"{os.path.relpath(path, root)}:{number}: {fault}"
             for path in sources(root, ROOTS + ("python", "examples", "cmake", "docs", ".ci"))
             for number, fault in faults(path)]
    print("\n".join(found + [f"{len(found)} lines of comments to mend"]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
