"""Converts labels of any dtype to codes 0, 1, ..., and back."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Optional

import numpy as np
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets

from .._core._errors import InvalidArgument

if TYPE_CHECKING:
    from .._rows._answers import Labels
    from .._core._types import Array, Float64, Int64


def encode(given: Labels, where: str) -> tuple[list[Array], Int64, bool]:
    """Returns the sorted classes of each output, codes [n, outputs], and whether `y` had several columns."""
    if given.together.ndim == 2 and len(given.columns) == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
            "(n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=3,
        )
    classes, codes = [], np.empty((len(given.together), len(given.columns)), np.int64)
    for output, column in enumerate(given.columns):
        try:
            check_classification_targets(column)
            found, codes[:, output] = np.unique(column, return_inverse=True)
        except TypeError:
            kinds = sorted({type(label).__name__ for label in column})
            raise InvalidArgument(
                f"{where}: y has labels of types {', '.join(kinds)}, which do not sort; make them of one type"
            ) from None
        classes.append(found)
    return classes, codes, len(classes) > 1


def decode(
    codes: Int64,
    classes: Array,
    no_label: Any,
    where: str,
    advice: str = "pass no_label, the answer for such queries",
) -> Array:
    """Returns the labels of codes. A code below 0 has no winner: it becomes `no_label`, or is refused with advice."""
    without = codes < 0
    if not without.any():
        taken: Array = classes.take(codes)
        return taken
    if no_label is None:
        q = int(np.argmax(without))
        raise InvalidArgument(
            f"{where}: no class wins for {int(without.sum())} of {len(codes)} queries, first query {q}; {advice}"
        )
    return put(classes.take(np.maximum(codes, 0)), without, no_label)


def put(labels: Array, where: Array, label: Any) -> Array:
    """Returns `labels` with `label` where a mask says so, in a dtype that holds both."""
    # Text beside numbers, or a longer text, needs another dtype.
    kinds = {labels.dtype.kind, np.asarray(label).dtype.kind}
    labels = labels.astype(object if len(kinds) > 1 else np.result_type(labels, np.asarray(label)))
    labels[where] = label
    return labels


def by_class(values: Any, classes: list[Array], name: str, where: str) -> Optional[Float64]:
    """Returns priors [classes], or costs [classes, classes], of the only output, from an array or a dict by label."""
    if values is None:
        return None
    if len(classes) != 1:
        raise InvalidArgument(f"{where}: {name} with {len(classes)} outputs; fit one estimator for each output")
    labels = classes[0].tolist()
    if isinstance(values, dict):
        missing = [label for label in labels if label not in values]
        if missing or len(values) != len(labels):
            raise InvalidArgument(f"{where}: {name} is for {list(values)!r}, but the classes are {labels!r}")
        values = [values[label] for label in labels]
        if values and isinstance(values[0], dict):
            values = [[row[label] for label in labels] for row in values]
    return np.ascontiguousarray(values, np.float64)
