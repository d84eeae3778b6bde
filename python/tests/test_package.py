"""Tests the cost of `import kith`, what it loads, and the package's description of itself."""

import os
import pydoc
import re
import subprocess
import sys
from pathlib import Path

import kith
import pytest


def run(program, **environment):
    return subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    ).stdout


def test_import_touches_no_driver_and_no_heavy_package():
    loaded = run("import kith, sys\nprint(open('/proc/self/maps').read())\nprint(*sys.modules)")
    assert "libkith.so.0" in loaded
    for word in ("libOpenCL", "libcuda", "libkith_opencl", "libkith_cuda", "pocl"):
        assert word not in loaded
    modules = loaded.splitlines()[-1].split()
    assert not {"sklearn", "pandas", "tqdm", "torch", "scipy", "dask", "distributed"} & set(modules)


def test_import_takes_less_than_50_ms(tmp_path):
    """`import kith` takes little processor time beyond NumPy and ctypes, with cached bytecode."""
    program = "import numpy, time, ctypes; t = time.process_time(); import kith; print(time.process_time() - t)"
    cached = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(tmp_path)}
    assert min(float(run(program, **cached)) for _ in range(5)) < 0.050


def test_version():
    assert re.fullmatch(r"\d+\.\d+\.\d+", kith.__version__)
    metadata = pytest.importorskip("importlib.metadata")
    try:
        installed = metadata.version("kith-knn")
    except metadata.PackageNotFoundError:
        pytest.skip("kith-knn is not installed")
    assert installed == kith.__version__


def test_names():
    for name in kith.__all__:
        assert getattr(kith, name).__doc__
    with pytest.raises(AttributeError, match="no_such"):
        kith.no_such
    assert (Path(kith.__file__).parent / "py.typed").exists()


def test_nothing_is_installed_from_where_it_is_not():
    """kith is not on PyPI, so no text may tell users to install it from there."""
    for module in Path(kith.__file__).parent.rglob("*.py"):
        assert "kith-knn[" not in module.read_text("utf-8")


def test_without_torch_the_import_says_what_to_install():
    for found, text in (("None", "PyTorch is not installed"), ("types.ModuleType('torch')", "PyTorch 1.13 is too old")):
        program = (
            "import sys, types, kith\n"
            f"torch = sys.modules['torch'] = {found}\n"
            "if torch: torch.__version__ = '1.13'\n"
            "try: kith.torch\n"
            "except ImportError as error: print(error, isinstance(error, kith.Unavailable))"
        )
        assert run(program) == f"kith.torch: {text}; pip install 'torch>=2.4' True\n"


def test_help_begins_with_what_is_public():
    contents = re.search(r"PACKAGE CONTENTS\n(.*?)\n\n", pydoc.plain(pydoc.render_doc(kith)), re.S).group(1)
    names = [line.split()[0] for line in contents.splitlines()]
    assert names == ["_core", "_rows", "dask", "faiss", "files", "sklearn", "torch"]


def test_the_library_is_there_once():
    from kith._core._library import lib

    lines = run("import kith; kith.devices(); print(open('/proc/self/maps').read())").splitlines()
    paths = {line.split()[-1] for line in lines if "/libkith.so" in line}
    assert len(paths) == 1 and Path(lib._name).resolve() == Path(paths.pop()).resolve()


def test_a_library_that_is_not_there_is_told(tmp_path):
    for content in (None, b"no library"):
        if content:
            (tmp_path / "libkith.so.0").write_bytes(content)
        program = f"import os; os.environ['KITH_LIBRARY'] = {str(tmp_path / 'libkith.so.0')!r}\ntry:\n    import kith\nexcept Exception as e:\n    print(type(e).__name__, e)"
        assert re.match(r"Unavailable kith: .*libkith.so.0.*install", run(program))
