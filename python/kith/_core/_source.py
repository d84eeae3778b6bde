"""Rows that stay in a file or in memory, and pass through the device: docs/howto/beyond-one-card.md."""

from __future__ import annotations

import ctypes as c
import os
from typing import TYPE_CHECKING, Any, Optional, cast

from .._rows._arrays import Rows, centred_rows_of, element_rows_of
from . import _structs as s
from ._checks import advice_on_centre, centre_by, metric_name, name_columns, not_negative
from ._device import open_device
from ._errors import InvalidArgument
from ._index_file import Path, name_of_file
from ._library import Handle, check, lib, new_handle, text
from ._types import DeviceLike, Element, MetricName, Residence

if TYPE_CHECKING:
    from ._index import Index


def open_source(
    source: Any,
    metric: MetricName = "l2",
    device: DeviceLike = "auto",
    *,
    residence: Optional[Residence] = None,
    memory_limit: int = 0,
    chunk_rows: int = 0,
    features: Optional[Any] = None,
    element: Optional[Element] = None,
    ids: Optional[Any] = None,
    centre: Optional[Any] = None,
) -> Index:
    """An `Index` of rows that stay in a file, or in an array, and may be more than the device holds.

    Answers are those of `kith.Index` with the same rows, bit for bit.

    Parameters
    ----------
    source : str, path or array
        A file that is read by ranges (``.npy``, ``.fbin``, ``.f16bin``, ``.u8bin``, ``.i8bin``, ``.kidx``) and stays
        open; or an array of an element that the library takes, such as ``numpy.memmap``, which is kept and must
        not change. Other arrays are converted, which takes memory of their size. An array that maps a file is read
        by copies, so that `kith.BadFile`, and no signal, tells that the file was cut.
    metric, device, features, ids
        As for `kith.Index`; ids ascend.
    residence : {"resident", "stream", "quantized"}, optional
        Where the rows stay. ``stream``: each search passes them through the device in chunks. ``quantized``: the device
        holds quantized rows (a byte a column, or two on a GPU with room for them), and proposes by them.
        None: on the device if they fit, else ``stream``.
    memory_limit : int
        Bytes of device memory that one search and the index take together; 0: chunks of 512 MiB at most
        on a GPU, elsewhere 128.
    chunk_rows : int
        With ``stream``: rows of a chunk; 0: as many as the limit has room for.
    element : {"bits"}, optional
        The bytes of `source` hold 8 columns each, for the metric ``hamming``.
    centre : True or array, [dims], optional
        As for `Index`; True reads all rows once. A ``.kidx`` that has a centre keeps it.

    Returns
    -------
    Index

    Raises
    ------
    kith.BadFile
        Missing, foreign or cut. A search raises it where the file has changed since.
    kith.Unsupported
        A file that is not read by ranges; a device that cannot keep rows so.
    kith.OutOfMemory
        The limit has no room for a chunk.

    Examples
    --------
    >>> import numpy as np, os, tempfile, kith
    >>> path = os.path.join(tempfile.mkdtemp(), "rows.npy")
    >>> np.save(path, np.arange(2000, dtype=np.float32).reshape(1000, 2))
    >>> index = kith.open_source(path, device="cpu", residence="stream", chunk_rows=100)
    >>> index.search(np.array([[1000, 1001]], np.float32), 2).row.tolist()
    [[500, 499]]
    >>> index.residence
    'stream'
    """
    from ._index import Index

    where = "kith.open_source"
    if element not in (None, "bits"):
        raise InvalidArgument(f"{where}: element={element!r}; pass 'bits', or leave it out")
    of_index = s.sized(s.IndexOptions, metric=metric_name(metric, where).encode())
    name_columns(of_index, features, ids, where)
    centred = centre_by(of_index, centre, where)
    options = s.sized(s.SourceOptions, index=c.pointer(of_index))
    options.residence = residence.encode() if residence else None
    options.memory_limit = not_negative(memory_limit, f"{where}: memory_limit")
    options.chunk_rows = not_negative(chunk_rows, f"{where}: chunk_rows")
    opened = open_device(device)
    if isinstance(source, (str, os.PathLike)):
        options.element = element.encode() if element else None
        name = name_of_file(source, where)
        return Index._of(new_handle(lib.kith_index_free, lib.kith_index_from_file, opened.handle, name, options), opened, None)
    what = f"{where}: source"
    if centred and element is None:
        rows = centred_rows_of(source, what)
    else:
        rows = element_rows_of(
            source, what, element == "bits", features=features, advice=lambda: advice_on_centre(metric)
        )
    handle = new_handle(lib.kith_index_free, lib.kith_index_from_rows, opened.handle, rows.struct, options)
    return Index._of(handle, opened, rows.columns, rows)


def residence_of(handle: Handle) -> Residence:
    name = c.c_char_p()
    check(lib.kith_index_residence(handle.value, name))
    return cast(Residence, text(name.value))


def kept_by(handle: Handle, path: Path, rows: Rows, k: int, found: tuple[Any, Any]) -> Any:
    """A search that keeps what it found in a file, as a function of its options."""
    name = name_of_file(path, "kith.Index.search: checkpoint")
    return lambda chosen: int(lib.kith_index_search_kept(handle.value, rows.struct, k, chosen, name, *found))
