"""Holds what the tests of kith.torch share: the devices to run on, and answers by plain loops over kith.Index.

PyTorch takes 1 to 2 GB, and Debian's is older than 2.4, so no gate installs it, and there these tests skip.
``tools/check --devices --only python`` runs them if the machine's Python has PyTorch, on CUDA devices, too.
"""

import numpy as np
import pytest

import kith

torch = pytest.importorskip("torch", minversion="2.4")
torch.set_num_threads(1)  # two pools of threads on a busy machine wait for each other


def _devices():
    found = ["cpu"]
    if torch.cuda.is_available() and any(one.spec == "cuda:0" for one in kith.devices()):
        found.append("cuda:0")
    return found


DEVICES = _devices()


def borders(batch, groups):
    return np.searchsorted(batch, np.arange(groups + 1))


def edges_of(x, y, batch_x, batch_y, k=None, below=None, own=False, metric="squared_l2"):
    """Returns the edges and distances of a search group by group, one Index each."""
    x, y = x.cpu().numpy(), y.cpu().numpy()
    edges, distances = [], []
    groups = 1 + max(batch_x.max(), batch_y.max())
    of_x, of_y = borders(batch_x, groups), borders(batch_y, groups)
    for g in range(groups):
        n, first, first_y = of_x[g + 1] - of_x[g], of_x[g], of_y[g]
        if n == 0:
            continue
        index = kith.Index(x[first : of_x[g + 1]], metric, "cpu")
        for q in range(first_y, of_y[g + 1]):
            found = index.search(y[q : q + 1], n)
            rows = [
                (row + first, distance)
                for row, distance in zip(found.row[0], found.distance[0])
                if not (own and row + first == q) and (below is None or distance < below)
            ][:k]
            edges += [(q, row) for row, _ in rows]
            distances += [distance for _, distance in rows]
    return np.array(edges, np.int64).reshape(-1, 2).T, np.array(distances)


def batch_of(random, groups, most):
    return np.repeat(np.arange(groups), random.integers(0, most, groups))


def tree(terms):
    """Returns the sum of a list of rows by the binary tree of docs/contract.md, section 14."""
    while len(terms) > 1:
        paired = [terms[i] + terms[i + 1] for i in range(0, len(terms) - 1, 2)]
        terms = paired + terms[2 * len(paired) :]
    return terms[0]


def gradients_of(p, q, edges, grad, norm=2):
    """Returns the gradients for rows p and q of distances of edges (row of p, row of q), term by term."""
    of_p, of_q = np.zeros_like(p), np.zeros_like(q)
    wide = p.dtype.type(2)
    terms_p, terms_q = {}, {}
    for (i, j), g in sorted(zip(edges, grad), key=lambda one: one[0][0]):
        difference = p[i] - q[j]
        term = wide * g * difference if norm == 2 else g * np.sign(difference)
        terms_p.setdefault(i, []).append(term)
        terms_q.setdefault(j, []).append(-term)
    for of, terms in ((of_p, terms_p), (of_q, terms_q)):
        for row, some in terms.items():
            of[row] = tree(some)
    return of_p, of_q
