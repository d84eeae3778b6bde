"""Lists devices, and opens them."""

from __future__ import annotations

import atexit
import ctypes as c
import os
from dataclasses import dataclass
from typing import Any, Optional, Union

from . import _structs as s
from ._library import Handle, check, lib, new_handle, text
from ._locks import Lock


@dataclass(frozen=True)
class DeviceInfo:
    """Describes a device.

    Attributes
    ----------
    spec : str
        What ``device=`` takes: ``"cpu"``, ``"cuda:0"``, ``"opencl:1"``.
    backend, name, platform, driver : str
        ``cpu``, ``opencl`` or ``cuda``; the names that its driver gives; the driver's version, or the
        instruction set in use.
    kind : str
        ``cpu``, ``gpu`` or ``accelerator``.
    pci : str
        Its address, ``0000:3b:00.0``; empty if there is none.
    selectors, proposers : tuple of str
        The methods that it has to select and propose neighbours (docs/methods.md).
    memory_bytes, largest_allocation_bytes : int
        Bytes of its memory, and of the largest block.
    compute_units : int
        Cores, or multiprocessors.
    """

    spec: str
    backend: str
    name: str
    platform: str
    driver: str
    kind: str
    pci: str
    selectors: tuple[str, ...]
    proposers: tuple[str, ...]
    memory_bytes: int
    largest_allocation_bytes: int
    compute_units: int

    def __repr__(self) -> str:
        return f"kith.DeviceInfo({self.spec!r}: {self.name}, {self.platform}, {self.memory_bytes / 2**30:.1f} GiB)"


@dataclass(frozen=True)
class BackendInfo:
    """Describes a back end, and why it has no devices here.

    Attributes
    ----------
    name : str
        ``opencl``, ``cuda``.
    reason : str
        Why there are no devices; empty if there are some.
    """

    name: str
    reason: str


class Devices(list[DeviceInfo]):
    """Lists the devices of this machine.

    Attributes
    ----------
    backends : list of BackendInfo
        Every back end, with the reason if it has no devices.
    warnings : list of str
        A sentence for each plug-in and driver that could not be used.
    """

    backends: list[BackendInfo]
    warnings: list[str]

    def __repr__(self) -> str:
        lines = [f"{one.spec}: {one.name}, {one.platform}" for one in self]
        lines += [f"{one.name}: {one.reason}" for one in self.backends if one.reason]
        return "\n".join(lines + self.warnings)


def _info(raw: s.DeviceInfo) -> DeviceInfo:
    texts = {
        name: text(getattr(raw, name)) for name in ("spec", "backend", "name", "platform", "driver", "kind", "pci")
    }
    lists = {name: tuple(filter(None, text(getattr(raw, name)).split(","))) for name in ("selectors", "proposers")}
    sizes = {name: int(getattr(raw, name)) for name in ("memory_bytes", "largest_allocation_bytes", "compute_units")}
    return DeviceInfo(**texts, **lists, **sizes)  # type: ignore[arg-type]


def devices() -> Devices:
    """Return every device of this machine. This starts their drivers.

    Returns
    -------
    Devices
        A list of `DeviceInfo`, with the reasons of back ends that have none.

    Examples
    --------
    >>> import kith
    >>> kith.devices()[0].spec
    'cpu'
    """
    inventory = new_handle(lib.kith_inventory_free, lib.kith_inventory_new)
    count = c.c_int64()

    def counted(function: str) -> range:
        check(getattr(lib, function)(inventory.value, c.byref(count)))
        return range(count.value)

    found = Devices()
    for number in counted("kith_inventory_device_count"):
        info = s.sized(s.DeviceInfo)
        check(lib.kith_inventory_device(inventory.value, number, info))
        found.append(_info(info))
    first, second = c.c_char_p(), c.c_char_p()
    found.backends = []
    for number in counted("kith_inventory_backend_count"):
        check(lib.kith_inventory_backend(inventory.value, number, c.byref(first), c.byref(second)))
        found.backends.append(BackendInfo(text(first.value), text(second.value)))
    found.warnings = []
    for number in counted("kith_inventory_warning_count"):
        check(lib.kith_inventory_warning(inventory.value, number, c.byref(first)))
        found.warnings.append(text(first.value))
    return found


class Device:
    """Opens a device, and tests that it is exact.

    Everything that takes ``device=`` takes a name, too, and opens that device once; a `Device` opens it at a time of
    your choice.

    Parameters
    ----------
    spec : str
        ``"auto"`` (a CUDA device, else a GPU by OpenCL, else the CPU), ``"gpu"`` (the same, but never the CPU), ``"cpu"``,
        ``"cuda"``, ``"cuda:1"``,
        ``"opencl:0"``, or ``"opencl:nvidia"`` (a part of the name of device or platform).

    Raises
    ------
    kith.InvalidArgument
        No back end has that name.
    kith.Unavailable
        There is no such device, it is not exact, or its driver was started before this process forked.
    """

    def __init__(self, spec: str = "auto") -> None:
        self._handle: Handle = new_handle(lib.kith_device_free, lib.kith_device_open, str(spec).encode())
        raw = s.sized(s.DeviceInfo)
        check(lib.kith_device_describe(self._handle.value, raw))
        self.info = _info(raw)
        # Multiply-adds that it does while one core of a CPU does one; that of a slow GPU, so that Ctrl-C works there.
        self.pace = 5000 if self.info.kind == "gpu" else 1

    @property
    def handle(self) -> Optional[int]:
        return self._handle.value

    def __copy__(self) -> Device:
        return self

    def __deepcopy__(self, memo: Any) -> Device:
        return self  # scikit-learn's clone() copies parameters

    def __reduce__(self) -> Any:
        return Device, (self.info.spec,)

    def __repr__(self) -> str:
        return f"kith.Device({self.info.spec!r}: {self.info.name})"


_open: dict[tuple[int, str], Device] = {}
_lock = Lock()


def open_device(device: Union[str, Device, None]) -> Device:
    """Return the device of that name. It is opened on first use, and again in a forked child.

    It stays open until `close_devices` or the end of the process: opening one takes far longer than fitting
    a small estimator.
    """
    if isinstance(device, Device):
        return device
    key = (os.getpid(), "auto" if device is None else str(device))
    opened = _open.get(key)
    if opened is not None:
        return opened
    with _lock.held():
        if key not in _open:
            _open[key] = Device(key[1])
        return _open[key]


def close_devices() -> None:
    """Close the devices that were opened by name. Each closes once no index on it is left."""
    with _lock.held():
        closing = dict(_open)
        _open.clear()
    del closing  # without the lock, since a callback of a weakref may open a device


atexit.register(close_devices)
