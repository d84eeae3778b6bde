"""Reads the fenced blocks of a page, and what the page says that they print. CONTRIBUTING.md, "A page", has the rules."""

import dataclasses
import re

LANGUAGES = ("sh", "python", "c", "cpp", "cmake", "text")
NEEDS = ("a GPU", "two devices", "another machine", "PyTorch", "JAX")
# Maps commands that build kith to the gate that runs them instead of this one.
ELSEWHERE = {
    "tools/quickstart --lab": "tests/pages/from_nothing.sh",
    "tools/quickstart": ".ci/run",
    "tools/check": ".ci/run",
    "pip install": "tests/pages/from_nothing.sh",
}

FENCE = re.compile(r"( *)```(.*)")
MARK = re.compile(r" *<!-- needs (.*) -->")
PRINTS = re.compile(r"\s*(?:std::)?(?:print|printf|puts|cout)\b.*?(?:\)|;)  +(?:#|//) (.*)")
FILE_NAME = re.compile(r"(?:#|//) ([\w./-]+\.\w+)(?::.*)?")
LAST_LINE = re.compile(r"last line is `([^`]+)`")
SOME_LINE = re.compile(r"line with `([^`]+)`")


class Mistake(Exception):
    """Is raised for a mistake on a page, with its line."""


@dataclasses.dataclass
class Block:
    page: str
    line: int  # line of the fence
    language: str
    text: str
    needs: str = ""  # one of NEEDS, or ""
    printed: list | None = None  # all lines
    last: str = ""  # the last line
    some: str = ""  # a part of some line

    @property
    def place(self):
        return f"{self.page}:{self.line}"

    @property
    def file_name(self):
        """Returns the file's name if the block is a file: its first line is a comment with the name."""
        found = FILE_NAME.fullmatch(self.text.split("\n", 1)[0])
        return found and found[1]

    @property
    def elsewhere(self):
        """Returns what runs this block instead of the gate; "" if the gate runs it."""
        lines = [line for line in self.text.splitlines() if line.strip() and not line.startswith("#")]
        found = {next((by for begin, by in ELSEWHERE.items() if line.startswith(begin)), "") for line in lines}
        if self.language != "sh" or found <= {""}:
            return ""
        if "" in found:
            raise Mistake(f"{self.place}: commands that build kith beside others; give them a block of their own")
        return ", ".join(sorted(found))

    def promises(self):
        return sum(promise not in (None, "") for promise in (self.printed, self.last, self.some))

    def compare(self, printed):
        """Returns a sentence if the block printed something else than the page says, else ""."""
        lines = [line.rstrip() for line in printed.splitlines()]
        if self.printed is not None and lines != self.printed:
            return f"{self.place}: prints\n{shown(lines)}\nand the page says\n{shown(self.printed)}"
        if self.last and lines[-1:] != [self.last]:
            return f"{self.place}: the last line is\n{shown(lines[-1:])}\nand the page says\n{shown([self.last])}"
        if self.some and not any(self.some in line for line in lines):
            return f"{self.place}: prints\n{shown(lines)}\nand no line has\n{shown([self.some])}"
        return ""


def shown(lines):
    return "\n".join("    " + line for line in lines[-20:]) or "    nothing"


def promised_by_comments(text):
    """Returns the lines promised in comments behind calls that print, separated by `, then `; None if there are none."""
    found = [match[1] for match in map(PRINTS.fullmatch, text.splitlines()) if match]
    return [line for comment in found for line in comment.split(", then ")] or None


def read_block(lines, begin, page):
    """Returns the block whose fence is line `begin`, and the number of the line behind it."""
    indent, language = FENCE.fullmatch(lines[begin]).groups()
    end = next((i for i in range(begin + 1, len(lines)) if lines[i] == indent + "```"), None)
    if end is None:
        raise Mistake(f"{page}:{begin + 1}: a block that does not end")
    text = "".join(line.removeprefix(indent) + "\n" for line in lines[begin + 1 : end])
    return Block(page, begin + 1, language, text), end + 1


def read_page(text, page):
    """Returns the blocks of a page in order. A `text` block is stored as the output of the block before it."""
    lines, blocks, at, between, needs = text.splitlines(), [], 0, [], ""
    while at < len(lines):
        mark = MARK.fullmatch(lines[at])
        if not FENCE.fullmatch(lines[at]):
            if mark and mark[1] not in NEEDS:
                raise Mistake(f"{page}:{at + 1}: needs \"{mark[1]}\": a block needs one of {', '.join(NEEDS)}")
            if needs and lines[at].strip():
                raise Mistake(f"{page}:{at + 1}: text between a mark and its block")
            needs = mark[1] if mark else needs
            between += [] if mark else [lines[at]]
            at += 1
            continue
        block, at = read_block(lines, at, page)
        if block.language.startswith("{"):
            continue
        if block.language not in LANGUAGES:
            raise Mistake(f"{block.place}: a block of \"{block.language}\"; choose among {', '.join(LANGUAGES)}")
        take_sentences(blocks, between)
        if block.language == "text":
            if not blocks or "".join(between).strip():
                raise Mistake(f"{block.place}: a block of text stands right behind the block that prints it")
            blocks[-1].printed = block.text.splitlines()
        else:
            block.needs, needs = needs, ""
            if block.language != "sh":
                block.printed = promised_by_comments(block.text)
            blocks.append(block)
        between = []
    take_sentences(blocks, between)
    return blocks


def take_sentences(blocks, between):
    """Reads what the paragraphs behind a block say about its output."""
    if blocks:
        said = " ".join(between)
        for attribute, form in (("last", LAST_LINE), ("some", SOME_LINE)):
            for sentence in form.findall(said):
                setattr(blocks[-1], attribute, sentence)
