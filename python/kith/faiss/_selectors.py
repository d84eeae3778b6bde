"""Implements FAISS's IDSelectors, which say by row number which rows count in a search."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

from .._core._checks import whole
from .._core._errors import InvalidArgument
from .._core._types import Bool
from .._rows._arrays import index_array


class IDSelector:
    """Chooses the rows that count, as `faiss.IDSelector`."""

    def _mask(self, n: int) -> Bool:
        """Returns a mask of the rows 0 ... n - 1 that count."""
        raise NotImplementedError


class IDSelectorAll(IDSelector):
    """Chooses all rows, as `faiss.IDSelectorAll`."""

    def _mask(self, n: int) -> Bool:
        return np.ones(n, np.bool_)


class IDSelectorRange(IDSelector):
    """Chooses the rows imin ... imax - 1, as `faiss.IDSelectorRange`."""

    def __init__(self, imin: int, imax: int, assume_sorted: bool = False) -> None:
        self.imin, self.imax = whole(imin, "kith.faiss: imin"), whole(imax, "kith.faiss: imax")

    def _mask(self, n: int) -> Bool:
        rows = np.arange(n)
        inside: Bool = (rows >= self.imin) & (rows < self.imax)
        return inside


class IDSelectorBatch(IDSelector):
    """Chooses the rows of a list, as `faiss.IDSelectorBatch`.

    Parameters
    ----------
    indices : sequence of int
        Numbers of rows in any order; those that no row has are ignored.
    """

    def __init__(self, indices: Any) -> None:
        self.indices = index_array(indices, "kith.faiss: indices").copy()

    def _mask(self, n: int) -> Bool:
        chosen = np.zeros(n, np.bool_)
        chosen[self.indices[(self.indices >= 0) & (self.indices < n)]] = True
        return chosen


class IDSelectorArray(IDSelectorBatch):
    """Does the same as `IDSelectorBatch`, as `faiss.IDSelectorArray`."""


class IDSelectorBitmap(IDSelector):
    """Chooses the rows whose bits are set, as `faiss.IDSelectorBitmap`.

    Parameters
    ----------
    bitmap : array of uint8, [(n + 7) / 8]
        Row i is bit i % 8 of byte i / 8, counted from the lowest. Rows after the end do not count.
    """

    def __init__(self, bitmap: Any) -> None:
        octets = np.asarray(bitmap)
        if octets.dtype != np.uint8 or octets.ndim != 1:
            raise InvalidArgument(
                f"kith.faiss: bitmap of dtype {octets.dtype}, shape {octets.shape}; pass "
                'numpy.packbits(mask, bitorder="little")'
            )
        self.bitmap = octets.copy()

    def _mask(self, n: int) -> Bool:
        bits = np.unpackbits(self.bitmap, count=n, bitorder="little")
        return bits.astype(np.bool_)


class IDSelectorNot(IDSelector):
    """Chooses the rows that another selector does not choose, as `faiss.IDSelectorNot`."""

    def __init__(self, sel: IDSelector) -> None:
        self.sel = _selector(sel)

    def _mask(self, n: int) -> Bool:
        return ~self.sel._mask(n)


class _Both(IDSelector):
    def __init__(self, lhs: IDSelector, rhs: IDSelector) -> None:
        self.lhs, self.rhs = _selector(lhs), _selector(rhs)


class IDSelectorAnd(_Both):
    """Chooses the rows that both selectors choose, as `faiss.IDSelectorAnd`."""

    def _mask(self, n: int) -> Bool:
        return self.lhs._mask(n) & self.rhs._mask(n)


class IDSelectorOr(_Both):
    """Chooses the rows that at least one of two selectors chooses, as `faiss.IDSelectorOr`."""

    def _mask(self, n: int) -> Bool:
        return self.lhs._mask(n) | self.rhs._mask(n)


class IDSelectorXOr(_Both):
    """Chooses the rows that only one of two selectors chooses, as `faiss.IDSelectorXOr`."""

    def _mask(self, n: int) -> Bool:
        return self.lhs._mask(n) ^ self.rhs._mask(n)


class SearchParameters:
    """Holds options of a search, as `faiss.SearchParameters`.

    Parameters
    ----------
    sel : IDSelector, optional
        The rows that count.
    """

    def __init__(self, sel: Optional[IDSelector] = None) -> None:
        self.sel = None if sel is None else _selector(sel)


def _selector(sel: Any) -> IDSelector:
    if not isinstance(sel, IDSelector):
        raise InvalidArgument(f"kith.faiss: sel of type {type(sel).__name__}; pass an IDSelector of kith.faiss")
    return sel


def chosen_by(params: Any, n: int) -> Optional[Bool]:
    """Return a mask of the rows that count by search parameters; None: all rows."""
    if params is None:
        return None
    if not isinstance(params, SearchParameters):
        raise InvalidArgument(
            f"kith.faiss: params of type {type(params).__name__}; pass kith.faiss.SearchParameters(sel=...), or None"
        )
    return None if params.sel is None else params.sel._mask(n)
