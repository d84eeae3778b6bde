"""Shapes what callers see of a module: signatures without types, and advice on names of other libraries."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from fnmatch import fnmatchcase
from types import FunctionType
from typing import Any, NoReturn, Optional

from ._errors import Unsupported


class _NoSuchName(Unsupported, AttributeError):
    """Is an AttributeError, too, which `hasattr` and tools that look through modules expect."""


def refuse(module: str, name: str, refused: list[tuple[str, str]], other: Optional[str] = None) -> NoReturn:
    """Say what to use instead of a name, by the first pattern that fits it.

    `other`: the text for a name that fits none.

    Raises
    ------
    kith.Unsupported
        The name is known. It is no AttributeError, since ``from module import name`` would hide the text of one.
    AttributeError
        The name is not known.
    """
    if not name.startswith("_"):
        for pattern, advice in refused:
            if fnmatchcase(name, pattern):
                raise Unsupported(f"{module}: {name}; {advice}")
        if other is not None:
            raise _NoSuchName(f"{module}: {name}; {other}")
    raise AttributeError(f"module {module!r} has no attribute {name!r}")


def shorten(members: Iterable[Any]) -> None:
    """Remove the types from what `help` shows of functions, and of methods of this package's classes.

    Annotations have them, and docstrings say them in words.
    """
    for member in members:
        if isinstance(member, FunctionType):
            _shorten(member)
        elif inspect.isclass(member):
            for kind in member.__mro__:
                if kind.__module__.partition(".")[0] == "kith":
                    _shorten_methods(kind)


def _shorten_methods(kind: Any) -> None:
    for name, member in vars(kind).items():
        function = getattr(member, "__func__", member)  # of a classmethod
        if isinstance(function, FunctionType) and (name == "__init__" or not name.startswith("_")):
            _shorten(function)


def _shorten(function: Any) -> None:
    if "__signature__" in vars(function):
        return
    signature = inspect.signature(function)
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()]
    function.__signature__ = inspect.Signature(plain)
