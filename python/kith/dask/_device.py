"""Chooses the device of a worker process. Each process finds a GPU of its own."""

from __future__ import annotations

import fcntl
import os
import sys
import tempfile
import threading
from collections.abc import Sequence
from typing import Optional

from .._core._device import DeviceInfo, devices

_claims: dict[str, int] = {}  # by folder: the number of the GPU that this process has claimed
_held: list[int] = []  # descriptors of the locks, which end with this process even if it is killed
_lock = threading.Lock()


def device_here(spec: str) -> str:
    """Returns the device that ``device=`` means in this process.

    On a machine with several GPUs ``"auto"`` is one that no other worker has. If CUDA_VISIBLE_DEVICES names one
    GPU, or dask-cuda has divided them, there is nothing to choose.
    """
    if spec != "auto" or "dask_cuda" in sys.modules:
        return spec
    gpus = [one for one in devices() if one.backend == "cuda"]
    if len(gpus) < 2:
        return spec
    return claim(gpus, tempfile.gettempdir()) or spec


def claim(gpus: Sequence[DeviceInfo], folder: str) -> Optional[str]:
    """Returns the first GPU that no other process has claimed, and claims it for this process; None if all are."""
    with _lock:
        if folder not in _claims:
            for place, gpu in enumerate(gpus):
                name = f"kith-dask-{os.getuid()}-{gpu.pci.replace(':', '-') or place}.lock"
                descriptor = os.open(os.path.join(folder, name), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    os.close(descriptor)
                    continue
                _held.append(descriptor)
                _claims[folder] = place
                break
        return gpus[_claims[folder]].spec if folder in _claims else None
