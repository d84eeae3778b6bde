"""Makes the rows of `kith-lab bench` again, bit for bit, as tensors: uniform, whole numbers, codes of bits, images.

tools/workloads/rows.cpp makes them with seed 1, and tools/workloads/stored.cpp rounds them to an element.
A row of bits is a row of bytes here, and a row of any other element one of float32, which holds its values.
"""
import gzip
import os

import numpy as np
import torch

SOME = 1 << 24  # elements handled at once where nothing is timed
LEAST_NORMAL_F16 = 2.0**-14


def wrapped(value):
    """Returns a signed number of 64 bits, which PyTorch computes with; it wraps around as unsigned ones do."""
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


def uniform(bits):
    return shifted(bits, 40).to(torch.float32) * 2.0**-24


def integer(bits):
    return (shifted(bits, 32) % 219).to(torch.float32)


def made(element, training, rows, columns, device):
    """Returns rows whose elements are element(64 random bits)."""
    def scalar(x):
        return torch.tensor([x], dtype=torch.int64, device=device)

    series = random_bits(scramble(scalar(1)), scalar(1 if training else 2))
    found = torch.empty((rows, columns), dtype=torch.float32, device=device)
    numbers = torch.arange(columns, dtype=torch.int64, device=device)
    step = max(1, SOME // columns)
    for first in range(0, rows, step):
        row = random_bits(series, torch.arange(first, min(first + step, rows), dtype=torch.int64, device=device))
        found[first:first + step] = element(random_bits(row[:, None], numbers))
    return found


def round_to_f16(rows):
    """Rounds toward zero, in place."""
    for part in rows.split(max(1, SOME // rows.shape[1])):
        cut = (part.view(torch.int32) & ~0x1FFF).view(torch.float32)
        part.copy_(torch.where(part.abs() < LEAST_NORMAL_F16, (part * 2.0**24).trunc() * 2.0**-24, cut))
    return rows


def made_as(entry, training, rows, device):
    """Returns the rows of one set, of the workload's element."""
    if entry["element"] == "bits":
        return made(uniform, training, rows, entry["dims"] // 32, device).view(torch.uint8)
    found = made(integer if entry["data"] == "integers" else uniform, training, rows, entry["dims"], device)
    return round_to_f16(found) if entry["element"] == "f16" else found


def images(folder, name, rows, device):
    """Returns the first images of a file of Fashion-MNIST, which has 16 bytes, then a byte for each pixel."""
    with gzip.open(os.path.join(folder, name + "-images-idx3-ubyte.gz")) as file:
        pixels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)[:rows]
    return torch.from_numpy(pixels.astype(np.float32)).to(device)


def rows_of(entry, device):
    """Returns training rows and queries of a search in a file of `kith-lab bench --json`."""
    if entry["data"] not in ("uniform", "integers"):
        return images(entry["data"], "train", entry["n"], device), images(entry["data"], "t10k", entry["m"], device)
    train = made_as(entry, True, entry["n"], device)
    return train, train if entry["own_rows"] else made_as(entry, False, entry["m"], device)
