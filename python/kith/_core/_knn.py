"""Finds the nearest of some rows once, without an index that is kept."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any, Optional

import numpy as np

from .._rows._arrays import Rows, address, element_rows_of, kept_elements, kept_rows_of, new_arrays, outputs
from .._rows._limits import filter_words, radius_of
from . import _structs as s
from ._checks import advice_on_centre, check_columns, metric_name, search_options, whole
from ._device import Device, open_device
from ._errors import Error
from ._index import Index
from ._library import lib
from ._metrics import doubles_by, metric_named
from ._results import Neighbors
from ._types import Arithmetic, DeviceLike, Distances, Element, How, Int64, MetricName, Placement
from ._watch import Progress, call

_WHERE = "kith.knn"
_FLOATS = kept_elements(False, False)  # what becomes floats without a copy
# The metrics by which the library may search rows where they lie; by all others it makes an index.
_STRAIGHT = ("l2", "squared_l2", "l1", "linf", "negative_dot", "cosine")


def knn(
    X: Any,
    Q: Any,
    k: int,
    metric: Optional[MetricName] = None,
    device: DeviceLike = "auto",
    *,
    filter: Optional[Any] = None,
    out: Optional[tuple[Distances, Int64]] = None,
    exclude_self_from: Optional[int] = None,
    progress: Progress = False,
    threads: int = 0,
    memory_limit: int = 0,
    how: Optional[How] = None,
    radius: Optional[float] = None,
    centre: Optional[Any] = None,
    box: Optional[Any] = None,
    w: Optional[Any] = None,
    V: Optional[Any] = None,
    VI: Optional[Any] = None,
    degrees: bool = False,
    p: Optional[float] = None,
    categorical: Optional[Any] = None,
    ranges: Optional[Any] = None,
    features: Optional[Any] = None,
    element: Optional[Element] = None,
    placement: Placement = "automatic",
    shares: Optional[Any] = None,
    arithmetic: Arithmetic = "automatic",
) -> Neighbors:
    """Find the k rows nearest to each query, exactly, without an index that is kept.

    It gives the bits of ``Index(X, metric, device).search(Q, k)``. On a CPU few queries are compared with the rows where
    these lie, in a half to a quarter of the time of an `Index` and its first search; otherwise an `Index` is made,
    searched and forgotten. For several searches of the same rows make an `Index`.

    Parameters
    ----------
    X : array, [n, dims], or path
        Rows, or a file, as for `Index`.
    Q : array, [m, dims]
        Queries.
    k : int
        1 to n.
    metric, device
        As for `Index`.
    filter, out, exclude_self_from, progress, threads, memory_limit, how, radius
        As for `Index.search`.
    centre, box, w, V, VI, degrees, p, categorical, ranges, features, element, placement, shares, arithmetic
        As for `Index`.

    Returns
    -------
    Neighbors
        ``distance`` [m, k] and ``row`` [m, k], as `Index.search` returns them.

    Raises
    ------
    As `Index` and `Index.search`.

    Examples
    --------
    >>> import numpy as np, kith
    >>> X = np.array([[0, 0], [0, 1], [9, 9]], np.float32)
    >>> kith.knn(X, np.array([[1, 1]], np.float32), 2, device="cpu").row.tolist()
    [[1, 0]]
    """
    opened, name = open_device(device), metric_named("l2" if metric is None else metric_name(metric, _WHERE))
    wishes = centre is not None or box is not None or w is not None or V is not None or VI is not None or degrees
    wishes = wishes or p is not None or categorical is not None or ranges is not None or features is not None
    wishes = wishes or element is not None or shares is not None
    wishes = wishes or placement != "automatic" or arithmetic != "automatic" or isinstance(X, (str, os.PathLike))
    if name in _STRAIGHT and not wishes:
        X = _rows(X, "X", name, opened, "automatic")
        if _are_floats(X):
            options = None  # the defaults, which cost a small search nothing
            try:
                Q = _rows(Q, "Q", name, opened, "f32")
                check_columns(X.columns, Q.columns, f"{_WHERE}: Q")
                k = whole(k, f"{_WHERE}: k")
                limits = filter is not None or radius is not None or exclude_self_from is not None
                if limits or threads or memory_limit or how:
                    options = search_options(_WHERE, threads, memory_limit, how, exclude_self_from)
                    _limit(options, filter, radius, name, len(X.array), len(Q.array))
            except Error:
                Index(X, name, opened)  # which names what is wrong with X first
                raise
            if _are_floats(Q):
                return _found(X, Q, k, name, opened, options, out, progress)
    index = Index(
        X,
        metric,
        opened,
        centre=centre,
        box=box,
        w=w,
        V=V,
        VI=VI,
        degrees=degrees,
        p=p,
        categorical=categorical,
        ranges=ranges,
        features=features,
        element=element,
        placement=placement,
        shares=shares,
        arithmetic=arithmetic,
    )
    return index.search(
        Q,
        k,
        filter=filter,
        out=out,
        exclude_self_from=exclude_self_from,
        progress=progress,
        threads=threads,
        memory_limit=memory_limit,
        how=how,
        radius=radius,
    )


@lru_cache(maxsize=256)
def _options_of(metric: str) -> Optional[s.IndexOptions]:
    """Return the options of an index by this metric, which nobody changes; None: the defaults."""
    return None if metric == "l2" else s.sized(s.IndexOptions, metric=metric.encode())


def _rows(x: Any, what: str, metric: str, device: Device, arithmetic: Arithmetic) -> Rows:
    kept = kept_rows_of(x, _FLOATS)
    if kept is not None:
        return kept
    return element_rows_of(
        x,
        f"{_WHERE}: {what}",
        False,
        device.info.spec,
        arithmetic=arithmetic,
        advice=lambda: advice_on_centre(metric),
        instead=doubles_by(metric, "pass"),
        metric=metric,
    )


def _are_floats(rows: Rows) -> bool:
    """Return whether these are rows on the host that are searched in single precision."""
    return rows.answers is None and type(rows.array) is np.ndarray and rows.array.dtype != np.float64


def _limit(
    options: s.SearchOptions, filter: Optional[Any], radius: Optional[float], metric: MetricName, n: int, m: int
) -> None:
    if filter is not None:
        words = filter_words(filter, n, m, f"{_WHERE}: filter")
        options.filter, options.filter_rows = address(words), len(words)
        options.words = words  # the options point at the words, and so keep them
    if radius is not None:
        options.has_radius, options.radius = 1, radius_of(radius, metric, f"{_WHERE}: radius", np.float32)


def _found(
    rows: Rows,
    queries: Rows,
    k: int,
    metric: MetricName,
    device: Device,
    options: Optional[s.SearchOptions],
    out: Optional[tuple[Distances, Int64]],
    progress: Progress,
) -> Neighbors:
    n, m = len(rows.array), len(queries.array)
    if out is None:  # the library refuses any other k, before it writes
        distance, row = new_arrays((m, k if 0 < k <= n else 0), np.float32, _WHERE)
    else:
        distance, row = outputs(out, (m, k), _WHERE, {"X": rows.array, "Q": queries.array})
    handle, of_index, ask = device.handle, _options_of(metric), lib.kith_knn
    given, asked, nearest, its = rows.struct, queries.struct, address(distance), address(row)
    work = m * rows.array.size / device.pace
    call(lambda chosen: int(ask(handle, given, asked, k, of_index, chosen, nearest, its)), options, work, progress)
    if queries.back is None or out is not None:
        return Neighbors(distance, row)
    return Neighbors(queries.returned(distance), queries.returned(row))
