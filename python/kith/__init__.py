"""kith: exact k-nearest-neighbour search. Every device returns the same bits.

>>> import numpy as np, kith
>>> X = np.random.default_rng(0).random((1000, 16), np.float32)
>>> index = kith.Index(X, metric="l2", device="auto")
>>> distance, row = index.search(X[:3], k=5)
>>> row[:, 0].tolist()
[0, 1, 2]

`kith.sklearn` has scikit-learn's estimators, `kith.faiss` FAISS's flat indices, `kith.files` files of vectors,
`kith.dask` searches over many machines, `kith.torch` operators of PyTorch. docs/python.md is the manual;
docs/contract.md says what is promised.
"""

from __future__ import annotations

import importlib as _importlib
import importlib.util as _util
from typing import Any as _Any

from ._core._device import BackendInfo, Device, DeviceInfo, Devices, close_devices, devices
from ._core._errors import (
    BadFile,
    DeviceFailure,
    Error,
    HostCopyWarning,
    Interrupted,
    InvalidArgument,
    OutOfMemory,
    PrecisionWarning,
    Unavailable,
    Unsupported,
)
from ._core._index import Index, knn_graph
from ._core._index_file import IndexFileInfo, index_file_info
from ._core._keys import Keys, RadiusKeys, digest, finish, largest_element, leave_out, merge
from ._core._knn import knn
from ._core._library import version as _version
from ._core._metrics import metrics
from ._core._names import shorten as _shorten
from ._core._results import Neighbors, Pairs, RadiusNeighbors
from ._core._trained import Classifier, Regressor

__version__ = _version()

__all__ = [
    "BackendInfo",
    "BadFile",
    "Classifier",
    "Device",
    "DeviceFailure",
    "DeviceInfo",
    "Devices",
    "Error",
    "HostCopyWarning",
    "Index",
    "IndexFileInfo",
    "Interrupted",
    "InvalidArgument",
    "Keys",
    "Neighbors",
    "OutOfMemory",
    "PrecisionWarning",
    "RadiusKeys",
    "Pairs",
    "RadiusNeighbors",
    "Regressor",
    "Unavailable",
    "Unsupported",
    "close_devices",
    "devices",
    "digest",
    "finish",
    "index_file_info",
    "knn",
    "knn_graph",
    "largest_element",
    "leave_out",
    "merge",
    "metrics",
]

_shorten(globals()[_name] for _name in __all__)
_SUBMODULES = {"dask": "distributed", "faiss": "numpy", "files": "numpy", "sklearn": "sklearn", "torch": "torch"}


def __getattr__(name: str) -> _Any:
    if name in _SUBMODULES:  # they import the packages beside their names, so they are loaded on demand
        return _importlib.import_module(f"kith.{name}")
    raise AttributeError(f"module 'kith' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List those submodules alone whose packages are there: `help` asks for all that are listed."""
    there = [name for name, package in _SUBMODULES.items() if _util.find_spec(package)]
    return sorted([*__all__, *there, "__version__"])
