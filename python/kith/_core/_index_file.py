"""Index files: an `Index` saved, and opened on any device."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional, Union

from . import _structs as s
from ._checks import not_negative, place, thread_count
from ._device import Device, open_device
from ._errors import BadFile, InvalidArgument
from ._library import Handle, check, lib, new_handle, text, version
from ._metrics import metric_of
from ._types import DeviceLike, MetricName, Placement
from ._watch import Progress, call

if TYPE_CHECKING:
    from ._index import Index

Path = Union[str, os.PathLike[str]]


def name_of_file(path: Path, where: str) -> bytes:
    name = os.fsencode(path)
    if b"\0" in name:
        raise BadFile(f"{where}: {os.fspath(path)!r} has a zero byte, which no name of a file has; name another")
    return name


def save(handle: Handle, path: Path, work: int, progress: Progress) -> None:
    name = name_of_file(path, "kith.Index.save")
    how = s.search_options()  # of which stop and progress alone are read
    call(lambda _: int(lib.kith_index_save(handle.value, name, how.stop, how.progress, None)), how, work, progress)


def open_index(
    path: Path,
    device: DeviceLike = "auto",
    *,
    rows: Optional[tuple[int, int]] = None,
    largest: Optional[float] = None,
    placement: Placement = "automatic",
    shares: Optional[Any] = None,
    threads: int = 0,
    progress: Progress = False,
) -> Index:
    """The `Index` that was saved as a file, on any device: its answers are the same bits.

    The file is read block by block on its way to the device, and every byte is compared with its checksums.

    Parameters
    ----------
    path : str or path
        A ``.kidx`` that `Index.save` or ``kith index build`` wrote.
    device : str or Device
        As for `Index`.
    rows : (int, int), optional
        Only the rows begin ... end - 1 of the file, those that are removed counted: what the whole answers after
        `Index.without` of the others and `Index.compact`, under the same numbers. Several devices or machines so
        open one file together, and merge what `Index.search_keys` gives. None: all.
    largest : float, optional
        With `rows`: the largest magnitude in the rows of all parts; for ``negative_dot``.
    threads : int
        Of the host; 0: as many as there are cores.
    progress : bool or callable
        As for `Index.search`.
    placement : {"automatic", "split", "replicate"}
    shares : sequence of float, optional
        Both as for `Index`.

    Returns
    -------
    Index

    Raises
    ------
    kith.BadFile
        Missing, foreign, of a newer version, cut, damaged, or with rows that no index has; says where.
    kith.InvalidArgument
        The file has no such rows.
    kith.OutOfMemory
        The rows do not fit on the device.

    Examples
    --------
    >>> import numpy as np, os, tempfile, kith
    >>> path = os.path.join(tempfile.mkdtemp(), "a.kidx")
    >>> kith.Index(np.array([[0, 0], [9, 9]], np.uint8), device="cpu").save(path)
    >>> kith.open_index(path, "cpu").search(np.array([[8, 8]], np.uint8), 1).row.tolist()
    [[1]]
    """
    from ._index import Index

    name, opened = name_of_file(path, "kith.open_index"), open_device(device)
    info = index_file_info(path)
    handles: list[Handle] = []
    count = thread_count(threads, "kith.open_index: threads")
    begin, end = (0, info.rows + info.removed) if rows is None else _part(rows)
    of_all = 0.0 if largest is None else float(largest)

    how = s.search_options()  # of which stop and progress alone are read
    options = s.sized(s.OpenOptions)
    options.first, options.rows = begin, end - begin
    options.largest, options.threads = of_all, count
    place(options, placement, shares, "kith.open_index")

    def ask(_: Optional[s.SearchOptions]) -> int:
        options.stop, options.progress = how.stop, how.progress
        handles.append(new_handle(lib.kith_index_free, lib.kith_index_open_with, opened.handle, name, options))
        return 0

    call(ask, how, (end - begin) * info.features, progress)
    return Index._of(handles[0], opened, None)


def _part(rows: tuple[int, int]) -> tuple[int, int]:
    where = "kith.open_index: rows"
    begin, end = (not_negative(row, where) for row in rows)
    if begin >= end:
        raise InvalidArgument(f"{where} = ({begin}, {end}) are none; give the first row and the one behind the last")
    return begin, end


@dataclass(frozen=True)
class IndexFileInfo:
    """What the head of an index file says.

    Attributes
    ----------
    metric, element : str
        ``element`` is that of the rows in the file; those of ``cosine`` are unit rows of ``f32``.
    rows, dims : int
        ``rows`` that are there.
    features : int
        Columns that count.
    first_row : int
    bytes : int
        Of the file.
    removed : int
        Rows that are in the file, but removed.
    rows_offset : int
        Of the first row in the file, in bytes.
    centred : bool
        It has a centre, and the rows in the file are less that.
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


def index_file_info(path: Path) -> IndexFileInfo:
    """What an index file holds, from its head alone: what follows may be damaged.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    IndexFileInfo

    Raises
    ------
    kith.BadFile
        Missing, foreign, of a newer version, cut, or with a damaged head.
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
    )


def _folder() -> Any:
    import tempfile  # which takes longer to import than most of kith

    return tempfile.TemporaryDirectory(prefix="kith-")


def pickled(index: Any) -> Any:
    """An `Index` as the bytes of its file, where it was, and by which kith it was written."""
    with _folder() as folder:
        path = os.path.join(folder, "a.kidx")
        index.save(path)
        with open(path, "rb") as file:
            return unpickled, (file.read(), index.device, index._columns, version())


def unpickled(
    content: bytes, device: Device, columns: Optional[list[Any]], made_by: str = "that it does not name"
) -> Index:
    with _folder() as folder:
        path = os.path.join(folder, "a.kidx")
        with open(path, "wb") as file:
            file.write(content)
        try:
            index = open_index(path, device)
        except BadFile as error:
            why = str(error).replace(path, "its file")
            raise BadFile(f"kith.Index: pickled by kith {made_by}, opened by kith {version()}: {why}") from None
    index._columns = columns
    return index
