"""Rounds arrays of float64 to float32 on a CUDA device, as `_digits` does on the host."""

from __future__ import annotations

from typing import Any, Optional, Protocol

import numpy as np

from ._arrays import Rows
from ._cuda import rows_on_cuda
from ._digits import _COARSE, _MOST_ROWS, Given, _counting, look_at_rounding


class _Library(Protocol):
    """Declares what PyTorch and CuPy have under different names; `x` is an array [rows, columns] or [rows]."""

    def float32(self, x: Any) -> Any: ...
    def host(self, x: Any) -> Any: ...
    def all_finite(self, x: Any) -> bool: ...
    def filled(self, x: Any, value: float) -> Any:
        """Return `x` with `value` in place of NaN."""

    def least(self, x: Any) -> Any: ...
    def most(self, x: Any) -> Any: ...
    def words(self, x: Any) -> Any:
        """Return the bits of each value as int64; -0 counts as 0."""

    def sorted_pairs(self, a: Any, b: Any) -> tuple[Any, Any]:
        """Sort both arrays by `a`, and then by `b`."""


class _Torch:
    def __init__(self) -> None:
        import torch  # type: ignore[import-not-found,unused-ignore]

        self.torch = torch

    def float32(self, x: Any) -> Any:
        return x.to(self.torch.float32)

    def host(self, x: Any) -> Any:
        return x.cpu().numpy()

    def all_finite(self, x: Any) -> bool:
        return bool(self.torch.isfinite(x).all())

    def filled(self, x: Any, value: float) -> Any:
        return self.torch.where(x == x, x, value)

    def least(self, x: Any) -> Any:
        return x.amin(0)

    def most(self, x: Any) -> Any:
        return x.amax(0)

    def words(self, x: Any) -> Any:
        kind = self.torch.int32 if x.element_size() == 4 else self.torch.int64
        return (x + 0).contiguous().view(kind).to(self.torch.int64)

    def sorted_pairs(self, a: Any, b: Any) -> tuple[Any, Any]:
        by_b = self.torch.argsort(b)
        order = by_b[self.torch.sort(a[by_b], stable=True)[1]]
        return a[order], b[order]


class _Cupy:
    def __init__(self, cupy: Any = None) -> None:
        if cupy is None:
            import cupy  # type: ignore[import-not-found,no-redef,unused-ignore]
        self.cupy = cupy

    def float32(self, x: Any) -> Any:
        return x.astype(np.float32)

    def host(self, x: Any) -> Any:
        return self.cupy.asnumpy(x)

    def all_finite(self, x: Any) -> bool:
        return bool(self.cupy.isfinite(x).all())

    def filled(self, x: Any, value: float) -> Any:
        return self.cupy.where(x == x, x, x.dtype.type(value))

    def least(self, x: Any) -> Any:
        return x.min(0)

    def most(self, x: Any) -> Any:
        return x.max(0)

    def words(self, x: Any) -> Any:
        kind = np.int32 if x.itemsize == 4 else np.int64
        return self.cupy.ascontiguousarray(x + x.dtype.type(0)).view(kind).astype(np.int64)

    def sorted_pairs(self, a: Any, b: Any) -> tuple[Any, Any]:
        order = self.cupy.lexsort(self.cupy.stack([b, a]))
        return a[order], b[order]


def rounded_on_cuda(x: Any, spec: str, given: Given, quiet: bool) -> Optional[Rows]:
    """Convert `x` from float64 on the device `spec` to float32 there; None if it is no such array.

    If the rounding needs a warning, a copy goes to the host, which gives it.
    """
    if not spec.startswith("cuda:"):
        return None
    module = type(x).__module__.partition(".")[0]
    if module == "torch":
        if x.is_sparse or str(x.dtype) != "torch.float64" or str(x.device) != spec or x.ndim != 2 or 0 in x.shape:
            return None
        return _rounded(_Torch(), x.detach().resolve_neg(), spec, given, quiet)
    if module == "cupy":
        if x.dtype != np.float64 or not x.dtype.isnative or f"cuda:{x.device.id}" != spec or x.ndim != 2 or not x.size:
            return None
        with x.device:
            return _rounded(_Cupy(), x, spec, given, quiet)
    return None


def _rounded(library: _Library, x: Any, spec: str, given: Given, quiet: bool) -> Optional[Rows]:
    rounded = library.float32(x)
    if not is_silent(library, x, rounded, given, quiet):
        look_at_rounding(library.host(x), library.host(rounded), given, quiet)
    return rows_on_cuda(rounded, False, spec)


def is_silent(library: _Library, x: Any, rounded: Any, given: Given, quiet: bool) -> bool:
    """Say whether `look_at_rounding` would give no warning; wrong for two rows with a chance of 2^-64."""
    has_gaps = not library.all_finite(rounded)
    if has_gaps and not (given.gaps and library.all_finite(library.filled(rounded, 0))):
        return False
    if quiet:
        return True
    columns = _counting(given.features, x.shape[1])
    if columns is not None:
        chosen = [int(column) for column in columns]
        x, rounded = x[:, chosen], rounded[:, chosen]
    off, low, high = abs(x - rounded), x, x
    if has_gaps:  # they count for nothing, and are equal to each other
        off, low, high = library.filled(off, 0), library.filled(x, np.inf), library.filled(x, -np.inf)
        x, rounded = low, library.filled(rounded, np.inf)
    off = library.host(library.most(off))
    if not off.any():
        return True
    least, most = library.host(library.least(low)), library.host(library.most(high))
    spread = most - least
    with np.errstate(over="ignore", invalid="ignore"):
        step = np.spacing(np.maximum(np.abs(least), np.abs(most)).astype(np.float32)).astype(np.float64)
    if ((off > 0) & (spread > 0) & (step > _COARSE * spread)).any():
        return False
    return not _may_become_equal(library, x[:_MOST_ROWS], rounded[:_MOST_ROWS])


def _may_become_equal(library: _Library, x: Any, rounded: Any) -> bool:
    """Say whether two rows differ whose float32 do not, by a 64-bit hash of each row."""
    factors = np.random.default_rng(0).integers(0, 2**63, x.shape[1], np.int64) | 1
    before, after = 0, 0
    for column, factor in enumerate(factors.tolist()):
        before = before + library.words(x[:, column]) * factor
        after = after + library.words(rounded[:, column]) * factor
    after, before = library.sorted_pairs(after, before)
    return bool(((after[1:] == after[:-1]) & (before[1:] != before[:-1])).any())
