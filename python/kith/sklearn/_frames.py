"""Returns neighbours as a pandas frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core._errors import Unavailable


def neighbors_frame(distance: Any, row: Any, queries: Any, fitted: Any) -> Any:
    """Returns one row for each neighbour of each query; `queries` and `fitted` are the indices of frames, or None."""
    try:
        import pandas as pd
    except ImportError:
        raise Unavailable("kith.sklearn: kneighbors_frame makes a pandas DataFrame; pip install pandas") from None
    (m, k), there = row.shape, row.ravel() >= 0
    queries = pd.RangeIndex(m) if queries is None else queries
    fitted = pd.RangeIndex(int(row.max(initial=-1)) + 1) if fitted is None else fitted
    return pd.DataFrame(
        {
            "query": queries.repeat(k)[there],
            "rank": np.tile(np.arange(k), m)[there],
            "neighbor": fitted.take(row.ravel()[there]),
            "distance": distance.ravel()[there],
        }
    )
