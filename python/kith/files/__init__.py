"""Reads and writes files of vectors of other programs, as NumPy arrays.

>>> import tempfile, numpy as np, kith.files
>>> path = tempfile.mkdtemp() + "/base.u8bin"
>>> kith.files.save(path, np.arange(12, dtype=np.uint8).reshape(3, 4))
>>> base = kith.files.open(path)
>>> type(base).__name__, base.shape, base.dtype.name
('memmap', (3, 4), 'uint8')

========================================  ==================================================================
``.fbin .u8bin .i8bin .f16bin .ibin``     big-ann-benchmarks, cuVS: rows and columns as two uint32, then rows
``.fvecs .ivecs .bvecs``                  TEXMEX (SIFT1M): each row says its length
``.npy``                                  NumPy
``.npz``                                  NumPy, arrays by name
``.hdf5 .h5``                             ann-benchmarks, datasets by name; needs h5py
========================================  ==================================================================

A file whose elements have the layout of memory is mapped: nothing is read before it is used, and the file may be
larger than the memory. Elements are not converted.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple, Optional

import numpy as np

from .._core._errors import BadFile, InvalidArgument, Unsupported
from .._core._index_file import Path
from .._core._names import shorten as _shorten
from .._core._types import Array, Float32, Int32
from . import _formats as formats
from ._whole_file import write_whole

__all__ = ["GroundTruth", "open", "open_groundtruth", "save", "save_groundtruth"]


class GroundTruth(NamedTuple):
    """Holds the nearest rows of each query.

    Attributes
    ----------
    rows : array of int32, [queries, k]
        Nearest first.
    distances : array of float32, [queries, k], or None
        They are squared for the Euclidean distance; None if the file has none.
    """

    rows: Int32
    distances: Optional[Float32]


def open(path: Path, array: Optional[str] = None, *, mmap: bool = True) -> Array:
    """Open the rows of a file.

    Parameters
    ----------
    path : path
        The ending of its name says the format.
    array : str, optional
        For ``.npz`` and HDF5: the name of the array. It is needed only if there are several.
    mmap : bool
        Maps the file if its elements have the layout of memory; else, and always for ``.npz`` and for HDF5 in pieces,
        reads it.

    Returns
    -------
    array, [rows, columns]
        With the elements of the file; a read-only ``numpy.memmap`` if it is mapped.

    Raises
    ------
    BadFile
        The file is truncated, not what its name says, no ordinary file, or HDF5 whose elements are in other files.
    InvalidArgument
        There is no such ending, or no such array. Links of HDF5 are not arrays.
    Unsupported
        The file is HDF5, and h5py is not installed.
    """
    ending = formats.ending_of(path, formats.ENDINGS)
    if array is not None and ending not in (".npz", ".hdf5", ".h5"):
        raise InvalidArgument(
            f"{os.fspath(path)}: array={array!r} does not go with {ending}, which holds one; leave it out"
        )
    formats.check_file(path)
    try:
        if ending in formats.BIN:
            return formats.open_bin(path, formats.BIN[ending], mmap)
        if ending in formats.VECS:
            return formats.open_vecs(path, formats.VECS[ending], mmap)
        if ending == ".npy":
            whole: Array = formats.of_npy(lambda: np.load(path, mmap_mode="r" if mmap else None, allow_pickle=False))
            return whole
        return formats.open_npz(path, array) if ending == ".npz" else formats.open_hdf5(path, array, mmap)
    except (BadFile, InvalidArgument, Unsupported):
        raise
    except PermissionError as error:
        raise BadFile(f"{os.fspath(path)}: cannot be read: {error.strerror}; ask its owner for the right to") from error
    except Exception as error:  # NumPy, zipfile and h5py raise many kinds, and document none
        raise BadFile(
            f"{os.fspath(path)}: is no {ending} file, or a damaged one: {error}; copy or download it again"
        ) from error


def save(path: Path, rows: Any, array: str = "train") -> None:
    """Write rows. The file appears complete or not at all, and one that is replaced keeps its permissions.

    Parameters
    ----------
    path : path
        The ending of its name says the format.
    rows : array, [rows, columns]
        Its values must fit the elements that such a file holds.
    array : str
        For ``.npz`` and HDF5: the name of the array, which is the only one in the file.

    Raises
    ------
    BadFile
        The file cannot be written, or `path` is a folder, a pipe or a device.
    InvalidArgument
        There is no such ending, there are no rows, or values would not be kept.
    Unsupported
        The file is HDF5, and h5py is not installed.
    """
    ending = formats.ending_of(path, formats.ENDINGS)
    if ending in formats.BIN:
        table = formats.table_of(path, rows, formats.BIN[ending])
        header = np.array(table.shape, "<u4")
        write_whole(path, lambda file: [file.write(part) for part in (header.tobytes(), table.data)])
        return
    if ending in formats.VECS:
        table = formats.table_of(path, rows, formats.VECS[ending])
        lines = np.empty((len(table), 4 + table.shape[1] * table.itemsize), np.uint8)
        lines[:, :4] = np.frombuffer(np.array([table.shape[1]], "<i4").tobytes(), np.uint8)
        lines[:, 4:] = table.view(np.uint8).reshape(len(table), -1)
        write_whole(path, lambda file: file.write(lines.data))
        return
    given = formats.given_rows(path, rows)
    if ending == ".npy":
        write_whole(path, lambda file: np.save(file, given, allow_pickle=False))
        return
    formats.check_array_name(path, array, ending)
    (formats.save_npz if ending == ".npz" else formats.save_hdf5)(path, given, array)


def open_groundtruth(path: Path, *, mmap: bool = True) -> GroundTruth:
    """Open neighbours that ``kith groundtruth`` and big-ann-benchmarks write: ``.ibin`` or ``.bin``.

    Parameters
    ----------
    path : path
        The file.
    mmap : bool
        Maps the file; else reads it.

    Returns
    -------
    GroundTruth
        Rows, and distances if the size of the file says that it has some.

    Raises
    ------
    BadFile
        The file has the length of neither form.
    """
    formats.ending_of(path, [".ibin", ".bin"])
    formats.check_file(path)
    queries, k, found = formats.shape_of(path)
    expected = queries * k * 4
    if found not in (expected, 2 * expected):
        raise BadFile(
            f"{os.fspath(path)}: its header announces {queries} queries of {k} neighbours, {expected} bytes, or with distances "
            f"{2 * expected}, but {found} follow; it is truncated or no such file: copy or download it again"
        )
    rows = formats.array_at(path, "<i4", formats.BIN_HEADER, (queries, k), mmap)
    if found == expected:
        return GroundTruth(rows, None)
    return GroundTruth(rows, formats.array_at(path, "<f4", formats.BIN_HEADER + expected, (queries, k), mmap))


def save_groundtruth(path: Path, rows: Any, distances: Any = None) -> None:
    """Write neighbours that big-ann-benchmarks and ``kith recall`` read, in the way of `save`.

    Parameters
    ----------
    path : path
        It ends in ``.ibin`` or ``.bin``.
    rows : array, [queries, k]
        Numbers of rows that fit int32.
    distances : array, [queries, k], optional
        They are squared for the Euclidean distance, and rounded to float32.

    Raises
    ------
    InvalidArgument
        Shapes differ, or numbers do not fit.
    """
    formats.ending_of(path, [".ibin", ".bin"])
    table = formats.table_of(path, rows, "<i4")
    parts = [np.array(table.shape, "<u4").tobytes(), table.tobytes()]
    if distances is not None:
        far = np.ascontiguousarray(distances, "<f4")
        if far.shape != table.shape:
            raise InvalidArgument(
                f"{os.fspath(path)}: rows of shape {table.shape} but distances of {far.shape}; they must be alike"
            )
        parts.append(far.tobytes())
    write_whole(path, lambda file: [file.write(part) for part in parts])


_shorten(globals()[_name] for _name in __all__)
