#!/usr/bin/env python3
"""Time Fashion-MNIST by KNeighborsClassifier, scikit-learn and faiss-cpu, in one process and in turns.

fashion.py [--folder /usr/share/datasets/fashion-mnist] [--queries 10000] [--repeats 3] [--threads 2] [--device cpu]

Debian's package dataset-fashion-mnist has the files. Prints the seconds of the fastest repeat, and right answers.
"""

import argparse
import collections
import gzip
import os
import time

import numpy as np
from kith.sklearn import KNeighborsClassifier as Ours
from sklearn.neighbors import KNeighborsClassifier as Theirs
from threadpoolctl import threadpool_limits


def read(folder, name):
    with gzip.open(os.path.join(folder, f"{name}-ubyte.gz")) as file:
        content = file.read()
    axes = content[3]
    shape = np.frombuffer(content, ">u4", axes, 4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape)


def by_faiss(X, y, Q, threads):
    import faiss

    faiss.omp_set_num_threads(threads)
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X)

    def predict():
        labels = y[index.search(Q, 5)[1]]
        return np.array([np.bincount(row, minlength=10).argmax() for row in labels])

    return predict


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", default="/usr/share/datasets/fashion-mnist")
    parser.add_argument("--queries", type=int, default=10000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    asked = parser.parse_args()
    X, Q = (read(asked.folder, f"{part}-images-idx3").reshape(-1, 784).astype(np.float32) for part in ("train", "t10k"))
    y, truth = (read(asked.folder, f"{part}-labels-idx1").astype(np.int64) for part in ("train", "t10k"))
    Q, truth = Q[: asked.queries], truth[: asked.queries]
    ours = Ours(5, n_jobs=asked.threads, device=asked.device).fit(X, y)
    theirs = Theirs(5, algorithm="brute", n_jobs=asked.threads).fit(X, y)
    sides = {"kith.sklearn": lambda: ours.predict(Q), "scikit-learn": lambda: theirs.predict(Q)}
    try:
        sides["faiss-cpu"] = by_faiss(X, y, Q, asked.threads)
    except ImportError:
        print("faiss-cpu is not installed")
    taken, right = collections.defaultdict(list), {}
    with threadpool_limits(asked.threads):
        for _ in range(asked.repeats):
            for name, predict in sides.items():
                begin = time.perf_counter()
                answer = predict()
                taken[name].append(time.perf_counter() - begin)
                right[name] = int((answer == truth).sum())
    print(f"{len(Q)} queries, {len(X)} rows, 784 columns, k = 5, {asked.threads} threads, fastest of {asked.repeats}")
    for name, seconds in taken.items():
        print(f"{name:14}{min(seconds):9.2f} s   {right[name]} of {len(Q)} right")


if __name__ == "__main__":
    main()
