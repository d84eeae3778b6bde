"""Makes the data sets of compare.py, and its questions: what is classified or predicted, and how."""
import collections
import gzip
import os

import numpy as np
from sklearn import datasets

Data = collections.namedtuple("Data", "name train labels values queries radii ks truth")
Task = collections.namedtuple("Task", "kind weights k radius leave_one_out")


def split(name, rows, labels, radii, ks=(1, 5, 10)):
    """Makes every third row a query. Regressions predict the label, and the mean of the row."""
    rows = np.ascontiguousarray(rows, np.float32)
    held = np.arange(len(rows)) % 3 == 2
    values = np.column_stack([labels, rows.astype(np.float64).mean(axis=1)])
    return Data(name, rows[~held], labels[~held], values[~held], rows[held], radii, ks, labels[held])


def small_data():
    sets = {"iris": (datasets.load_iris, (0.53, 1.47)), "wine": (datasets.load_wine, (20.0, 60.0)),
            "digits": (datasets.load_digits, (20.0, 25.5)),
            "breast_cancer": (datasets.load_breast_cancer, (50.0, 150.0))}
    for name, (load, radii) in sets.items():
        bunch = load()
        yield split(name, bunch.data, bunch.target.astype(np.int64), radii)


def letter_data(path):
    with open(path, encoding="ascii") as file:
        cells = [line.strip().split(",") for line in file if line.strip()]
    cells = cells[len(cells[0][0]) > 1:]  # some copies of the file have a header
    rows = np.array([line[1:] for line in cells], np.float32)
    labels = np.array([ord(line[0]) - ord("A") for line in cells], np.int64)
    return split("letter", rows, labels, (2.0, 3.0))


def read_idx(path):
    with gzip.open(path) as file:
        content = file.read()
    axes = content[3]
    shape = np.frombuffer(content, ">u4", axes, 4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape)


def fashion_data(folder):
    read = {part: read_idx(os.path.join(folder, f"{part}-ubyte.gz"))
            for part in ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")}
    train, queries = (read[p].reshape(len(read[p]), -1).astype(np.float32)
                      for p in ("train-images-idx3", "t10k-images-idx3"))
    labels = read["train-labels-idx1"].astype(np.int64)
    return Data("fashion_mnist", train, labels, labels[:, None].astype(np.float64), queries, (), (1, 5, 9),
                read["t10k-labels-idx1"].astype(np.int64))


def tasks(data):
    large = data.name == "fashion_mnist"
    for leave_one_out in (False,) if large else (False, True):
        for kind in ("classify",) if large else ("classify", "regress"):
            for weights in ("uniform", "distance"):
                if large and weights == "distance":
                    continue
                for k in data.ks:
                    yield Task(kind, weights, k, None, leave_one_out)
                for radius in () if leave_one_out else data.radii:
                    yield Task(kind, weights, None, radius, False)
