"""Declares classifiers and regressors, whose rows may be added and removed."""

from __future__ import annotations

from typing import Any, Optional, Union

from .._rows._answers import labels_of, values_of
from . import _structs as s
from ._errors import InvalidArgument
from ._model import Options, Vote, vote_of
from ._types import (
    AllWeights,
    Array,
    DeviceLike,
    Distances,
    Float64,
    How,
    IndexArguments,
    Int64,
    MetricName,
    Tie,
    Unpack,
)
from ._vote import Averages, Voted, Voters
from ._watch import Progress


class Classifier(Voters):
    """Classifies by the k nearest rows on a device: the most frequent label wins. Every device gives the same bits.

    A `Classifier` never changes: any number of threads may use it at once. It cannot be pickled. `kith.sklearn` has
    classifiers of labels of any kind.

    Parameters
    ----------
    X : array, [n, dims], str or path, or Index
        As for `Index`, which is made of it. An `Index` has its metric, device and options: give none of them. For an
        `Index` or an index file, labels and weights are in the order of its `numbers`.
    labels : array of int, [n] or [n, outputs]
        Any signed 64-bit numbers. There is a separate vote for each output, by one search.
    metric, device
        As for `Index`.
    sample_weights : array, [n], optional
        Finite, 0 or more, of float32: the vote of each row is multiplied by it. None: all 1.
    **arguments
        All other arguments of `Index`, such as `storage`, `placement` or `centre`. With `ids`, labels and weights go
        where their rows go.

    Raises
    ------
    kith.InvalidArgument
        As `Index`; labels that are no whole numbers, or are not one a row.
    kith.BadFile, kith.Unavailable, kith.OutOfMemory, kith.Unsupported
        As `Index`.

    Examples
    --------
    >>> import numpy as np, kith
    >>> X = np.array([[0], [1], [9]], np.float32)
    >>> voter = kith.Classifier(X, [7, 7, -5], device="cpu")
    >>> voter.predict([[8.0], [0.5]], 1).tolist(), voter.classes.tolist()
    ([-5, 7], [-5, 7])
    >>> voter.without([2]).with_([[8.0]], [30]).predict([[8.0]], 1).tolist()
    [30]
    """

    _kind = "classifier"

    def __init__(
        self,
        X: Any,
        labels: Any,
        metric: Optional[MetricName] = None,
        device: DeviceLike = "auto",
        *,
        sample_weights: Optional[Any] = None,
        **arguments: Unpack[IndexArguments],
    ) -> None:
        self._train(X, labels, metric, device, sample_weights, arguments)

    def _answers_of(self, answers: Any, n: int, where: str, outputs: Optional[int] = None) -> Array:
        return labels_of(answers, n, where, outputs)

    def _shown_answers(self) -> str:
        shown = [_few_of(classes.tolist()) for classes in self._classes]
        return f"classes {shown[0]}" if len(shown) == 1 else f"{len(shown)} outputs of classes {', '.join(shown)}"

    def with_(
        self, more: Any, labels: Any, *, sample_weights: Optional[Any] = None, ids: Optional[Any] = None
    ) -> Classifier:
        """Return a `Classifier` of these rows and more, whose numbers continue. This one does not change.

        Parameters
        ----------
        more : array, [rows, dims]
        labels : array of int, [rows] or [rows, outputs]
            They may be new ones.
        sample_weights : array, [rows], optional
            None: all 1.
        ids : sequence of int, optional
            As for `Index.with_`.
        """
        return self._grown(more, labels, sample_weights, ids)

    @property
    def classes(self) -> Union[Int64, Any]:
        """The distinct labels, int64, ascending; a list of these, one per output, if labels are [n, outputs]."""
        return self._classes[0] if self._flat else list(self._classes)

    def predict(
        self,
        Q: Any,
        k: Optional[int] = None,
        *,
        within: Optional[Any] = None,
        weights: AllWeights = "uniform",
        tie: Tie = "smallest_label",
        rank_weights: Optional[Any] = None,
        priors: Optional[Any] = None,
        costs: Optional[Any] = None,
        no_label: Optional[int] = None,
        filter: Optional[Any] = None,
        exclude_self_from: Optional[int] = None,
        groups: Optional[Any] = None,
        threads: int = 0,
        memory_limit: int = 0,
        how: Optional[How] = None,
        progress: Progress = False,
    ) -> Int64:
        """Predict the label of each query.

        Parameters
        ----------
        Q : array, [m, dims]
        k : int
            1 to n.
        within : float or array, [m], optional
            Lets every row within this distance vote, instead of the k nearest; only with one output.
        weights : str
            Says how much the vote of a neighbour weighs. `uniform`, `distance`, `rank`.
        tie : str
            Says which class wins if several lead with the same score. What a rule leaves undecided goes to the
            smallest label. A neighbour whose vote weighs 0 breaks no tie. `smallest_label`, `nearest`,
            `smallest_distance`, `fewer_neighbors`, `abstain`.
        rank_weights : array, optional
            [at least k], finite, 0 or more: the weight of each rank, for weights by rank; else empty.
        priors : array, optional
            [classes], 1e-100 ... 1e100, in the order of the classes: the score of each class is multiplied by
            its prior. None: all 1.
        costs : array, optional
            [classes, classes], each 0 or 1e-100 ... 1e100: the cost of the class of the column as the answer if
            that of the row is right. None: 0 on the diagonal, else 1.
        no_label : int, optional
            None: -2^63.
        filter, exclude_self_from, groups, threads, memory_limit, how, progress
            As for `Index.search`.

        Returns
        -------
        array of int64, [m] or [m, outputs]
            In the shape of the labels; on the device of `Q` if that is an array on a GPU. It is `no_label` if no
            label wins: all neighbours weigh 0, there are none, or the tie abstains.

        Raises
        ------
        kith.InvalidArgument
            As `Index.search`; or there are no such weights or no such tie, or both k and within are given.
        kith.Unsupported
            Weights by distance with ``negative_dot``.
        """
        where = "kith.Classifier.predict"
        vote = vote_of(where, weights, tie, no_label, rank_weights=rank_weights, priors=priors, costs=costs)
        options = Options(threads, exclude_self_from, progress, filter, memory_limit, how, groups=groups)
        rows, limit, options = self._asked(where, Q, k, within, options)
        if within is None:
            labels: Int64 = self._labels(rows.struct, limit, vote, options)
        else:
            labels = self._voted_within(rows.struct, limit, vote, options).code.reshape(-1, 1)
        return self._returned(labels, rows)  # type: ignore[no-any-return]

    def predict_proba(
        self,
        Q: Any,
        k: Optional[int] = None,
        *,
        within: Optional[Any] = None,
        weights: AllWeights = "uniform",
        rank_weights: Optional[Any] = None,
        priors: Optional[Any] = None,
        filter: Optional[Any] = None,
        exclude_self_from: Optional[int] = None,
        groups: Optional[Any] = None,
        threads: int = 0,
        memory_limit: int = 0,
        how: Optional[How] = None,
        progress: Progress = False,
    ) -> Union[Float64, Any]:
        """Predict the share of each label in the score; parameters are those of `predict`.

        Returns
        -------
        array of float64, [m, classes], or a list of these, one per output
            In the order of `classes`; zeros if all neighbours weigh 0.
        """
        where = "kith.Classifier.predict_proba"
        vote = vote_of(where, weights, "smallest_label", rank_weights=rank_weights, priors=priors)
        options = Options(threads, exclude_self_from, progress, filter, memory_limit, how, groups=groups)
        rows, limit, options = self._asked(where, Q, k, within, options)
        if within is None:
            voted = self._classify(rows.struct, limit, vote, options)
        else:
            voted = [self._voted_within(rows.struct, limit, vote, options)]
        shares = [rows.returned(one.share) for one in voted]
        return shares[0] if self._flat else shares

    def _voted_within(self, queries: s.Rows, radii: Distances, vote: Vote, options: Options) -> Voted:
        if self._outputs > 1:
            raise InvalidArgument(f"{options.where}: within is for one output, and there are {self._outputs}; pass k")
        return self._classify_within(queries, radii, vote, options)


class Regressor(Averages):
    """Predicts the mean value of the k nearest rows on a device. Every device gives the same bits.

    A `Regressor` never changes: any number of threads may use it at once. It cannot be pickled.

    Parameters
    ----------
    X : array, [n, dims], str or path, or Index
    values : array, [n] or [n, outputs]
        Finite numbers, which become float64.
    metric, device, sample_weights, **arguments
        As for `Classifier`, as is `X`.

    Raises
    ------
    kith.InvalidArgument
        As `Index`; values that are no finite numbers, or are not one a row.
    kith.BadFile, kith.Unavailable, kith.OutOfMemory, kith.Unsupported
        As `Index`.

    Examples
    --------
    >>> import numpy as np, kith
    >>> prices = kith.Regressor(np.array([[0], [1], [9]], np.float32), [2.0, 4.0, 100.0], device="cpu")
    >>> prices.predict([[0.25]], 2).tolist()
    [3.0]
    >>> prices.without([1]).predict([[0.25]], 2).tolist()
    [51.0]
    """

    _kind = "regressor"

    def __init__(
        self,
        X: Any,
        values: Any,
        metric: Optional[MetricName] = None,
        device: DeviceLike = "auto",
        *,
        sample_weights: Optional[Any] = None,
        **arguments: Unpack[IndexArguments],
    ) -> None:
        self._train(X, values, metric, device, sample_weights, arguments)

    def _answers_of(self, answers: Any, n: int, where: str, outputs: Optional[int] = None) -> Array:
        return values_of(answers, n, where, outputs)

    def _shown_answers(self) -> str:
        return f"{self._outputs} {'value' if self._outputs == 1 else 'values'} a row"

    def with_(
        self, more: Any, values: Any, *, sample_weights: Optional[Any] = None, ids: Optional[Any] = None
    ) -> Regressor:
        """Return a `Regressor` of these rows and more, whose numbers continue. This one does not change.

        Parameters
        ----------
        more : array, [rows, dims]
        values : array, [rows] or [rows, outputs]
        sample_weights, ids
            As for `Classifier.with_`.
        """
        return self._grown(more, values, sample_weights, ids)

    def predict(
        self,
        Q: Any,
        k: Optional[int] = None,
        *,
        within: Optional[Any] = None,
        weights: AllWeights = "uniform",
        rank_weights: Optional[Any] = None,
        filter: Optional[Any] = None,
        exclude_self_from: Optional[int] = None,
        groups: Optional[Any] = None,
        threads: int = 0,
        memory_limit: int = 0,
        how: Optional[How] = None,
        progress: Progress = False,
    ) -> Float64:
        """Predict the weighted mean of the values of the k nearest rows, or of those within a distance.

        Parameters and errors are those of `Classifier.predict`.

        Returns
        -------
        array of float64, [m] or [m, outputs]
            In the shape of the values; NaN if all neighbours weigh 0, or there are none.
        """
        where = "kith.Regressor.predict"
        vote = vote_of(where, weights, "smallest_label", rank_weights=rank_weights)  # means have no ties
        options = Options(threads, exclude_self_from, progress, filter, memory_limit, how, groups=groups)
        rows, limit, options = self._asked(where, Q, k, within, options)
        if within is None:
            means: Float64 = self._means(rows.struct, limit, vote, options)
        else:
            means = self._means_within(rows.struct, limit, vote, options)[0]
        return self._returned(means, rows)  # type: ignore[no-any-return]


def _few_of(classes: list[int]) -> str:
    most = 4
    return repr(classes) if len(classes) <= most else f"[{', '.join(map(str, classes[:most]))}, ...: {len(classes)}]"
