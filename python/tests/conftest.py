"""Declares fixtures for all tests. KITH_TEST_DEVICE names the device that they run on; default: the CPU.

Without an installed package they take that of the sources beside them, which finds the library of the build.
"""

import importlib.util
import os
import pathlib
import sys

import numpy as np
import pytest

SOURCES = pathlib.Path(__file__).resolve().parents[1]
if importlib.util.find_spec("kith") is None and (SOURCES / "kith").is_dir():
    sys.path.insert(0, str(SOURCES))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(SOURCES), os.environ.get("PYTHONPATH"))))

os.environ["KITH_TUNING"] = "off"  # a user's measurements must not change a test
os.environ["KITH_CL_CACHE"] = "off"  # every process compiles what it tests


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes seconds, or many processes; left out by -m 'not slow'")


@pytest.fixture(scope="session")
def device():
    return os.environ.get("KITH_TEST_DEVICE", "cpu")


@pytest.fixture
def random():
    return np.random.default_rng(20261125)


@pytest.fixture(scope="session")
def iris():
    return pytest.importorskip("sklearn.datasets").load_iris(return_X_y=True)


@pytest.fixture(scope="session")
def close():
    """Returns rows so close that every radius of 1 contains some, and labels."""
    X = np.random.default_rng(5).random((80, 3)).astype(np.float32)
    return X, (X.sum(axis=1) > 1.5).astype(np.int64)


def pytest_terminal_summary(terminalreporter):
    """Prints the table of test_like_sklearn.py if that file ran."""
    import sys

    table = getattr(sys.modules.get("test_like_sklearn"), "TABLE", {})
    if not table:
        return
    reasons = list(next(iter(table.values())))
    terminalreporter.section("answers beside scikit-learn's, and those that differ, by reason")
    terminalreporter.write_line(f"{'':28}" + "".join(f"{name:>10}" for name in reasons))
    totals = {}
    for name, counts in table.items():
        terminalreporter.write_line(f"{name:28}" + "".join(f"{counts[reason]:10}" for reason in reasons))
        total = totals.setdefault(f"all, {name.rpartition(', ')[2]}", dict.fromkeys(reasons, 0))
        for reason in reasons:
            total[reason] += counts[reason]
    for name, counts in totals.items():
        terminalreporter.write_line(f"{name:28}" + "".join(f"{counts[reason]:10}" for reason in reasons))
