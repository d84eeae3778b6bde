"""Names of types, for annotations alone: numpy.typing takes long to import."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]
UInt32 = npt.NDArray[np.uint32]
UInt64 = npt.NDArray[np.uint64]
