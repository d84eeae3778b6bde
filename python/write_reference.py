#!/usr/bin/env python3
"""Write docs/python-reference.md from the docstrings of the package; a test holds the page against them.

write_reference.py [--out docs/python-reference.md]
"""

import argparse
import inspect
from pathlib import Path

import kith
import kith.dask
import kith.faiss
import kith.files
import kith.sklearn

FAISS = [name for name in kith.faiss.__all__ if not name.startswith("METRIC_")]


def signature(member):
    """As it is called, without the types, which the sources have."""
    try:
        parameters = inspect.signature(member).parameters.values()
    except (TypeError, ValueError):
        return "(...)"
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in parameters if one.name not in ("self", "cls")]
    return str(inspect.Signature(plain))


def entry(name, member, level):
    head = f"{'#' * level} `{name}{signature(member) if callable(member) else ''}`"
    return [head, "", "```text", inspect.getdoc(member) or "", "```", ""]


def methods(kind):
    for name in sorted(dir(kind)):
        member = inspect.getattr_static(kind, name)
        owner = next(base for base in kind.__mro__ if name in vars(base))
        member = member.__func__ if isinstance(member, classmethod) else member
        if not name.startswith("_") and owner.__module__.startswith("kith") and inspect.isfunction(member):
            yield name, member


def page():
    lines = [
        "# Reference of the Python package",
        "",
        "Written by `python/write_reference.py` from the docstrings; [python.md](python.md) is the manual.",
        "",
    ]
    parts = (
        (kith, kith.__all__),
        (kith.sklearn, kith.sklearn.__all__),
        (kith.faiss, FAISS),
        (kith.dask, kith.dask.__all__),
        (kith.files, kith.files.__all__),
    )
    for module, names in parts:
        lines += [f"## `{module.__name__}`", "", "```text", inspect.getdoc(module), "```", ""]
        for name in names:
            member = getattr(module, name)
            if inspect.isclass(member) and issubclass(member, (Exception, tuple)):
                lines += [f"### `{name}`", "", "```text", inspect.getdoc(member), "```", ""]
                continue
            lines += entry(name, member, 3)
            if inspect.isclass(member):
                for method, function in methods(member):
                    lines += entry(f"{name}.{method}", function, 4)
    return "\n".join(line.rstrip() for line in lines).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).resolve().parents[1] / "docs" / "python-reference.md"
    )
    parser.parse_args().out.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
