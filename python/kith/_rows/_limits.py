"""Converts the limits of a search, filters and radii, from any array of the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._core._errors import InvalidArgument
from .._core._library import check, lib
from ._arrays import address
from ._frames import known
from ._host import _host_array

if TYPE_CHECKING:
    from .._core._types import Array, Distances, UInt32


def filter_words(mask: Any, n: int, m: int, what: str) -> UInt32:
    """Make the words of kith_search_options.filter, [1 or m, ceil(n / 32)].

    A mask of bool, [n] or [m, n], says for each training row whether it counts; whole numbers, [count], are the rows
    that count. n numbers 0 and 1, some of them twice, are refused: they look like a mask of the wrong dtype.
    """
    mask = np.asarray(_host_array(known(mask, what), what)[0])
    if mask.dtype.kind in "iu" or mask.size == 0 and mask.ndim == 1:
        _refuse_numbers_of_a_mask(mask, n, m, what)
        if mask.ndim != 1:
            raise InvalidArgument(
                f"{what}: row numbers of shape {mask.shape}; pass one list [count], or a mask of bool [{m}, {n}]"
            )
        rows = np.ascontiguousarray(mask, np.int64)
        words = np.zeros((1, (n + 31) // 32), np.uint32)
        check(lib.kith_filter_of(n, address(rows), len(rows), address(words)))
        return words
    if mask.dtype != np.bool_ or mask.shape not in ((n,), (m, n)):
        raise InvalidArgument(
            f"{what}: dtype {mask.dtype}, shape {mask.shape}; pass a mask of bool [{n}] or [{m}, {n}], or row numbers"
        )
    mask = mask.reshape(-1, n)
    octets = np.zeros((len(mask), (n + 31) // 32 * 4), np.uint8)
    packed = np.packbits(mask, axis=1, bitorder="little")
    octets[:, : packed.shape[1]] = packed
    return octets.view("<u4").astype(np.uint32, copy=False)


def _refuse_numbers_of_a_mask(rows: Array, n: int, m: int, what: str) -> None:
    """Refuse numbers 0 and 1 that may be a mask, but no list of numbers that each occur once.
    """
    if rows.shape not in ((n,), (m, n)) or not rows.size or rows.max() > 1 or rows.min() < 0:
        return
    if rows.ndim == 2 or len(np.unique(rows)) < n:
        raise InvalidArgument(
            f"{what}: numbers 0 and 1 of dtype {rows.dtype}, shape {rows.shape}, for {n} rows, which may be a mask or "
            "row numbers; pass numpy.asarray(x, bool) for the mask, numpy.unique(x) for rows 0 and 1"
        )


def radius_of(radius: Any, metric: str, what: str, kind: Any) -> float:
    """Convert one radius, as `radii_of` does."""
    radii = radii_of(radius, metric, what, kind)
    if radii.size != 1:
        raise InvalidArgument(f"{what}: {radii.size} numbers; pass one")
    return float(radii[0])


def radii_of(radius: Any, metric: str, what: str, kind: Any = np.float32) -> Distances:
    """Convert one radius for all queries, or one per query; refuse one below 0 if no distance can be.

    `kind`: the dtype of distances.
    """
    try:
        radii = np.atleast_1d(np.asarray(_host_array(radius, what)[0], np.float64))
    except (TypeError, ValueError):
        raise InvalidArgument(f"{what}: {radius!r} is no number; give a distance") from None
    below = radii < 0
    if metric != "negative_dot" and below.any():
        q = int(np.argmax(below))
        which = f"{radii.flat[q]} of query {q}" if radii.size > 1 else str(radii.flat[q])
        raise InvalidArgument(
            f"{what}: {which} is below 0, and no distance is; give a radius of 0 or more for {metric}"
        )
    with np.errstate(over="ignore"):  # all rows are within infinity
        return np.ascontiguousarray(radii, kind)
