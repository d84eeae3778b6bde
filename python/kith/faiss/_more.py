"""Implements files, factories and small functions of FAISS."""

from __future__ import annotations

import os
from typing import Any, Optional

import numpy as np

from .._core._device import devices
from .._core._errors import InvalidArgument, Unsupported
from .._core._index import Index
from .._core._index_file import Path
from .._core._types import DeviceLike, Float32
from ._flat import METRIC_INNER_PRODUCT, METRIC_L2, METRICS, IndexFlat, IndexFlatIP, IndexFlatL2


def normalize_L2(x: Float32) -> None:
    """Divide each row in place by its length, as `faiss.normalize_L2`; a row of zeros stays.

    Parameters
    ----------
    x : array of float32, [n, d], C-contiguous
        Lengths are computed in float64; each value is rounded once.
    """
    plain = isinstance(x, np.ndarray) and x.ndim == 2 and x.dtype == np.float32 and x.flags.carray
    if not plain:
        kind = f"{x.dtype} of shape {x.shape}" if isinstance(x, np.ndarray) else f"type {type(x).__name__}"
        raise InvalidArgument(
            f"kith.faiss.normalize_L2: x of {kind}; pass a writeable, C-contiguous NumPy array of float32, [n, d]"
        )
    length = np.sqrt(np.einsum("ij,ij->i", x, x, dtype=np.float64))
    length[length == 0] = 1
    np.divide(x, length[:, None], out=x, casting="same_kind")


def index_factory(d: int, description: str, metric: int = METRIC_L2, device: DeviceLike = "auto") -> IndexFlat:
    """Make a flat index, as `faiss.index_factory`.

    Parameters
    ----------
    d : int
        Columns.
    description : str
        ``"Flat"``.
    metric : int
        As for `IndexFlat`.
    device : str or kith.Device
        kith's own parameter: where rows are kept and searched.
    """
    if not isinstance(description, str):
        raise InvalidArgument(f"kith.faiss.index_factory: description={description!r}; pass 'Flat'")
    parts = description.split(",")
    if description == "Flat":
        return _flat(d, metric, device)
    advice = "kith has flat, exact indices: pass 'Flat'"
    if parts[-1] == "Flat" and parts[0].startswith("IDMap"):
        advice = "kith.Index(X, ids=ids) has rows with numbers of your own"
    elif parts == ["L2norm", "Flat"]:
        advice = "normalize_L2(x) of rows and queries, then 'Flat'"
    raise Unsupported(f"kith.faiss.index_factory: {description!r}; {advice}")


def _flat(d: int, metric: int, device: DeviceLike) -> IndexFlat:
    if metric == METRIC_L2:
        return IndexFlatL2(d, device)
    return IndexFlatIP(d, device) if metric == METRIC_INNER_PRODUCT else IndexFlat(d, metric, device)


def write_index(index: IndexFlat, fname: Path) -> None:
    """Write an index to a file of kith's own format, ``.kidx``, which `read_index` and `kith.Index` read.

    Parameters
    ----------
    index : IndexFlat
        It must have at least one row.
    fname : str or path
        As for `kith.Index.save`. FAISS cannot read the file.
    """
    if not isinstance(index, IndexFlat) or not isinstance(fname, (str, os.PathLike)):
        kinds = f"{type(index).__name__} and {type(fname).__name__}"
        raise InvalidArgument(f"kith.faiss.write_index: {kinds}; pass a flat index of kith.faiss and a file's name")
    rows = index._index
    if rows is None:
        raise InvalidArgument(f"kith.faiss.write_index: {index!r} has no rows, so no file holds it; add some first")
    rows.save(fname)


def read_index(fname: Path, io_flags: int = 0, *, device: DeviceLike = "auto") -> IndexFlat:
    """Open a file that `write_index` or `kith.Index.save` wrote; FAISS's own files are refused.

    Parameters
    ----------
    fname : str or path
    io_flags : int
        It has no effect.
    device : str or kith.Device
        kith's own parameter: where rows are kept and searched.

    Raises
    ------
    kith.BadFile
        As for `kith.Index`.
    kith.Unsupported
        The metric is none of FAISS's, the arithmetic is f64, or the rows have ids.
    """
    if not isinstance(fname, (str, os.PathLike)):
        raise InvalidArgument(f"kith.faiss.read_index: {type(fname).__name__}; pass the name of a file")
    rows = Index(fname, device=device)
    metric: Optional[int] = next((number for number, name in METRICS.items() if name == rows.metric), None)
    if metric is None or rows.arithmetic != "f32" or rows.next_row != rows.rows or rows.first_row != 0:
        raise Unsupported(
            f"kith.faiss.read_index: {os.fspath(fname)}: {rows!r} has a metric, float64, ids, removed rows or a first row "
            "that flat indices do not have; kith.Index opens it"
        )
    index = _flat(rows.dims, metric, device)
    index._index = rows
    return index


def get_num_gpus() -> int:
    """Return the number of CUDA devices of this machine, as `faiss.get_num_gpus`. ``"cuda:0"`` is the first."""
    return sum(one.backend == "cuda" for one in devices())
