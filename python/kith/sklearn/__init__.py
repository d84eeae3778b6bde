"""scikit-learn's nearest-neighbour estimators, by kith: exact, and the same answer on every machine.

`KNeighborsClassifier`, `KNeighborsRegressor`, `RadiusNeighborsClassifier`, `RadiusNeighborsRegressor`,
`NearestNeighbors` and `KNeighborsTransformer` have scikit-learn's parameters with scikit-learn's defaults; change
the import, and a script works as before. kith's own parameters stand behind them: ``device``, and for
classifiers ``tie``, ``priors``, ``costs`` and ``no_label``.

What differs:

* Distances are computed in float32; float64 rows are rounded, without a warning. Distances that differ by less
  than float32 can tell may swap two neighbours.
* Among equally near rows the first comes first, always.
* ``algorithm`` may be ``"auto"`` or ``"brute"``, ``leaf_size`` has no effect, and ``p`` is 1, 2 or infinity. Trees,
  sparse rows, callable and precomputed metrics are refused with what to use instead.
* ``n_jobs=None`` uses every core; a number uses as many threads.
* A fitted estimator keeps its rows on the device. Pickles and copies hold them in host memory, and the estimator
  goes to the device again when it is first used.
"""

from __future__ import annotations

try:
    import sklearn as _sklearn
    from sklearn.utils.validation import validate_data as _  # noqa: F401  # since scikit-learn 1.6
except ImportError:
    from .._errors import Unavailable

    try:
        _have = f"scikit-learn {_sklearn.__version__} is too old"
    except NameError:
        _have = "scikit-learn is not installed"
    raise Unavailable(f"kith.sklearn: {_have}; pip install 'scikit-learn>=1.6'") from None

from ._classify import KNeighborsClassifier
from ._classify_within import RadiusNeighborsClassifier
from ._neighbors import KNeighborsTransformer, NearestNeighbors
from ._regress import KNeighborsRegressor, RadiusNeighborsRegressor

__all__ = [
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "KNeighborsTransformer",
    "NearestNeighbors",
    "RadiusNeighborsClassifier",
    "RadiusNeighborsRegressor",
]
