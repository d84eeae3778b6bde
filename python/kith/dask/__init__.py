"""Searches exactly over many machines, by Dask. Answers do not change if workers die.

>>> from distributed import Client
>>> import kith.dask
>>> client = Client("tcp://scheduler:8786")                   # doctest: +SKIP
>>> index = kith.dask.Index.from_files("base-*.u8bin")        # doctest: +SKIP
>>> distance, row = index.search(Q, k=10)                     # doctest: +SKIP

docs/howto/cluster.md says how to start clusters. Needs ``dask`` and ``distributed``: ``pip install '.[dask]'`` in kith's sources.
"""

from __future__ import annotations

import importlib
from typing import Any

from .._core._names import shorten as _shorten
from ._index import Index
from ._verify import Verified

__all__ = ["Index", "KNeighborsClassifier", "KNeighborsRegressor", "Verified"]


_shorten([Index, Verified])


def __getattr__(name: str) -> Any:
    if name in __all__:  # the estimators import scikit-learn, so they are loaded on demand
        estimator = getattr(importlib.import_module("kith.dask._estimators"), name)
        _shorten([estimator])
        return estimator
    raise AttributeError(f"module 'kith.dask' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
