#!/usr/bin/env python3
"""Exact k-nearest neighbours as PyTorch users write them, beside kith.

    kith bench --device cuda:0 --workload all --json bench.json --answers DIR
    torch_knn.py --answers DIR [--json FILE] [--only NAMES] [--ways fp32,tf32,fp16] [--seconds S] [--device cuda]
                 BENCH.json...

For every search that the files of `kith bench --json` hold, PyTorch does the same on the same rows: addmm, which
computes |x|^2 / 2 - q . x for a tile of queries, and topk of that, tile after tile. The rows, their half norms and
the queries are on the device before the clock starts, as they are for kith. Time is that of CUDA's events around
all tiles, which the device begins when they are in its queue, as in kith bench: the median of 5 runs after 2 that
warm up, or of fewer where they would take longer than --seconds.
A tile of products takes 2 GB at most.

    fp32  single precision, TF32 forbidden
    tf32  the same in TF32, which rounds rows and queries to 11 bits
    fp16  rows, queries, norms and products in half precision, all divided by the largest element

Then its neighbours are compared with those that kith wrote to --answers: queries whose set of neighbours is
another, queries whose order is, and the neighbours that kith does not have. Of these, `farther` are those that
lie farther than kith's k-th also in double precision; the others are as near as double precision can tell, or
nearer, where the chain of operations that kith promises in single precision rounds two distances to another order.

The uniform rows are made again here, bit for bit; real ones are read from the folder that the file names. That
they are the same is checked first: kith's distances must be those of these rows.

Exit status: 0 all ran; 1 something failed (the rest is done); 2 wrong arguments; 77 PyTorch or the device is missing.
"""
import argparse
import gzip
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

WAYS = ("fp32", "tf32", "fp16")
WARM_UPS, RUNS = 2, 5
TILE_BYTES = 2 * 10**9
HELD_CYCLES = 4 * 10**6  # some milliseconds: the queue is filled meanwhile, as that of kith is
SOME = 1 << 24  # elements handled at once where nothing is timed


# ---- Rows: the same bits as kith's `uniform`, seed 1 (tools/lab/workloads/rows.cpp) ------------------------


def wrapped(value):
    """As a signed number of 64 bits, which is what PyTorch computes with; it wraps around as unsigned ones do."""
    value &= 2**64 - 1
    return value - 2**64 if value >= 2**63 else value


def shifted(x, bits):
    return (x >> bits) & (2**(64 - bits) - 1)


def scramble(x):
    x = (x ^ shifted(x, 30)) * wrapped(0xBF58476D1CE4E5B9)
    x = (x ^ shifted(x, 27)) * wrapped(0x94D049BB133111EB)
    return x ^ shifted(x, 31)


def random_bits(seed, count):
    return scramble(seed + (count + 1) * wrapped(0x9E3779B97F4A7C15))


def uniform_rows(training, rows, dims, device):
    def scalar(x):
        return torch.tensor([x], dtype=torch.int64, device=device)

    series = random_bits(scramble(scalar(1)), scalar(1 if training else 2))
    made = torch.empty((rows, dims), dtype=torch.float32, device=device)
    columns = torch.arange(dims, dtype=torch.int64, device=device)
    step = max(1, SOME // dims)
    for first in range(0, rows, step):
        row = random_bits(series, torch.arange(first, min(first + step, rows), dtype=torch.int64, device=device))
        made[first:first + step] = shifted(random_bits(row[:, None], columns), 40).to(torch.float32) * 2.0**-24
    return made


def images(folder, name, rows, device):
    """The first images of one of the files of Fashion-MNIST: 16 bytes, then a byte for each pixel."""
    with gzip.open(os.path.join(folder, name + "-images-idx3-ubyte.gz")) as file:
        pixels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)[:rows]
    return torch.from_numpy(pixels.astype(np.float32)).to(device)


def rows_of(entry, device):
    if entry["data"] == "uniform":
        return (uniform_rows(True, entry["n"], entry["dims"], device),
                uniform_rows(False, entry["m"], entry["dims"], device))
    return images(entry["data"], "train", entry["n"], device), images(entry["data"], "t10k", entry["m"], device)


# ---- The search ----------------------------------------------------------------------------------------


class Search:
    """Everything but the queries' tiles is ready before it is timed."""

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
    """Seconds of one run, by events of the device where it has any."""
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


# ---- Right or wrong ------------------------------------------------------------------------------------


def squared_distances(train, queries, which, rows):
    """In double precision, of pairs of a query and a row."""
    step = max(1, SOME // train.shape[1])
    parts = [(queries[q].double() - train[t].double()).square().sum(dim=1)
             for q, t in zip(which.split(step), rows.split(step))]
    return torch.cat(parts) if parts else torch.empty(0, dtype=torch.float64, device=train.device)


def check_rows(train, queries, index, distance):
    """Whether kith searched these very rows: its distances of a few queries are theirs."""
    few = torch.arange(0, len(queries), max(1, len(queries) // 10), device=train.device)
    near = index[few][:, :100]
    right = squared_distances(train, queries, few.repeat_interleave(near.shape[1]), near.reshape(-1))
    given = distance[few][:, :100].reshape(-1).double()
    if not torch.allclose(given, right, rtol=1e-4, atol=1e-9):
        raise ValueError("kith's distances are not those of these rows: were they of another scale or seed?")


def judged(train, queries, index, found):
    """How often `found`, [m, k], is not what kith found."""
    m, k = index.shape
    both, order = torch.cat([index, found], dim=1).sort(dim=1, stable=True)
    # Of two equal numbers the first is kith's, since the order is stable.
    alone = torch.ones_like(both, dtype=torch.bool)
    same = both[:, 1:] == both[:, :-1]
    alone[:, 1:] &= ~same
    alone[:, :-1] &= ~same
    wrong = alone & (order >= k)
    which, place = wrong.nonzero(as_tuple=True)
    far = squared_distances(train, queries, which, both[which, place])
    last = squared_distances(train, queries, torch.arange(m, device=index.device), index[:, -1])
    return {"queries": m, "k": k,
            "queries_wrong": int(wrong.any(dim=1).sum()),
            "queries_in_another_order": int((index != found).any(dim=1).sum()),
            "neighbours_wrong": int(wrong.sum()),
            "neighbours_farther": int((far > last[which]).sum())}


# ---- Workloads -----------------------------------------------------------------------------------------


def searches(paths):
    """The searches of the files, each workload once."""
    entries = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for entry in json.load(file)["results"]:
                if entry.get("total_seconds"):  # of stages alone there is none
                    entries.setdefault(entry["workload"], entry)
    return list(entries.values())


def measure(entry, way, rows, answers, arguments, device):
    result = {"workload": entry["workload"], "way": way,
              **{name: entry[name] for name in ("n", "dims", "m", "k", "metric", "data")}}
    try:
        search = Search(way, *rows, entry["k"])
        taken = samples(search.run, device, arguments.seconds)
        result.update(median_seconds=statistics.median(taken), device_seconds=taken, query_tile=search.tile)
        result.update(judged(*rows, answers[0], search.found))
    except (RuntimeError, ValueError) as error:  # out of memory is a RuntimeError
        result["failed"] = str(error).splitlines()[0]
    if device.type == "cuda":
        torch.cuda.empty_cache()
    return result


def measure_workload(entry, arguments, device):
    ways = arguments.ways.split(",")
    try:
        if entry["metric"] != "squared_l2":
            raise ValueError(f"metric {entry['metric']} is not compared here")
        rows = rows_of(entry, device)
        paths = [os.path.join(arguments.answers, f"{entry['workload']}.{what}.npy") for what in ("index", "distance")]
        answers = [torch.from_numpy(np.load(path)).to(device) for path in paths]
        if tuple(answers[0].shape) != (entry["m"], entry["k"]):
            raise ValueError(f"kith's answers are {tuple(answers[0].shape)}, not [m, k] of the file of times")
        check_rows(*rows, *answers)
    except (OSError, RuntimeError, ValueError) as error:
        return [{"workload": entry["workload"], "way": way, "failed": str(error).splitlines()[0]} for way in ways]
    return [measure(entry, way, rows, answers, arguments, device) for way in ways]


def line_of(result):
    if "failed" in result:
        return f"{result['workload']:<12} {result['way']:<5} failed: {result['failed']}"
    counts = [result[what] for what in ("queries_in_another_order", "neighbours_wrong", "neighbours_farther")]
    return (f"{result['workload']:<12} {result['way']:<5} {1e3 * result['median_seconds']:>12.4f}"
            f" {result['queries_wrong']:>10} of {result['queries']:<6}" + "".join(f" {count:>11}" for count in counts))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", nargs="+", metavar="BENCH.json")
    parser.add_argument("--answers", required=True)
    parser.add_argument("--json")
    parser.add_argument("--only", default="")
    parser.add_argument("--ways", default=",".join(WAYS))
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
    entries = searches(arguments.bench)
    only = [name for name in arguments.only.split(",") if name]
    unknown = [name for name in only if name not in {entry["workload"] for entry in entries}]
    if unknown:
        print(f"torch_knn.py: the files hold no search \"{unknown[0]}\"", file=sys.stderr)
        return 2
    head = {"torch": torch.__version__, "cuda": torch.version.cuda,
            "device_name": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu", "results": []}
    print(f"PyTorch {head['torch']}, {head['device_name']}")
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
        if arguments.json:  # after each: what is measured stays, should the rest be stopped
            with open(arguments.json + ".part", "w", encoding="utf-8") as file:
                json.dump(head, file, indent=2)
            os.replace(arguments.json + ".part", arguments.json)
    return 1 if any("failed" in result for result in head["results"]) else 0


if __name__ == "__main__":
    sys.exit(main())
