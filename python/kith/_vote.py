"""Classifiers and regressors of the library, under the estimators of kith.sklearn."""

from __future__ import annotations

import ctypes as c
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

import numpy as np

from . import _structs as s
from ._arrays import address, struct_of
from ._device import Device, open_device
from ._index import Index
from ._library import Handle, lib, new_handle
from ._results import lists_of
from ._watch import call

if TYPE_CHECKING:
    from ._types import Bool, Float32, Float64, Int64


NO_LABEL = -1  # no class has this code


class Vote(NamedTuple):
    """kith_vote_options, as a caller says them."""

    weights: str = "uniform"
    tie: str = "smallest_label"
    priors: Optional[Float64] = None  # [classes]
    costs: Optional[Float64] = None  # [classes, classes]


@dataclass
class Voted:
    """What one output of a classification gives."""

    code: Int64  # [m], NO_LABEL where no class wins
    share: Float64  # [m, classes]

    def alone(self) -> Bool:
        """The queries without a vote, [m]."""
        without: Bool = np.logical_not(self.share.any(axis=1))
        return without


def _options(vote: Vote) -> s.VoteOptions:
    options = s.vote_options()
    options.weights, options.tie = vote.weights.encode(), vote.tie.encode()
    options.no_label = NO_LABEL
    if vote.priors is not None:
        options.priors, options.prior_count = address(vote.priors), vote.priors.size
    if vote.costs is not None:
        options.costs, options.cost_count = address(vote.costs), vote.costs.size
    return options


def _search(threads: int, self_from: int) -> s.SearchOptions:
    options = s.search_options()
    options.threads, options.self = threads, self_from
    return options


class _Model:
    """A handle of rows with answers."""

    def __init__(self, X: Float32, device: Union[str, Device], handle: Handle, index: Any) -> None:
        self._device = open_device(device)
        self._handle = handle
        self._work = X.shape[0] * X.shape[1]
        self._index_function = index

    def index(self) -> Index:
        """Its rows, which share their device memory."""
        handle = new_handle(lib.kith_index_free, self._index_function, self._handle.value)
        return Index._of(handle, self._device, None)


class Classifier(_Model):
    """Rows with codes of classes, [n, outputs], each 0 ... classes - 1."""

    def __init__(self, X: Float32, codes: Int64, classes: list[int], metric: str, device: Union[str, Device]) -> None:
        self._classes = classes
        options = s.sized(s.TrainOptions, metric=metric.encode())
        handle = new_handle(
            lib.kith_classifier_free,
            lib.kith_classifier_new,
            open_device(device).handle,
            struct_of(X),
            address(codes),
            len(classes),
            options,
        )
        super().__init__(X, device, handle, lib.kith_classifier_index)

    def classify(self, Q: Float32, k: int, vote: Vote, threads: int, self_from: int) -> list[Voted]:
        """By the k nearest rows; one answer an output."""
        answers = [Voted(np.empty(len(Q), np.int64), np.empty((len(Q), size))) for size in self._classes]
        structs = [_classification(answer) for answer in answers]
        pointers = (c.c_void_p * len(structs))(*(c.addressof(struct) for struct in structs))
        handle, queries, chosen = self._handle.value, struct_of(Q), _options(vote)
        call(
            lambda options: int(
                lib.kith_classifier_classify_outputs(handle, queries, k, chosen, options, c.addressof(pointers))
            ),
            _search(threads, self_from),
            len(Q) * self._work // self._device.pace,
        )
        return answers

    def classify_within(self, Q: Float32, radius: float, vote: Vote, threads: int, self_from: int) -> Voted:
        """By all rows within a radius; the first output."""
        answer = Voted(np.empty(len(Q), np.int64), np.empty((len(Q), self._classes[0])))
        struct, radii = _classification(answer), np.array([radius], np.float32)
        handle, queries, chosen = self._handle.value, struct_of(Q), _options(vote)
        call(
            lambda options: int(
                lib.kith_classifier_classify_within(handle, queries, address(radii), 1, chosen, options, struct, None)
            ),
            _search(threads, self_from),
            len(Q) * self._work // self._device.pace,
        )
        return answer


def _classification(answer: Voted) -> s.Classification:
    return s.sized(s.Classification, label=address(answer.code), share=address(answer.share))


class Regressor(_Model):
    """Rows with values, [n, outputs]."""

    def __init__(self, X: Float32, values: Float64, metric: str, device: Union[str, Device]) -> None:
        self._outputs = values.shape[1]
        options = s.sized(s.TrainOptions, metric=metric.encode())
        handle = new_handle(
            lib.kith_regressor_free,
            lib.kith_regressor_new,
            open_device(device).handle,
            struct_of(X),
            address(values),
            self._outputs,
            options,
        )
        super().__init__(X, device, handle, lib.kith_regressor_index)

    def predict(self, Q: Float32, k: int, vote: Vote, threads: int, self_from: int) -> Float64:
        """The weighted means of the k nearest rows, [m, outputs]."""
        value = np.empty((len(Q), self._outputs))
        handle, queries, chosen = self._handle.value, struct_of(Q), _options(vote)
        call(
            lambda options: int(
                lib.kith_regressor_predict(handle, queries, k, chosen, options, address(value), None, None)
            ),
            _search(threads, self_from),
            len(Q) * self._work // self._device.pace,
        )
        return value

    def predict_within(
        self, Q: Float32, radius: float, vote: Vote, threads: int, self_from: int
    ) -> tuple[Float64, Int64]:
        """The weighted means of the rows within a radius, [m, outputs], NaN where there is none; their number, [m]."""
        value, radii, out = np.empty((len(Q), self._outputs)), np.array([radius], np.float32), c.c_void_p()
        handle, queries, chosen = self._handle.value, struct_of(Q), _options(vote)
        call(
            lambda options: int(
                lib.kith_regressor_predict_within(
                    handle, queries, address(radii), 1, chosen, options, address(value), c.byref(out)
                )
            ),
            _search(threads, self_from),
            len(Q) * self._work // self._device.pace,
        )
        first = lists_of(Handle(out.value, lib.kith_within_free))[0]
        return value, np.diff(first)
