"""Implements scikit-learn's nearest-neighbour estimators by kith: exact, with the same answers on every machine.

`KNeighborsClassifier`, `KNeighborsRegressor`, `RadiusNeighborsClassifier`, `RadiusNeighborsRegressor`,
`NearestNeighbors`, `KNeighborsTransformer`, `RadiusNeighborsTransformer`, `KNNImputer`, `kneighbors_graph` and
`radius_neighbors_graph` have scikit-learn's parameters with scikit-learn's defaults; change the import, and a script
works as before. kith's own parameters come after them: ``device``, and for classifiers ``tie``, ``priors``, ``costs``
and ``no_label``. `isinstance` takes them for scikit-learn's classes of the same names.

There are these differences:

* Distances are computed in float32 for estimators that are fitted to float32, 16- or 8-bit numbers, and in float64
  for all others; by ``braycurtis`` and metrics named ``nan_...`` always in float32. Two neighbours may be swapped if
  float32 cannot tell their distances apart.
* Among equally near rows the first always comes first.
* ``algorithm`` may be ``"auto"`` or ``"brute"``, ``leaf_size`` has no effect, and ``p`` is 0.5, 1, 1.5 ... 8 or
  infinity. Trees, sparse rows, callable and precomputed metrics are refused with what to use instead.
* ``n_jobs=None`` uses every core; a number uses as many threads.
* A fitted estimator keeps its rows on the device. Pickles and copies hold them in host memory, and the estimator
  goes to the device again when it is first used. A pickle of another version is opened, or refused in a sentence
  that names both versions.
"""

from __future__ import annotations

from typing import Any as _Any

try:
    import sklearn as _sklearn
    from sklearn.utils.validation import validate_data as _  # noqa: F401  # exists since scikit-learn 1.6
except ImportError:
    from .._core._errors import Unavailable

    try:
        _have = f"scikit-learn {_sklearn.__version__} is too old"
    except NameError:
        _have = "scikit-learn is not installed"
    raise Unavailable(f"kith.sklearn: {_have}; pip install 'scikit-learn>=1.6'") from None

import sklearn.neighbors as _theirs

from .._core._names import refuse
from .._core._names import shorten as _shorten
from ._classify import KNeighborsClassifier
from ._classify_within import RadiusNeighborsClassifier
from ._graphs import kneighbors_graph, radius_neighbors_graph
from ._impute import KNNImputer
from ._neighbors import KNeighborsTransformer, NearestNeighbors, RadiusNeighborsTransformer
from ._regress import KNeighborsRegressor, RadiusNeighborsRegressor

__all__ = [
    "KNNImputer",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "KNeighborsTransformer",
    "NearestNeighbors",
    "RadiusNeighborsClassifier",
    "RadiusNeighborsRegressor",
    "RadiusNeighborsTransformer",
    "kneighbors_graph",
    "radius_neighbors_graph",
]

for _class in (
    KNeighborsClassifier,
    KNeighborsRegressor,
    KNeighborsTransformer,
    NearestNeighbors,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
    RadiusNeighborsTransformer,
):
    _class.__module__ = __name__  # so that pickles name no internal file of this package
    getattr(_theirs, _class.__name__).register(_class)  # makes isinstance() of scikit-learn's classes true

KNNImputer.__module__ = __name__

_TREES = "NearestNeighbors finds the same neighbours without a tree"
_THEIRS = "import it from sklearn.neighbors; it works beside kith.sklearn"
_REFUSED = [
    ("BallTree", _TREES),
    ("KDTree", _TREES),
    ("LocalOutlierFactor", "that of sklearn.neighbors, by metric='precomputed', takes KNeighborsTransformer's graph"),
    ("KernelDensity", _THEIRS),
    ("NearestCentroid", _THEIRS),
    ("NeighborhoodComponentsAnalysis", _THEIRS),
    ("sort_graph_by_row_values", "graphs of kith.sklearn are sorted; for others import it from sklearn.neighbors"),
    ("VALID_METRICS*", "kith.metrics() are the names, and 'minkowski' with p = 0.5, 1, 1.5 ... 8 or infinity"),
]


_shorten(globals()[_name] for _name in __all__)


def __getattr__(name: str) -> _Any:
    refuse("kith.sklearn", name, _REFUSED)
