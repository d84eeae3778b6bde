"""Makes the command that runs one seed again."""
import os
import pathlib
import shlex
import sys

_NAMES = ("PYTHONPATH", "KITH_LIBRARY", "KITH_ORACLE")
FOLDER = pathlib.Path(__file__).parent


def again(program, *words):
    """Returns the command; `program` is a file of this folder."""
    names = [f"{name}={os.environ[name]}" for name in _NAMES if name in os.environ]
    path = os.path.relpath(FOLDER / program)
    return shlex.join(["env", *names, sys.executable, "-B", path, *(str(word) for word in words)])
