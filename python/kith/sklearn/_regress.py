"""Declares regressors by k neighbours and by radius."""

from __future__ import annotations

import warnings
from typing import Any, Optional, TypeVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from .._core._errors import InvalidArgument
from .._core._model import Options, Vote
from .._core._trained import Regressor
from .._core._types import Algorithm, DeviceLike, Float64, MetricOfEstimators, WeightsOfEstimators
from .._rows._answers import targets_of
from . import _parameters as parameters
from ._base import Base, KNeighbors, RadiusNeighbors
from ._weights import means_by_weights


_T = TypeVar("_T", bound="_Regressing")


class _Regressing(RegressorMixin, Base):  # type: ignore[misc,unused-ignore]
    """Holds values, and predicts their means."""

    weights: Any

    def fit(self: _T, X: Any, y: Any = None) -> _T:
        """Keep rows and values on the device.

        Parameters
        ----------
        X : array or frame, [n, columns]
        y : array, [n] or [n, outputs]
            Finite numbers.

        Returns
        -------
        self
        """
        where = self._where()
        if y is None:
            raise InvalidArgument(f"{where}: requires y to be passed, but the target y is None")
        rows, y = self._check_rows(X, reset=True, y=targets_of(y, f"{where}: y"))
        self._flat = y.ndim == 1
        self._values = np.ascontiguousarray(y.reshape(len(y), -1), np.float64)
        parameters.weights_of(self.weights, where)
        self._fit_rows(rows, X)
        self._made = self._make()
        return self

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination; without `X` each fitted row is predicted by all others."""
        return float(super().score(X, targets_of(y, f"{self._where()}: y"), sample_weight))

    def _make(self) -> Regressor:
        takes = self.effective_metric_params_
        return Regressor(self._fitted(), self._values, self.effective_metric_, self._device(), **takes)

    def _shaped(self, value: Float64) -> Float64:
        return value[:, 0] if self._flat else value

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class KNeighborsRegressor(KNeighbors, _Regressing):
    """Predicts the mean value of the k nearest rows, as `sklearn.neighbors.KNeighborsRegressor`.

    Parameters
    ----------
    n_neighbors : int
    weights : {"uniform", "distance"} or callable
        The weight of a value: 1, 1 / distance, or the result of a function of distances [m, k].
    algorithm, leaf_size, p, metric, metric_params, n_jobs, device
        As for `NearestNeighbors`.

    Examples
    --------
    >>> from kith.sklearn import KNeighborsRegressor
    >>> KNeighborsRegressor(n_neighbors=2).fit([[0.0], [1], [5]], [1, 2, 9]).predict([[0.4]]).tolist()
    [1.5]
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: WeightsOfEstimators = "uniform",
        algorithm: Algorithm = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: MetricOfEstimators = "minkowski",
        metric_params: Optional[dict[str, Any]] = None,
        n_jobs: Optional[int] = None,
        device: DeviceLike = "auto",
    ) -> None:
        super().__init__(algorithm, leaf_size, metric, p, metric_params, n_jobs, device)
        self.n_neighbors = n_neighbors
        self.weights = weights

    def predict(self, X: Any) -> Float64:
        """Predict the weighted mean of the values of the k nearest rows.

        Parameters
        ----------
        X : array or frame, [m, n_features_in_], or None
            None: every fitted row by all others.

        Returns
        -------
        array of float64, [m] or [m, outputs]
            NaN for a query without neighbours, which missing values may leave.
        """
        check_is_fitted(self, "_fit_X")
        weights = parameters.weights_of(self.weights, self._where())
        if callable(weights):
            return self._shaped(means_by_weights(self._weighed(X, weights), self._values))
        queries, exclude_self_from = self._queries(X)
        k = self._neighbors(self.n_neighbors, len(queries), exclude_self_from)
        model: Regressor = self._model()
        rows, how = self._rows(queries), Options(self._threads(), exclude_self_from)
        return self._shaped(model._means(rows.struct, k, Vote(weights), how))


class RadiusNeighborsRegressor(RadiusNeighbors, _Regressing):
    """Predicts the mean value of the rows within a radius, as `sklearn.neighbors.RadiusNeighborsRegressor`.

    Parameters
    ----------
    radius : float
        In the metric's unit.
    weights
        As for `KNeighborsRegressor`; a function gets an array of arrays of distances, [m].
    algorithm, leaf_size, p, metric, metric_params, n_jobs, device
        As for `NearestNeighbors`.
    """

    def __init__(
        self,
        radius: float = 1.0,
        *,
        weights: WeightsOfEstimators = "uniform",
        algorithm: Algorithm = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: MetricOfEstimators = "minkowski",
        metric_params: Optional[dict[str, Any]] = None,
        n_jobs: Optional[int] = None,
        device: DeviceLike = "auto",
    ) -> None:
        super().__init__(algorithm, leaf_size, metric, p, metric_params, n_jobs, device)
        self.radius = radius
        self.weights = weights

    def predict(self, X: Any) -> Float64:
        """Predict the weighted mean of the values of the rows within the radius.

        Parameters
        ----------
        X : array or frame, [m, n_features_in_], or None
            None: every fitted row by all others.

        Returns
        -------
        array of float64, [m] or [m, outputs]
            NaN, with a warning, for a query with no row within the radius.
        """
        check_is_fitted(self, "_fit_X")
        weights = parameters.weights_of(self.weights, self._where())
        if callable(weights):
            weighed = self._weighed(X, weights)
            value, found = means_by_weights(weighed, self._values), np.diff(weighed.first)
        else:
            queries, exclude_self_from = self._queries(X)
            radii, how = self._asked_radius(self.radius), Options(self._threads(), exclude_self_from)
            model: Regressor = self._model()
            rows = self._rows(queries)
            value, found = model._means_within(rows.struct, radii, Vote(weights), how)
        if (found == 0).any():
            warnings.warn(
                f"{self._where()}: One or more samples have no neighbors within specified radius; predicting NaN.",
                stacklevel=2,
            )
        return self._shaped(value)
