"""Finds neighbours for PyTorch, with the signatures of torch_cluster, PyTorch Geometric and PyTorch3D.

`knn`, `knn_graph`, `radius`, `radius_graph` and `nearest` return edges as torch_cluster and `torch_geometric.nn` do;
`knn_points`, `knn_gather` and `ball_query` return arrays of clouds as `pytorch3d.ops` does. All are operators of
`torch.library`, so that `torch.compile` takes them whole, and nothing here is built against PyTorch.

* Answers have the same bits on every device; of equally near rows the first comes first.
* Distances have gradients, and `gather_rows` and `knn_gather` have, too, whose sums are taken in a fixed order: they
  have the same bits on every device, in every run (docs/contract.md, section 14).
* Tensors on a CUDA device are searched there, on the current stream; tensors of the host on the CPU.
* Where a list is limited, the nearest rows stay, while the other libraries keep those that they meet first.

docs/howto/torch.md has examples. Needs ``torch``, 2.4 or later.
"""

from __future__ import annotations

try:
    import torch as _torch
    from torch.library import custom_op as _  # noqa: F401  # exists since PyTorch 2.4
except ImportError:
    from .._core._errors import Unavailable

    class _Missing(Unavailable, ImportError):
        """Is an ImportError, too, which is what `import` raises."""

    try:
        _have = f"PyTorch {_torch.__version__} is too old"
    except NameError:
        _have = "PyTorch is not installed"
    raise _Missing(f"kith.torch: {_have}; pip install 'torch>=2.4'") from None

from .._core._names import shorten as _shorten
from ._edges import knn, knn_graph, nearest, radius, radius_graph
from ._points import KNN, ball_query, gather_rows, knn_gather, knn_points

__all__ = [
    "KNN",
    "ball_query",
    "gather_rows",
    "knn",
    "knn_gather",
    "knn_graph",
    "knn_points",
    "nearest",
    "radius",
    "radius_graph",
]

for _name in __all__:
    globals()[_name].__module__ = __name__  # callers import them from there

_shorten(globals()[_name] for _name in __all__ if _name != "KNN")
