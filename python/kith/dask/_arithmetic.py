"""Decides whether the shards of an index compute in single or in double precision, and converts rows for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Literal, NamedTuple, Optional, cast

import numpy as np

from .._core._errors import InvalidArgument
from .._core._metrics import doubles_by, metric_named
from .._core._types import FLOAT_METRICS
from .._rows._arrays import element_rows_of, rows_of

if TYPE_CHECKING:
    from .._core._types import Arithmetic, Array

Width = Literal["f32", "f64"]  # the arithmetic of an index
Choice = Literal["automatic", "f32", "f64", "exact"]  # exact: f32 if float32 holds every value of such a type, else f64
_CHOICES = ("automatic", "f32", "f64")  # of callers


class Converted(NamedTuple):
    """Holds rows of float32 or of float64, the names of a frame's columns, and the arithmetic that rows choose.
    """

    array: Array
    columns: Optional[list[Any]]
    arithmetic: Width


def checked(arithmetic: Any, centre: Any, where: str, metric: str) -> Choice:
    """Returns ``f32`` if there is a centre, since rows are then rounded once they are moved, and ``f64`` for
    haversine, which computes in it alone; ``f32`` for metrics that compute in it alone; else `arithmetic`."""
    if arithmetic not in _CHOICES:
        raise InvalidArgument(f"{where}: arithmetic={arithmetic!r}; pass one of {', '.join(_CHOICES)}")
    if metric_named(metric) == "haversine" and arithmetic == "automatic":
        return "f64"
    if metric_named(metric) in FLOAT_METRICS and arithmetic != "f64":
        return "f32"
    if centre is None or centre is False:
        return cast(Choice, arithmetic)
    if arithmetic == "f64":
        raise InvalidArgument(
            f"{where}: arithmetic='f64' with a centre, which is for rows that are rounded to f32; leave one of them out"
        )
    return "f32"


def chosen(dtype: Any, arithmetic: Choice) -> Width:
    """Returns the arithmetic of an index of rows of this dtype. ``automatic`` is the choice of `kith.Index`, and
    ``exact`` that of `kith.sklearn`.
    """
    if arithmetic == "automatic":
        return "f64" if np.dtype(dtype).name == "float64" else "f32"  # of any order of bytes
    if arithmetic == "exact":
        return "f32" if np.can_cast(dtype, np.float32) else "f64"
    return arithmetic


def chosen_by_files(names: list[str], dtypes: list[str], arithmetic: Choice, where: str) -> Width:
    """Returns the arithmetic of an index of rows of several files. Refuses files that would choose differently, unless
    ``f64`` is right for all.
    """
    widths = [chosen(dtype, arithmetic) for dtype in dtypes]
    if arithmetic == "exact":
        return "f64" if "f64" in widths else "f32"
    for name, dtype, width in zip(names, dtypes, widths):
        if width != widths[0]:
            raise InvalidArgument(
                f"{where}: {name} holds {np.dtype(dtype).name}, but {names[0]} {np.dtype(dtypes[0]).name}, and shards "
                "compute in one arithmetic; pass arithmetic='f64', or arithmetic='f32', which rounds"
            )
    return widths[0]


def converted(
    x: Any,
    what: str,
    arithmetic: Choice,
    metric: str,
    *,
    quiet: bool = False,
    advice: Optional[Callable[[], str]] = None,
) -> Converted:
    """Converts rows, or queries, to the floats of an index; `quiet` and `advice` are those of `rows_of`."""
    kept: Arithmetic = "f64" if arithmetic == "exact" else arithmetic
    instead = doubles_by(metric, "pass")
    rows = element_rows_of(x, what, False, arithmetic=kept, quiet=quiet, advice=advice, instead=instead, metric=metric)
    array = rows.array
    width: Width = "f64" if arithmetic == "f64" or array.dtype == np.float64 else "f32"
    if array.dtype != np.float64:
        array = rows_of(array, what, quiet=True).array  # float16, bfloat16 and bytes are floats, too
    kind = distance_type(width)
    return Converted(array if array.dtype == kind else np.ascontiguousarray(array, kind), rows.columns, width)


def distance_type(arithmetic: Width) -> Any:
    """Returns the dtype of distances and of radii."""
    return np.float64 if arithmetic == "f64" else np.float32


def row_bytes(columns: int, arithmetic: Width) -> int:
    """Returns the bytes of a row on a device: doubles have floats near them."""
    return columns * (12 if arithmetic == "f64" else 4)
