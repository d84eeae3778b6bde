"""Files of vectors that other programs write and read, as NumPy arrays.

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

What lies in a file as it does in memory is mapped: nothing is read before it is looked at, and a file may be larger
than the memory. Elements are not converted.
"""

from __future__ import annotations

import builtins
import os
import secrets
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Callable, NamedTuple

import numpy as np

from ._errors import BadFile, InvalidArgument, Unsupported

if TYPE_CHECKING:
    from ._types import Array, Float32

__all__ = ["GroundTruth", "open", "open_groundtruth", "save", "save_groundtruth"]

PathLike = "str | os.PathLike[str]"

_BIN = {".fbin": "<f4", ".u8bin": "u1", ".i8bin": "i1", ".f16bin": "<f2", ".ibin": "<i4"}
_VECS = {".fvecs": "<f4", ".ivecs": "<i4", ".bvecs": "u1"}
_ENDINGS = [*_BIN, *_VECS, ".npy", ".npz", ".hdf5", ".h5"]
_BIN_HEADER = 8


class GroundTruth(NamedTuple):
    """The nearest rows of each query.

    Attributes
    ----------
    rows : array of int32, [queries, k]
        Nearest first.
    distances : array of float32, [queries, k], or None
        Squared for Euclid; None where the file has none.
    """

    rows: Array
    distances: Float32 | None


def _ending(path: str | os.PathLike[str], known: list[str]) -> str:
    ending = Path(path).suffix.lower()
    if ending not in known:
        raise InvalidArgument(
            f"{os.fspath(path)}: its name ends in no format of kith.files; there are {' '.join(known)}"
        )
    return ending


def _shape(path: str | os.PathLike[str]) -> tuple[int, int, int]:
    """Rows, columns, and the bytes behind them, of a file that begins with two uint32."""
    size = os.path.getsize(path)
    if size < _BIN_HEADER:
        raise BadFile(f"{os.fspath(path)}: ends after {size} bytes, within its header; copy or download it again")
    rows, columns = (int(number) for number in np.fromfile(path, "<u4", 2))
    if rows == 0 or columns == 0:
        raise BadFile(
            f"{os.fspath(path)}: holds {rows} rows of {columns} columns; a file of data has at least one of each"
        )
    return rows, columns, size - _BIN_HEADER


def _map(path: str | os.PathLike[str], dtype: str, offset: int, shape: tuple[int, ...], mmap: bool) -> Array:
    if mmap:
        return np.memmap(path, dtype, "r", offset, shape)
    return np.fromfile(path, dtype, int(np.prod(shape, dtype=np.int64)), offset=offset).reshape(shape)


def _open_bin(path: str | os.PathLike[str], dtype: str, mmap: bool) -> Array:
    rows, columns, found = _shape(path)
    expected = rows * columns * np.dtype(dtype).itemsize
    if found != expected:
        raise BadFile(
            f"{os.fspath(path)}: its header announces {rows} rows of {columns} columns, {expected} bytes, but {found} "
            "follow; it is truncated or no such file: copy or download it again"
        )
    return _map(path, dtype, _BIN_HEADER, (rows, columns), mmap)


def _open_vecs(path: str | os.PathLike[str], dtype: str, mmap: bool) -> Array:
    size = os.path.getsize(path)
    columns = int(np.fromfile(path, "<i4", 1)[0]) if size >= 4 else 0
    if columns < 1:
        raise BadFile(f"{os.fspath(path)}: row 0 announces {columns} elements; is its name that of its format?")
    row = 4 + columns * np.dtype(dtype).itemsize
    if size % row != 0:
        raise BadFile(
            f"{os.fspath(path)}: its first row announces {columns} elements, {row} bytes a row, but the file has {size} "
            "bytes; it is truncated or its rows differ in length: copy or download it again"
        )
    table = _map(path, "u1", 0, (size // row, row), mmap)
    lengths = np.ascontiguousarray(table[:, :4]).view("<i4")[:, 0]
    if (lengths != columns).any():
        wrong = int(np.argmax(lengths != columns))
        raise BadFile(
            f"{os.fspath(path)}: row {wrong} has {lengths[wrong]} elements but row 0 has {columns}; every row needs as many"
        )
    return table[:, 4:].view(dtype)


def _chosen(path: str | os.PathLike[str], names: list[str], array: str | None) -> str:
    if array is None and len(names) == 1:
        return names[0]
    if array is None or array not in names:
        what = "holds several arrays" if array is None else f"has no array called {array!r}"
        raise InvalidArgument(
            f"{os.fspath(path)}: {what}; name one of them by array=: {', '.join(names) or 'there is none'}"
        )
    return array


def _open_npz(path: str | os.PathLike[str], array: str | None) -> Array:
    with np.load(path, allow_pickle=False) as arrays:
        chosen: Array = arrays[_chosen(path, list(arrays.files), array)]
        return chosen


def _open_hdf5(path: str | os.PathLike[str], array: str | None, mmap: bool) -> Array:
    try:
        import h5py
    except ImportError:
        raise Unsupported(
            f"{os.fspath(path)}: HDF5 is read by h5py, which is not installed; pip install h5py"
        ) from None
    with h5py.File(path, "r") as file:
        names = [name for name, value in file.items() if isinstance(value, h5py.Dataset)]
        data = file[_chosen(path, names, array)]
        offset = data.id.get_offset()  # none: in pieces, or packed
        if mmap and offset is not None and data.size > 0:
            return np.memmap(path, data.dtype, "r", offset, data.shape)
        whole: Array = data[()]
        return whole


def open(path: str | os.PathLike[str], array: str | None = None, *, mmap: bool = True) -> Array:
    """The rows of a file.

    Parameters
    ----------
    path : path
        Its ending says the format.
    array : str, optional
        Of ``.npz`` and HDF5: which one. May be left out where there is one alone.
    mmap : bool
        Map the file where its elements lie as in memory; else, and always for ``.npz`` and for HDF5 in pieces, read it.

    Returns
    -------
    array, [rows, columns]
        With the elements of the file, as ``numpy.memmap`` where it is mapped; read-only then.

    Raises
    ------
    BadFile
        It is truncated, or not what its name says.
    InvalidArgument
        No such ending, or no such array.
    Unsupported
        HDF5, and h5py is not installed.
    """
    ending = _ending(path, _ENDINGS)
    if array is not None and ending not in (".npz", ".hdf5", ".h5"):
        raise InvalidArgument(
            f"{os.fspath(path)}: array={array!r} does not go with {ending}, which holds one; leave it out"
        )
    if not os.path.exists(path):
        raise BadFile(f"{os.fspath(path)}: cannot be read: there is no such file; check the name")
    if ending in _BIN:
        return _open_bin(path, _BIN[ending], mmap)
    if ending in _VECS:
        return _open_vecs(path, _VECS[ending], mmap)
    try:
        if ending == ".npy":
            whole: Array = np.load(path, mmap_mode="r" if mmap else None, allow_pickle=False)
            return whole
        return _open_npz(path, array) if ending == ".npz" else _open_hdf5(path, array, mmap)
    except (BadFile, InvalidArgument, Unsupported):
        raise
    except Exception as error:  # NumPy, zipfile and h5py have many, and none is a promise
        raise BadFile(
            f"{os.fspath(path)}: is no {ending} file, or a damaged one: {error}; copy or download it again"
        ) from error


def _write(path: str | os.PathLike[str], body: Callable[[IO[bytes]], Any]) -> None:
    """Beside its place, and renamed: the file appears whole or not at all."""
    target = os.path.realpath(path)
    partial = f"{target}.partial-{secrets.token_hex(4)}"
    with builtins.open(partial, "x+b") as file:  # by the umask of the process, which no thread may change to read it
        try:
            body(file)
            file.flush()
            os.fsync(file.fileno())
            os.replace(partial, target)
        except BaseException:
            os.unlink(partial)
            raise


def _rows(path: str | os.PathLike[str], rows: Any, dtype: str) -> Array:
    """As [rows, columns] of this type, every value kept."""
    given = np.asarray(rows)
    if given.ndim != 2 or given.size == 0:
        raise InvalidArgument(
            f"{os.fspath(path)}: rows of shape {given.shape}; give [rows, columns] with at least one of each"
        )
    if max(given.shape) > 0xFFFFFFFF:
        raise InvalidArgument(f"{os.fspath(path)}: {given.shape} does not fit the uint32 of its header; save .npy")
    with np.errstate(all="ignore"):
        made = given.astype(dtype)
        if not np.array_equal(made.astype(given.dtype), given, equal_nan=given.dtype.kind == "f"):
            raise InvalidArgument(
                f"{os.fspath(path)}: values of {given.dtype.name} do not fit {np.dtype(dtype).name}, which such a file holds; "
                "convert them first, or save .npy"
            )
    return np.ascontiguousarray(made)


def save(path: str | os.PathLike[str], rows: Any, array: str = "train") -> None:
    """Write rows. The file appears whole or not at all.

    Parameters
    ----------
    path : path
        Its ending says the format.
    rows : array, [rows, columns]
        Its values must fit the elements that such a file holds.
    array : str
        Of ``.npz`` and HDF5: its name; the file then has this one alone.

    Raises
    ------
    InvalidArgument
        No such ending; no rows; values that would not be kept.
    Unsupported
        HDF5, and h5py is not installed.
    """
    ending = _ending(path, _ENDINGS)
    if ending in _BIN:
        table = _rows(path, rows, _BIN[ending])
        header = np.array(table.shape, "<u4")
        _write(path, lambda file: [file.write(part) for part in (header.tobytes(), table.data)])
    elif ending in _VECS:
        table = _rows(path, rows, _VECS[ending])
        lines = np.empty((len(table), 4 + table.shape[1] * table.itemsize), np.uint8)
        lines[:, :4] = np.frombuffer(np.array([table.shape[1]], "<i4").tobytes(), np.uint8)
        lines[:, 4:] = table.view(np.uint8).reshape(len(table), -1)
        _write(path, lines.tofile)
    elif ending == ".npy":
        _write(path, lambda file: np.save(file, np.asarray(rows), allow_pickle=False))
    elif ending == ".npz":
        named: dict[str, Any] = {array: np.asarray(rows)}
        _write(path, lambda file: np.savez(file, **named))
    else:
        _save_hdf5(path, np.asarray(rows), array)


def _save_hdf5(path: str | os.PathLike[str], rows: Array, array: str) -> None:
    try:
        import h5py
    except ImportError:
        raise Unsupported(
            f"{os.fspath(path)}: HDF5 is written by h5py, which is not installed; pip install h5py"
        ) from None

    def body(file: IO[bytes]) -> None:
        with h5py.File(file.name, "w") as made:
            made.create_dataset(array, data=rows)

    _write(path, body)


def open_groundtruth(path: str | os.PathLike[str], *, mmap: bool = True) -> GroundTruth:
    """The neighbours that ``kith groundtruth`` and big-ann-benchmarks write: ``.ibin`` or ``.bin``.

    Parameters
    ----------
    path : path
        The file.
    mmap : bool
        Map it; else read it.

    Returns
    -------
    GroundTruth
        Rows, and distances where the size of the file says that it has some.

    Raises
    ------
    BadFile
        It has neither length.
    """
    _ending(path, [".ibin", ".bin"])
    if not os.path.exists(path):
        raise BadFile(f"{os.fspath(path)}: cannot be read: there is no such file; check the name")
    queries, k, found = _shape(path)
    expected = queries * k * 4
    if found not in (expected, 2 * expected):
        raise BadFile(
            f"{os.fspath(path)}: its header announces {queries} queries of {k} neighbours, {expected} bytes, or with distances "
            f"{2 * expected}, but {found} follow; it is truncated or no such file: copy or download it again"
        )
    rows = _map(path, "<i4", _BIN_HEADER, (queries, k), mmap)
    distances = _map(path, "<f4", _BIN_HEADER + expected, (queries, k), mmap) if found > expected else None
    return GroundTruth(rows, distances)


def save_groundtruth(path: str | os.PathLike[str], rows: Any, distances: Any = None) -> None:
    """Write neighbours as big-ann-benchmarks and ``kith recall`` read them.

    Parameters
    ----------
    path : path
        Ends in ``.ibin`` or ``.bin``.
    rows : array, [queries, k]
        Numbers of rows that fit int32.
    distances : array, [queries, k], optional
        Squared for Euclid. They are rounded to float32.

    Raises
    ------
    InvalidArgument
        Other shapes, or numbers that do not fit.
    """
    _ending(path, [".ibin", ".bin"])
    table = _rows(path, rows, "<i4")
    parts = [np.array(table.shape, "<u4").tobytes(), table.tobytes()]
    if distances is not None:
        far = np.ascontiguousarray(distances, "<f4")
        if far.shape != table.shape:
            raise InvalidArgument(
                f"{os.fspath(path)}: rows of shape {table.shape} but distances of {far.shape}; they must be alike"
            )
        parts.append(far.tobytes())
    _write(path, lambda file: [file.write(part) for part in parts])
