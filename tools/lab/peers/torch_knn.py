#!/usr/bin/env python3
"""Times exact k-nearest neighbours as users of PyTorch and FAISS write them, beside kith.

    kith-lab bench --device cuda:0 --workload all --json bench.json --answers DIR
    torch_knn.py --answers DIR [--json FILE] [--only NAMES] [--ways fp32,tf32,fp16,faiss] [--seconds S]
                 [--device cuda] BENCH.json...

For every search in the files of `kith-lab bench --json`, the peers do the same on the same rows. The rows, what
is computed of them alone and the queries are on the device before the clock starts, as they are for kith. Time is
that of CUDA's events around the whole search, which the device begins when it is in its queue, as in kith-lab bench: the
median of 5 runs after 2 that warm up, or of fewer if they would take longer than --seconds.

    fp32   PyTorch in single precision, TF32 forbidden: addmm, which computes |x|^2 / 2 - q . x for a tile of queries
           (2 GB of products at most), and topk of that, tile after tile
    tf32   the same in TF32, which rounds rows and queries to 11 bits
    fp16   rows, queries, norms and products in half precision, all divided by the largest element
    faiss  FAISS's flat index, in single precision (faiss_knn.py)

Then the neighbours are compared with those that kith wrote to --answers: queries whose set of neighbours is
another, queries whose order is, and the neighbours that kith does not have. Of these, `farther` are those that
lie farther than kith's k-th also in double precision; the others are nearer there, where the chain of operations
that kith promises in single precision rounds two distances to another order. Rows as far as the k-th are as right.

The made rows are made again here, bit for bit (made_rows.py); real ones are read from the folder that the file
names. That they are the same is checked first: kith's distances must be those of these rows. A search that has no
peer says why.

Exit status: 0 all ran; 1 something failed (the rest is done); 2 wrong arguments; 77 PyTorch or the device is missing.
"""
import argparse
import functools
import json
import os
import statistics
import sys
import time

try:
    import numpy as np
    import torch
except ImportError as error:
    print(f"torch_knn.py: skipped: {error}; install PyTorch and NumPy")
    sys.exit(77)

import faiss_knn
from judge import check_rows, judged
from made_rows import SOME, rows_of

WAYS = ("fp32", "tf32", "fp16", "faiss")
WARM_UPS, RUNS = 2, 5
TILE_BYTES = 2 * 10**9
HELD_CYCLES = 4 * 10**6  # some milliseconds, in which the queue is filled, as with kith


# ---- The search ----------------------------------------------------------------------------------------


class Search:
    """Prepares everything but the queries' tiles before it is timed."""

    def __init__(self, way, train, queries, k):
        torch.set_float32_matmul_precision("high" if way == "tf32" else "highest")
        self.k = k
        half_norms = half_norms_of(train)
        if way == "fp16":
            largest = max(train.abs().max().item(), queries.abs().max().item())
            half_norms = half_norms / largest**2
            train, queries = (train / largest).half(), (queries / largest).half()
        self.train, self.queries = train.t(), queries
        self.half_norms = half_norms.to(train.dtype)
        self.tile = max(1, min(len(queries), TILE_BYTES // (train.shape[0] * train.element_size())))
        self.found = torch.empty((len(queries), k), dtype=torch.int64, device=train.device)

    def run(self):
        for first in range(0, len(self.queries), self.tile):
            tile = self.queries[first:first + self.tile]
            products = torch.addmm(self.half_norms, tile, self.train, alpha=-1)
            self.found[first:first + self.tile] = torch.topk(products, self.k, largest=False).indices


def half_norms_of(rows):
    step = max(1, SOME // rows.shape[1])
    return torch.cat([part.to(torch.float64).square().sum(dim=1) / 2 for part in rows.split(step)])


def timed(run, device):
    """Returns the seconds of one run, by events of the device if it has them."""
    if device.type != "cuda":
        start = time.perf_counter()
        run()
        return time.perf_counter() - start
    before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(HELD_CYCLES)
    before.record()
    run()
    after.record()
    after.synchronize()
    return before.elapsed_time(after) / 1e3


def samples(run, device, seconds):
    end = time.perf_counter() + seconds
    taken = []
    for number in range(WARM_UPS + RUNS):
        sample = timed(run, device)
        if number >= WARM_UPS or time.perf_counter() > end:
            taken.append(sample)
        if taken and time.perf_counter() > end:
            break
    return taken


# ---- Workloads -----------------------------------------------------------------------------------------


def entries_of(paths):
    """Returns the entries of the files, each workload once."""
    entries = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for entry in json.load(file)["results"]:
                if "median_seconds" in entry:
                    entries.setdefault(entry["workload"], entry)
    return list(entries.values())


def why_no_peer(entry, way, device):
    """Returns in one line why there is no peer; empty if there is one."""
    if not entry["total_seconds"]:
        return "times a stage, not a search"
    if entry["data"] == "bytes":
        return "its rows are made while the index grows, because they fit nowhere else"
    if way == "faiss":
        return faiss_knn.why_not(entry, device)
    if entry["element"] == "bits":
        return "PyTorch does not count bits"
    return "this PyTorch does not multiply halves here" if way == "fp16" and not multiplies_halves(device) else ""


@functools.cache
def multiplies_halves(device):
    some = torch.ones((2, 2), dtype=torch.float16, device=device)
    try:
        return bool(torch.addmm(some[0], some, some)[0, 0] == 3)
    except RuntimeError:
        return False


def measure(entry, way, rows, answers, arguments, device):
    result = {"workload": entry["workload"], "way": way}
    try:
        search = faiss_knn.Search(*rows, entry["k"]) if way == "faiss" else Search(way, *rows, entry["k"])
        taken = samples(search.run, device, arguments.seconds)
        result.update(median_seconds=statistics.median(taken), device_seconds=taken)
        result.update(judged(*rows, answers[0], torch.as_tensor(search.found, device=device)))
    except (RuntimeError, ValueError) as error:  # out of memory is a RuntimeError
        result["failed"] = str(error).splitlines()[0]
    search = None
    if device.type == "cuda":
        torch.cuda.empty_cache()
    return result


def measure_workload(entry, arguments, device):
    ways = arguments.ways.split(",")
    results = [{"workload": entry["workload"], "way": way, "none": why}
               for way in ways if (why := why_no_peer(entry, way, device))]
    ways = [way for way in ways if way not in {result["way"] for result in results}]
    if not ways:
        return results
    try:
        rows = rows_of(entry, device)
        paths = [os.path.join(arguments.answers, f"{entry['workload']}.{what}.npy") for what in ("index", "distance")]
        answers = [torch.from_numpy(np.load(path)).to(device) for path in paths]
        if tuple(answers[0].shape) != (entry["m"], entry["k"]):
            raise ValueError(f"kith's answers are {tuple(answers[0].shape)}, not [m, k] of the file of times")
        check_rows(*rows, *answers)
    except (OSError, RuntimeError, ValueError) as error:
        return results + [{"workload": entry["workload"], "way": way, "failed": str(error).splitlines()[0]}
                          for way in ways]
    return results + [measure(entry, way, rows, answers, arguments, device) for way in ways]


def line_of(result):
    begin = f"{result['workload']:<12} {result['way']:<5}"
    if "failed" in result or "none" in result:
        return begin + (f" failed: {result['failed']}" if "failed" in result else f" none: {result['none']}")
    counts = [result[what] for what in ("queries_in_another_order", "neighbours_wrong", "neighbours_farther")]
    return (f"{begin} {1e3 * result['median_seconds']:>12.4f}"
            f" {result['queries_wrong']:>10} of {result['queries']:<6}" + "".join(f" {count:>11}" for count in counts))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", nargs="+", metavar="BENCH.json")
    parser.add_argument("--answers", required=True)
    parser.add_argument("--json")
    parser.add_argument("--only", default="")
    parser.add_argument("--ways", default=",".join(way for way in WAYS if way != "faiss" or not faiss_knn.missing))
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args()
    unknown = [way for way in arguments.ways.split(",") if way not in WAYS]
    if unknown:
        parser.error(f"there is no way \"{unknown[0]}\"; choose among {', '.join(WAYS)}")
    return arguments


def main():
    arguments = parse_arguments()
    device = torch.device(arguments.device)
    if device.type == "cuda" and not torch.cuda.is_available():
        print("torch_knn.py: skipped: PyTorch sees no CUDA device")
        return 77
    entries = entries_of(arguments.bench)
    only = [name for name in arguments.only.split(",") if name]
    unknown = [name for name in only if name not in {entry["workload"] for entry in entries}]
    if unknown:
        print(f"torch_knn.py: the files hold no workload \"{unknown[0]}\"", file=sys.stderr)
        return 2
    head = {"torch": torch.__version__, "cuda": torch.version.cuda, "faiss": faiss_knn.version(),
            "device_name": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu", "results": []}
    print(f"PyTorch {head['torch']}, FAISS {head['faiss'] or 'not installed'}, {head['device_name']}")
    titles = [("workload", "<12"), ("way", "<5"), ("ms", ">12"), ("queries wrong", ">20"), ("other order", ">11"),
              ("rows wrong", ">11"), ("farther", ">11")]
    print(" ".join(f"{title:{width}}" for title, width in titles), flush=True)
    for entry in entries:
        if only and entry["workload"] not in only:
            continue
        with torch.no_grad():
            for result in measure_workload(entry, arguments, device):
                head["results"].append(result)
                print(line_of(result), flush=True)
        if arguments.json:  # after each search, so that measurements stay if the rest is stopped
            with open(arguments.json + ".part", "w", encoding="utf-8") as file:
                json.dump(head, file, indent=2)
            os.replace(arguments.json + ".part", arguments.json)
    return 1 if any("failed" in result for result in head["results"]) else 0


if __name__ == "__main__":
    sys.exit(main())
