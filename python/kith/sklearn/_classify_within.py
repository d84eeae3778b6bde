"""Declares the classifier by radius."""

from __future__ import annotations

import warnings
from typing import Any, Optional, TypeVar, Union

import numpy as np

from .._core._errors import InvalidArgument
from .._core._model import Options
from .._core._trained import Classifier
from .._core._types import (
    Algorithm,
    Array,
    DeviceLike,
    Distances,
    Float64,
    MetricOfEstimators,
    Tie,
    WeightsOfEstimators,
)
from .._core._vote import Voted
from .._rows._answers import beside
from . import _labels as labels
from ._base import RadiusNeighbors
from ._classify import _Classifying


_T = TypeVar("_T", bound="RadiusNeighborsClassifier")


class RadiusNeighborsClassifier(RadiusNeighbors, _Classifying):
    """Predicts the most frequent label of the rows within a radius, as `sklearn.neighbors.RadiusNeighborsClassifier`.

    Parameters
    ----------
    radius : float
        In the metric's unit.
    weights
        As for `KNeighborsClassifier`; a function gets an array of arrays of distances, [m].
    outlier_label : label, list of labels, "most_frequent", optional
        The answer for a query with no row within the radius; None refuses such queries.
    algorithm, leaf_size, p, metric, metric_params, n_jobs, device, tie, priors, costs, no_label
        As for `KNeighborsClassifier`.

    Notes
    -----
    Each of several outputs keeps a copy of the rows on the device.
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
        outlier_label: Any = None,
        metric_params: Optional[dict[str, Any]] = None,
        n_jobs: Optional[int] = None,
        device: DeviceLike = "auto",
        tie: Tie = "smallest_label",
        priors: Any = None,
        costs: Any = None,
        no_label: Any = None,
    ) -> None:
        super().__init__(algorithm, leaf_size, metric, p, metric_params, n_jobs, device)
        self.radius = radius
        self.outlier_label = outlier_label
        self._vote_by(weights, tie, priors, costs, no_label)

    def fit(self: _T, X: Any, y: Any = None) -> _T:
        super().fit(X, y)
        self.outlier_label_ = self._outlier_labels()
        return self

    fit.__doc__ = _Classifying.fit.__doc__

    def _outlier_labels(self) -> Optional[list[Any]]:
        if self.outlier_label is None:
            return None
        outputs = len(self._classes)
        if isinstance(self.outlier_label, str) and self.outlier_label == "most_frequent":
            return [found[np.bincount(self._codes[:, output]).argmax()] for output, found in enumerate(self._classes)]
        several = isinstance(self.outlier_label, (list, tuple, np.ndarray))
        if several and len(self.outlier_label) != outputs:
            raise InvalidArgument(
                f"{self._where()}: {len(self.outlier_label)} outlier labels for {outputs} outputs; pass one for each"
            )
        chosen = list(self.outlier_label) if several else [self.outlier_label] * outputs
        for label, found in zip(chosen, self._classes):
            if np.ndim(label) != 0 or np.append(found, label).dtype.kind != found.dtype.kind:
                raise TypeError(
                    f"{self._where()}: outlier_label={label!r} does not fit labels of dtype {found.dtype}; "
                    "pass a label of their kind"
                )
        return chosen

    def _make(self) -> list[Classifier]:
        takes = self.effective_metric_params_
        return [
            Classifier(self._fitted(), self._codes[:, output], self.effective_metric_, self._device(), **takes)
            for output in range(len(self._classes))
        ]

    def _votes(self, queries: Distances, exclude_self_from: Optional[int], weights: str) -> list[Voted]:
        rows, radii = self._rows(queries), self._asked_radius(self.radius)
        vote, how = self._vote(weights), Options(self._threads(), exclude_self_from)
        return [one._classify_within(rows.struct, radii, vote, how) for one in self._model()]

    def predict(self, X: Any) -> Array:
        """Predict the label of each query.

        Parameters
        ----------
        X : array or frame, [m, n_features_in_], or None
            None: each fitted row, by all others.

        Returns
        -------
        array of the labels' dtype, [m] or [m, outputs]

        Raises
        ------
        kith.InvalidArgument
            There is a query with no row within the radius, and no `outlier_label`.
        """
        voted = self._voted(X)
        if self.outlier_label_ is None:
            without = np.flatnonzero(voted[0].alone() & (voted[0].code < 0))
            if len(without) and self.no_label is None:
                raise InvalidArgument(
                    f"{self._where()}: No neighbors found for test samples {without[:10]} ({len(without)} of "
                    f"{len(voted[0].code)} queries); take a larger radius, or give outlier_label"
                )
            return self._labels(voted, self.no_label)
        answers = []
        for one, found, outlier in zip(voted, self._classes, self.outlier_label_):
            alone = one.alone()
            answer = labels.decode(np.where(alone, 0, one.code), found, self.no_label, self._where())
            answers.append(labels.put(answer, alone, outlier) if alone.any() else answer)
        return beside(answers) if self.outputs_2d_ else answers[0]

    def predict_proba(self, X: Any) -> Union[Float64, Any]:
        """Predict the share of each class in the score.

        Parameters
        ----------
        X
            As for `predict`.

        Returns
        -------
        array of float64, [m, classes], or a list of these, one per output
            In the order of `classes_`. A query with no row within the radius has 1 for `outlier_label` if that is one
            of the classes, else zeros, with a warning.
        """
        voted = self._voted(X)
        for output, one in enumerate(voted):
            alone = one.alone()
            if not alone.any():
                continue
            if self.outlier_label_ is None and self.no_label is None:
                raise InvalidArgument(
                    f"{self._where()}: No neighbors found for test samples {np.flatnonzero(alone)[:10]}; "
                    "take a larger radius, or give outlier_label"
                )
            if self.outlier_label_ is None:
                continue
            place = np.flatnonzero(self._classes[output] == self.outlier_label_[output])
            if len(place):
                one.share[alone, place[0]] = 1.0
            else:
                warnings.warn(
                    f"{self._where()}: Outlier label {self.outlier_label_[output]} is not in training classes. "
                    "All class probabilities of outliers are 0.",
                    stacklevel=2,
                )
        return self._shares(voted)
