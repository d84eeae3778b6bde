"""Tests kith.torch inside PyTorch: compiled, checked by torch.library, and training twice. Skipped without PyTorch."""

import shutil

import numpy as np
import pytest

torch = pytest.importorskip("torch", minversion="2.4")
import kith.torch as kt  # noqa: E402
from torch_rows import DEVICES  # noqa: E402

from kith.torch import _operators as ops  # noqa: E402


@pytest.fixture(autouse=True)
def deterministic(monkeypatch):
    """Makes PyTorch refuse what differs from run to run on a GPU."""
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


def normals(random, *shape):
    return torch.from_numpy(random.standard_normal(shape).astype(np.float32))


def test_operators_pass_the_checks_of_torch_library(random):
    x, y, p = normals(random, 9, 3).requires_grad_(), normals(random, 6, 3), normals(random, 2, 5, 3).requires_grad_()
    batch = torch.tensor([0, 0, 0, 1, 1, 1, 1, 1, 1])
    row = torch.tensor([3, -1, 3, 0])
    checks = [
        (ops.edges, (x, y, None, None, 4, None, False, False, 0)),
        (ops.edges, (x, x, batch, batch, 4, 1.5, False, True, 2)),
        (ops.edges, (x, x, batch, batch, -1, 1.5, False, True, 2)),
        (ops.nearest, (x, y, None, None)),
        (ops.points, (p, p, None, torch.tensor([2, 5]), 4, 1, None)),
        (ops.points, (p, p, None, None, 4, 2, 1.5)),
        (ops.gather, (x, row)),
        (ops.row_sums, (y[:4], row, 5)),
        (ops.distance_gradient, (y, y, row, row, y[:4, 0], 2)),
    ]
    for operator, arguments in checks:
        torch.library.opcheck(operator, arguments)


class Edges(torch.nn.Module):
    """Is EdgeConv of plain PyTorch: neighbours are searched anew in each layer, and messages added."""

    def __init__(self, columns, width, k):
        super().__init__()
        self.k, self.message = k, torch.nn.Sequential(torch.nn.Linear(2 * columns, width), torch.nn.ReLU())

    def forward(self, x, batch=None):
        row, query = kt.knn_graph(x.detach(), self.k, batch)
        at, other = kt.gather_rows(x, query), kt.gather_rows(x, row)
        messages = self.message(torch.cat([at, other - at], 1))
        if batch is None:
            return messages.reshape(x.shape[0], self.k, -1).amax(1)
        return torch.zeros(x.shape[0], messages.shape[1], device=x.device).index_add(0, query, messages)


def compiled(function):
    return torch.compile(function, fullgraph=True, backend="aot_eager")


@pytest.mark.parametrize("device", DEVICES)
def test_a_compiled_graph_has_the_bits_of_an_eager_one(random, device):
    torch.manual_seed(0)
    layer, x = Edges(3, 4, 5).to(device), normals(random, 40, 3).to(device)
    p = normals(random, 3, 9, 3).to(device)
    batch = torch.arange(40, device=device) // 10

    def loss(x, p):
        found = kt.knn_points(p, p, K=4, return_nn=True)
        dists = kt.ball_query(p, p, K=4, radius=2.0, return_nn=False).dists
        return layer(x).sum() + found.dists.sum() + found.knn.pow(2).sum() + dists.sum() + kt.nearest(x, x[:4]).sum()

    def of_groups(x, p):
        near, distance = kt.radius_graph(x, 2.0, batch, return_distances=True)
        return layer(x, batch).sum() + distance.sum() + kt.gather_rows(x, near[0]).sum() + p.sum()

    for function, dynamic in ((loss, False), (of_groups, True)):
        answers = []
        for call in (function, compiled(function)):
            a, b = (one.clone().requires_grad_() for one in (x, p))
            with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=dynamic):
                value = call(a, b)
                value.backward()
            answers.append((value.detach(), a.grad, b.grad))
        assert all(torch.equal(one, other) for one, other in zip(*answers))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="PyTorch compiles by g++")
def test_inductor_changes_no_gradient(random):
    """The default compiler fuses what is around operators, and must leave them alone."""
    p = normals(random, 2, 30, 3)
    answers = []
    for call in (torch.compile(kt.knn_points, fullgraph=True), kt.knn_points):
        a = p.clone().requires_grad_()
        dists = call(a, a, K=4).dists
        dists.backward(torch.arange(240.0).reshape(2, 30, 4))
        answers.append((dists.detach(), a.grad))
    assert all(torch.equal(one, other) for one, other in zip(*answers))


def trained(network, x, batch, target, steps=4):
    optimizer = torch.optim.Adam(network.parameters(), 0.01)
    for _ in range(steps):
        optimizer.zero_grad()
        out = network(x, batch)
        ((out - target) ** 2).mean().backward()
        optimizer.step()
    return [one.detach().clone() for one in network.parameters()]


def twice(make, random, device):
    x, target = normals(random, 60, 3).to(device), normals(random, 60, 2).to(device)
    batch = torch.arange(60, device=device) // 20
    runs = []
    for _ in range(2):
        torch.manual_seed(1)
        runs.append(trained(make().to(device), x, batch, target))
    assert all(torch.equal(one, other) for one, other in zip(*runs))


class Plain(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Edges(3, 8, 4), Edges(8, 2, 4)

    def forward(self, x, batch):
        points = x.reshape(3, 20, 3)
        spread = kt.knn_points(points, points, K=3).dists.mean()
        return self.second(self.first(x, batch), batch) * spread


@pytest.mark.parametrize("device", DEVICES)
def test_a_network_trained_twice_has_the_same_weights(random, device):
    twice(Plain, random, device)


@pytest.mark.parametrize("device", DEVICES)
def test_a_network_of_pyg_trained_twice_has_the_same_weights(random, device):
    """EdgeConv adds messages: its default, max, is scatter_reduce, which has no deterministic form on a GPU."""
    geometric = pytest.importorskip("torch_geometric.nn")

    class OfPyG(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.ModuleList(
                geometric.EdgeConv(torch.nn.Linear(2 * a, b), aggr="add") for a, b in ((3, 8), (8, 2))
            )

        def forward(self, x, batch):
            for layer in self.layers:
                x = layer(x, kt.knn_graph(x, 4, batch))
            return x

    twice(OfPyG, random, device)
