#!/usr/bin/env python3
"""Measures searches of many clouds of points: kith's groups, an Index for each cloud, and PyTorch's cdist and topk.

    PYTHONPATH=python python3 tools/lab/clouds/measure.py [--device cuda:0] [--out docs/measured] [--commit ID]

Each cloud has 1,024 uniform points of 3 columns in float32, and each point asks its own cloud for its 16 nearest others. Rows,
queries and answers are CUDA tensors. Times are medians of whole calls, after two that warm up, with all work of the device
done; the index is made in each call. cdist sets the distance of a point to itself to infinity. Before a time counts, the
neighbours of the first and the last cloud must be those of an Index on the CPU. Tensors beyond 4 GB are not given to cdist.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

import numpy as np
import torch

import kith

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "measured"))
import results  # noqa: E402

POINTS, K = 1024, 16
CLOUDS = (1, 4, 16, 64, 256, 1024)
MOST_BYTES, SECONDS = 4 << 30, 1.5


def median(call, repeats=11):
    """Returns the milliseconds of a call, of fewer calls where they take long, and what the last returned."""
    times = []
    for turn in range(repeats + 2):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        found = call()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
        if turn > 2 and sum(times) > SECONDS:
            break
    return 1e3 * statistics.median(times[2:]), found


def each_alone(clouds, device):
    return [kith.Index(cloud, device=device).search(cloud, K, exclude_self_from=0) for cloud in clouds]


def by_torch(clouds):
    distances = torch.cdist(clouds, clouds)
    distances.diagonal(dim1=1, dim2=2).fill_(float("inf"))
    return distances.topk(K, largest=False)


def check(clouds, found):
    for cloud in {0, len(clouds) - 1}:
        rows = clouds[cloud].cpu().numpy()
        right = kith.Index(rows, device="cpu").search(rows, K, exclude_self_from=0)
        if found.row[cloud].cpu().numpy().tolist() != right.row.tolist():
            sys.exit(f"clouds: cloud {cloud} of {len(clouds)} has wrong neighbours")


def measure(device):
    torch.manual_seed(0)
    for count in CLOUDS:
        clouds = torch.rand(count, POINTS, 3, device="cuda")
        together, found = median(lambda: kith.knn_graph(clouds, K, device=device))
        check(clouds, found)
        alone = median(lambda: each_alone(clouds, device))[0]
        wide = 4 * count * POINTS * POINTS <= MOST_BYTES
        point = {"clouds": count, "groups": together, "alone": alone, "torch": median(lambda: by_torch(clouds))[0] if wide else None}
        yield {name: value if value is None or name == "clouds" else float(f"{value:.4g}") for name, value in point.items()}
        print(point, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--out", type=Path, default=results.FOLDER, help="where DATE-clouds.json goes")
    parser.add_argument("--commit", default="", help="what was built; default: what git says")
    arguments = parser.parse_args()
    name = next(one.name for one in kith.devices() if one.spec == arguments.device)
    versions = {"torch": torch.__version__, "numpy": np.__version__}
    content = {"versions": versions, "points_each": POINTS, "k": K, "clouds": list(measure(arguments.device))}
    results.write("clouds", name, content, arguments.out, arguments.commit)


if __name__ == "__main__":
    main()
