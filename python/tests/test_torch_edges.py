"""Tests kith.torch's functions of torch_cluster: docs/howto/torch.md. Skipped without PyTorch."""

import numpy as np
import pytest

import kith

torch = pytest.importorskip("torch", minversion="2.4")
import kith.torch as kt  # noqa: E402
from torch_rows import DEVICES, batch_of, edges_of, gradients_of  # noqa: E402

TYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16]


def rows_of(random, n, kind=torch.float32, device="cpu", columns=3):
    return torch.from_numpy(random.integers(0, 9, (n, columns)).astype(np.float32)).to(kind).to(device)


def batches(random, device, groups=12, most=9):
    x, y = batch_of(random, groups, most), batch_of(random, groups, 5)
    return x, y, torch.from_numpy(x).to(device), torch.from_numpy(y).to(device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", TYPES)
def test_knn_of_groups_some_empty(random, device, kind):
    of_x, of_y, batch_x, batch_y = batches(random, device)
    x, y = rows_of(random, len(of_x), kind, device), rows_of(random, len(of_y), kind, device)
    edges, distances = kt.knn(x, y, 4, batch_x, batch_y, return_distances=True)
    wide = torch.float64 if kind == torch.float64 else torch.float32
    expected, values = edges_of(x.to(wide), y.to(wide), of_x, of_y, 4)
    assert edges.dtype == torch.int64 and edges.device == x.device and distances.dtype == wide
    assert np.array_equal(edges.cpu().numpy(), expected) and np.array_equal(distances.cpu().numpy(), values)
    assert torch.equal(kt.knn(x, y, 4, batch_x, batch_y, batch_size=20), edges)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("cosine", [False, True])
def test_knn_of_one_group_and_more_neighbours_than_rows(random, device, cosine):
    x, y = rows_of(random, 7, device=device) + 1, rows_of(random, 5, device=device) + 1
    zeros, none = np.zeros(7, np.int64), np.zeros(5, np.int64)
    for k in (3, 7, 50):
        metric = "cosine" if cosine else "squared_l2"
        expected, values = edges_of(x, y, zeros, none, k, metric=metric)
        edges, distances = kt.knn(x, y, k, cosine=cosine, return_distances=True)
        assert np.array_equal(edges.cpu().numpy(), expected) and np.array_equal(distances.cpu().numpy(), values)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("loop", [False, True])
def test_graphs_of_groups_with_equal_rows(random, device, loop):
    of, _, batch, _ = batches(random, device, most=12)
    x = rows_of(random, len(of), device=device, columns=1)  # of few values: many are equal
    expected, _ = edges_of(x, x, of, of, 3, own=not loop)
    edges = kt.knn_graph(x, 3, batch, loop, flow="target_to_source")
    assert np.array_equal(edges.cpu().numpy(), expected)
    assert torch.equal(kt.knn_graph(x, 3, batch, loop), edges.flip([0]))
    expected, _ = edges_of(x, x, of, of, 5, below=4, own=not loop)
    edges = kt.radius_graph(x[:, 0], 2, batch, loop, 5, flow="target_to_source")
    assert np.array_equal(edges.cpu().numpy(), expected)
    expected, _ = edges_of(x, x, of, of, below=4, own=not loop)
    assert np.array_equal(kt.radius_graph(x, 2, batch, loop, None).cpu().numpy(), expected[::-1])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_rows_at_the_radius_do_not_count(random, device, kind):
    of_x, of_y, batch_x, batch_y = batches(random, device)
    x, y = rows_of(random, len(of_x), kind, device), rows_of(random, len(of_y), kind, device)
    for r in (0, 1, 3, 1e30):
        below = np.float64(r) * r
        expected, values = edges_of(x, y, of_x, of_y, 2, below=below)
        edges, distances = kt.radius(x, y, r, batch_x, batch_y, 2, return_distances=True)
        assert np.array_equal(edges.cpu().numpy(), expected) and np.array_equal(distances.cpu().numpy(), values)
        one = kt.radius(x, y, r, max_num_neighbors=2)
        assert np.array_equal(one.cpu().numpy(), edges_of(x, y, 0 * of_x, 0 * of_y, 2, below=below)[0])
        every, distances = kt.radius(x, y, r, batch_x, batch_y, None, return_distances=True)
        expected, values = edges_of(x, y, of_x, of_y, below=below)
        assert np.array_equal(every.cpu().numpy(), expected) and np.array_equal(distances.cpu().numpy(), values)


@pytest.mark.parametrize("device", DEVICES)
def test_nearest_and_nothing(random, device):
    x, y = rows_of(random, 9, device=device), rows_of(random, 4, device=device)
    assert torch.equal(kt.nearest(x, y), kt.knn(y, x, 1)[1])
    batch_x, batch_y = (torch.tensor(one, device=device) for one in ([0] * 5 + [2] * 4, [0, 0, 1, 2]))
    assert torch.equal(kt.nearest(x, y, batch_x, batch_y), kt.knn(y, x, 1, batch_y, batch_x)[1])
    with pytest.raises(kith.InvalidArgument, match="a group of x has no row in y; pass one, or leave the group out"):
        kt.nearest(x, y, batch_x, batch_y.clamp(max=1))
    for none in (x[:0], y[:0]):
        assert kt.knn(none, y, 2).shape == kt.knn(y, none, 2).shape == kt.knn_graph(none, 2).shape == (2, 0)
        assert kt.radius(none, none, 1.0, max_num_neighbors=None).shape == (2, 0)
    assert kt.nearest(x[:0], y).shape == (0,)
    assert kt.knn_graph(x[:1], 2).shape == (2, 0)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_gradients_of_the_distances_of_edges(random, device, kind):
    x = torch.from_numpy(random.random((40, 3))).to(kind).to(device).requires_grad_()
    grad = torch.from_numpy(random.random(40 * 5)).to(kind).to(device)
    edges, distances = kt.knn_graph(x, 5, flow="target_to_source", return_distances=True)
    distances.backward(grad)
    rows = x.detach().cpu().numpy()
    of_query, of_row = gradients_of(rows, rows, edges.T.tolist(), grad.cpu().numpy())
    assert np.array_equal(x.grad.cpu().numpy(), of_query + of_row)
    with pytest.raises(kith.Unsupported, match="cosine distances have no gradient; divide rows by their norms"):
        kt.knn_graph(x, 5, cosine=True, return_distances=True)
    _, by_angle = kt.knn_graph(x.detach(), 5, cosine=True, return_distances=True)
    assert torch.equal(kt.knn_graph(x, 5, cosine=True), kt.knn_graph(x.detach(), 5, cosine=True)) and len(by_angle) == 200


WRONG = [
    (lambda x: kt.knn(x, x.double(), 1), "x and y of torch.float32 and torch.float64; pass both as float32"),
    (lambda x: kt.knn(x.int(), x.int(), 1), "x and y of torch.int32 and torch.int32; pass both as float32"),
    (lambda x: kt.knn(x, x[:, :1], 1), "x and y of 2 and 1 columns; pass as many"),
    (lambda x: kt.knn(x[None], x, 1), "x has 3 axes; pass rows"),
    (lambda x: kt.knn(x, x, 0), "knn: k=0; pass 1 or more"),
    (lambda x: kt.radius(x, x, 1, max_num_neighbors=0), "radius: max_num_neighbors=0; pass 1 or more"),
    (lambda x: kt.radius_graph(x, -1), "radius_graph: r=-1; pass 0 or more"),
    (lambda x: kt.radius(x, x, float("nan")), "radius: r=nan; pass 0 or more"),
    (lambda x: kt.knn_graph(x, 1, torch.tensor([0, 1, 0, 1])), r"batch_x\[2\] = 0 behind 1; put the rows of a group"),
    (lambda x: kt.knn_graph(x, 1, torch.tensor([0, 1, 1])), r"batch_x of torch.int64, \[3\]; pass a whole number"),
    (lambda x: kt.knn_graph(x, 1, torch.tensor([-1, 1, 1, 2])), r"batch_x\[0\] = -1; pass numbers of groups from 0"),
    (lambda x: kt.knn_graph(x, 1, torch.tensor([0, 1, 1, 2]), batch_size=2), "batch_size=2, but the batch has 2; pass 3"),
    (lambda x: kt.knn(x, x, 1, torch.tensor([0, 1, 1, 2])), "3 groups, but no batch_y; pass it"),
    (lambda x: kt.knn_graph(x, 1, flow="up"), "knn_graph: flow='up'; pass 'source_to_target'"),
    (lambda x: kt.knn(x * float("nan"), x, 1), "NaN"),
]


@pytest.mark.parametrize("call, text", WRONG)
def test_refusals_say_what_to_do(call, text):
    with pytest.raises((kith.InvalidArgument, ValueError), match=text):
        call(torch.zeros(4, 2))


def test_tensors_elsewhere_are_refused():
    meta = torch.zeros(2, 2, device="meta")
    from kith.torch._search import check_pair

    with pytest.raises(kith.Unsupported, match="on meta; pass tensors of the host or of a CUDA device"):
        check_pair(meta, meta, "x and y")
    with pytest.raises(kith.InvalidArgument, match="x and y on meta and cpu; move both to one device"):
        check_pair(meta, torch.zeros(2, 2), "x and y")


def test_a_batch_that_does_not_ascend_can_be_sorted_first(random):
    batch, x = torch.tensor([1, 0, 1, 0, 0]), rows_of(random, 5)
    order = torch.argsort(batch, stable=True)
    edges = order[kt.knn_graph(x[order], 1, batch[order])]
    assert (batch[edges[0]] == batch[edges[1]]).all() and edges.shape == (2, 5)
