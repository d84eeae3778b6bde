"""Finds metrics by name."""

from __future__ import annotations

import ctypes as c
from typing import Optional, cast

from ._errors import InvalidArgument
from ._library import check, lib, text
from ._types import MetricName

# Metrics of other libraries that kith can compute from changed rows, and how.
_INSTEAD = {
    "haversine": "give each place as a point of the unit sphere, 3 columns cos(lat) cos(lon), cos(lat) sin(lon), "
    "sin(lat), and use 'l2': the order is the same, and the angle is 2 arcsin(distance / 2)",
}


def metrics() -> list[MetricName]:
    """Return the names of all metrics; docs/contract.md, section 1, gives the formula of each."""
    return [metric_of(lib.kith_metric_name(number)) for number in range(lib.kith_metric_count())]


def check_metric(name: str, where: str) -> None:
    """Refuse another library's metric that kith can compute from changed rows, and say how."""
    way = _INSTEAD.get(name.lower())
    if way is not None:
        raise InvalidArgument(f"{where}: metric={name!r}, which kith does not have; {way}")


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
