"""Fills the marks of pages: the text between `<!-- = NAME WORDS... -->` and `<!-- end -->` comes from result files.

NAME is a function of tables.py. A mark that is a line of its own holds a block, one within a line a figure.
"""
import re

from tables import MARKS

MARK = re.compile(r"<!-- = ([^>]+?) -->(.*?)<!-- end -->", re.DOTALL)
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
# This matches a number with a unit of time or speed, but not a product such as 1.25 x 10^8.
FIGURE = re.compile(r"\d[\d.,]*[-– ]?(?:(?:ns|us|µs|ms|s|seconds?|minutes?|hours?|[KMGT]i?B/s|[MG]bit/s|times|a second)\b"
                    r"|x\b(?! ?\d))")

# These figures are not measurements, but limits that somebody set, and assumptions.
ALLOWED = {
    "docs/howto/cluster.md": {"30 s": "Dask's default"},
    "docs/howto/gpus.md": {"3 minutes": "what kith tune takes by its own limit"},
    "docs/howto/mpi.md": {"30 s": "a limit", "10 s": "a limit"},
    "docs/howto/scale.md": {"25 Gbit/s": "assumed", "1 Gbit/s": "assumed"},
}


def filled(text, results):
    """Returns the page with the text between its marks taken from the files."""
    def fill(found):
        name, *words = found.group(1).split()
        if name not in MARKS:
            raise ValueError(f"there is no mark \"{name}\"; choose among {', '.join(MARKS)}")
        made = MARKS[name](results, *words)
        is_block = found.group(2).startswith("\n")
        return f"<!-- = {found.group(1)} -->" + (f"\n\n{made}\n\n" if is_block else made) + "<!-- end -->"

    if len(re.findall(r"<!-- = ", text)) != len(MARK.findall(text)):
        raise ValueError("a mark has no end")
    split = re.search(r"^ *<!-- = ([^>]+?) -->(?!\n)", text, re.MULTILINE)
    if split:  # Markdown ends a paragraph before a line that begins so
        raise ValueError(f"the mark \"{split.group(1)}\" begins a line; a figure stands within one")
    return MARK.sub(fill, text)


def blank(found):
    return re.sub(r"[^\n]", " ", found.group(0))


def unmarked(page, text):
    """Yields (line, figure) for each figure that is outside of marks and code, and is not in ALLOWED."""
    allowed = dict(ALLOWED.get(page, {}))
    bare = COMMENT.sub(blank, CODE.sub(blank, MARK.sub(blank, text)))
    for number, line in enumerate(bare.split("\n"), 1):
        for found in FIGURE.finditer(line):
            if found.group(0) not in allowed:
                yield number, found.group(0)


def unused(page, text):
    """Returns the figures of ALLOWED that the page does not have."""
    bare = COMMENT.sub(blank, CODE.sub(blank, MARK.sub(blank, text)))
    found = {one.group(0) for one in FIGURE.finditer(bare)}
    return [one for one in ALLOWED.get(page, {}) if one not in found]
