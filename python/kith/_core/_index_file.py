"""Writes index files, and reads their heads."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Union

from . import _structs as s
from ._errors import BadFile
from ._library import Handle, check, lib, text
from ._metrics import metric_of
from ._types import MetricName
from ._watch import Progress, call

Path = Union[str, os.PathLike[str]]


def name_of_file(path: Path, where: str) -> bytes:
    name = os.fsencode(path)
    if b"\0" in name:
        raise BadFile(f"{where}: {os.fspath(path)!r} has a zero byte, which no name of a file has; name another")
    return name


def save(handle: Handle, path: Path, work: int, progress: Progress) -> None:
    name = name_of_file(path, "kith.Index.save")
    how = s.search_options()  # only its stop and progress are read
    call(lambda _: int(lib.kith_index_save(handle.value, name, how.stop, how.progress, None)), how, work, progress)


@dataclass(frozen=True)
class IndexFileInfo:
    """Holds what the head of an index file says.

    Attributes
    ----------
    metric, element : str
        ``element`` is the element of the rows in the file, which for ``cosine`` are unit rows of ``f32``.
    rows, dims : int
        ``rows`` does not count removed rows.
    features : int
        The number of columns that count.
    first_row : int
    bytes : int
        The size of the file.
    removed : int
        Removed rows that are still in the file.
    rows_offset : int
        Bytes from the beginning of the file to the first row.
    centred : bool
        Whether the index has a centre, which was subtracted from the rows in the file.
    periodic : bool
        Whether the rows are in a periodic box.
    prepared : bool
        Whether the rows in the file are prepared for the metric, or their columns weighted.
    groups : int
        The number of groups of rows, empty ones included; 0: the rows have none.
    """

    metric: MetricName
    element: str
    rows: int
    dims: int
    features: int
    first_row: int
    bytes: int
    removed: int
    rows_offset: int
    centred: bool
    periodic: bool
    prepared: bool
    groups: int


def index_file_info(path: Path) -> IndexFileInfo:
    """Read only the head of an index file: what follows may be damaged.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    IndexFileInfo

    Raises
    ------
    kith.BadFile
        The file is missing, foreign, of another version or cut, or its head is damaged.
    """
    info = s.sized(s.IndexFileInfo)
    check(lib.kith_index_file_describe(name_of_file(path, "kith.index_file_info"), info))
    return IndexFileInfo(
        metric_of(info.metric),
        text(info.element),
        int(info.rows - info.removed),
        int(info.dims),
        int(info.features),
        int(info.first_row),
        int(info.bytes),
        int(info.removed),
        int(info.rows_offset),
        bool(info.centred),
        bool(info.periodic),
        bool(info.prepared),
        int(info.groups),
    )
