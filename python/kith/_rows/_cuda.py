"""Describes arrays of PyTorch and CuPy on a CUDA device, which the library reads and writes in place."""

from __future__ import annotations

import ctypes as c
from typing import Any, Optional

from .._core import _structs as s
from ._arrays import _BITS, _DOUBLE, _ELEMENTS, Rows

_CUDA = 1  # kith_rows.where


def rows_on_cuda(x: Any, bits: bool, spec: str, doubles: bool = False) -> Optional[Rows]:
    """Describe `x` as rows on the device `spec`, with its current stream. `doubles`: they may be of float64.

    Returns None if `x` is no such array, is elsewhere, or is of a type that the library does not take: then it goes
    through host memory, or is refused, like any other array.
    """
    if not spec.startswith("cuda:"):
        return None
    module = type(x).__module__.partition(".")[0]
    if module == "torch":
        return _torch_rows(x, bits, spec, doubles)
    if module == "cupy":
        return _cupy_rows(x, bits, spec, doubles)
    return None


def _torch_rows(x: Any, bits: bool, spec: str, doubles: bool) -> Optional[Rows]:
    import torch  # type: ignore[import-not-found,unused-ignore]

    name = str(x.dtype).rpartition(".")[2]
    if x.is_sparse or str(x.device) != spec or not _is_taken(name, tuple(x.shape), bits, doubles):
        return None
    x = x.detach().resolve_neg()
    rows, cols = x.shape
    if (cols > 1 and x.stride(1) != 1) or (rows > 1 and x.stride(0) < cols):
        x = x.contiguous()
    device, stream = x.device, torch.cuda.current_stream(x.device).cuda_stream

    def answers(shape: tuple[int, int], wide: bool) -> tuple[Any, Any, int, int]:
        distance = torch.empty(shape, dtype=torch.float64 if wide else torch.float32, device=device)
        row = torch.empty(shape, dtype=torch.int64, device=device)
        return distance, row, distance.data_ptr(), row.data_ptr()

    struct = _struct(x.data_ptr(), name, (rows, cols), x.stride(0) * x.element_size(), bits, stream)
    return Rows(x, struct, back=lambda array: torch.from_numpy(array).to(device), answers=answers)


def _cupy_rows(x: Any, bits: bool, spec: str, doubles: bool) -> Optional[Rows]:
    import cupy  # type: ignore[import-not-found,unused-ignore]

    name = str(x.dtype.name)
    if f"cuda:{x.device.id}" != spec or not _is_taken(name, tuple(x.shape), bits, doubles) or not x.dtype.isnative:
        return None
    place = x.device
    with place:
        rows, cols = x.shape
        if (cols > 1 and x.strides[1] != x.itemsize) or (rows > 1 and x.strides[0] < cols * x.itemsize):
            x = cupy.ascontiguousarray(x)
        stream = cupy.cuda.get_current_stream().ptr

    def answers(shape: tuple[int, int], wide: bool) -> tuple[Any, Any, int, int]:
        with place:
            distance = cupy.empty(shape, cupy.float64 if wide else cupy.float32)
            row = cupy.empty(shape, cupy.int64)
        return distance, row, distance.data.ptr, row.data.ptr

    def back(array: Any) -> Any:
        with place:
            return cupy.asarray(array)

    struct = _struct(x.data.ptr, name, (rows, cols), x.strides[0], bits, stream)
    return Rows(x, struct, back=back, answers=answers)


def _is_taken(name: str, shape: tuple[int, ...], bits: bool, doubles: bool) -> bool:
    if len(shape) != 2 or min(shape) == 0:
        return False
    return name == "uint8" if bits else name in _ELEMENTS or (doubles and name == "float64")


def _struct(data: int, name: str, shape: tuple[int, int], stride: int, bits: bool, stream: int) -> s.Rows:
    rows, cols = shape
    return s.Rows(
        size=c.sizeof(s.Rows),
        data=data,
        rows=rows,
        cols=8 * cols if bits else cols,
        stride_bytes=stride if rows > 1 else 0,
        element=_BITS if bits else _DOUBLE if name == "float64" else _ELEMENTS[name],
        where=_CUDA,
        stream=stream,
    )


def answers_struct(distance: int, row: int, stream: int, wide: bool) -> s.DeviceAnswers:
    """Say where answers go, on the stream of the queries. `wide`: distances are of float64."""
    return s.DeviceAnswers(
        size=c.sizeof(s.DeviceAnswers),
        distance=distance,
        row=row,
        where=_CUDA,
        element=_DOUBLE if wide else _ELEMENTS["float32"],
        stream=stream,
    )
