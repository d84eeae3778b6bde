"""Finds metrics by name."""

from __future__ import annotations

import ctypes as c
from functools import lru_cache
from typing import Any, Optional, cast

from ._library import check, lib, text
from ._types import BIT_METRICS, CATEGORY_METRICS, FLOAT_METRICS, GAP_METRICS, Arithmetic, MetricName


def metrics() -> list[MetricName]:
    """Return the names of all metrics; docs/contract.md, section 1, gives the formula of each."""
    return [metric_of(lib.kith_metric_name(number)) for number in range(lib.kith_metric_count())]


@lru_cache(maxsize=256)  # each search asks
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


def packs(metric: str, X: Any) -> bool:
    """Return whether `X` is of booleans, which become bits for this metric."""
    return metric_named(metric) in BIT_METRICS and str(getattr(X, "dtype", "")) in ("bool", "torch.bool")


def arithmetic_for(metric: str, asked: Arithmetic) -> Arithmetic:
    """Return ``f32`` for a metric that has no other, unless ``f64`` is asked for, which the library refuses."""
    return "f32" if asked == "automatic" and metric_named(metric) in FLOAT_METRICS else asked


def doubles_by(metric: str, do: str) -> str:
    """Return `do`, by which a caller asks for ``f64``; empty for a metric that has none."""
    return "" if metric_named(metric) in FLOAT_METRICS else do


def takes_categories(metric: str) -> bool:
    """Return whether columns hold numbers or categories."""
    return metric_named(metric) in CATEGORY_METRICS


def takes_gaps(metric: str) -> bool:
    """Return whether a NaN in a row is a missing value."""
    return metric_named(metric) in GAP_METRICS
