#!/usr/bin/env python3
"""Count what a reader of a search meets: the frames on its way to a launch, and what its headers declare.

  tools/frames/frames.py                        both, on cpu and opencl:pocl; builds what it needs, without optimisation
  tools/frames/frames.py --devices cuda:0 --set cuda:0+cuda:1
  tools/frames/frames.py --declarations         what headers declare, alone
  tools/frames/frames.py --program FILE         frames of another program that calls kith_search_begins() and _ended()

A frame counts if its function is written in this tree and stands between kith::Index::search() and the launcher, both
included. A lambda whose function is itself among the frames is a part of that function: it is listed with a tilde. Frames
of the standard library, of drivers and their headers, and of code that a compiler wrote are listed with a dot. The
launcher is what starts kernels: run() of backends/cpu, Device::launch() of backends/opencl, the first function that is in
kernels_cuda. Frames behind it, where a template is chosen or a driver called, are listed with a plus. Files are those
in which the frames that count stand. Of all launches of a search the one with the most frames is shown.

A declaration is a class, struct, enum or alias, nested ones too, or a function outside of all classes, in a header of
lib/src/search. Forward declarations of types do not count.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SEARCH = pathlib.Path("lib/src/search")
# What a device launches by, and how its launcher is told from other functions.
LAUNCHES = ("kith::cpu::run", "clEnqueueNDRangeKernel", "cudaLaunchKernel", "cudaLaunchKernelExC")
LAUNCHERS = {r"backends/cpu/.*": r".*::run", r"backends/opencl/device\.hpp": r".*::launch", r"kernels_cuda/.*": r".*"}


def declarations(text: str) -> tuple[list[str], list[str]]:
    """(types, free functions) that a header declares, by their names."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/|\"(\\.|[^\"\\])*\"|'(\\.|[^'\\])'", " ", text, flags=re.S)
    text = re.sub(r"^\s*#(.*\\\n)*.*$", " ", text, flags=re.M)
    types: list[str] = []
    functions: list[str] = []
    scopes: list[str] = []  # what each open brace is: namespace, type or body
    statement, parentheses = "", 0
    for letter in text:
        parentheses += (letter in "([") - (letter in ")]")
        inside = scopes[-1] if scopes else "namespace"
        if parentheses or letter not in "{};":
            if inside != "body":
                statement += letter
            continue
        head = re.sub(r"^(\s*(public|private|protected)\s*:)+", "", statement)
        head = re.sub(r"^\s*template\s*<.*?>(?=\s*\w)", "", head, flags=re.S).strip()
        kind = re.match(r"(class|struct|enum(?: class)?|union)\s+(?:\[\[.*?\]\]\s*)?(\w+)", head)
        if letter == "{":
            if inside == "body":
                scopes.append("body")
            elif head.startswith("namespace") or head.startswith("extern"):
                scopes.append("namespace")
            elif kind and "(" not in head:
                types.append(kind.group(2))
                scopes.append("type")
            else:
                if inside == "namespace":
                    functions += function_of(head)
                scopes.append("body")
                if "=" in head and "(" not in head:  # a value: what follows belongs to it
                    continue
        elif letter == "}":
            scopes.pop()
        elif inside != "body":
            alias = re.match(r"using\s+(\w+)\s*=", head)
            if alias:
                types.append(alias.group(1))
            elif inside == "namespace" and not kind:
                functions += function_of(head)
        statement = ""
    return types, functions


def function_of(head: str) -> list[str]:
    """Returns the name of the function that a line at namespace scope declares; nothing for a variable."""
    name = re.search(r"(operator\S+|[\w:~]+)\s*\(", head)
    variable = re.match(r"[^(]*=", head)
    return [name.group(1)] if name and not variable else []


def count_declarations(root: pathlib.Path) -> int:
    """Print types and free functions of the headers of search, by folder. Returns how many there are."""
    rows: dict[str, list[int]] = {}
    for path in sorted((root / SEARCH).rglob("*.hpp")):
        types, functions = declarations(path.read_text())
        row = rows.setdefault(str(path.parent.relative_to(root)), [0, 0, 0])
        row[0] += 1
        row[1] += len(types)
        row[2] += len(functions)
    print("headers types functions")
    for folder, (headers, types, functions) in rows.items():
        print(f"{headers:7} {types:5} {functions:9}  {folder}")
    headers, types, functions = (sum(row[i] for row in rows.values()) for i in range(3))
    print(f"{headers:7} {types:5} {functions:9}  all: {types + functions} declarations")
    return types + functions


def place(file: str, root: pathlib.Path) -> str:
    """Returns the path of a file in the tree; nothing if it is not in the tree."""
    path = pathlib.Path(os.path.normpath(file))
    return str(path.relative_to(root)) if file and path.is_relative_to(root) and path.is_file() else ""


def plain(symbol: str) -> str:
    """Returns a function with its parameters, without its result and the arguments of templates."""
    text = symbol.replace("(anonymous namespace)::", "").replace("operator()", "operator").replace("->", "")
    text = re.sub(r"\[abi:\w+\]", "", text)
    shorter = ""
    while text != shorter:
        shorter, text = text, re.sub(r"<[^<>]*>", "", text)
    depth, begin = 0, 0
    for i, letter in enumerate(text):
        depth += (letter in "({") - (letter in ")}")
        if letter == " " and depth == 0 and not re.match(r" const\b", text[i:]):
            begin = i + 1
    return text[begin:]


def function_of_lambda(symbol: str) -> str:
    """Returns the function that contains a lambda, as plain() names it; nothing for a function that is no lambda."""
    text = plain(symbol)
    outer = [at.start() for at in re.finditer(r"::\{lambda\(", text) if text[: at.start()].count("(") == text[: at.start()].count(")")]
    return text[: outer[-1]] if outer else ""


def short(symbol: str) -> str:
    """Returns the name of a function."""
    function = function_of_lambda(symbol)
    return short(function) + "::{lambda}" if function else plain(symbol).partition("(")[0]


def is_part(symbol: str, outer: list[str]) -> bool:
    """Returns whether a function is a lambda of one of the functions that called it."""
    return function_of_lambda(symbol) in {plain(name) for name in outer}


def marks(frames: list[list[str]], root: pathlib.Path) -> list[tuple[str, str, str]]:
    """Returns (mark, function, file) of each frame from Index::search on: one with a blank counts, as the text
    above says.
    """
    last = max((i for i, (symbol, _) in enumerate(frames) if short(symbol) == "kith::Index::search"), default=-1)
    marked, launched, outer = [], False, []
    for symbol, file in frames[last::-1] if last >= 0 else []:
        here, name = place(file, root), short(symbol)
        mark = "." if not here else "+" if launched else "~" if is_part(symbol, outer) else " "
        marked.append((mark, name, here or file))
        launched = launched or any(re.fullmatch(f, here) and re.fullmatch(n, name) for f, n in LAUNCHERS.items())
        outer.append(symbol)
    return marked


def show(title: str, launches: list[list[list[str]]], root: pathlib.Path) -> None:
    """Print the longest way among the launches of a search."""
    ways = [way for way in (marks(frames, root) for frames in launches) if way]
    if not ways:
        raise SystemExit(f"frames: no launch of {title} was seen below kith::Index::search()")
    way = max(ways, key=lambda frames: sum(mark == " " for mark, _, _ in frames))
    files = {file for mark, _, file in way if mark == " "}
    count = {mark: sum(other == mark for other, _, _ in way) for mark in " ~+"}
    print(f"{title}: {count[' ']} frames in {len(files)} files, {count['~']} lambdas, {count['+']} behind the launcher")
    number = 0
    for mark, name, file in way:
        number += mark == " "
        print(f"  {number if mark == ' ' else mark:>2} {name}  {file}")


def backtraces(program: list[str]) -> list[list[list[str]]]:
    """Returns the frames of each launch of a program."""
    gdb = ["gdb", "-batch", "-nx", "-x", str(HERE / "backtraces.py"), "--args", *program]
    known = {"KITH_LAUNCHES": ",".join(LAUNCHES), "KITH_TUNING": "off", "KITH_CL_CACHE": "off"}
    done = subprocess.run(gdb, env={**os.environ, **known}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = re.search(r"^backtraces: (.*)$", done.stdout, re.M)
    if not said:
        raise SystemExit(f"frames: gdb saw no search of {' '.join(program)}\n{done.stdout}")
    return json.loads(said.group(1))


def built(folder: pathlib.Path) -> pathlib.Path:
    """Builds the program searches.cpp, with a library that has a frame for every function."""
    flags = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0 -g", "-DKITH_TESTS=OFF", "-DKITH_LAB=OFF"]
    more = os.environ.get("KITH_CMAKE_ARGS", "").split()
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *flags, *more], check=True, stdout=sys.stderr)
    targets = subprocess.run(["ninja", "-C", folder, "-t", "targets", "all"], capture_output=True, text=True).stdout
    wanted = [name for name in ("kith", "kith_opencl", "kith_cuda") if re.search(rf"^{name}: phony", targets, re.M)]
    subprocess.run(["cmake", "--build", folder, "--target", *wanted], check=True, stdout=sys.stderr)
    program = folder / "searches"
    library = [f"-L{folder}/lib", "-lkith", f"-Wl,-rpath,{folder}/lib"]
    source = [HERE / "searches.cpp", "-I", ROOT / "lib/include", "-I", folder / "include"]
    subprocess.run(["c++", "-std=c++20", "-O0", "-g", *source, *library, "-o", program], check=True)
    return program


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--declarations", action="store_true", help="what headers declare, alone")
    parser.add_argument("--limit", type=int, help="exit code 1 where headers declare more, or less")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="another tree")
    parser.add_argument("--program", nargs="+", help="a program, and its arguments: its frames alone")
    parser.add_argument("--devices", default="cpu,opencl:pocl", help="with commas between them")
    parser.add_argument("--set", default="cpu+opencl:pocl", help="for a streamed search; its first device is followed")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build-frames", help="a folder, made if it is not there")
    asked = parser.parse_args()
    root = asked.root.resolve()
    if asked.program:
        show(asked.program[0], backtraces(asked.program), root)
        return 0
    if not asked.declarations:
        program = str(built(asked.build.resolve()))
        for device in asked.devices.split(","):
            show(f"plain search on {device}", backtraces([program, "plain", device]), root)
        show(f"streamed search over {asked.set}", backtraces([program, "streamed", asked.set]), root)
    count = count_declarations(root)
    if asked.limit is not None and count != asked.limit:
        print(f"the limit is {asked.limit}, and only falls: set it to what was counted")
    return 0 if asked.limit in (None, count) else 1


if __name__ == "__main__":
    sys.exit(main())
