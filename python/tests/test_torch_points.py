"""Tests kith.torch's functions of PyTorch3D, and gradients: docs/howto/torch.md. Skipped without PyTorch."""

import numpy as np
import pytest

import kith

torch = pytest.importorskip("torch", minversion="2.4")
import kith.torch as kt  # noqa: E402
from torch_rows import DEVICES, gradients_of, tree  # noqa: E402

KINDS = [torch.float32, torch.float64]


def clouds(random, shape, kind=torch.float32, device="cpu"):
    return torch.from_numpy(random.integers(0, 9, shape) + random.integers(0, 3, shape) / 8).to(kind).to(device)


def expected_of(p1, p2, lengths1, lengths2, k, metric):
    """Returns the answer of knn_points, one Index a cloud."""
    dists, idx = np.zeros((*p1.shape[:2], k), p1.dtype), np.zeros((*p1.shape[:2], k), np.int64)
    for n, (count, others) in enumerate(zip(lengths1, lengths2)):
        some = min(k, others)
        if count and some:
            found = kith.Index(p2[n, :others], metric, "cpu").search(p1[n, :count], some)
            dists[n, :count, :some], idx[n, :count, :some] = found.distance, found.row
    return dists, idx


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("norm, metric", [(2, "squared_l2"), (1, "l1")])
def test_knn_points_of_clouds_some_empty(random, device, kind, norm, metric):
    p1, p2 = clouds(random, (6, 9, 3), kind, device), clouds(random, (6, 7, 3), kind, device)
    lengths1, lengths2 = [9, 0, 4, 1, 9, 3], [7, 5, 0, 2, 6, 7]
    given = [torch.tensor(one, device=device) for one in (lengths1, lengths2)]
    host = p1.cpu().numpy(), p2.cpu().numpy()
    for k in (1, 3, 20):
        found = kt.knn_points(p1, p2, *given, norm=norm, K=k, return_nn=True)
        dists, idx = expected_of(*host, lengths1, lengths2, k, metric)
        assert np.array_equal(found.dists.cpu().numpy(), dists) and np.array_equal(found.idx.cpu().numpy(), idx)
        assert found.dists.dtype == kind and found.idx.dtype == torch.int64
        nn = np.take_along_axis(host[1][:, :, None], idx[..., None].reshape(6, -1, 1, 1), 1).reshape(6, 9, k, 3)
        nn[np.broadcast_to(np.array(lengths2)[:, None, None] <= np.arange(k), idx.shape)] = 0
        assert np.array_equal(found.knn.cpu().numpy(), nn)
        assert torch.equal(found.knn, kt.knn_gather(p2, found.idx, given[1]))
    whole = kt.knn_points(p1, p2, K=2, norm=norm)
    assert whole.knn is None and np.array_equal(whole.idx.cpu().numpy(), expected_of(*host, [9] * 6, [7] * 6, 2, metric)[1])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("count", [1, 5])
def test_ball_query(random, device, count):
    p1, p2 = clouds(random, (count, 8, 2), device=device), clouds(random, (count, 9, 2), device=device)
    lengths = torch.tensor([9, 0, 5, 9, 9][:count], device=device)
    for k, radius in ((4, 3.0), (20, 3.0), (3, 0.0)):
        found = kt.ball_query(p1, p2, lengths2=lengths, K=k, radius=radius)
        for n, i in np.ndindex(count, 8):
            distance = kith.Index(p2[n].cpu(), "squared_l2", "cpu").search(p1[n, i : i + 1].cpu(), 9)
            near = [
                (row, value)
                for row, value in zip(distance.row[0].tolist(), distance.distance[0].tolist())
                if value < radius**2 and row < lengths[n]
            ][:k]
            near = sorted(near) + [(-1, 0.0)] * (k - len(near))
            assert found.idx[n, i].tolist() == [row for row, _ in near]
            assert found.dists[n, i].tolist() == [value for _, value in near]
            points = [p2[n, row].tolist() if row >= 0 else [0, 0] for row, _ in near]
            assert found.knn[n, i].tolist() == points


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("norm", [1, 2])
def test_gradients_are_sums_by_the_tree(random, device, kind, norm):
    """A hub, the first point of p2, is the neighbour of every query: its tree is of many terms."""
    p1 = torch.from_numpy(random.standard_normal((2, 300, 3))).to(kind).to(device).requires_grad_()
    p2 = torch.from_numpy(random.standard_normal((2, 5, 3))).to(kind).to(device).requires_grad_()
    lengths = torch.tensor([1, 5], device=device)
    found = kt.knn_points(p1, p2, lengths2=lengths, norm=norm, K=3)
    grad = torch.from_numpy(random.standard_normal(found.dists.shape)).to(kind).to(device)
    found.dists.backward(grad)
    for n in range(2):
        some = min(3, int(lengths[n]))
        edges = [(i, int(found.idx[n, i, slot])) for i in range(300) for slot in range(some)]
        grads = grad[n, :, :some].reshape(-1).cpu().numpy()
        rows = (p1[n].detach().cpu().numpy(), p2[n].detach().cpu().numpy())
        of_p1, of_p2 = gradients_of(*rows, edges, grads, norm)
        assert np.array_equal(p1.grad[n].cpu().numpy(), of_p1) and np.array_equal(p2.grad[n].cpu().numpy(), of_p2)


@pytest.mark.parametrize("norm", [1, 2])
def test_gradients_beside_finite_differences(random, norm):
    """A step h has an error of at most the rounding of two sums over 2 h: squares have no third derivative."""
    p1, p2 = (torch.from_numpy(random.random((2, 9, 3))).requires_grad_() for _ in range(2))
    weight = torch.from_numpy(random.random((2, 9, 2)))

    def loss(a, b):
        return (kt.knn_points(a, b, norm=norm, K=2).dists * weight).sum()

    whole, h = loss(p1, p2), 2.0**-20
    whole.backward()
    error = 2 * 200 * 2.0**-53 * float(whole.detach()) / (2 * h)
    for p in (p1, p2):
        for at in np.ndindex(*p.shape):
            with torch.no_grad():
                there, value = [], p[at].item()
                for step in (h, -h):
                    p[at] = value + step
                    there.append(loss(p1, p2).item())
                p[at] = value
            assert abs((there[0] - there[1]) / (2 * h) - p.grad[at].item()) <= error
    dists = kt.knn_points(p1, p1, norm=norm, K=1).dists
    assert torch.equal(torch.autograd.grad(dists.sum(), p1)[0], torch.zeros_like(p1))  # a point and itself


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_gathered_rows_and_their_gradients(random, device, kind):
    x = torch.from_numpy(random.standard_normal((6, 4))).to(kind).to(device).requires_grad_()
    row = torch.from_numpy(random.integers(-1, 5, 300)).to(device)  # 5 is named nowhere
    found = kt.gather_rows(x, row)
    assert torch.equal(found, torch.where((row < 0)[:, None], 0, x[row]))
    grad = torch.from_numpy(random.standard_normal(found.shape)).to(kind).to(device)
    found.backward(grad)
    wide = grad.to(torch.float64 if kind == torch.float64 else torch.float32).cpu().numpy()
    for j in range(6):
        terms = [wide[e] for e in np.flatnonzero(row.cpu().numpy() == j)]
        expected = torch.from_numpy(tree(terms) if terms else np.zeros(4, wide.dtype)).to(kind)
        assert torch.equal(x.grad[j].cpu(), expected)


def test_gradients_of_gradients(random):
    # a clone: PyTorch 2.4 hangs at its end if a gradient failed of a tensor in memory of NumPy
    x, row = torch.from_numpy(random.random((4, 2))).clone().requires_grad_(), torch.tensor([1, 1, 3, -1, 0])

    def squares(x):
        return kt.gather_rows(x, row).pow(3)

    assert torch.autograd.gradcheck(squares, (x,)) and torch.autograd.gradgradcheck(squares, (x,))
    (once,) = torch.autograd.grad(kt.knn_points(x[None], x[None], K=2).dists.sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        once.sum().backward()


@pytest.mark.skipif(len(DEVICES) < 2, reason="PyTorch and kith have no CUDA device in common")
def test_gradients_have_the_same_bits_on_the_cpu_and_a_gpu(random):
    p1, p2 = clouds(random, (8, 500, 3)), clouds(random, (8, 400, 3))
    weight = torch.from_numpy(random.standard_normal((8, 500, 16)).astype(np.float32))
    answers = []
    for device in DEVICES:
        a, b = (one.clone().to(device).requires_grad_() for one in (p1, p2))
        found = kt.knn_points(a, b, K=16, return_nn=True)
        (found.dists * weight.to(device)).sum().backward()
        found.knn.pow(2).sum().backward()
        answers.append([one.detach().cpu() for one in (found.dists, found.idx, found.knn, a.grad, b.grad)])
    assert all(torch.equal(one, other) for one, other in zip(*answers))


WRONG = [
    (lambda p: kt.knn_points(p, p[:1]), r"knn_points: p1 of shape \[2, 3, 2\], p2 of \[1, 3, 2\]; pass as many clouds"),
    (lambda p: kt.knn_points(p, p, norm=3), "knn_points: norm=3; pass 1 or 2"),
    (lambda p: kt.knn_points(p, p, K=0), "knn_points: K=0; pass 1 or more"),
    (lambda p: kt.knn_points(p, p, torch.tensor([1, 4])), r"lengths1=\[1, 4\]; pass numbers from 0 to 3"),
    (lambda p: kt.knn_points(p, p, None, torch.tensor([1.0])), r"lengths2 of torch.float32, \[1\]; pass 2 whole numbers"),
    (lambda p: kt.ball_query(p[0], p[0]), "ball_query: p1 of shape"),
    (lambda p: kt.gather_rows(p, p[0]), "gather_rows: x of 3 axes and row of 2; pass"),
]


@pytest.mark.parametrize("call, text", WRONG)
def test_refusals_say_what_to_do(call, text):
    with pytest.raises(kith.InvalidArgument, match=text):
        call(torch.zeros(2, 3, 2))
