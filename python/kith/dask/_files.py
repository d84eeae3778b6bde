"""Reads rows of files without mapping them, since truncating a mapped file would end the process."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._core._errors import BadFile, InvalidArgument
from ..files._formats import of_npy

if TYPE_CHECKING:
    from .._core._types import Array

_BIN = {".fbin": "<f4", ".u8bin": "u1", ".i8bin": "i1", ".f16bin": "<f2"}
_SAMPLES = 64  # places of a file that its fingerprint samples
_SAMPLE_BYTES = 4096


class Layout(NamedTuple):
    """Describes the layout of a file.

    Attributes
    ----------
    rows, columns : int
    dtype : str
        NumPy's name of the type, with the order of bytes.
    offset : int
        Where the first row begins, in bytes.
    fingerprint : str
        A digest of the file's size and of samples of its bytes, spread over all of it.
    """

    rows: int
    columns: int
    dtype: str
    offset: int
    fingerprint: str

    @property
    def row_bytes(self) -> int:
        return self.columns * np.dtype(self.dtype).itemsize


def layout_of(path: str) -> Layout:
    """Read the header of a file, and check its size against it.

    Raises
    ------
    BadFile
        The file is missing, truncated, or not of the format that its name says.
    InvalidArgument
        The format is not supported, or the rows are not numbers [rows, columns].
    """
    with _open(path) as file:
        return _layout(path, file)


def read_rows(path: str, begin: int, end: int, expected: Layout) -> Array:
    """Returns rows begin ... end - 1, with the element type of the file.

    Raises
    ------
    BadFile
        The file no longer matches `expected`.
    """
    with _open(path) as file:
        found = _layout(path, file)
        if found != expected:
            raise BadFile(
                f"{path}: has changed since the index was made: {_shown(expected)} then, {_shown(found)} now; "
                "put the old file back, or make the index again"
            )
        file.seek(expected.offset + begin * expected.row_bytes)
        count = (end - begin) * expected.columns
        flat = np.fromfile(file, expected.dtype, count)
    if len(flat) != count:
        raise BadFile(
            f"{path}: ends within row {begin + len(flat) // expected.columns} of {expected.rows}; "
            "it was cut while it was read: copy or download it again"
        )
    return flat.reshape(end - begin, expected.columns)


def _open(path: str) -> IO[bytes]:
    try:
        return open(path, "rb")
    except OSError as error:
        raise BadFile(f"{path}: cannot be read: {error.strerror}; every worker must see it under this name") from None


def _layout(path: str, file: IO[bytes]) -> Layout:
    ending = Path(path).suffix.lower()
    if ending != ".npy" and ending not in _BIN:
        raise InvalidArgument(
            f"{path}: its name ends in no format of kith.dask; there are .npy {' '.join(_BIN)}; save its rows as .npy"
        )
    rows, columns, dtype = _npy(path, file) if ending == ".npy" else _bin(path, file, _BIN[ending])
    offset = file.tell()
    size = os.fstat(file.fileno()).st_size
    expected = offset + rows * columns * np.dtype(dtype).itemsize
    if rows == 0 or columns == 0 or size != expected:
        raise BadFile(
            f"{path}: its header announces {rows} rows of {columns} columns, {expected} bytes with it, but the file "
            f"has {size}; it is truncated or no such file: copy or download it again"
        )
    return Layout(rows, columns, dtype, offset, _fingerprint(file, size))


def _npy(path: str, file: IO[bytes]) -> tuple[int, int, str]:
    def header() -> Any:
        file.seek(0)
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        return read(file)

    try:
        shape, fortran, dtype = of_npy(header)
    except Exception as error:  # NumPy raises many kinds, and documents none
        raise BadFile(f"{path}: is no .npy file, or a damaged one: {error}; copy or download it again") from None
    if len(shape) != 2 or dtype.kind not in "fiub" or (fortran and min(shape) > 1):
        order = "columns" if fortran else "rows"
        raise InvalidArgument(
            f"{path}: holds {dtype} of shape {shape}, by {order}; save numbers [rows, columns], row by row "
            "(numpy.ascontiguousarray)"
        )
    return int(shape[0]), int(shape[1]), dtype.str


def _bin(path: str, file: IO[bytes], dtype: str) -> tuple[int, int, str]:
    header = np.fromfile(file, "<u4", 2)
    if len(header) != 2:
        raise BadFile(f"{path}: ends within its header; copy or download it again")
    return int(header[0]), int(header[1]), dtype


def _fingerprint(file: IO[bytes], size: int) -> str:
    digest = hashlib.blake2b(str(size).encode(), digest_size=16)
    last = max(0, size - _SAMPLE_BYTES)
    for place in sorted({last * i // (_SAMPLES - 1) for i in range(_SAMPLES)}):
        file.seek(place)
        digest.update(file.read(_SAMPLE_BYTES))
    return digest.hexdigest()


def _shown(layout: Layout) -> str:
    return f"{layout.rows} x {layout.columns} {np.dtype(layout.dtype).name}, fingerprint {layout.fingerprint[:8]}"
