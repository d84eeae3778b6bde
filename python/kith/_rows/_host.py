"""Converts arrays of other libraries to NumPy; those on a GPU are copied, with a warning."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Callable, Optional

import numpy as np

from .._core._errors import HostCopyWarning, InvalidArgument, Unsupported

if TYPE_CHECKING:
    from .._core._types import Array


_HOST_MEMORY = (1, 3, 11)  # DLPack's CPU, and host memory that CUDA and ROCm pinned
_BFLOAT16 = np.dtype([("bfloat16", np.uint16)])  # of PyTorch; NumPy has no such type


def _widened(x: Array) -> Array:
    """Convert bfloat16, `_BFLOAT16` or JAX's, to the float32 that it equals, in C order."""
    if x.dtype != _BFLOAT16:
        return np.ascontiguousarray(x, np.float32)
    return (x["bfloat16"].astype(np.uint32, order="C") << 16).view(np.float32)


def _host_array(x: Any, what: str, gaps: bool = False) -> tuple[Any, Optional[Callable[[Array], Any]]]:
    """Convert `x` to a NumPy array; also return the way back if `x` is another kind of array on a GPU. `gaps`: values
    may be missing.
    """
    if isinstance(x, np.ma.MaskedArray):
        if np.ma.is_masked(x):
            filled = "make them NaN (x.astype(float).filled(numpy.nan))" if gaps else "fill them in (x.filled(value))"
            raise InvalidArgument(f"{what}: masked values; {filled} or leave their rows out")
        return np.asarray(x.data), None
    if isinstance(x, (np.ndarray, list, tuple)):
        return _from_lists(x, what), None
    module = type(x).__module__.partition(".")[0]
    if module == "torch":
        return _from_torch(x, what)
    if module == "cupy":
        _warn_host_copy(what, f"a CuPy array on cuda:{x.device.id}", x.nbytes)
        import cupy  # type: ignore[import-not-found,unused-ignore]

        with x.device:
            return cupy.asnumpy(x), cupy.asarray
    if module in ("jax", "jaxlib"):
        return _from_jax(x, what)
    if hasattr(x, "toarray") and hasattr(x, "nnz"):
        raise Unsupported(f"{what}: a sparse matrix, and kith takes dense rows; pass x.toarray()")
    if hasattr(x, "__cuda_array_interface__"):
        raise Unsupported(
            f"{what}: a GPU array of {type(x).__module__}, and this version takes those of PyTorch, CuPy and JAX; "
            "pass it through torch.as_tensor(x, device='cuda') or cupy.asarray(x)"
        )
    if hasattr(x, "__dlpack__") and not hasattr(x, "__array__"):
        if x.__dlpack_device__()[0] not in _HOST_MEMORY:
            raise Unsupported(
                f"{what}: a {type(x).__name__} in the memory of a GPU, which only speaks DLPack; "
                "pass it through torch.from_dlpack(x) or cupy.from_dlpack(x)"
            )
        return np.from_dlpack(x), None
    return np.asarray(x), None


def _from_lists(x: Any, what: str) -> Array:
    try:
        array: Array = np.asarray(x)
    except ValueError:
        sizes = [len(row) if hasattr(row, "__len__") else 0 for row in x]
        other = next((i for i, size in enumerate(sizes) if size != sizes[0]), None)
        if other is None:
            raise InvalidArgument(
                f"{what}: lists in lists of different lengths; give each row as many numbers"
            ) from None
        raise InvalidArgument(
            f"{what}: row 0 has {sizes[0]} values, but row {other} has {sizes[other]}; give each row as many"
        ) from None
    return array


def _from_torch(x: Any, what: str) -> tuple[Any, Optional[Callable[[Array], Any]]]:
    import torch  # type: ignore[import-not-found,unused-ignore]

    x = x.detach()
    if x.is_sparse:
        raise Unsupported(f"{what}: a sparse tensor, and kith takes dense rows; pass x.to_dense()")
    if x.dtype == torch.bfloat16 and x.device.type == "cpu":
        return x.view(torch.int16).numpy().view(_BFLOAT16), None
    if x.dtype == torch.bfloat16:  # each value is a float32
        x = x.float()
    if x.device.type == "cpu":
        return x.numpy(), None
    device = x.device
    _warn_host_copy(what, f"a tensor on {device}", x.element_size() * x.nelement())
    return x.cpu().numpy(), lambda array: torch.from_numpy(array).to(device)


def _from_jax(x: Any, what: str) -> tuple[Any, Optional[Callable[[Array], Any]]]:
    devices = list(x.devices())
    if all(device.platform == "cpu" for device in devices):
        return np.asarray(x), None
    if len(devices) != 1:
        raise Unsupported(f"{what}: an array on {len(devices)} devices; gather it on one first (jax.device_put)")
    _warn_host_copy(what, f"a JAX array on {devices[0]}", x.nbytes)
    import jax  # type: ignore[import-not-found,unused-ignore]

    return np.asarray(x), lambda array: jax.device_put(array, devices[0])


def _warn_host_copy(what: str, which: str, size: int) -> None:
    warnings.warn(
        f"{what}: {which}; the library does not read it there, so {size / 2**20:.1f} MiB are copied to the host, and "
        "answers back. Move the array to the host once (x.cpu(), x.get()) to copy it once",
        HostCopyWarning,
        stacklevel=_caller(),
    )


def _caller() -> int:
    """Return the stack level of the first frame outside this package, so that a warning names the user's line."""
    import sys

    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "kith":
        frame, level = frame.f_back, level + 1
    return level
