"""Compares kith.sklearn with scikit-learn on twenty data sets. Each difference must have a proven reason.

Both get the same rows of float64; or kith gets rows of float32, and scikit-learn the float64 that equal them, by which
it computes |a|^2 - 2ab + |b|^2 in double precision. An answer may differ for one of these reasons, and no other:

    tie        the rows that only one side found are exactly as far from the query, in exact arithmetic: scikit-learn
               takes any of them, kith the first
    rounding   they are not, but nearer to each other than the rounding of one side's distances can tell: kith's
               chain in the precision of its rows, or scikit-learn's difference of squares in double
    zero       a row equals the query: scikit-learn rounds their distance to another number than 0, so that the other
               rows vote, too
    weights    both found the same rows, and sums of 1 / distance, which kith adds in the precision of its rows, do
               not tell two classes apart

The counts are printed at the end of the run.
"""

from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("sklearn")
import kith.sklearn as ours  # noqa: E402
import sklearn.neighbors as theirs  # noqa: E402

import datasets  # noqa: E402

REASONS = ("tie", "rounding", "zero", "weights")
TABLE = {}  # name: {"answers": n, reason: n}; conftest.py prints it
CLASSES, VALUES = list(datasets.classes()), list(datasets.values())
KINDS = ("float64", "float32")


def exact(a, b):
    """Returns the squared distance of two rows without rounding."""
    return sum((Fraction(float(x)) - Fraction(float(y))) ** 2 for x, y in zip(a, b))


class Sides:
    """Holds the neighbours that both sides find in one data set, and says why they differ."""

    def __init__(self, name, X, y, kind):
        held = np.arange(len(X)) % 3 == 2
        X = X.astype(kind)
        self.train, self.queries, self.y = X[~held], X[held], y[~held]
        self.counts = TABLE.setdefault(f"{name}, {kind}", dict.fromkeys(("answers", *REASONS), 0))

    def pair(self, name, **parameters):
        mine = getattr(ours, name)(device="cpu", **parameters).fit(self.train, self.y)
        other = getattr(theirs, name)(algorithm="brute", **parameters).fit(self.train.astype(np.float64), self.y)
        return mine, other

    def why(self, q, mine, other):
        """Returns why the rows found for query q differ, or None if they do not."""
        only_mine, only_other = sorted(set(mine) - set(other)), sorted(set(other) - set(mine))
        if not only_mine and not only_other:
            return None
        query = self.queries[q]
        far = [exact(query, self.train[row]) for row in only_mine + only_other]
        if min(far) == max(far) and len(only_mine) == len(only_other):
            return "tie"
        size = max(
            float(np.sum(np.square(query, dtype=np.float64))),
            float(np.square(self.train, dtype=np.float64).sum(axis=1).max()),
        )
        dims = len(query)
        places = {"float32": (2.0**-23, 2.0**-148), "float64": (2.0**-52, 2.0**-1073)}[self.train.dtype.name]
        of_chain = dims * places[0] * float(max(far)) + dims * places[1]
        of_squares = 8 * dims * 2.0**-53 * size
        gap = float(max(far) - min(far))
        assert gap <= 2 * (of_chain + of_squares), f"query {q}: {only_mine} and {only_other} are {gap} apart"
        return "rounding"

    def zero(self, q, rows):
        return any(exact(self.queries[q], self.train[row]) == 0 for row in rows)

    def count(self, reason):
        self.counts["answers"] += 1
        if reason is not None:
            self.counts[reason] += 1


def neighbours(sides, k):
    mine, other = sides.pair("NearestNeighbors", n_neighbors=k)
    (near, row), (their_near, their_row) = (
        mine.kneighbors(sides.queries),
        other.kneighbors(sides.queries.astype(np.float64)),
    )
    # scikit-learn's rounding: it takes the root of a difference of squares.
    size = np.sqrt(np.square(sides.train, dtype=np.float64).sum(axis=1).max())
    assert np.allclose(near, their_near, rtol=1e-5, atol=size * 2e-7)
    return row, their_row


def differs(mine, other):
    return np.array([not np.array_equal(a, b) for a, b in zip(mine, other)])


@pytest.mark.parametrize("name, X, y", CLASSES, ids=[one[0] for one in CLASSES])
@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_classes(name, X, y, k, kind):
    sides = Sides(name, X, y, kind)
    row, their_row = neighbours(sides, k)
    for weights in ("uniform", "distance"):
        mine, other = sides.pair("KNeighborsClassifier", n_neighbors=k, weights=weights)
        share, their_share = mine.predict_proba(sides.queries), other.predict_proba(sides.queries.astype(np.float64))
        answer, their_answer = mine.predict(sides.queries), other.predict(sides.queries.astype(np.float64))
        far = ~np.isclose(share, their_share, rtol=0, atol=1e-4).all(axis=1)
        for q in range(len(answer)):
            reason = None
            if answer[q] != their_answer[q] or far[q]:
                reason = sides.why(q, row[q], their_row[q])
                if reason is None and weights == "distance" and sides.zero(q, row[q]):
                    reason = "zero"
                if reason is None and weights == "distance" and not far[q]:
                    reason = "weights"
                assert reason is not None, f"query {q}: {answer[q]} {share[q]}, but {their_answer[q]} {their_share[q]}"
            sides.count(reason)


@pytest.mark.parametrize("name, X, y", VALUES, ids=[one[0] for one in VALUES])
@pytest.mark.parametrize("k", [1, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_values(name, X, y, k, kind):
    sides = Sides(name, X, y, kind)
    row, their_row = neighbours(sides, k)
    for weights in ("uniform", "distance"):
        mine, other = sides.pair("KNeighborsRegressor", n_neighbors=k, weights=weights)
        value, their_value = mine.predict(sides.queries), other.predict(sides.queries.astype(np.float64))
        assert value.shape == their_value.shape and value.dtype == their_value.dtype
        for q in range(len(value)):
            reason = None
            if not np.allclose(value[q], their_value[q], rtol=1e-4, atol=1e-4 * np.abs(y).max()):
                reason = sides.why(q, row[q], their_row[q])
                if reason is None and weights == "distance" and sides.zero(q, row[q]):
                    reason = "zero"
                assert reason is not None, f"query {q}: {value[q]}, but {their_value[q]}"
            sides.count(reason)


@pytest.mark.parametrize("name, X, y", CLASSES[:4] + VALUES[:2], ids=[one[0] for one in CLASSES[:4] + VALUES[:2]])
@pytest.mark.parametrize("kind", KINDS)
def test_radius(name, X, y, kind):
    sides = Sides(name, X, y, kind)
    kind = "Classifier" if y.dtype.kind == "i" else "Regressor"
    radius = (
        float(np.median(ours.NearestNeighbors(device="cpu").fit(sides.train).kneighbors(sides.queries, 8)[0][:, -1]))
        * 1.2
    )
    near = sides.pair("NearestNeighbors", radius=radius)
    queries = sides.queries.astype(np.float64)
    rows, their_rows = near[0].radius_neighbors(sides.queries)[1], near[1].radius_neighbors(queries)[1]
    found = np.array([len(a) > 0 and len(b) > 0 for a, b in zip(rows, their_rows)])
    mine, other = sides.pair(f"RadiusNeighbors{kind}", radius=radius)
    value, their_value = mine.predict(sides.queries[found]), other.predict(queries[found])
    for place, q in enumerate(np.flatnonzero(found)):
        reason = None
        if not np.allclose(value[place], their_value[place], rtol=1e-9):
            reason = sides.why(q, rows[q], their_rows[q])
            assert reason is not None, f"query {q}: {value[place]}, but {their_value[place]}"
        sides.count(reason)


def test_there_are_twenty():
    assert len({one[0] for one in CLASSES + VALUES}) == 20


def test_a_planted_difference_is_found():
    name, X, y = CLASSES[0]
    sides = Sides("planted", X, y, "float64")
    TABLE.pop("planted, float64")
    row, _ = neighbours(sides, 5)
    far = int(np.argmax([exact(sides.queries[0], one) for one in sides.train]))
    with pytest.raises(AssertionError, match="apart"):
        sides.why(0, row[0], [*row[0][:4], far])
