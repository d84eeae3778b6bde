"""Declares the types of arguments and results, for editors and type checkers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable, Literal, Optional, TypedDict, Union

import numpy as np

from . import _options
from ._device import Device
from ._options import (
    Arithmetic as Arithmetic,
    Placement as Placement,
    Proposer as Proposer,
    Residence as Residence,
    Selector as Selector,
    TieRule,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Unpack as Unpack
else:  # numpy.typing takes long to import before NumPy 2, and typing has Unpack from Python 3.11 on

    class NDArray:
        def __class_getitem__(cls, kind: Any) -> Any:
            return np.ndarray[Any, np.dtype[kind]]

    class Unpack:
        def __class_getitem__(cls, kind: Any) -> Any:
            return kind


Array = NDArray[Any]
Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Bool = NDArray[np.bool_]
UInt32 = NDArray[np.uint32]
UInt64 = NDArray[np.uint64]
Values = Union[UInt32, UInt64]  # of keys, by the arithmetic of the index
Distances = Union[Float32, Float64]  # by the arithmetic of the index

# The names of kith.metrics(), and those that other libraries have for these metrics.
MetricName = Literal[
    "l2", "squared_l2", "l1", "linf", "negative_dot", "cosine", "hamming", "correlation", "spearman", "seuclidean",
    "mahalanobis", "hellinger", "angular", "haversine", "jaccard", "dice", "sokalsneath", "rogerstanimoto",
    "russellrao", "braycurtis", "nan_euclidean", "nan_manhattan", "nan_gower", "minkowski", "gower", "matching",
    "canberra", "euclidean", "sqeuclidean", "manhattan", "cityblock", "chebyshev", "inner_product", "dot", "ip", "l2sq",
    "cos", "pearson", "tanimoto",
]  # fmt: skip
BIT_METRICS = ("hamming", "jaccard", "dice", "sokalsneath", "rogerstanimoto", "russellrao")  # of packed bits
GAP_METRICS = ("nan_euclidean", "nan_manhattan", "nan_gower")  # of rows in which a NaN is a missing value
FLOAT_METRICS = ("braycurtis", *GAP_METRICS)  # which compute in float32 alone
CATEGORY_METRICS = ("gower", "nan_gower")  # of columns that hold numbers or categories
MetricOfEstimators = Literal[MetricName, "p", "infinity"]
DeviceLike = Union[Literal["auto", "cpu", "cuda", "cuda:0", "opencl", "opencl:0"], str, Device]
Element = Literal["bits"]
Tie = TieRule
AllWeights = _options.Weights
How = Mapping[str, Any]  # the tuning options of a search: docs/options.md
Weights = Literal["uniform", "distance"]
WeightsOfEstimators = Union[Weights, Callable[[Any], Any], None]
Algorithm = Literal["auto", "brute"]
Mode = Literal["connectivity", "distance"]


class IndexArguments(TypedDict, total=False):
    """What `kith.Index` takes beside rows, metric and device."""

    features: Optional[Any]
    element: Optional[Element]
    first_row: int
    largest: Optional[float]
    ids: Optional[Any]
    groups: Optional[Any]
    placement: Placement
    shares: Optional[Any]
    reserve: int
    centre: Optional[Any]
    box: Optional[Any]
    w: Optional[Any]
    V: Optional[Any]
    VI: Optional[Any]
    degrees: bool
    p: Optional[float]
    categorical: Optional[Any]
    ranges: Optional[Any]
    storage: Optional[Residence]
    memory_limit: int
    chunk_rows: int
    arithmetic: Arithmetic
    deduplicate: Optional[bool]
    rows: Optional[tuple[int, int]]
    threads: int
    progress: Union[bool, Callable[[float], Any]]
