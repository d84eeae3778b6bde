#!/usr/bin/env python3
"""Counts the places of six or more equal lines in the sources of kith, and compares the count with a limit.

A place is a run of at least six lines that occurs earlier, too: in a file before it in the order of names, or
above it in its own file. Three copies are two places; a run is as long as both sides agree. White space does not
matter. Lines that carry nothing do not count, neither as equal nor as different: blank ones, comments, braces and
other punctuation, a lone keyword, includes, imports, namespaces and usings, and declarations of overrides, which
C++ makes each class repeat from its interface.

Twins do not count against each other: kernels_cl/x/y.cl and kernels_cuda/x/y.cu (.cuh, .hpp) are one step in two
languages that share no file, and are meant to read alike. Inside one language a repeat counts as anywhere.
"""

import argparse
import os
import re
import sys

ROOTS = ("lib", "backends", "kernels_cl", "kernels_cuda", "tools", "tests")
SLASHES = (".cpp", ".hpp", ".c", ".h", ".cu", ".cuh", ".cl", ".def", ".js")  # comments begin with //
HASHES = (".sh", ".py", ".cmake", "CMakeLists.txt")              # comments begin with #
NOTHING = re.compile(r"#\s*(include|pragma|endif|else)\b|(from|import|namespace|using)\s|extern \"C\"")
KEYWORDS = re.compile(r"\b(else|do|done|then|fi|esac|try|return|break|continue|default|public|private|protected)\b")
TWINS = re.compile(r"^kernels_(?:cl|cuda)/(.*)\.(?:cl|cuh?|hpp)$")


def sources(root, tops=ROOTS):
    """Yields the project's files in the order of their names; of files without an ending only those that begin with #!."""
    for top in tops:
        for folder, folders, names in os.walk(os.path.join(root, top)):
            folders.sort()
            for name in sorted(names):
                path = os.path.join(folder, name)
                if name.endswith(SLASHES + HASHES):
                    yield path
                elif "." not in name:
                    with open(path, "rb") as file:
                        if file.read(2) == b"#!":
                            yield path


def carrying_lines(path):
    """Returns [(line number, text)] of the lines that count, with white space folded and comments cut off."""
    slashes = path.endswith(SLASHES)
    lines, in_comment = [], False
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            text = " ".join(line.split())
            if slashes and (in_comment or text.startswith("/*")):
                in_comment = "*/" not in text
                continue
            text = re.sub(r"(^| )//.*", "", text) if slashes else re.sub(r"^#(?!!).*| # .*", "", text)
            if NOTHING.match(text) or not re.search(r"\w", KEYWORDS.sub("", text)):
                continue
            lines.append((number, text))
            if slashes and text.endswith(" override;"):
                drop_declaration(lines)
    return lines


def drop_declaration(lines):
    """Removes the declaration that ends in the last line from `lines`."""
    lines.pop()
    while lines and not lines[-1][1].endswith((";", "{", "}", ":")):
        lines.pop()


def length_of_run(a, i, b, j):
    """Returns how many lines are equal from a[i] and b[j] on; in one file the two runs do not overlap."""
    most = min(len(a) - i, len(b) - j) if a is not b else min(j - i, len(b) - j)
    length = 0
    while length < most and a[i + length][1] == b[j + length][1]:
        length += 1
    return length


def are_twins(one, other):
    a, b = TWINS.match(one), TWINS.match(other)
    return a and b and a.group(1) == b.group(1) and one.split("/")[0] != other.split("/")[0]


def places(root, least):
    """Returns [(path, first, last, other path, first, last, lines)] for each run that occurs earlier, too, once."""
    seen, found = {}, []
    for path in sources(root):
        name, lines = os.path.relpath(path, root), carrying_lines(path)
        position = kept = 0
        while position + least <= len(lines):
            key = tuple(text for _, text in lines[position:position + least])
            runs = [(length_of_run(other, at, lines, position), other_name, other, at)
                    for other_name, other, at in seen.get(key, []) if not are_twins(name, other_name)]
            length, other_name, other, at = max(runs, key=lambda run: run[0], default=(0, "", [], 0))
            step = 1
            if length >= least:
                found.append((name, lines[position][0], lines[position + length - 1][0],
                              other_name, other[at][0], other[at + length - 1][0], length))
                step = length
            for kept in range(position, min(position + step, len(lines) - least + 1)):
                key = tuple(text for _, text in lines[kept:kept + least])
                seen.setdefault(key, []).append((name, lines, kept))
            position += step
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", default=".", help="the folder with lib, backends, ... (this one)")
    parser.add_argument("--limit", type=int, help="fail where there are more places, or fewer, than this")
    parser.add_argument("--lines", type=int, default=6, help="how many equal lines make a place (6)")
    options = parser.parse_args()
    found = places(options.root, options.lines)
    for name, first, last, other, other_first, other_last, length in found:
        print(f"{name}:{first}-{last} = {other}:{other_first}-{other_last} ({length} lines)")
    print(f"{len(found)} places of {options.lines} or more equal lines, {sum(place[-1] for place in found)} lines in them")
    if options.limit is not None and len(found) > options.limit:
        print(f"The limit is {options.limit}: write what stands twice once, and call it")
    if options.limit is not None and len(found) < options.limit:
        print(f"The limit is {options.limit} and may only fall: set it to {len(found)}")
    return int(options.limit is not None and len(found) != options.limit)


if __name__ == "__main__":
    sys.exit(main())
