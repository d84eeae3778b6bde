"""Declares estimators without labels."""

from __future__ import annotations

from typing import Any, Optional

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._core._errors import InvalidArgument
from .._core._types import Algorithm, DeviceLike, MetricOfEstimators, Mode
from ._base import Base, KNeighbors, RadiusNeighbors


class NearestNeighbors(KNeighbors, RadiusNeighbors, Base):
    """Searches by k and by radius, as `sklearn.neighbors.NearestNeighbors`.

    Parameters
    ----------
    n_neighbors : int
        The number of neighbours that `kneighbors` finds by default.
    radius : float
        The radius of `radius_neighbors` by default, in the metric's unit.
    algorithm : {"auto", "brute"}
    leaf_size : int
        It has no effect.
    metric : str
        ``minkowski`` (with `p` of 0.5, 1, 1.5 ... 8 or infinity), or a name that `kith.Index` takes. By
        ``nan_euclidean``, ``nan_manhattan`` and ``nan_gower``, and no other, rows may have NaN for missing values.
    p : float
    metric_params : dict, optional
        ``p`` and ``w`` of ``minkowski``, or what `kith.Index` takes for the metric: ``w``, ``V``, ``VI``,
        ``degrees``, ``categorical``, ``ranges``.
    n_jobs : int, optional
        Threads; None: as many as there are cores.
    device : str or kith.Device
        kith's own: where rows are kept and searched. Answers do not depend on it.

    Examples
    --------
    >>> from kith.sklearn import NearestNeighbors
    >>> neighbors = NearestNeighbors(n_neighbors=2).fit([[0.0, 0], [0, 1], [9, 9]])
    >>> neighbors.kneighbors([[1.0, 1]], return_distance=False).tolist()
    [[1, 0]]
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        radius: float = 1.0,
        algorithm: Algorithm = "auto",
        leaf_size: int = 30,
        metric: MetricOfEstimators = "minkowski",
        p: float = 2,
        metric_params: Optional[dict[str, Any]] = None,
        n_jobs: Optional[int] = None,
        device: DeviceLike = "auto",
    ) -> None:
        super().__init__(algorithm, leaf_size, metric, p, metric_params, n_jobs, device)
        self.n_neighbors = n_neighbors
        self.radius = radius

    def fit(self, X: Any, y: Any = None) -> NearestNeighbors:
        """Keep rows on the device.

        Parameters
        ----------
        X : array or frame, [n, columns]
        y : ignored

        Returns
        -------
        self
        """
        self._fit_rows(self._check_rows(X, reset=True), X)
        self._made = self._make()
        return self


class KNeighborsTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KNeighbors, Base):  # type: ignore[misc,unused-ignore]
    """Converts rows to a sparse graph of their neighbours, as `sklearn.neighbors.KNeighborsTransformer`.

    Parameters
    ----------
    mode : {"distance", "connectivity"}
        With ``distance`` a row has one neighbour more, since it may be its own; with missing values it may have fewer.
    n_neighbors, algorithm, leaf_size, metric, p, metric_params, n_jobs, device
        As for `NearestNeighbors`.
    """

    def __init__(
        self,
        *,
        mode: Mode = "distance",
        n_neighbors: int = 5,
        algorithm: Algorithm = "auto",
        leaf_size: int = 30,
        metric: MetricOfEstimators = "minkowski",
        p: float = 2,
        metric_params: Optional[dict[str, Any]] = None,
        n_jobs: Optional[int] = None,
        device: DeviceLike = "auto",
    ) -> None:
        super().__init__(algorithm, leaf_size, metric, p, metric_params, n_jobs, device)
        self.mode = mode
        self.n_neighbors = n_neighbors

    def fit(self, X: Any, y: Any = None) -> KNeighborsTransformer:
        _fit_graph(self, X)
        return self

    fit.__doc__ = NearestNeighbors.fit.__doc__

    def transform(self, X: Any) -> Any:
        """Return the graph of the neighbours of `X`.

        Returns
        -------
        scipy.sparse.csr_matrix of float64, [m, n_samples_fit_]
        """
        check_is_fitted(self)
        one_more = self.mode == "distance"
        return self.kneighbors_graph(X, n_neighbors=self.n_neighbors + one_more, mode=self.mode)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Call `fit`, and then `transform` with the same rows, each of which may be its own neighbour."""
        return self.fit(X).transform(X)


class RadiusNeighborsTransformer(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, RadiusNeighbors, Base  # type: ignore[misc,unused-ignore]
):
    """Converts rows to a sparse graph of the rows within a radius, as `sklearn.neighbors.RadiusNeighborsTransformer`.

    Parameters
    ----------
    mode : {"distance", "connectivity"}
        Says whether entries are distances, or 1.
    radius : float
        In the metric's unit.
    algorithm, leaf_size, metric, p, metric_params, n_jobs, device
        As for `NearestNeighbors`.
    """

    def __init__(
        self,
        *,
        mode: Mode = "distance",
        radius: float = 1.0,
        algorithm: Algorithm = "auto",
        leaf_size: int = 30,
        metric: MetricOfEstimators = "minkowski",
        p: float = 2,
        metric_params: Optional[dict[str, Any]] = None,
        n_jobs: Optional[int] = None,
        device: DeviceLike = "auto",
    ) -> None:
        super().__init__(algorithm, leaf_size, metric, p, metric_params, n_jobs, device)
        self.mode = mode
        self.radius = radius

    def fit(self, X: Any, y: Any = None) -> RadiusNeighborsTransformer:
        _fit_graph(self, X)
        return self

    fit.__doc__ = NearestNeighbors.fit.__doc__

    def transform(self, X: Any) -> Any:
        """Return the graph of the rows within the radius of `X`.

        Returns
        -------
        scipy.sparse.csr_matrix of float64, [m, n_samples_fit_]
        """
        check_is_fitted(self)
        return self.radius_neighbors_graph(X, mode=self.mode)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Call `fit`, and then `transform` with the same rows, each of which is within its own radius."""
        return self.fit(X).transform(X)


def _fit_graph(estimator: Any, X: Any) -> None:
    mode = estimator.mode
    if mode not in ("connectivity", "distance"):
        raise InvalidArgument(f"{estimator._where()}: mode={mode!r}; choose 'connectivity' or 'distance'")
    estimator._fit_rows(estimator._check_rows(X, reset=True), X)
    estimator._n_features_out = estimator.n_samples_fit_
    estimator._made = estimator._make()
