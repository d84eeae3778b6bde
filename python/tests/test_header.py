"""Compares the ctypes structs and functions with kith.h. Needs a compiler and the header, as in the source tree."""

import ctypes
import os
import re
import shutil
import subprocess
import typing
from pathlib import Path

import pytest
from kith._core import _library, _structs, _types

INCLUDE = Path(os.environ.get("KITH_INCLUDE") or Path(__file__).parents[2] / "lib" / "include")
COMPILER = shutil.which("cc") or shutil.which("gcc")

if not (INCLUDE / "kith" / "kith.h").exists():
    pytest.skip("kith.h is not here", allow_module_level=True)
if COMPILER is None:
    pytest.skip("there is no C compiler", allow_module_level=True)


def run(tmp_path, source):
    (tmp_path / "test.c").write_text(source)
    command = [
        COMPILER,
        "-std=c99",
        "-Werror",
        "-I",
        str(INCLUDE),
        "test.c",
        "-o",
        "test",
        "-Wl,--unresolved-symbols=ignore-all",
    ]
    subprocess.run(command, cwd=tmp_path, check=True)
    return subprocess.run(["./test"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout.split()


def test_layouts(tmp_path):
    lines, expected = [], []
    for name, struct in _structs.STRUCTS.items():
        lines.append(f'printf("%zu\\n", sizeof({name}));')
        expected.append(str(ctypes.sizeof(struct)))
        for field in struct._fields_:
            lines.append(f'printf("%zu %zu\\n", offsetof({name}, {field[0]}), sizeof((({name}*)0)->{field[0]}));')
            expected += [str(getattr(struct, field[0]).offset), str(getattr(struct, field[0]).size)]
    body = "\n".join(lines)
    out = run(
        tmp_path,
        f"#include <stddef.h>\n#include <stdio.h>\n#include <kith/kith.h>\nint main(void) {{\n{body}\nreturn 0;\n}}\n",
    )
    assert out == expected


def test_interface_version(tmp_path):
    out = run(
        tmp_path,
        '#include <stdio.h>\n#include <kith/kith.h>\nint main(void) { printf("%d %d\\n", KITH_ABI_MAJOR, KITH_ABI_MINOR); return 0; }\n',
    )
    assert out == [str(_structs.ABI_MAJOR), str(_structs.ABI_MINOR)]


C_TYPES = {
    None: "void",
    ctypes.c_int32: "int32_t",
    ctypes.c_int64: "int64_t",
    ctypes.c_uint32: "uint32_t",
    ctypes.c_char_p: "const char*",
}


def test_prototypes():
    """Every function has as many parameters as ctypes passes, of the same sizes, and the same return type."""
    headers = "".join(path.read_text() for path in (INCLUDE / "kith" / "c").glob("*.h"))
    declarations = re.sub("//.*", "", headers).split(";")
    for name, (result, arguments) in _library.FUNCTIONS.items():
        text = [line for line in declarations if f" {name}(" in line]
        assert len(text) == 1, name
        head = text[0][: text[0].index(f" {name}(")].split("KITH_C_API")[-1].strip()
        assert head.replace("kith_status", "int32_t") == C_TYPES[result], name
        inside = text[0][text[0].index(f" {name}(") + len(name) + 2 :].rstrip().rstrip(")")
        assert (0 if inside.strip() == "void" else inside.count(",") + 1) == len(arguments), name
        for parameter, kind in zip(inside.split(","), arguments):
            pointer = "*" in parameter or "kith_progress " in parameter
            assert pointer == (ctypes.sizeof(kind) == 8 and kind not in (ctypes.c_int64, ctypes.c_double)), (name, parameter)


def test_metrics():
    """Editors know the names of the library's table, and those of other libraries."""
    table = (INCLUDE / "kith" / "metrics.def").read_text()
    names = set(re.findall(r"(?m)^KITH_(?:METRIC|PREPARED|SUMS)\((\w+), ", table))
    source = INCLUDE.parent / "src" / "base" / "names.hpp"
    if not source.exists():
        pytest.skip(f"{source} is not here")
    names |= set(re.findall(r'\{Metric::\w+, "(\w+)"\}', source.read_text()))
    assert names == set(typing.get_args(_types.MetricName))


def test_structs_are_written_by_the_tables():
    """The ctypes structs of options are those that tools/options makes of options.def."""
    tool = INCLUDE.parents[1] / "tools" / "options"
    if not tool.exists():
        pytest.skip(f"{tool} is not here")
    assert subprocess.run([tool, "--check"], capture_output=True, text=True).stdout == ""
