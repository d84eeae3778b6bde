"""Metrics by name."""

from __future__ import annotations

import ctypes as c

from ._library import check, lib, text


def metrics() -> list[str]:
    """The names of all metrics; docs/contract.md, section 1, gives the formula of each."""
    return [text(lib.kith_metric_name(number)) for number in range(lib.kith_metric_count())]


def metric_named(name: str) -> str:
    """kith's own name of a metric, in any spelling, also by another library's name.

    Raises
    ------
    kith.InvalidArgument
        There is none; names the nearest.
    """
    found = c.c_char_p()
    check(lib.kith_metric_find(name.encode(), c.byref(found)))
    return text(found.value)
