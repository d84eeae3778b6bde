"""Declares the parts that all estimators share: checked rows, a handle on a device, neighbours and graphs."""

from __future__ import annotations

from typing import Any, Callable, Literal, Optional, Union, overload

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.neighbors._base import KNeighborsMixin, RadiusNeighborsMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._core._errors import InvalidArgument
from .._core._index import Index
from .._core._locks import Lock
from .._core._metrics import arithmetic_for
from .._core._pickles import stamped, unstamped
from .._core._trained import Classifier, Regressor
from .._core._types import BIT_METRICS, FLOAT_METRICS, Array, Distances, Float64, Int64, Mode
from .._rows._arrays import Rows, element_rows_of
from .._rows._digits import subtracts
from .._rows._limits import radii_of
from . import _parameters as parameters
from ._rows import look_at_digits, looked_at
from ._weights import Weighed


class Base(BaseEstimator):  # type: ignore[misc,unused-ignore]
    """Holds fitted rows on a device.

    Attributes
    ----------
    n_features_in_, n_samples_fit_ : int
    feature_names_in_ : array of str
        The names of the columns, if `X` was a frame whose names are all texts.
    effective_metric_ : str
        kith's name of the metric.
    """

    def __init__(
        self,
        algorithm: Any,
        leaf_size: Any,
        metric: Any,
        p: Any,
        metric_params: Any,
        n_jobs: Any,
        device: Any,
    ) -> None:
        """Stores the parameters of every estimator unchanged: scikit-learn's `clone` compares them."""
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.device = device

    _made: Any  # result of `_make`; None in a copy until first needed

    def _where(self) -> str:
        return f"kith.sklearn.{type(self).__name__}"

    def _check_rows(self, X: Any, *, reset: bool, y: Any = None) -> Any:
        """Returns finite rows of float32 or float64, and `y` if given; a metric of rows with gaps lets them have NaN.
        Checks and messages are scikit-learn's, but for cells.
        """
        what = f"{self._where()}: X"
        metric = self.metric if reset else self.effective_metric_
        gaps, floats = parameters.takes_gaps(metric), parameters.in_floats(metric)
        plain, X = subtracts(X), looked_at(X, what, gaps)
        with np.errstate(over="ignore"):
            options: dict[str, Any] = {"dtype": self._dtypes(X, reset), "order": "C", "reset": reset}
            options["ensure_all_finite"] = "allow-nan" if gaps else True
            if y is None:
                rows = checked = validate_data(self, X, **options)
            else:
                checked = validate_data(self, X, y, multi_output=True, **options)
                rows = checked[0]
        look_at_digits(X, rows, what, plain, quiet=not reset, gaps=gaps, floats=floats)
        return checked

    def _dtypes(self, X: Any, fits: bool) -> Any:
        """Returns the dtype of rows, or a list if float32 rows stay so and all others become float64."""
        if not fits:
            return self._fit_X.dtype
        if isinstance(X, np.ndarray) and np.can_cast(X.dtype, np.float32):
            return np.float32
        return [np.float64, np.float32]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = parameters.takes_gaps(self.metric)
        return tags

    def _fit_rows(self, X: Distances, frame: Any) -> None:
        parameters.check_algorithm(self.algorithm, self._where())
        parameters.threads_of(self.n_jobs, self._where())
        metric, measure = parameters.metric_of(self.metric, self.p, self.metric_params, self._where())
        self.effective_metric_ = metric
        self.effective_metric_params_: dict[str, Any] = measure
        self.n_samples_fit_ = len(X)
        self._fit_X = X
        self._fit_index = frame.index if hasattr(frame, "columns") and hasattr(frame, "index") else None
        self._made, self._making = None, Lock()

    # ---- The handle: made by `fit`, and again after a pickle or a copy ----

    def _make(self) -> Any:
        """Returns an Index, a Classifier or a Regressor of the fitted rows."""
        return Index(self._fitted(), self.effective_metric_, self._device(), **self.effective_metric_params_)

    def _fitted(self) -> Any:
        if self.effective_metric_ in FLOAT_METRICS:  # `fit` said what the rounding costs
            return self._fit_X.astype(np.float32, copy=False)
        return self._as_bits(self._fit_X)

    def _as_bits(self, rows: Distances) -> Any:
        """Returns booleans, which `kith.Index` packs, for a metric of bits: all but 0 are true, as in SciPy."""
        return rows != 0 if self.effective_metric_ in BIT_METRICS else rows

    def _rows(self, queries: Any) -> Rows:
        """Returns queries as the library takes them, in memory that lasts as long as the result."""
        if queries.dtype == np.bool_:
            return element_rows_of(queries, f"{self._where()}: X", True)
        arithmetic = arithmetic_for(self.effective_metric_, "automatic")
        metric = self.effective_metric_
        return element_rows_of(queries, f"{self._where()}: X", False, arithmetic=arithmetic, quiet=True, metric=metric)

    def _device(self) -> Any:
        return "auto" if self.device is None else self.device

    def _model(self) -> Any:
        check_is_fitted(self, "_fit_X")
        if self._made is None:
            with self._making.held():  # made once, by whichever thread comes first
                if self._made is None:
                    self._made = self._make()
        return self._made

    def _index(self) -> Index:
        model = self._model()
        if isinstance(model, list):  # one per output, all of the same rows
            model = model[0]
        if isinstance(model, (Classifier, Regressor)):
            return model.index()
        assert isinstance(model, Index)
        return model

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = dict(super().__getstate__())
        if "_made" in state:  # kept as None, so that no attribute appears later while scikit-learn iterates over them
            state["_made"] = None
        return stamped(state)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(unstamped(state, self._where()))

    # ---- Queries ----

    def _queries(self, X: Any) -> tuple[Distances, Optional[int]]:
        """Returns checked queries and kith's `exclude_self_from`; without `X` the queries are the fitted rows, each
        searched among all others.
        """
        check_is_fitted(self, "_fit_X")
        if X is None:
            return self._fitted(), 0
        return self._as_bits(self._check_rows(X, reset=False)), None

    def _threads(self) -> int:
        return parameters.threads_of(self.n_jobs, self._where())

    def _neighbors(self, n_neighbors: Any, queries: int, exclude_self_from: Optional[int]) -> int:
        fitted = self.n_samples_fit_
        most = fitted - 1 if exclude_self_from == 0 else fitted
        return parameters.neighbors_of(n_neighbors, most, fitted, queries, self._where())


class KNeighbors(KNeighborsMixin):  # type: ignore[misc,unused-ignore]
    """Declares `kneighbors` and methods that use it, for classes with `Base` and a parameter ``n_neighbors``."""

    n_neighbors: Any

    @overload
    def kneighbors(
        self, X: Any = None, n_neighbors: Optional[int] = None, return_distance: Literal[True] = True
    ) -> tuple[Float64, Int64]: ...
    @overload
    def kneighbors(
        self, X: Any = None, n_neighbors: Optional[int] = None, *, return_distance: Literal[False]
    ) -> Int64: ...
    @overload
    def kneighbors(self, X: Any, n_neighbors: Optional[int], return_distance: bool) -> Any: ...
    def kneighbors(self, X: Any = None, n_neighbors: Optional[int] = None, return_distance: bool = True) -> Any:
        """Find the nearest fitted rows of each query.

        Parameters
        ----------
        X : array, [m, n_features_in_], optional
            None: every fitted row, which is not its own neighbour.
        n_neighbors : int, optional
            None: the estimator's.
        return_distance : bool

        Returns
        -------
        distance : array of float64, [m, k]
            Nearest first; float32 values if the estimator was fitted to rows of float32. Only with
            `return_distance`.
        row : array of int64, [m, k]
            Among equally near rows the first comes first. With missing values a query may have fewer than k
            neighbours, since a fitted row without a column in which both have a value is none: its list ends in row
            -1 at distance inf, where scikit-learn has rows at distance NaN.
        """
        assert isinstance(self, Base)
        queries, exclude_self_from = self._queries(X)
        k = self._neighbors(self.n_neighbors if n_neighbors is None else n_neighbors, len(queries), exclude_self_from)
        rows, threads = self._rows(queries), self._threads()
        distance, row = self._index().search(rows, k, exclude_self_from=exclude_self_from, threads=threads)
        return (distance.astype(np.float64, copy=False), row) if return_distance else row

    def _weighed(self, X: Any, weights: Callable[..., Any]) -> Weighed:
        """Prepares weights by a function, which gets the distances of all queries at once, [m, k]."""
        distance, row = self.kneighbors(X)
        first = np.arange(len(row) + 1) * row.shape[1]
        return Weighed(lambda: np.asarray(weights(distance)).ravel(), first, distance.ravel(), row.ravel())

    def kneighbors_graph(self, X: Any = None, n_neighbors: Optional[int] = None, mode: Mode = "connectivity") -> Any:
        """Return the neighbours as a sparse matrix; a row of it has fewer than k if the query has fewer.

        Parameters
        ----------
        X, n_neighbors
            As for `kneighbors`.
        mode : {"connectivity", "distance"}
            Says whether entries are 1, or distances.

        Returns
        -------
        scipy.sparse.csr_matrix of float64, [m, n_samples_fit_]
        """
        distance, row = self.kneighbors(X, n_neighbors)
        there = row >= 0
        first = np.cumsum([0, *there.sum(axis=1)])
        return graph(self, mode, first, distance[there], row[there])

    def kneighbors_frame(self, X: Any = None, n_neighbors: Optional[int] = None) -> Any:
        """Return the neighbours as a pandas DataFrame, with one row for each neighbour of each query.

        Parameters
        ----------
        X, n_neighbors
            As for `kneighbors`.

        Returns
        -------
        pandas.DataFrame
            Columns ``query`` and ``neighbor`` have labels of the indices of `X` and of the fitted frame (row numbers
            if these were no frames), ``rank`` counts from 0, ``distance`` is in the metric's unit.

        Raises
        ------
        kith.Unavailable
            pandas is not installed.
        """
        from ._frames import neighbors_frame

        assert isinstance(self, Base)
        distance, row = self.kneighbors(X, n_neighbors)
        labels = self._fit_index if X is None else getattr(X, "index", None) if hasattr(X, "columns") else None
        return neighbors_frame(distance, row, labels, self._fit_index)


class RadiusNeighbors(RadiusNeighborsMixin):  # type: ignore[misc,unused-ignore]
    """Declares `radius_neighbors` and methods that use it, for classes with `Base` and a parameter ``radius``."""

    radius: Any

    def _asked_radius(self, radius: Any) -> Distances:
        assert isinstance(self, Base)
        asked = parameters.radius_of(radius, self._where())
        return radii_of(asked, self.effective_metric_, f"{self._where()}: radius", self._index()._kind())

    def _lists(self, X: Any, radius: Optional[float]) -> tuple[Array, Array, Array]:
        assert isinstance(self, Base)
        queries, exclude_self_from = self._queries(X)
        asked = self._asked_radius(self.radius if radius is None else radius)
        rows, threads = self._rows(queries), self._threads()
        found = self._index().within(rows, asked, exclude_self_from=exclude_self_from, threads=threads)
        return found.first, found.distance.astype(np.float64, copy=False), found.row

    def _weighed(self, X: Any, weights: Callable[..., Any]) -> Weighed:
        """Prepares weights by a function, which gets an array of arrays of distances, [m]."""
        first, distance, row = self._lists(X, None)
        lists = _ragged(first, distance)
        return Weighed(lambda: np.concatenate([*map(np.asarray, weights(lists)), np.empty(0)]), first, distance, row)

    @overload
    def radius_neighbors(
        self,
        X: Any = None,
        radius: Optional[float] = None,
        return_distance: Literal[True] = True,
        sort_results: bool = False,
    ) -> tuple[Array, Array]: ...
    @overload
    def radius_neighbors(
        self,
        X: Any = None,
        radius: Optional[float] = None,
        *,
        return_distance: Literal[False],
        sort_results: bool = False,
    ) -> Array: ...
    @overload
    def radius_neighbors(
        self, X: Any, radius: Optional[float], return_distance: bool, sort_results: bool = False
    ) -> Any: ...
    def radius_neighbors(
        self,
        X: Any = None,
        radius: Optional[float] = None,
        return_distance: bool = True,
        sort_results: bool = False,
    ) -> Any:
        """Find all fitted rows whose distance is at most the radius.

        Parameters
        ----------
        X : array, [m, n_features_in_], optional
            None: every fitted row, which is not its own neighbour.
        radius : float, optional
            None: the estimator's.
        return_distance : bool
        sort_results : bool
            It has no effect: lists are always sorted by distance, then by row.

        Returns
        -------
        distance : array of arrays of float64, [m]
            Only with `return_distance`.
        row : array of arrays of int64, [m]
        """
        first, distance, row = self._lists(X, radius)
        rows = _ragged(first, row)
        return (_ragged(first, distance), rows) if return_distance else rows

    def radius_neighbors_graph(
        self,
        X: Any = None,
        radius: Optional[float] = None,
        mode: Mode = "connectivity",
        sort_results: bool = False,
    ) -> Any:
        """Return the rows within the radius as a sparse matrix; parameters are those of `radius_neighbors`.

        Returns
        -------
        scipy.sparse.csr_matrix of float64, [m, n_samples_fit_]
        """
        return graph(self, mode, *self._lists(X, radius))


def _ragged(first: Array, values: Array) -> Array:
    lists = np.empty(len(first) - 1, object)
    for q in range(len(lists)):
        lists[q] = values[first[q] : first[q + 1]]
    return lists


def graph(estimator: Any, mode: str, first: Array, distance: Array, row: Array) -> Any:
    from scipy.sparse import csr_matrix

    if mode not in ("connectivity", "distance"):
        raise InvalidArgument(f"{estimator._where()}: mode={mode!r}; choose 'connectivity' or 'distance'")
    data = distance if mode == "distance" else np.ones(len(row))
    return csr_matrix((data, row, first), shape=(len(first) - 1, estimator.n_samples_fit_))
