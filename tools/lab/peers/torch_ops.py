#!/usr/bin/env python3
"""Times kith.torch on clouds of points beside PyTorch's cdist and topk, and compares answers.

    PYTHONPATH=python KITH_LIBRARY=build/lib/libkith.so python3 tools/lab/peers/torch_ops.py [--device cuda] [--runs N]

`knn_points` of 64 clouds of 1,024 points, K = 16, and its gradients; `knn_graph` of 1,024 such clouds, k = 16. Each
time is the median of N calls (5), in ms, with all work done when a call ends. cdist computes differences, not
products, and takes clouds some at a time (256 MiB of distances). Ends with an error if gradients on the device are
not those on the CPU, or if two runs differ.
"""

import argparse
import statistics
import sys
import time

try:
    import torch

    import kith.torch as kt
except ImportError as error:
    print(f"torch_ops.py: skipped: {error}")
    sys.exit(77)

POINTS, K = 1024, 16


def timed(name, work, device, runs):
    times = []
    for _ in range(runs + 1):  # the first warms up
        begin = time.perf_counter()
        result = work()
        if device == "cuda":
            torch.cuda.synchronize()
        times.append(1000 * (time.perf_counter() - begin))
    print(f"| {name} | {statistics.median(times[1:]):.3f} ms |", flush=True)
    return result


def by_topk(p1, p2, k):
    """Returns the squared distances and numbers of the k nearest, cloud by cloud."""
    found = []
    step = max(1, 2**28 // (4 * p1.shape[1] * p2.shape[1]))
    for a, b in zip(p1.split(step), p2.split(step)):
        distance = torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist")
        found.append(distance.topk(k, dim=2, largest=False, sorted=True))
    return torch.cat([one.values for one in found]) ** 2, torch.cat([one.indices for one in found])


def gradients(p1, p2):
    a, b = (one.detach().clone().requires_grad_() for one in (p1, p2))
    kt.knn_points(a, b, K=K).dists.sum().backward()
    return a.grad, b.grad


def gradients_by_topk(p1, p2):
    a, b = (one.detach().clone().requires_grad_() for one in (p1, p2))
    by_topk(a, b, K)[0].sum().backward()
    return a.grad, b.grad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--clouds", type=int, default=1024, help="of knn_graph")
    asked = parser.parse_args()
    torch.manual_seed(0)
    whole = torch.rand(asked.clouds, POINTS, 3)
    p1, p2 = torch.rand(64, POINTS, 3), torch.rand(64, POINTS, 3)
    x, a, b = (one.to(asked.device) for one in (whole, p1, p2))
    device, runs = asked.device, asked.runs

    found = timed("kith `knn_points`", lambda: kt.knn_points(a, b, K=K), device, runs)
    other = timed("cdist and topk", lambda: by_topk(a, b, K), device, runs)
    same = (found.idx == other[1]).float().mean()
    print(f"numbers that are equal: {100 * same:.4f} %")
    grads = timed("kith `knn_points`, forward and backward", lambda: gradients(a, b), device, runs)
    timed("cdist and topk, forward and backward", lambda: gradients_by_topk(a, b), device, runs)
    for one, again, host in zip(grads, gradients(a, b), gradients(p1, p2)):
        assert torch.equal(one, again), "a second run has other gradients"
        assert torch.equal(one.cpu(), host), "the CPU has other gradients"
    print("gradients: the bits of a second run and of the CPU")

    rows, batch = x.reshape(-1, 3), torch.arange(asked.clouds, device=device).repeat_interleave(POINTS)
    edges = timed("kith `knn_graph`", lambda: kt.knn_graph(rows, K, batch, batch_size=asked.clouds), device, runs)
    other = timed("cdist and topk, k + 1", lambda: by_topk(x, x, K + 1), device, runs)[1][:, :, 1:]
    first = torch.arange(asked.clouds, device=device)[:, None, None] * POINTS
    same = (edges[0].reshape(other.shape) == other + first).float().mean()
    print(f"edges that are equal: {100 * same:.4f} %")


if __name__ == "__main__":
    main()
