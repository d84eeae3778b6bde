"""Holds one case: what its seed draws, the steps that were done, and the comparison of answers."""
import collections
import hashlib

import kith
import numpy as np

import data
from oracle import METRICS, Rows

BITS = "bits"
REFUSALS = (kith.Unsupported, kith.Unavailable, kith.OutOfMemory)


class Different(Exception):
    """Is raised if an answer differs from the oracle's."""


class Case:
    def __init__(self, seed, device, folder, plant=None):
        self.seed, self.device, self.folder, self.plant = seed, device, folder, plant
        self.random = np.random.default_rng(seed)
        self.steps = []  # what was done, to report with a difference
        self.done = collections.Counter()
        self.files = 0
        self.answers = hashlib.sha256()
        self.metric = self.one_of(METRICS)
        self.bits = self.metric == "hamming"
        self.kind = self.one_of(list(data.KINDS))
        if self.metric == "negative_dot" and self.chance(0.3):
            self.kind = "products"  # some of them may overflow
        self.element = BITS if self.bits else self.draw_element()
        self.query_element = BITS if self.bits else self.one_of([self.element, self.draw_element()])
        self.draw_shape()
        self.note("case", seed=seed, metric=self.metric, kind=self.kind, element=self.element,
                  queries=self.query_element, dims=self.dims, features=self.features)

    # ---- random numbers ----------------------------------------------------------------------------------

    def chance(self, share):
        return self.random.random() < share

    def one_of(self, several):
        return several[self.random.integers(0, len(several))]

    def whole(self, low, high):
        """Returns a whole number from `low` to `high`, both included."""
        return int(self.random.integers(low, high + 1))

    def draw_element(self):
        return "f32" if self.chance(0.35) else self.one_of(data.ELEMENTS)

    def draw_shape(self):
        n = self.one_of([8, 60, 60, 60, 400]) if not self.chance(0.02) else 3000
        self.n = self.whole(1, n)
        self.dims = self.whole(1, self.one_of([3, 16, 40, 40, 300 if n < 3000 else 12]))
        self.features = None
        self.columns = self.dims  # of the array that kith gets
        if not self.bits and self.chance(0.12):
            self.columns += self.whole(0, 4)
            self.features = self.random.permutation(self.columns)[: self.dims]
        self.most_queries = max(1, min(self.one_of([1, 5, 12, 12, 80]), 1_500_000 // (self.n * self.dims)))

    def draw_k(self, most):
        return self.whole(1, max(1, min(most, self.one_of([1, 3, 10, 10, 40, most]))))

    # ---- rows --------------------------------------------------------------------------------------------

    def draw_rows(self, n, element=None):
        """Returns an array as kith gets it, and its values, [n, dims]."""
        if self.bits:
            array = self.random.integers(0, self.one_of([2, 256]), (n, -(-self.dims // 8)), np.uint8)
            return self.laid_out(array), array
        values = data.draw_values(self.random, self.kind, (n, self.dims))
        return self.given(values, element or self.element)

    def given(self, values, element):
        array, _ = data.stored(self.random, values, element)
        if self.metric == "cosine":
            array = data.without_zero_rows(array)
        values = np.ascontiguousarray(self.as_float(array))
        if self.features is not None:
            array = self.among_others(array)
        return self.laid_out(array), values

    def as_float(self, array):
        if array.dtype == data.BFLOAT16:
            return (array["bfloat16"].astype(np.uint32) << 16).view(np.float32)
        return array.astype(np.float32)

    def among_others(self, array):
        """Adds the columns that kith must ignore, filled with NaN, infinity or 7."""
        wide = np.zeros((len(array), self.columns), array.dtype)
        if wide.dtype.kind == "f":
            wide[:] = self.one_of([np.nan, np.inf, 7])
        wide[:, np.sort(self.features)] = array
        return wide

    def laid_out(self, array):
        array, how = data.laid_out(self.random, array)
        if how != "as it is":
            self.note("layout", how=how)
        return array

    def draw_queries(self, rows, m=None):
        if m is None:
            m = 0 if self.chance(0.01) else self.whole(1, self.most_queries)
        if self.bits:
            queries = rows.values[self.random.integers(0, len(rows.values), m)].copy()
            away = self.random.random(m) < 0.6
            queries[away] ^= self.random.integers(0, 256, (int(away.sum()), queries.shape[1]), np.uint8)
            return self.laid_out(queries), queries
        return self.given(data.draw_queries(self.random, rows.values, self.kind, m), self.query_element)

    def new_rows(self):
        return Rows(self.metric)

    @property
    def as_bits(self):
        return BITS if self.bits else None

    def file(self, ending):
        self.files += 1
        return f"{self.folder}/{self.files}{ending}"

    # ---- answers -----------------------------------------------------------------------------------------

    def note(self, what, **words):
        self.steps.append((what, words))

    def count(self, what):
        self.done[what] += 1

    def same(self, what, found, expected):
        """Compares type, shape and bits of two arrays; all NaN count as equal. Raises Different."""
        self.count("compared")
        if self.plant == "answer" and expected.size and expected.dtype.kind == "f":
            self.plant, expected = None, with_a_wrong_bit(expected)
        if not isinstance(found, np.ndarray) or found.dtype != expected.dtype or found.shape != expected.shape:
            raise Different(f"{what} is {_shape(found)} instead of {_shape(expected)}")
        self.answers.update(f"{found.dtype.str}{found.shape}".encode() + _without_nan_kinds(found).tobytes())
        differ = _bits(found) != _bits(expected)
        if found.dtype.kind == "f":
            differ &= ~(np.isnan(found) & np.isnan(expected))
        if differ.any():
            place = tuple(int(i) for i in np.argwhere(differ)[0])
            raise Different(f"{what} at {place} is {_number(found[place])} instead of {_number(expected[place])}; "
                            f"{int(differ.sum())} of {differ.size} differ")

    def digest(self):
        """Returns a digest of all answers that were compared, as a whole number."""
        return int.from_bytes(self.answers.digest()[:8], "little")

    def told(self):
        """Returns the steps, one per line."""
        lines = []
        for what, words in self.steps:
            lines.append(f"  {what}: " + ", ".join(f"{name}={_short(value)}" for name, value in words.items()))
        return "\n".join(lines)


def with_a_wrong_bit(array):
    """Returns a copy with the lowest bit of the first number flipped."""
    wrong = array.copy()
    octets = wrong.reshape(-1).view(np.uint8)
    octets[0] = octets[0] ^ np.uint8(1)
    return wrong


def _without_nan_kinds(array):
    return np.where(np.isnan(array), array.dtype.type(np.nan), array) if array.dtype.kind == "f" else array


def _bits(array):
    return array.view({4: np.uint32, 8: np.uint64}[array.itemsize]) if array.dtype.kind == "f" else array


def _shape(found):
    return f"{found.dtype} {found.shape}" if isinstance(found, np.ndarray) else repr(found)


def _number(value):
    return f"{value!r} (0x{int(_bits(np.array([value]))[0]):X})" if value.dtype.kind == "f" else repr(value)


def _short(value):
    if isinstance(value, np.ndarray):
        return f"array{list(value.shape)} of {value.dtype}" if value.size > 12 else repr(value.tolist())
    return repr(value)
