"""Converts scikit-learn's parameters to kith's, and refuses others with what to use instead."""

from __future__ import annotations

import math
import numbers
import os
from typing import Any, Callable, Optional, Union

from .._core._checks import thread_count
from .._core._errors import InvalidArgument, Unsupported
from .._core import _metrics as metrics
from .._core._metrics import metric_named
from .._core._types import FLOAT_METRICS, MetricName

_MINKOWSKI: dict[float, MetricName] = {1.0: "l1", 2.0: "l2", math.inf: "linf"}
_INSTEAD = (
    "use one of l2, l1, linf, squared_l2, cosine, negative_dot, correlation, spearman, seuclidean, mahalanobis, "
    "hellinger, angular, haversine, jaccard, dice, sokalsneath, rogerstanimoto, russellrao, braycurtis, "
    "nan_euclidean, nan_manhattan, nan_gower, minkowski, hamming, canberra, gower, or sklearn.neighbors"
)


_TAKEN: dict[str, tuple[str, ...]] = {
    "l1": ("w",),
    "l2": ("w",),
    "squared_l2": ("w",),
    "seuclidean": ("V",),
    "mahalanobis": ("V", "VI"),
    "haversine": ("degrees",),
    "minkowski": ("p", "w"),
    "gower": ("categorical", "ranges"),
    "nan_gower": ("categorical", "ranges"),
}  # of metric_params, beside p


def metric_of(
    metric: Any, p: Any, metric_params: Optional[dict[str, Any]], where: str
) -> tuple[MetricName, dict[str, Any]]:
    """Returns kith's metric for scikit-learn's metric, p and metric_params, and what `kith.Index` takes for it."""
    name = _name_of(metric, p, metric_params, where)
    measure = dict(metric_params or {})
    if isinstance(metric, str) and metric in ("minkowski", "p"):
        measure.pop("p", None)
        if name == "minkowski":
            measure["p"] = (metric_params or {}).get("p", p)
    others = [one for one in measure if one not in _TAKEN.get(name, ())]
    if others:
        takes = " and ".join(_TAKEN.get(name, ())) or "nothing"
        raise Unsupported(
            f"{where}: metric_params={metric_params!r}, but {name} takes {takes}; leave the others out, or use "
            "sklearn.neighbors"
        )
    return name, measure


def _name_of(metric: Any, p: Any, metric_params: Optional[dict[str, Any]], where: str) -> MetricName:
    if callable(metric):
        raise Unsupported(f"{where}: a callable metric, which no device can run; {_INSTEAD}")
    if not isinstance(metric, str):
        raise InvalidArgument(f"{where}: metric={metric!r}; {_INSTEAD}")
    if metric == "precomputed":
        raise Unsupported(f"{where}: metric='precomputed'; pass the rows themselves, or use sklearn.neighbors")
    if metric.lower() == "hamming":  # of values, as scikit-learn has it; kith's own hamming is of packed bits
        return "matching"
    if metric not in ("minkowski", "p"):
        return metric_named("linf" if metric == "infinity" else metric)
    p = (metric_params or {}).get("p", p)
    if p in _MINKOWSKI:
        return _MINKOWSKI[p]
    power = float(p) if isinstance(p, numbers.Real) else math.nan
    if not 0.5 <= power <= 8 or not (2 * power).is_integer():
        raise Unsupported(f"{where}: p={p!r}; choose 0.5, 1, 1.5 and so on up to 8, or infinity, or use sklearn.neighbors")
    return "minkowski"


def takes_gaps(metric: Any) -> bool:
    """Returns whether rows may have NaN by this metric, which may be none that kith has."""
    try:
        return isinstance(metric, str) and metrics.takes_gaps(metric)
    except InvalidArgument:
        return False


def in_floats(metric: Any) -> bool:
    """Returns whether float64 rows are rounded by this metric, which may be none that kith has."""
    try:
        return isinstance(metric, str) and metrics.metric_named(metric) in FLOAT_METRICS
    except InvalidArgument:
        return False


def check_algorithm(algorithm: Any, where: str) -> None:
    if algorithm not in ("auto", "brute"):
        if algorithm in ("kd_tree", "ball_tree"):
            raise Unsupported(
                f"{where}: algorithm={algorithm!r}; kith has no trees: use 'brute' or 'auto', which finds the same "
                "neighbours, or sklearn.neighbors"
            )
        raise InvalidArgument(f"{where}: algorithm={algorithm!r}; choose 'auto' or 'brute'")


def threads_of(n_jobs: Any, where: str) -> int:
    """Returns kith's number of threads for n_jobs; 0 means one per core."""
    if n_jobs is None or n_jobs == -1:
        return 0
    if not isinstance(n_jobs, numbers.Integral) or n_jobs == 0:
        raise InvalidArgument(f"{where}: n_jobs={n_jobs!r}; choose None or -1 for every core, or a number of threads")
    if int(n_jobs) > 0:
        return thread_count(n_jobs, f"{where}: n_jobs")
    return max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


def neighbors_of(n_neighbors: Any, most: int, fitted: int, queries: int, where: str) -> int:
    """Returns n_neighbors if it is a whole number from 1 to `most`, else raises."""
    if isinstance(n_neighbors, bool) or not isinstance(n_neighbors, numbers.Integral):
        raise InvalidArgument(
            f"{where}: n_neighbors={n_neighbors!r} does not take {type(n_neighbors)} value; pass an int"
        )
    asked = int(n_neighbors)
    if asked < 1:
        raise InvalidArgument(
            f"{where}: Expected n_neighbors > 0. Got {n_neighbors}; choose n_neighbors from 1 to {most}"
        )
    if asked > most:
        relation = "<=" if most == fitted else "<"
        raise InvalidArgument(
            f"{where}: Expected n_neighbors {relation} n_samples_fit, but n_neighbors = {n_neighbors}, "
            f"n_samples_fit = {fitted}, n_samples = {queries}; choose n_neighbors from 1 to {most}"
        )
    return asked


def radius_of(radius: Any, where: str) -> float:
    if isinstance(radius, bool) or not isinstance(radius, numbers.Real) or math.isnan(radius):
        raise InvalidArgument(f"{where}: radius={radius!r}; pass a number in the unit of the metric")
    return float(radius)


def weights_of(weights: Any, where: str) -> Union[str, Callable[..., Any]]:
    if weights is None:
        return "uniform"
    if weights in ("uniform", "distance") or callable(weights):
        return weights  # type: ignore[no-any-return]
    raise InvalidArgument(f"{where}: weights={weights!r}; choose 'uniform', 'distance', or a function of distances")
