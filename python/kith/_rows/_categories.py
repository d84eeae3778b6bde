"""Numbers the categories of pandas' frames, for metrics that ask whether categories are equal."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from .._core._errors import InvalidArgument

MOST = 2**24  # whole numbers up to here are different as float32
UNKNOWN = -1.0  # the number of categories that the training frame lacks: it is that of no training row


class FrameCategories:
    """The categories of a training frame's columns of the data type ``category``, by their places.

    `gaps`: they may be missing, and become NaN.
    """

    def __init__(self, lists: dict[int, list[Any]], gaps: bool = False) -> None:
        self._lists, self._gaps = lists, gaps

    @classmethod
    def of(cls, x: Any, gaps: bool = False) -> Optional[FrameCategories]:
        """Return those of a frame; None if it has no such column, or is none of pandas."""
        if not _is_frame(x):
            return None
        kinds = enumerate(x.dtypes)
        lists = {place: list(kind.categories) for place, kind in kinds if getattr(kind, "name", "") == "category"}
        for place, categories in lists.items():
            if len(categories) > MOST:
                raise InvalidArgument(
                    f"column {place} ({x.columns[place]!r}) has {len(categories)} categories, and {MOST} can be told "
                    "apart; leave the column out, or join categories"
                )
        return cls(lists, gaps) if lists else None

    @property
    def places(self) -> list[int]:
        return list(self._lists)

    def numbered(self, x: Any, what: str, known: bool = False) -> Any:
        """Return a frame with numbers in the place of categories; anything else as it is.

        `known`: categories that the training frame lacks are refused.
        """
        if not _is_frame(x):
            return x
        numbered = x.copy(deep=False)
        for place, categories in self._lists.items():
            if place >= x.shape[1]:
                continue  # the number of columns is refused later
            column, name = x.iloc[:, place], x.columns[place]
            if (gone := column.isna().to_numpy(bool)).any() and not self._gaps:
                raise InvalidArgument(
                    f"{what}: row {int(np.argmax(gone))}, column {place} ({name!r}) holds no category; fill it in, "
                    "leave the row out, or choose metric='nan_gower', which takes missing values"
                )
            codes = _codes(column, categories)
            if known and (other := (codes < 0) & ~gone).any():
                row = int(np.argmax(other))
                raise InvalidArgument(
                    f"{what}: row {row}, column {place} ({name!r}) holds {column.iloc[row]!r}, which is no category of "
                    "the training frame; give the column all categories when the index is made"
                )
            codes = np.where(codes < 0, UNKNOWN, codes).astype(np.float32)
            numbered.isetitem(place, np.where(gone, np.float32(np.nan), codes))
        return numbered


def _codes(column: Any, categories: list[Any]) -> Any:
    """Return the places of a column's values among categories, and -1 where there is none, or no value.

    Only the values that are there are looked up, each once. Numbers are compared as objects of Python, which are equal
    only if their values are: pandas would round whole numbers to float64 beside missing values or floats.
    """
    from pandas import Index, factorize

    if column.dtype.name == "category":
        places, values = column.cat.codes.to_numpy(), column.cat.categories
    else:
        places, values = factorize(column)  # of missing values, places are -1
    known = Index(categories)
    if known.dtype.kind in "iufc" and values.dtype.kind != "b":
        known, values = Index(categories, dtype=object), values.astype(object)
    return np.append(known.get_indexer(values), -1)[places]


def names_of(x: Any) -> Optional[list[Any]]:
    """Return the names of the columns of a frame of pandas; None of anything else."""
    return list(x.columns) if _is_frame(x) else None


def _is_frame(x: Any) -> bool:
    return type(x).__module__.partition(".")[0] == "pandas" and hasattr(x, "dtypes") and hasattr(x, "columns")
