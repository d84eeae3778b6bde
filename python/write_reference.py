#!/usr/bin/env python3
"""Writes the reference of the Python package from its docstrings, as a page of Markdown. tools/docs runs it.

    write_reference.py FILE

It needs libkith and NumPy, and Sphinx in place of the packages that parts of kith import.
"""

import argparse
import inspect
from pathlib import Path

from sphinx.ext.autodoc.mock import mock

with mock(["sklearn", "dask", "distributed", "torch"]):
    import kith
    import kith.dask
    import kith.faiss
    import kith.files
    import kith.sklearn
    import kith.torch

FAISS = [name for name in kith.faiss.__all__ if not name.startswith("METRIC_")]


def signature(member):
    """Return the parameters of a function or class, without their types, which the sources have."""
    made = getattr(member, "__init__", None) if inspect.isclass(member) else None
    try:
        parameters = inspect.signature(made if inspect.isfunction(made) else member).parameters.values()
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
        "These are the docstrings of the package; [kith in Python](../python.md) is the manual.",
        "",
    ]
    parts = (
        (kith, kith.__all__),
        (kith.sklearn, kith.sklearn.__all__),
        (kith.faiss, FAISS),
        (kith.dask, kith.dask.__all__),
        (kith.files, kith.files.__all__),
        (kith.torch, kith.torch.__all__),
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
    parser.add_argument("file", type=Path)
    parser.parse_args().file.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
