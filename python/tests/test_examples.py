"""Runs every printed example: in docstrings and in python/examples. The gate `readme` runs those on pages."""

import doctest
import importlib
import os
import pkgutil
import re
import runpy
from pathlib import Path

import kith
import pytest

SOURCE = Path(os.environ.get("KITH_SOURCE") or Path(__file__).parents[2])
MODULES = ["kith", *(one.name for one in pkgutil.walk_packages(kith.__path__, "kith.", lambda _: None))]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    if name.startswith("kith.sklearn"):
        pytest.importorskip("sklearn")
    if name.startswith("kith.dask"):
        pytest.importorskip("distributed")
    if name.startswith("kith.torch"):
        pytest.importorskip("torch", "2.4")
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    assert (
        sum(
            len(test.examples)
            for name in ("kith", "kith._core._index", "kith.faiss._flat")
            for test in finder.find(importlib.import_module(name))
        )
        > 8
    )


def test_everything_public_is_documented():
    """Every class and function documents its parameters, and every method what it does."""
    pytest.importorskip("sklearn")
    import inspect

    import kith.faiss
    import kith.sklearn

    dask = pytest.importorskip("kith.dask")
    members = [getattr(kith, name) for name in kith.__all__] + [
        getattr(kith.sklearn, name) for name in kith.sklearn.__all__
    ]
    members += [getattr(dask, name) for name in dask.__all__]
    members += [getattr(kith.faiss, name) for name in kith.faiss.__all__ if not name.startswith("METRIC_")]
    for member in members:
        assert inspect.getdoc(member), member
        if inspect.isclass(member) and member.__module__.startswith("kith"):
            own = [kind for kind in member.__mro__ if kind.__module__.startswith("kith")]
            for name, function in (pair for kind in own for pair in vars(kind).items()):
                if callable(function) and not name.startswith("_"):
                    assert inspect.getdoc(function), f"{member.__name__}.{name}"


EXAMPLES = sorted((SOURCE / "python" / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_examples(path, tmp_path, monkeypatch):
    for name in re.findall(r"^# needs (\w+)$", path.read_text(encoding="utf-8"), re.M):
        pytest.importorskip(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
