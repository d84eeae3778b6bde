"""Implements FAISS's flat indices by kith: change ``import faiss`` to ``from kith import faiss``.

`IndexFlatL2`, `IndexFlatIP`, `IndexFlat` and `knn` have FAISS's shapes, dtypes and conventions: distances float32,
squared for L2, and inner products for IP, greatest first; row numbers int64, -1 if fewer than k rows count. There are
three differences: equally near rows come in the order of their numbers, answers are exact, and there are only flat
indices. Every other name of FAISS says what to use instead.
"""

from __future__ import annotations

from typing import Any

from .._core._names import refuse
from .._core._names import shorten as _shorten
from ._flat import (
    METRIC_INNER_PRODUCT,
    METRIC_L1,
    METRIC_L2,
    Index,
    IndexFlat,
    IndexFlatIP,
    IndexFlatL2,
    METRIC_Linf,
    knn,
    omp_get_max_threads,
    omp_set_num_threads,
)
from ._more import get_num_gpus, index_factory, normalize_L2, read_index, write_index
from ._selectors import (
    IDSelector,
    IDSelectorAll,
    IDSelectorAnd,
    IDSelectorArray,
    IDSelectorBatch,
    IDSelectorBitmap,
    IDSelectorNot,
    IDSelectorOr,
    IDSelectorRange,
    IDSelectorXOr,
    SearchParameters,
)

__all__ = [
    "IDSelector",
    "IDSelectorAll",
    "IDSelectorAnd",
    "IDSelectorArray",
    "IDSelectorBatch",
    "IDSelectorBitmap",
    "IDSelectorNot",
    "IDSelectorOr",
    "IDSelectorRange",
    "IDSelectorXOr",
    "Index",
    "IndexFlat",
    "IndexFlatIP",
    "IndexFlatL2",
    "METRIC_INNER_PRODUCT",
    "METRIC_L1",
    "METRIC_L2",
    "METRIC_Linf",
    "SearchParameters",
    "get_num_gpus",
    "index_factory",
    "knn",
    "normalize_L2",
    "omp_get_max_threads",
    "omp_set_num_threads",
    "read_index",
    "write_index",
]

for _class in (IndexFlat, IndexFlatIP, IndexFlatL2):
    _class.__module__ = __name__  # so that pickles name no internal file of this package

# Patterns for names of FAISS, and what kith offers instead. The first match counts.
_REFUSED = [
    ("IndexIDMap*", "kith.Index(X, ids=ids) has rows with numbers of your own"),
    ("*Binary*", 'kith.Index(X, "hamming", element="bits") searches packed bits'),
    ("*[Gg]pu*", 'IndexFlatL2(d, device="cuda:0") is an index on a GPU, and device="cuda:0+cuda:1" one on two'),
    ("IndexShards*", "kith.dask.Index searches the machines of a cluster, device='cuda:0+cuda:1' several GPUs"),
    ("IndexReplicas*", "an index answers any number of threads at once"),
    ("SearchParameters*", "flat indices take SearchParameters(sel=...)"),
    ("IDSelector*", "an array of row numbers or a mask does the same: IDSelectorBatch, IDSelectorBitmap"),
    ("METRIC_*", "the metrics are METRIC_L2, METRIC_INNER_PRODUCT, METRIC_L1 and METRIC_Linf"),
    ("*[Kk]means*", "sklearn.cluster.KMeans clusters; IndexFlatL2(d).assign(x) finds the nearest centroid"),
    ("Clustering*", "sklearn.cluster.KMeans clusters; IndexFlatL2(d).assign(x) finds the nearest centroid"),
    ("*serialize*", "pickle.dumps(index), or write_index"),
    ("clone_index", "copy.copy(index)"),
    ("pairwise_*", "scipy.spatial.distance.cdist gives distances of all pairs"),
    ("fvec_*", "NumPy has the functions of one row"),
    ("knn_*", "knn(xq, xb, k, metric)"),
    ("range_search_*", "IndexFlat.range_search"),
    ("*hamming*", 'kith.Index(X, "hamming", element="bits") searches packed bits'),
    ("*Matrix", "transform rows before they are added, by sklearn.decomposition.PCA or NumPy"),
    ("*Transform", "transform rows before they are added, by sklearn.preprocessing or NumPy"),
    ("read_*", "read_index reads flat indices"),
    ("write_*", "write_index writes flat indices"),
    ("Index*", "kith has flat, exact indices: IndexFlatL2, IndexFlatIP, IndexFlat, knn"),
]
_ELSE = "kith has flat, exact indices (IndexFlatL2, IndexFlatIP, IndexFlat, knn): take it from FAISS itself"


_shorten(globals()[_name] for _name in __all__)


def __getattr__(name: str) -> Any:
    refuse("kith.faiss", name, _REFUSED, _ELSE)
