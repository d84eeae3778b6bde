"""Finds metrics by name."""

from __future__ import annotations

import ctypes as c
from typing import Optional, cast

from ._library import check, lib, text
from ._types import MetricName

def metrics() -> list[MetricName]:
    """Return the names of all metrics; docs/contract.md, section 1, gives the formula of each."""
    return [metric_of(lib.kith_metric_name(number)) for number in range(lib.kith_metric_count())]


def metric_named(name: str) -> MetricName:
    """Return kith's name of a metric, given in any spelling or by another library's name.

    Raises
    ------
    kith.InvalidArgument
        There is no such metric (names the nearest).
    """
    found = c.c_char_p()
    check(lib.kith_metric_find(name.encode(), c.byref(found)))
    return metric_of(found.value)


def metric_of(name: Optional[bytes]) -> MetricName:
    """Return the library's name of a metric."""
    return cast(MetricName, text(name))
