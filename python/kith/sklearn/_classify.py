"""Declares what classifiers share, and the classifier by k neighbours."""

from __future__ import annotations

from typing import Any, Callable, Optional, TypeVar, Union

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .._core._errors import InvalidArgument
from .._core._model import NO_CODE, Options, Vote
from .._core._trained import Classifier
from .._core._types import (
    Algorithm,
    Array,
    DeviceLike,
    Distances,
    Float64,
    Int64,
    MetricOfEstimators,
    Tie,
    WeightsOfEstimators,
)
from .._core._vote import Voted
from .._rows._answers import beside, label_columns
from . import _labels as labels
from . import _parameters as parameters
from ._base import Base, KNeighbors
from ._weights import Weighed, shares_by_weights


_T = TypeVar("_T", bound="_Classifying")


class _Classifying(ClassifierMixin, Base):  # type: ignore[misc,unused-ignore]
    """Holds labels, and turns votes into answers.

    Attributes
    ----------
    classes_ : array, [classes], or a list of these
        The distinct labels, sorted; a list if `y` has several columns.
    outputs_2d_ : bool
        Whether `y` has several columns.
    """

    def _vote_by(self, weights: Any, tie: Any, priors: Any, costs: Any, no_label: Any) -> None:
        """Stores the parameters of every classifier unchanged."""
        self.weights = weights
        self.tie = tie
        self.priors = priors
        self.costs = costs
        self.no_label = no_label

    def fit(self: _T, X: Any, y: Any = None) -> _T:
        """Keep rows and labels on the device.

        Parameters
        ----------
        X : array or frame, [n, columns]
        y : array, [n] or [n, outputs]
            Labels of any dtype that can be sorted; of frames and series, too. Each output keeps its own dtype.

        Returns
        -------
        self
        """
        where = self._where()
        given = label_columns(y if y is not None else _required(where), f"{where}: y")
        rows, _ = self._check_rows(X, reset=True, y=given.together)
        classes, self._codes, self.outputs_2d_ = labels.encode(given, where)
        self._classes = classes
        self.classes_ = classes if self.outputs_2d_ else classes[0]
        parameters.weights_of(self.weights, where)
        self._fit_rows(rows, X)
        self._made = self._make()
        return self

    def _voted(self, X: Any) -> list[Voted]:
        """Returns one vote per output."""
        check_is_fitted(self, "_fit_X")
        weights = parameters.weights_of(self.weights, self._where())
        if callable(weights):
            self._plain_vote()
            return _voted_by(self._weighed(X, weights), self._codes, self._classes)
        return self._votes(*self._queries(X), weights)

    def _weighed(self, X: Any, weights: Callable[..., Any]) -> Weighed:
        raise NotImplementedError

    def _votes(self, queries: Distances, exclude_self_from: Optional[int], weights: str) -> list[Voted]:
        raise NotImplementedError

    def _vote(self, weights: str) -> Vote:
        where = self._where()
        return Vote(
            weights,
            self.tie,
            labels.by_class(self.priors, self._classes, "priors", where),
            labels.by_class(self.costs, self._classes, "costs", where),
        )

    def _plain_vote(self) -> None:
        """Refuses those of kith's own parameters that do not work with a function as weights."""
        if self.tie != "smallest_label" or self.priors is not None or self.costs is not None:
            raise InvalidArgument(
                f"{self._where()}: tie, priors and costs with a function as weights; use 'uniform' or 'distance'"
            )

    def _labels(self, voted: list[Voted], no_label: Any) -> Array:
        answers = [
            labels.decode(one.code, classes, no_label, self._where()) for one, classes in zip(voted, self._classes)
        ]
        return beside(answers) if self.outputs_2d_ else answers[0]

    def _shares(self, voted: list[Voted]) -> Any:
        return [one.share for one in voted] if self.outputs_2d_ else voted[0].share

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the share of right answers; without `X` each fitted row is classified by all others."""
        from sklearn.metrics import accuracy_score

        where = self._where()
        right = label_columns(y if y is not None else _required(where), f"{where}: y").together
        return float(accuracy_score(right, self.predict(X), sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags


def _required(where: str) -> Any:
    raise InvalidArgument(f"{where}: requires y to be passed, but the target y is None")


def _voted_by(weighed: Weighed, codes: Int64, classes: list[Any]) -> list[Voted]:
    """Count votes with weights that the caller's function computes from distances."""
    voted = []
    for output, found in enumerate(classes):
        share = shares_by_weights(weighed, codes[:, output], len(found))
        code = np.where(share.any(axis=1), share.argmax(axis=1), NO_CODE).astype(np.int64)
        voted.append(Voted(code, share))
    return voted


class KNeighborsClassifier(KNeighbors, _Classifying):
    """Predicts the most frequent label of the k nearest rows, as `sklearn.neighbors.KNeighborsClassifier`.

    Parameters
    ----------
    n_neighbors : int
    weights : {"uniform", "distance"} or callable
        The weight of a vote: 1, 1 / distance, or the result of a function of distances [m, k].
    algorithm, leaf_size, p, metric, metric_params, n_jobs, device
        As for `NearestNeighbors`.
    tie : str
        kith's own: says which class wins if several have the same score: ``smallest_label``, ``nearest``,
        ``smallest_distance``, ``fewer_neighbors``, ``abstain`` (docs/contract.md, section 5).
    priors : array, [classes], or dict by label, optional
        kith's own: the score of each class is multiplied by its prior. None: all 1.
    costs : array, [classes, classes], or dict of dicts, optional
        kith's own: the cost of the class of the column as the answer if that of the row is right.
    no_label : label, optional
        kith's own: the answer for a query that abstains or has no vote, such as one whose missing
        values leave it no neighbours; None refuses such queries.

    Examples
    --------
    >>> from kith.sklearn import KNeighborsClassifier
    >>> model = KNeighborsClassifier(n_neighbors=3).fit([[0.0], [1], [2], [3]], ["a", "a", "b", "b"])
    >>> print(model.predict([[1.1]])[0], model.predict_proba([[0.9]]).round(3).tolist())
    a [[0.667, 0.333]]
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
        tie: Tie = "smallest_label",
        priors: Any = None,
        costs: Any = None,
        no_label: Any = None,
    ) -> None:
        super().__init__(algorithm, leaf_size, metric, p, metric_params, n_jobs, device)
        self.n_neighbors = n_neighbors
        self._vote_by(weights, tie, priors, costs, no_label)

    def _make(self) -> Classifier:
        takes = self.effective_metric_params_
        return Classifier(self._fitted(), self._codes, self.effective_metric_, self._device(), **takes)

    def _votes(self, queries: Distances, exclude_self_from: Optional[int], weights: str) -> list[Voted]:
        k = self._neighbors(self.n_neighbors, len(queries), exclude_self_from)
        model: Classifier = self._model()
        rows, how = self._rows(queries), Options(self._threads(), exclude_self_from)
        return model._classify(rows.struct, k, self._vote(weights), how)

    def predict(self, X: Any) -> Array:
        """Predict the label of each query.

        Parameters
        ----------
        X : array or frame, [m, n_features_in_], or None
            None: each fitted row, by all others.

        Returns
        -------
        array of the labels' dtype, [m] or [m, outputs]
        """
        return self._labels(self._voted(X), self.no_label)

    def predict_proba(self, X: Any) -> Union[Float64, Any]:
        """Predict the share of each class in the score.

        Parameters
        ----------
        X
            As for `predict`.

        Returns
        -------
        array of float64, [m, classes], or a list of these, one per output
            In the order of `classes_`; zeros for a query without a vote.
        """
        return self._shares(self._voted(X))
