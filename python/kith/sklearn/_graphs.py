"""Makes graphs of neighbours in one call."""

from __future__ import annotations

from typing import Any, Literal, Optional, Union

from sklearn.neighbors._base import KNeighborsMixin, RadiusNeighborsMixin

from .._core._errors import InvalidArgument
from .._core._types import DeviceLike, MetricOfEstimators, Mode
from ._neighbors import NearestNeighbors


def kneighbors_graph(
    X: Any,
    n_neighbors: int,
    *,
    mode: Mode = "connectivity",
    metric: MetricOfEstimators = "minkowski",
    p: float = 2,
    metric_params: Optional[dict[str, Any]] = None,
    include_self: Union[bool, Literal["auto"]] = False,
    n_jobs: Optional[int] = None,
    device: DeviceLike = "auto",
) -> Any:
    """Return the k nearest rows of each row as a sparse matrix, as `sklearn.neighbors.kneighbors_graph`.

    Parameters
    ----------
    X : array or frame, [n, columns], or a fitted estimator with `kneighbors`
    n_neighbors : int
    mode : {"connectivity", "distance"}
        Says whether entries are 1, or distances.
    metric, p, metric_params, n_jobs, device
        As for `NearestNeighbors`. A fitted estimator has its own device, and its own metric, p and metric_params,
        which must equal these.
    include_self : bool or "auto"
        Says whether a row may be its own neighbour; "auto": only with ``connectivity``.

    Returns
    -------
    scipy.sparse.csr_matrix of float64, [n, n]

    Examples
    --------
    >>> from kith.sklearn import kneighbors_graph
    >>> kneighbors_graph([[0.0], [3], [1]], 2, include_self=True).toarray().tolist()
    [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]
    """
    model, query = X, None
    if not isinstance(X, KNeighborsMixin):
        model = NearestNeighbors(metric=metric, p=p, metric_params=metric_params, n_jobs=n_jobs, device=device).fit(X)
    else:
        _check_same(X, metric, p, metric_params, "kith.sklearn.kneighbors_graph")
    if _with_self(include_self, mode, "kith.sklearn.kneighbors_graph"):
        query = model._fit_X if model is X else X
    return model.kneighbors_graph(query, n_neighbors, mode)


def radius_neighbors_graph(
    X: Any,
    radius: float,
    *,
    mode: Mode = "connectivity",
    metric: MetricOfEstimators = "minkowski",
    p: float = 2,
    metric_params: Optional[dict[str, Any]] = None,
    include_self: Union[bool, Literal["auto"]] = False,
    n_jobs: Optional[int] = None,
    device: DeviceLike = "auto",
) -> Any:
    """Return the rows within a radius of each row as a sparse matrix, as `sklearn.neighbors.radius_neighbors_graph`.

    Parameters
    ----------
    X : array or frame, [n, columns], or a fitted estimator with `radius_neighbors`
    radius : float
        In the metric's unit.
    mode, metric, p, metric_params, include_self, n_jobs, device
        As for `kneighbors_graph`.

    Returns
    -------
    scipy.sparse.csr_matrix of float64, [n, n]
    """
    model, query = X, None
    if not isinstance(X, RadiusNeighborsMixin):
        model = NearestNeighbors(metric=metric, p=p, metric_params=metric_params, n_jobs=n_jobs, device=device).fit(X)
    else:
        _check_same(X, metric, p, metric_params, "kith.sklearn.radius_neighbors_graph")
    if _with_self(include_self, mode, "kith.sklearn.radius_neighbors_graph"):
        query = model._fit_X if model is X else X
    return model.radius_neighbors_graph(query, radius, mode)


def _check_same(model: Any, metric: Any, p: Any, metric_params: Any, where: str) -> None:
    own = model.get_params()
    for name, asked in (("metric", metric), ("p", p), ("metric_params", metric_params)):
        if asked != own[name]:
            raise InvalidArgument(f"{where}: {name}={asked!r}, but the estimator has {own[name]!r}; pass the same")


def _with_self(include_self: Any, mode: str, where: str) -> bool:
    if not (isinstance(include_self, bool) or include_self == "auto"):
        raise InvalidArgument(f"{where}: include_self={include_self!r}; choose True, False or 'auto'")
    return include_self is True or (include_self == "auto" and mode == "connectivity")
