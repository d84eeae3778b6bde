"""Calls the library's votes and means, for kith.Classifier, kith.Regressor and the estimators of kith.sklearn."""

from __future__ import annotations

import ctypes as c
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._rows._arrays import address
from . import _structs as s
from ._index import Index
from ._library import Handle, check, lib
from ._model import Options, Model, Vote
from ._results import copied, lists_of

if TYPE_CHECKING:
    from ._types import Bool, Distances, Float64, Int64


@dataclass
class Voted:
    """Holds the result of a classification for one output."""

    code: Int64  # [m], NO_CODE if no class wins
    share: Float64  # [m, classes]

    def alone(self) -> Bool:
        """Say which queries have no vote, [m]."""
        without: Bool = np.logical_not(self.share.any(axis=1))
        return without


class Voters(Model):
    """Holds rows with labels, [n, outputs]."""

    _classes: list[Int64]  # for each output, ascending

    def _take(self, handle: Handle, index: Index) -> None:
        super()._take(handle, index)
        self._classes = [_classes_of(handle, output) for output in range(self._outputs)]

    def _labels(self, queries: s.Rows, k: int, vote: Vote, how: Options) -> Int64:
        """Predict labels by the k nearest rows, [m, outputs]."""
        label = np.empty((queries.rows, self._outputs), np.int64)
        handle, chosen = self._handle.value, vote.options()
        self._ask(
            lambda options: int(lib.kith_classifier_predict(handle, queries, k, chosen, options, address(label))),
            queries.rows,
            how,
            k,
        )
        return label

    def _classify(self, queries: s.Rows, k: int, vote: Vote, how: Options) -> list[Voted]:
        """Predict labels with shares by the k nearest rows; returns one answer per output."""
        answers = [_voted(queries.rows, found) for found in self._classes]
        structs = [_classification(answer) for answer in answers]
        pointers = (c.c_void_p * len(structs))(*(c.addressof(struct) for struct in structs))
        handle, chosen = self._handle.value, vote.options()
        self._ask(
            lambda options: int(
                lib.kith_classifier_classify(handle, queries, k, chosen, options, len(structs), c.addressof(pointers))
            ),
            queries.rows,
            how,
            k,
        )
        return answers

    def _classify_within(self, queries: s.Rows, radii: Distances, vote: Vote, how: Options) -> Voted:
        """Classify by all rows within a radius, one for all queries or one per query, for the first output."""
        answer = _voted(queries.rows, self._classes[0])
        struct, handle, chosen = _classification(answer), self._handle.value, vote.options()
        doubles, floats = lib.kith_classifier_classify_within_f64, lib.kith_classifier_classify_within
        ask = doubles if radii.dtype == np.float64 else floats
        self._ask(
            lambda options: int(ask(handle, queries, address(radii), radii.size, chosen, options, struct, None)),
            queries.rows,
            how,
        )
        return answer


def _classes_of(handle: Handle, output: int) -> Int64:
    first, count = c.c_void_p(), c.c_int64()
    check(lib.kith_classifier_classes(handle.value, output, c.byref(first), c.byref(count), None))
    classes = copied(first.value, count.value, np.dtype(np.int64))
    classes.setflags(write=False)
    return classes


def _voted(m: int, classes: Int64) -> Voted:
    return Voted(np.empty(m, np.int64), np.empty((m, len(classes))))


def _classification(answer: Voted) -> s.Classification:
    return s.sized(s.Classification, label=address(answer.code), share=address(answer.share))


class Averages(Model):
    """Holds rows with values, [n, outputs]."""

    def _means(self, queries: s.Rows, k: int, vote: Vote, how: Options) -> Float64:
        """Predict the weighted means of the k nearest rows, [m, outputs]."""
        value = np.empty((queries.rows, self._outputs))
        handle, chosen = self._handle.value, vote.options()
        self._ask(
            lambda options: int(
                lib.kith_regressor_predict(handle, queries, k, chosen, options, address(value), None, None)
            ),
            queries.rows,
            how,
            k,
        )
        return value

    def _means_within(self, queries: s.Rows, radii: Distances, vote: Vote, how: Options) -> tuple[Float64, Int64]:
        """Predict the weighted means of the rows within a radius, [m, outputs], NaN if there is none; also return
        their number, [m].
        """
        value, out = np.empty((queries.rows, self._outputs)), c.c_void_p()
        handle, chosen = self._handle.value, vote.options()
        doubles, floats = lib.kith_regressor_predict_within_f64, lib.kith_regressor_predict_within
        ask = doubles if radii.dtype == np.float64 else floats
        self._ask(
            lambda options: int(
                ask(
                    handle, queries, address(radii), radii.size, chosen, options, address(value), c.byref(out)
                )
            ),
            queries.rows,
            how,
        )
        first = lists_of(Handle(out.value, lib.kith_within_free), radii.dtype.type)[0]
        return value, np.diff(first)
