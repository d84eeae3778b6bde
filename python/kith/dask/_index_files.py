"""Reads index files, or some of their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._core._errors import BadFile
from .._core._index_file import index_file_info
from ._files import _fingerprint, _open

if TYPE_CHECKING:
    from .._core._types import Array, MetricName

_DTYPES = {"f32": "<f4", "f16": "<f2", "bf16": "<u2", "u8": "u1", "i8": "i1"}


class IndexHead(NamedTuple):
    """Holds the head of an index file.

    Attributes
    ----------
    metric, element : str
    rows : int
        Rows in the file, including removed ones.
    columns, features : int
        Columns of rows as given, and of rows in the file.
    first_row : int
    offset : int
        Where the first row begins, in bytes.
    moves : bool
        Whether the index has a centre or a periodic box, by which rows and queries are moved before they are rounded.
    fingerprint : str
        A digest of the file's size and of samples of its bytes, spread over all of it.
    """

    metric: MetricName
    element: str
    rows: int
    columns: int
    features: int
    first_row: int
    offset: int
    moves: bool
    fingerprint: str


def head_of(path: str) -> IndexHead:
    """Read the head of an index file.

    Raises
    ------
    BadFile
        The file is missing, or kith cannot read it.
    """
    info = index_file_info(path)
    with _open(path) as file:
        mark = _fingerprint(file, info.bytes)
    return IndexHead(
        info.metric,
        info.element,
        info.rows + info.removed,
        info.dims,
        info.features,
        info.first_row,
        info.rows_offset,
        info.centred or info.periodic,
        mark,
    )


def check_head(path: str, expected: IndexHead) -> None:
    """Raises BadFile if the file no longer matches `expected`."""
    found = head_of(path)
    if found != expected:
        raise BadFile(
            f"{path}: has changed since the index was made: {_shown(expected)} then, {_shown(found)} now; "
            "put the old file back, or make the index again"
        )


def read_index_rows(path: str, begin: int, end: int, expected: IndexHead) -> Array:
    """Returns rows begin ... end - 1 as they are in the file, including removed ones; bf16 as float32.

    Raises
    ------
    BadFile
        The file no longer matches `expected`.
    """
    check_head(path, expected)
    dtype, count = np.dtype(_DTYPES[expected.element]), (end - begin) * expected.features
    with _open(path) as file:
        file.seek(expected.offset + begin * expected.features * dtype.itemsize)
        flat = np.fromfile(file, dtype, count)
    if len(flat) != count:
        raise BadFile(
            f"{path}: ends within row {begin + len(flat) // expected.features} of {expected.rows}; "
            "it was cut while it was read: copy or download it again"
        )
    if expected.element == "bf16":
        flat = (flat.astype(np.uint32) << 16).view(np.float32)
    return flat.reshape(end - begin, expected.features)


def _shown(head: IndexHead) -> str:
    return f"{head.rows} x {head.columns} {head.element}, fingerprint {head.fingerprint[:8]}"
