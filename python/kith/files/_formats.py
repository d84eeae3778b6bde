"""Reads and writes each format of files of vectors, for `kith.files`."""

from __future__ import annotations

import os
import stat
import zipfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Callable, TypeVar

import numpy as np

from .._core._errors import BadFile, InvalidArgument, Unsupported
from ._whole_file import write_whole

if TYPE_CHECKING:
    from .._core._types import Array

BIN = {".fbin": "<f4", ".u8bin": "u1", ".i8bin": "i1", ".f16bin": "<f2", ".ibin": "<i4"}
VECS = {".fvecs": "<f4", ".ivecs": "<i4", ".bvecs": "u1"}
ENDINGS = [*BIN, *VECS, ".npy", ".npz", ".hdf5", ".h5"]
BIN_HEADER = 8


Read = TypeVar("Read")


def of_npy(read: Callable[[], Read]) -> Read:
    """Return what `read` returns, which lets NumPy parse the header of an .npy file.

    CPython 3.11 counts the depth of its parser for all threads together, so that one of several that parse may end by a
    SystemError. It is asked again.
    """
    for _ in range(20):
        try:
            return read()
        except SystemError as error:
            if "recursion depth mismatch" not in str(error):
                raise
    return read()


def ending_of(path: str | os.PathLike[str], known: list[str]) -> str:
    ending = Path(path).suffix.lower()
    if ending not in known:
        raise InvalidArgument(
            f"{os.fspath(path)}: its name ends in no format of kith.files; there are {' '.join(known)}"
        )
    return ending


def check_file(path: str | os.PathLike[str]) -> None:
    """Refuse anything but an ordinary file, since opening a pipe would wait."""
    shown = os.fsdecode(path)
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        raise BadFile(f"{shown}: cannot be read: there is no such file; check the name") from None
    except OSError as error:
        raise BadFile(f"{shown}: cannot be read: {error.strerror}; check the name") from None
    except ValueError:
        raise BadFile(f"{shown!r} has a zero byte, which no name of a file has; name another") from None
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"
        raise BadFile(f"{shown}: is {what}, and kith.files maps ordinary files; name one")


def shape_of(path: str | os.PathLike[str]) -> tuple[int, int, int]:
    """Return rows, columns and the number of bytes after them, of a file that begins with two uint32."""
    size = os.path.getsize(path)
    if size < BIN_HEADER:
        raise BadFile(f"{os.fspath(path)}: ends after {size} bytes, within its header; copy or download it again")
    rows, columns = (int(number) for number in np.fromfile(path, "<u4", 2))
    if rows == 0 or columns == 0:
        raise BadFile(
            f"{os.fspath(path)}: holds {rows} rows of {columns} columns; a file of data has at least one of each"
        )
    return rows, columns, size - BIN_HEADER


def array_at(path: str | os.PathLike[str], dtype: str, offset: int, shape: tuple[int, ...], mmap: bool) -> Array:
    if mmap:
        return np.memmap(path, dtype, "r", offset, shape)
    return np.fromfile(path, dtype, int(np.prod(shape, dtype=np.int64)), offset=offset).reshape(shape)


def open_bin(path: str | os.PathLike[str], dtype: str, mmap: bool) -> Array:
    rows, columns, found = shape_of(path)
    expected = rows * columns * np.dtype(dtype).itemsize
    if found != expected:
        raise BadFile(
            f"{os.fspath(path)}: its header announces {rows} rows of {columns} columns, {expected} bytes, but {found} "
            "follow; it is truncated or no such file: copy or download it again"
        )
    return array_at(path, dtype, BIN_HEADER, (rows, columns), mmap)


def open_vecs(path: str | os.PathLike[str], dtype: str, mmap: bool) -> Array:
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
    table = array_at(path, "u1", 0, (size // row, row), mmap)
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


def open_npz(path: str | os.PathLike[str], array: str | None) -> Array:
    with np.load(path, allow_pickle=False) as arrays:
        name = _chosen(path, list(arrays.files), array)
        chosen: Array = of_npy(lambda: arrays[name])
        return chosen


def _h5py(path: str | os.PathLike[str]) -> Any:
    try:
        import h5py
    except ImportError:
        raise Unsupported(
            f"{os.fspath(path)}: HDF5 is read and written by h5py, which is not installed; pip install h5py"
        ) from None
    return h5py


def open_hdf5(path: str | os.PathLike[str], array: str | None, mmap: bool) -> Array:
    """Read only data in the file itself, as kith-read-hdf5 does: a file must not make kith read the user's
    other files.
    """
    h5py = _h5py(path)
    with h5py.File(path, "r") as file:
        own = [name for name in file if isinstance(file.get(name, getlink=True), h5py.HardLink)]
        names = [name for name in own if file.get(name, getclass=True) is h5py.Dataset]
        data = file[_chosen(path, names, array)]
        if data.is_virtual or data.external:
            raise BadFile(f"{os.fspath(path)}: {data.name[1:]!r} has its elements in other files; {_COPY}")
        if data.dtype.kind not in "biuf" or data.dtype.itemsize not in (1, 2, 4, 8):
            raise BadFile(f"{os.fspath(path)}: {data.name[1:]!r} holds no numbers of 1, 2, 4 or 8 bytes; {_COPY}")
        offset = data.id.get_offset()  # None: the data is in pieces, or packed
        if mmap and offset is not None and data.size > 0:
            return np.memmap(path, data.dtype, "r", offset, data.shape)
        whole: Array = data[()]
        return whole


_COPY = "if you know what it reads, copy it: numpy.save('new.npy', h5py.File('FILE')['NAME'][:])"


def given_rows(path: str | os.PathLike[str], rows: Any) -> Array:
    """Convert to an array whose elements a file can hold."""
    try:
        given = np.asarray(rows)
    except ValueError as error:
        raise InvalidArgument(f"{os.fspath(path)}: rows are no array: {error}; give each as many columns") from None
    if given.dtype.hasobject:
        raise InvalidArgument(f"{os.fspath(path)}: rows of dtype {given.dtype}; make numbers of them first")
    return given


def table_of(path: str | os.PathLike[str], rows: Any, dtype: str) -> Array:
    """Convert to [rows, columns] of this type, with every value kept."""
    given = given_rows(path, rows)
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
                "convert them first (x.astype('f4'), or (x - x.mean(0)).astype('f4') where values are far from 0 and near "
                "each other), or save .npy"
            )
    return np.ascontiguousarray(made)


def save_npz(path: str | os.PathLike[str], rows: Array, array: str) -> None:
    """Write members by hand, since numpy.savez takes names as arguments, and some are its own parameters."""

    def body(file: IO[bytes]) -> None:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as made:
            with made.open(f"{array}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, rows, allow_pickle=False)

    write_whole(path, body)


def save_hdf5(path: str | os.PathLike[str], rows: Array, array: str) -> None:
    h5py = _h5py(path)

    def body(file: IO[bytes]) -> None:
        with h5py.File(file, "w") as made:
            made.create_dataset(array, data=rows)

    write_whole(path, body)


def check_array_name(path: str | os.PathLike[str], array: Any, ending: str) -> None:
    """Refuse a name that `open` would not find."""
    plain = isinstance(array, str) and array.isprintable() and array not in ("", ".")
    if not plain or (ending != ".npz" and "/" in array):
        raise InvalidArgument(f"{os.fspath(path)}: array={array!r} is no name of an array of {ending}; pass a word")
