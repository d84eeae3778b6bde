"""Declares estimators by dask-ml's conventions: from a dask array they make one, which is computed on demand."""

from __future__ import annotations

import os
from typing import Any, Callable, Optional

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from .._core._errors import InvalidArgument, Unsupported
from .._core._metrics import arithmetic_for
from .._core._types import MetricName
from .._rows._answers import label_columns, targets_of
from .._rows._cells import NUMBERS
from ..sklearn._labels import decode
from ..sklearn._parameters import metric_of, weights_of
from . import _client as c
from . import _votes as votes
from ._index import Index
from ._queries import Queries, is_dask
from ._shards import shards_of_array, shards_of_files


class _KNeighbors(BaseEstimator):  # type: ignore[misc,unused-ignore]
    """Holds rows in an `Index`, and their labels or values. They choose the arithmetic as in `kith.sklearn`: float32
    and 16- and 8-bit numbers single precision, all others double precision.

    Attributes
    ----------
    index_ : Index
    n_features_in_, n_samples_fit_ : int
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: str = "uniform",
        metric: MetricName = "l2",
        p: float = 2,
        metric_params: Optional[dict[str, Any]] = None,
        device: str = "auto",
        scratch: Optional[str] = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.device = device
        self.scratch = scratch

    def _where(self) -> str:
        return f"kith.dask.{type(self).__name__}"

    def _fit_rows(self, X: Any, y: Any) -> None:
        if callable(weights_of(self.weights, self._where())):
            raise InvalidArgument(f"{self._where()}: a function as weights; choose 'uniform' or 'distance'")
        metric, takes = metric_of(self.metric, self.p, self.metric_params, self._where())
        choice: Any = "f32" if arithmetic_for(metric, "automatic") == "f32" else "exact"
        if isinstance(X, (str, os.PathLike, list)) and (not isinstance(X, list) or isinstance(X[0], (str, os.PathLike))):
            client = c.client_of(None, "kith.dask.Index.from_files")
            shards = shards_of_files(client, X, metric, self.device, None, None, choice, takes)
        else:
            client = c.client_of(None, "kith.dask.Index.from_array")
            shards = shards_of_array(client, X, metric, self.device, None, self.scratch, None, choice, takes)
        self.index_ = Index(client, *shards)
        if self.weights == "distance" and self.index_.metric == "negative_dot":
            raise Unsupported(
                f"{self._where()}: weights='distance' with negative_dot, whose distances may be negative; use 'uniform'"
            )
        self.n_samples_fit_, self.n_features_in_ = self.index_.rows, self.index_.dims
        if not np.isnan(y.shape[0]) and y.shape[0] != self.n_samples_fit_:
            raise InvalidArgument(
                f"{self._where()}: {y.shape[0]} answers for {self.n_samples_fit_} rows; pass one a row"
            )

    def _kept(self, lazy: Any) -> Any:
        """Keeps the labels or values of all rows on workers."""
        with c.named_failures(self.index_.client):
            return self.index_.client.persist(lazy)

    def _sent(self, array: Any) -> Any:
        """Sends labels or values from this process to workers, inside a task or as a file."""
        client = self.index_.client
        shipped = c.Shipped(client, array, self.scratch, f"{self._where()}: y")
        c.finalize(client, shipped)
        part = shipped.part(0, len(array))
        return self._kept(c.task(votes.taken, f"answers-{c.token()}", part, array.shape[1:]))

    def _tiles(self, X: Any, then: Callable[[Any, str], Any], columns: tuple[int, ...], dtype: Any) -> Any:
        """Applies `then` to the neighbours of each tile and joins the answers: [m, *columns]."""
        check_is_fitted(self, "index_")
        index, where = self.index_, f"{self._where()}: X"
        k = index._checked(self.n_neighbors)
        with Queries(index.client, X, index._columns, k, None, self.scratch, where) as queries:
            name = c.token()
            found = index._neighbors(queries, k)
            lazy = [then(answer, f"{name}-{t}") for t, answer in enumerate(found)]
            if not queries.lazy:
                index._alive()
                return np.concatenate([np.zeros((0, *columns), dtype), *c.run(index.client, lazy)])
            import dask.array as da

            shapes = [(tile.end - tile.begin, *columns) for tile in queries.tiles]
            return da.concatenate(
                [da.from_delayed(one, shape, dtype) for one, shape in zip(lazy, shapes)]
                or [da.zeros((0, *columns), dtype=dtype)]
            )


class KNeighborsClassifier(ClassifierMixin, _KNeighbors):  # type: ignore[misc,unused-ignore]
    """Predicts the most frequent label of the k nearest rows, on a cluster, with the bits of `kith.sklearn`.

    Parameters
    ----------
    n_neighbors : int
    weights : {"uniform", "distance"}
        The weight of a vote.
    metric, p, metric_params
        As for `kith.sklearn`.
    device : str
        As for `Index.from_files`.
    scratch : str, optional
        A folder that all workers see, for arrays above 8 MB that are not Dask's.

    Attributes
    ----------
    classes_ : array, [classes]
        The distinct labels, sorted.
    """

    def fit(self, X: Any, y: Any) -> Any:
        """Open the rows on workers; the current client's.

        Parameters
        ----------
        X : dask array or array [n, columns], or names of files
        y : dask array or array, [n]
            Labels.

        Returns
        -------
        self
        """
        lazy = is_dask(y)
        y = y if lazy else label_columns(y, f"{self._where()}: y").together
        if y.ndim != 1:
            raise InvalidArgument(f"{self._where()}: labels of shape {y.shape}; pass [n]")
        self._fit_rows(X, y)
        if lazy:
            import dask.array as da

            self.classes_ = da.unique(y).compute()
            blocks = list(y.to_delayed())
            self._codes = self._kept(c.task(votes.codes_of, f"answers-{c.token()}", blocks, self.classes_))
        else:
            self.classes_ = np.unique(y)
            self._codes = self._sent(votes.codes_of([y], self.classes_))
        return self

    def predict(self, X: Any) -> Any:
        """Predict the label of each query.

        Parameters
        ----------
        X : dask array or array, [m, n_features_in_], or name of a file

        Returns
        -------
        dask array or array of the labels' dtype, [m]
            A dask array for a dask array.
        """
        check_is_fitted(self, "index_")
        then = self._then(_labels, self.classes_)
        return self._tiles(X, then, (), self.classes_.dtype)

    def predict_proba(self, X: Any) -> Any:
        """Predict the share of each class in the score.

        Parameters
        ----------
        X
            As for `predict`.

        Returns
        -------
        dask array or array of float64, [m, classes]
        """
        check_is_fitted(self, "index_")
        return self._tiles(X, self._then(_shares), (len(self.classes_),), np.float64)

    def _then(self, last: Callable[..., Any], *arguments: Any) -> Callable[[Any, str], Any]:
        codes, classes, weights = self._codes, len(self.classes_), self.weights

        def then(answer: Any, name: str) -> Any:
            voted = c.task(votes.vote, f"vote-{name}", answer, codes, classes, weights)
            return c.task(last, f"label-{name}", voted, *arguments)

        return then


class KNeighborsRegressor(RegressorMixin, _KNeighbors):  # type: ignore[misc,unused-ignore]
    """Predicts the mean value of the k nearest rows, on a cluster, with the bits of `kith.sklearn`.

    Parameters
    ----------
    n_neighbors, weights, metric, p, metric_params, device, scratch
        As for `KNeighborsClassifier`.
    """

    def fit(self, X: Any, y: Any) -> Any:
        """Open the rows on workers; the current client's.

        Parameters
        ----------
        X : dask array or array [n, columns], or names of files
        y : dask array or array, [n] or [n, outputs]

        Returns
        -------
        self
        """
        lazy = is_dask(y)
        if lazy and y.dtype.kind not in NUMBERS:
            raise InvalidArgument(
                f"{self._where()}: y: a dask array of dtype {y.dtype}, and a regressor takes real numbers; pass "
                "y.astype(float) where they spell numbers"
            )
        y = y if lazy else np.ascontiguousarray(targets_of(y, f"{self._where()}: y"), np.float64)
        if y.ndim not in (1, 2):
            raise InvalidArgument(f"{self._where()}: values of shape {y.shape}; pass [n] or [n, outputs]")
        self._fit_rows(X, y)
        self._columns = tuple(int(size) for size in y.shape[1:])
        if lazy:
            blocks = list(y.rechunk({1: -1}).to_delayed()[:, 0] if y.ndim == 2 else y.to_delayed())
            self._values = self._kept(c.task(votes.values_of, f"answers-{c.token()}", blocks))
        else:
            self._values = self._sent(y)
        return self

    def predict(self, X: Any) -> Any:
        """Predict the weighted mean of the values of the k nearest rows.

        Parameters
        ----------
        X : dask array or array, [m, n_features_in_], or name of a file

        Returns
        -------
        dask array or array of float64, [m] or [m, outputs]
        """
        check_is_fitted(self, "index_")
        values, weights = self._values, self.weights
        return self._tiles(
            X,
            lambda answer, name: c.task(votes.mean, f"mean-{name}", answer, values, weights),
            self._columns,
            np.float64,
        )


def _labels(voted: votes.Votes, classes: Any) -> Any:
    advice = "leave queries without neighbours out, or call predict_proba, which gives them shares of 0"
    return decode(voted.code, classes, None, "kith.dask.KNeighborsClassifier", advice)


def _shares(voted: votes.Votes) -> Any:
    return voted.share
