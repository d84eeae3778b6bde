#!/usr/bin/env python3
"""Compares kith's answers with those of scikit-learn.

    compare.py --kith build/bin/kith [--device SPEC] [--only NAMES]
               [--letter letter-recognition.data] [--fashion-mnist FOLDER]

Asks both the same questions: classification and regression by k neighbours and by a radius, with uniform and
distance weights, of held-out queries and of rows by all others (leave-one-out). scikit-learn runs with
algorithm="brute" on float64 values that equal kith's float32 ones. iris, wine, digits and breast cancer come
with scikit-learn. letter (UCI, "Letter Recognition", 20,000 lines that begin with the letter) and
Fashion-MNIST (Debian's package dataset-fashion-mnist has it) are asked only where their files are named.

kith has one right answer to every question; scikit-learn's hangs, now and then, on the order in which it met
rows, and on its rounding. Answers that differ are therefore taken apart: which rows did each side ask, how far
are they in exact integer arithmetic, and does each side's answer follow from its own rows? A difference counts
as explained for one of these reasons, and no other:

    tie        the rows that only one side asked are exactly as far from the query: scikit-learn takes any of
               them, kith the first
    single     they are not, but nearer to each other, or to the radius, than single precision can tell: kith
               computes in it
    weights    both asked the same rows, and two classes are nearer to each other than sums of weights in
               single precision can tell
    zero       a row equals the query, and scikit-learn, which computes |a|^2 - 2ab + |b|^2, rounds their
               distance to another number than 0, so that the other rows vote too

Every reason has a bound, as a share of the answers (most_explained). A difference without a reason fails, and so
do more of one reason than its bound, and another number than the known ones of right answers on Fashion-MNIST.
Values of regressions are equal when they differ by no more than weights in single precision explain.

Exit status: 0 all equal or explained; 1 not; 2 wrong arguments; 77 scikit-learn is not installed.
"""
import argparse
import collections
import os
import subprocess
import sys
import tempfile
import warnings

# NumPy and scikit-learn read these when they are loaded. More threads of theirs spin between calls of a millisecond,
# which takes twenty times as long, and far longer beside other programs.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
SET = {name: os.environ[name] for name in ONE_THREAD if name in os.environ}  # by the user
os.environ.update(ONE_THREAD)
try:
    import numpy as np
    import sklearn
    from sklearn.neighbors import (KNeighborsClassifier, KNeighborsRegressor, RadiusNeighborsClassifier,
                                   RadiusNeighborsRegressor)
except ImportError as error:
    print(f"compare.py: skipped: {error}; install python3-sklearn")
    sys.exit(77)

from questions import fashion_data, letter_data, small_data, tasks

REASONS = ("tie", "single", "weights", "zero")
LEFT_OUT = 400  # rows that are left out, each by another fit of scikit-learn
ROUND = 2.0 ** -24  # error of one operation in single precision
UNIT = 173  # 2 ** -UNIT divides every float32
KNOWN = {1: 8497, 5: 8554, 9: 8519}  # right answers on Fashion-MNIST
OUTLIER = 99  # the label of a query with no row within the radius; no data set has it


# ---- kith ----------------------------------------------------------------------------------------------


class Kith:
    """Runs the command on the files of one data set."""

    def __init__(self, command, device, data, folder):
        self.command, self.device, self.folder = command, device, folder
        self.files = {name: os.path.join(folder, f"{data.name}-{name}.npy")
                      for name in ("train", "labels", "values", "queries")}
        for name, path in self.files.items():
            np.save(path, getattr(data, name))

    def run(self, subcommand, options, output):
        path = os.path.join(self.folder, output)
        out = "--out-index" if subcommand == "search" else "--out"
        command = [self.command, subcommand, "--device", self.device, "--train", self.files["train"],
                   "--metric", "l2", *options, out, path]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"compare.py: {' '.join(command)}: exit {done.returncode}: {done.stderr.strip()}")
        return path

    def asked(self, task):
        size = ["-k", str(task.k)] if task.k else ["--radius", repr(task.radius)]
        return size + (["--leave-one-out"] if task.leave_one_out else ["--queries", self.files["queries"]])

    def answers(self, task):
        options = self.asked(task) + ["--votes", "weights=" + task.weights]
        if task.kind == "regress":
            options += ["--values", self.files["values"]]
        else:
            options += ["--labels", self.files["labels"]]
            if task.radius:
                options += ["--votes", f"outlier={OUTLIER}"]
        return np.load(self.run(task.kind, options, "answers.npy"))

    def lists(self, task):
        """Returns the neighbours of each query, by `kith search`."""
        if task.radius:
            with open(self.run("search", self.asked(task), "lists.csv"), encoding="ascii") as file:
                return [[int(cell) for cell in line.split(",") if cell.strip()] for line in file]
        k = task.k + task.leave_one_out
        queries = self.files["train" if task.leave_one_out else "queries"]
        found = np.load(self.run("search", ["-k", str(k), "--queries", queries], "lists.npy"))
        if not task.leave_one_out:
            return [list(row) for row in found]
        return [[t for t in row if t != q][:task.k] for q, row in enumerate(found)]


# ---- scikit-learn --------------------------------------------------------------------------------------


class Peer:
    """Asks scikit-learn's estimator for a task; for leave-one-out a new one per row."""

    def __init__(self, data, task):
        self.data, self.task = data, task
        self.train = data.train.astype(np.float64)
        self.queries = self.train if task.leave_one_out else data.queries.astype(np.float64)
        self.target = data.values if task.kind == "regress" else data.labels
        self.whole = None if task.leave_one_out else self.fitted(slice(None))
        self.lists = None
        rows = np.arange(len(self.queries))
        self.asked = rows[::-(-len(rows) // LEFT_OUT)] if task.leave_one_out else rows

    def fitted(self, keep):
        task = self.task
        options = {"weights": task.weights, "algorithm": "brute", "metric": "euclidean"}
        if task.k:
            made = (KNeighborsRegressor if task.kind == "regress" else KNeighborsClassifier)(task.k, **options)
        elif task.kind == "regress":
            made = RadiusNeighborsRegressor(task.radius, **options)
        else:
            made = RadiusNeighborsClassifier(task.radius, outlier_label=OUTLIER, **options)
        return made.fit(self.train[keep], self.target[keep])

    def without(self, q):
        return np.delete(np.arange(len(self.train)), q)

    def answers(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns of outliers, which are intended here
            if not self.task.leave_one_out:
                return self.whole.predict(self.queries)
            return np.array([self.fitted(self.without(q)).predict(self.queries[q:q + 1])[0]
                             for q in self.asked])

    def list(self, q):
        """Returns the training rows that query q asks, and their distances, as scikit-learn finds them.

        It is asked as for answers(), all queries at once: which of several equal rows it takes hangs on that, too.
        """
        if self.task.leave_one_out:
            keep = self.without(q)
            distance, index = self.fitted(keep).kneighbors(self.queries[q:q + 1])
            return [int(t) for t in keep[index[0]]], [float(d) for d in distance[0]]
        if self.lists is None:
            self.lists = (self.whole.kneighbors if self.task.k else self.whole.radius_neighbors)(self.queries)
        distance, index = self.lists
        return [int(t) for t in index[q]], [float(d) for d in distance[q]]


# ---- Differences and their reasons -----------------------------------------------------------------------


def whole_numbers(row):
    """Returns float32 values as integers, in units of 2 ** -UNIT."""
    return [int(mantissa * 2 ** 24) << (int(exponent) - 24 + UNIT)
            for mantissa, exponent in zip(*(part.tolist() for part in np.frexp(row.astype(np.float64))))]


class Judge:
    """Finds the reason for each answer of a task that differs."""

    def __init__(self, data, task, kith, peer):
        self.data, self.task, self.kith, self.peer = data, task, kith, peer
        self.queries = data.train if task.leave_one_out else data.queries
        self.kith_lists = None
        dims = data.train.shape[1]
        self.of_square = (dims + 4) * ROUND          # relative error of a squared distance
        self.of_score = (dims / 2 + 8) * ROUND       # of a weight; each addition adds one ROUND

    def exact(self, q, rows):
        """Returns the squared distances as integers."""
        query = whole_numbers(self.queries[q])
        return {t: sum((a - b) ** 2 for a, b in zip(query, whole_numbers(self.data.train[t]))) for t in rows}

    def valid(self, q, rows):
        """Returns whether, up to rounding, no other row is nearer than the rows that were asked."""
        train = self.peer.train
        square = ((train - self.queries[q].astype(np.float64)) ** 2).sum(axis=1)
        left_out = np.ones(len(train), bool)
        left_out[rows] = False
        if self.task.leave_one_out:
            left_out[q] = False
        limit = square[left_out].min(initial=np.inf)
        most = square[rows].max(initial=0.0)
        slack = 2 * self.of_square * max(most, 1e-300) + 2.0 ** -44 * (self.queries[q].astype(float) ** 2).sum()
        if self.task.radius:
            return most <= self.task.radius ** 2 + slack and limit >= self.task.radius ** 2 - slack
        return most <= limit + slack

    def scores(self, q, rows, distances=None):
        """Returns the weight of each row, from exact or given distances, and their relative error."""
        if self.task.weights == "uniform":
            weights = np.ones(len(rows))
        else:
            if distances is None:
                exact = self.exact(q, rows)
                distances = [float(exact[t]) ** 0.5 * 2.0 ** -UNIT for t in rows]
            distances = np.array(distances)
            zero = distances == 0
            weights = zero.astype(float) if zero.any() else 1 / distances
        return weights, (0.0 if self.task.weights == "uniform" else self.of_score + len(rows) * ROUND)

    def follows(self, answer, q, rows, distances=None):
        """Returns whether an answer follows from these rows, up to the rounding of weights."""
        if not rows:
            return bool(np.isnan(answer).all()) if self.task.kind == "regress" else answer == OUTLIER
        weights, error = self.scores(q, rows, distances)
        if self.task.kind == "regress":
            values = self.data.values[rows]
            mean = (weights[:, None] * values).sum(axis=0) / weights.sum()
            return bool((np.abs(mean - answer) <= self.tolerance(values)).all())
        labels = self.data.labels[rows]
        score = {label: weights[labels == label].sum() for label in set(labels.tolist())}
        best = max(score.values())
        if answer not in score:
            return False
        if error == 0:
            return answer == min(label for label in score if score[label] == best)
        return score[answer] >= best * (1 - 2 * error)

    def tolerance(self, values):
        """Returns the tolerance for a mean of values, from the relative error of weights and their sum."""
        rounding = 2.0 ** -48 if self.task.weights == "uniform" else 2 * self.of_score
        return 2 * rounding * max(1e-300, np.abs(values).max())

    def same(self, ours, theirs):
        if self.task.kind == "classify":
            return ours == theirs
        both = np.isnan(ours) & np.isnan(theirs)
        with np.errstate(invalid="ignore"):
            close = np.abs(ours - theirs) <= self.tolerance(self.data.values)
        return (both | close).all(axis=1)

    def reason(self, q, ours, theirs):
        """Returns one of REASONS, or None if none applies."""
        if self.kith_lists is None:
            self.kith_lists = self.kith.lists(self.task)
        mine = self.kith_lists[q]
        others, distances = self.peer.list(q)
        if not (self.valid(q, mine) and self.valid(q, others)):
            return None
        if not (self.follows(ours, q, mine) and self.follows(theirs, q, others, distances)):
            return None
        exact = self.exact(q, set(mine) | set(others))
        if set(mine) == set(others):
            if self.task.weights == "uniform":
                return None
            return "zero" if any(exact[t] == 0 and d != 0 for t, d in zip(others, distances)) else "weights"
        apart = [exact[t] for t in set(mine) ^ set(others)]
        if self.task.radius:
            apart.append(int(self.task.radius * 2 ** 40) ** 2 << (2 * (UNIT - 40)))
        if min(apart) == max(apart) and self.task.k:
            return "tie"
        return "single" if max(apart) - min(apart) <= 2 * self.of_square * max(apart) else None


# ---- The comparison ------------------------------------------------------------------------------------


def most_explained(data, task, reason, asked):
    """Returns how many answers may differ for a reason; at least one."""
    share = 0.02 if reason == "tie" else 0.01
    if data.name == "letter" and task.kind == "regress" and reason == "tie":
        share = 0.25  # 16 columns of 0 to 15 make many ties, and tied rows differ in value more often than in label
    return max(1, int(share * asked))


def compare(data, task, kith):
    """Returns how many answers are equal, and how many differ for each reason; `unexplained` lists the others."""
    peer = Peer(data, task)
    judge = Judge(data, task, kith, peer)
    ours, theirs = kith.answers(task)[peer.asked], peer.answers()
    if ours.shape != theirs.shape:
        sys.exit(f"compare.py: {data.name}: {task}: shapes {ours.shape} and {theirs.shape}")
    counts, unexplained = collections.Counter(), []
    for place in np.flatnonzero(~judge.same(ours, theirs)):
        reason = judge.reason(int(peer.asked[place]), ours[place], theirs[place])
        counts[reason] += 1
        if reason is None:
            unexplained.append(f"query {peer.asked[place]}: kith {ours[place]}, scikit-learn {theirs[place]}")
    return ours, counts, unexplained


def report(data, task, ours, counts, unexplained):
    """Prints one line of the table. Returns whether all is well."""
    asked = len(ours)
    bad = list(unexplained)
    for reason in REASONS:
        most = most_explained(data, task, reason, asked)
        if counts[reason] > most:
            bad.append(f"{counts[reason]} differences for the reason `{reason}`, where at most {most} are expected")
    right = ""
    if task.kind == "classify" and not task.leave_one_out:
        right = str(int((ours == data.truth).sum()))
        if data.name == "fashion_mnist" and int(right) != KNOWN[task.k]:
            bad.append(f"{right} right, known are {KNOWN[task.k]}")
    size = f"k={task.k}" if task.k else f"r={task.radius:g}"
    how = "leave-one-out" if task.leave_one_out else "queries"
    cells = [data.name, task.kind, task.weights, size, how, asked, asked - sum(counts.values()),
             *(counts[reason] or "." for reason in REASONS), counts[None] or ".", right]
    print(LINE.format(*map(str, cells)), flush=True)
    for sentence in bad[:10]:
        print(f"    FAILED: {sentence}")
    return not bad


LINE = "{:14} {:9} {:9} {:7} {:14} {:>6} {:>6} {:>5} {:>7} {:>8} {:>5} {:>12} {:>6}"


def selected(options):
    sets = list(small_data())
    for name, path, read in (("letter", options.letter, letter_data),
                             ("fashion_mnist", options.fashion_mnist, fashion_data)):
        if options.only and name not in options.only.split(","):
            continue
        if path:
            sets.append(read(path))
        else:
            print(f"{name}: skipped; give --{name.replace('_', '-')} to compare it")
    if not options.only:
        return sets
    unknown = set(options.only.split(",")) - {data.name for data in sets} - {"letter", "fashion_mnist"}
    if unknown:
        sys.exit(f"compare.py: --only: there is no {', '.join(sorted(unknown))}")
    return [data for data in sets if data.name in options.only.split(",")]


def main():
    parser = argparse.ArgumentParser(description="Compare kith's answers with scikit-learn's.")
    parser.add_argument("--kith", required=True, help="the command `kith`")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", help="data sets, with commas between them")
    parser.add_argument("--letter", metavar="FILE", help="letter-recognition.data of UCI")
    parser.add_argument("--fashion-mnist", metavar="FOLDER")
    options = parser.parse_args()
    os.environ["KITH_TUNING"] = "off"
    for name in ONE_THREAD:  # kith uses all cores, or as many as the user said
        del os.environ[name]
    os.environ.update(SET)
    print(f"scikit-learn {sklearn.__version__}, kith on {options.device}")
    sets = selected(options)
    print(LINE.format("data", "what", "weights", "size", "of", "asked", "equal", *REASONS, "unexplained", "right"))
    good, answers, explained = True, 0, 0
    for data in sets:
        with tempfile.TemporaryDirectory() as folder:
            kith = Kith(options.kith, options.device, data, folder)
            for task in tasks(data):
                ours, counts, unexplained = compare(data, task, kith)
                good = report(data, task, ours, counts, unexplained) and good
                answers += len(ours)
                explained += sum(counts.values()) - counts[None]
    print(f"{answers} answers, {explained} of them differ for a reason that was found: "
          f"{'OK' if good else 'DIFFERENT'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
