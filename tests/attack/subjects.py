"""Makes the subjects of questions: an index, a source, shards, a classifier or a regressor, in many ways, with their rows."""
import copy
import pickle

import kith
import numpy as np

from case import REFUSALS

ENDINGS = {"f32": (".npy", ".fbin"), "f16": (".npy", ".f16bin"), "u8": (".npy", ".u8bin"), "i8": (".npy", ".i8bin"),
           "bits": (".npy", ".u8bin")}


def draw_numbers(case, n, first, ascending=False):
    """Returns None, or n random row numbers that are at least `first`."""
    if not case.chance(0.35):
        return None
    most = case.one_of([n, 4 * n, 2**31, 2**62])
    if first > 2**62:  # numbers must stay below 2^63 - 1
        most = 4 * n
    if most <= 4 * n:
        ids = case.random.permutation(most)[:n]
    else:
        ids = np.unique(case.random.integers(0, most, 2 * n))
        ids = case.random.permutation(ids)[:n] if len(ids) >= n else np.arange(n)
    ids = ids.astype(np.int64) + first
    return np.sort(ids) if ascending or case.chance(0.3) else ids


def where_on_a_set(case):
    if "+" not in case.device or case.chance(0.5):
        return {}
    words = {"placement": case.one_of(["automatic", "split", "replicate"])}
    if case.chance(0.5):
        words["shares"] = [case.whole(1, 9) for _ in case.device.split("+")]
    return words


# ---- an index, a classifier, a regressor -------------------------------------------------------------------


class Subject:
    """`made`: kith's object; `rows`: the oracle's rows; `outputs`: number of outputs, None for an index."""

    def __init__(self, case, kind="Index"):
        self.case, self.kind = case, kind
        self.before = None  # a copy from before some change
        self.rows = case.new_rows()
        self.outputs = None if kind == "Index" else case.whole(1, 2)
        self.weighted = kind != "Index" and case.chance(0.4)
        array, values = case.draw_rows(case.n)
        ids = draw_numbers(case, case.n, 0)
        answers, words = self.draw_answers(case.n)
        if kind == "Index":
            words.update(where_on_a_set(case), features=case.features, element=case.as_bits)
            if case.chance(0.15):
                words["reserve"] = case.whole(0, 2 * case.n)
        words["arithmetic"] = "f32"  # the oracle is in single precision
        case.note(f"kith.{kind}", X=array, ids=ids, **words)
        self.made = getattr(kith, kind)(array, *answers, case.metric, case.device, ids=ids, **words)
        self.add(values, np.arange(case.n) if ids is None else ids, answers, words)

    def draw_answers(self, n):
        """Returns labels or values, and the arguments for sample weights."""
        if self.kind == "Index":
            return [], {}
        random, shape = self.case.random, (n, self.outputs)
        if self.kind == "Classifier":
            labels = random.choice(np.array([0, 1, 2, -5, 7, 2**62]), shape)
        else:
            labels = self.case.one_of([random.normal(size=shape), random.integers(0, 3, shape) * 1.0,
                                       random.normal(size=shape) * 10.0**300])
        flat = labels[:, 0].copy() if self.outputs == 1 else labels
        if not self.weighted:
            return [flat], {}
        weights = self.case.one_of([random.integers(0, 3, n), random.random(n), 10.0 ** random.uniform(-30, 30, n)])
        return [flat], {"sample_weights": weights.astype(np.float32)}

    def add(self, values, numbers, answers, words):
        labels = np.reshape(answers[0], (len(values), -1)) if answers else None
        self.rows.add(values, numbers, labels, words.get("sample_weights"))

    def change(self):
        """Adds and removes rows, or saves the index and opens it."""
        case = self.case
        steps = [self.grow, self.grow, self.shrink, self.shrink, self.compact]
        if self.kind == "Index":
            steps += [self.save, self.open_part, self.pickle]
        for _ in range(case.whole(1, 4)):
            if case.chance(0.15):
                self.before = copy.copy(self)
                self.before.rows = copy.copy(self.rows)
            step = case.one_of(steps)
            step()
            case.count(f"step {step.__name__}")

    def grow(self):
        case = self.case
        n = case.whole(1, max(1, case.n // 2))
        array, values = case.draw_rows(n, case.draw_element() if case.chance(0.3) else None)
        if 0 < self.rows.of_all < np.abs(values).max():  # exceeds the promised largest element
            return
        answers, words = self.draw_answers(n)
        ids = draw_numbers(case, n, self.rows.next_row)
        case.note("with_", more=array, ids=ids, **words)
        self.made = self.made.with_(array, *answers, ids=ids, **words)
        numbers = np.arange(n) + self.rows.next_row if ids is None else ids
        self.add(values, numbers, answers, words)

    def shrink(self):
        there = np.flatnonzero(self.rows.there)
        if len(there) < 2:
            return
        most = self.case.one_of([1, len(there) // 3, len(there) - 1])
        gone = self.case.random.permutation(there)[: self.case.whole(1, max(1, most))]
        numbers = self.rows.numbers[gone]
        self.case.note("without", rows=numbers)
        self.made = self.made.without(numbers)
        self.rows.remove(gone)

    def compact(self):
        self.case.note("compact")
        self.made = self.made.compact()
        self.rows.compact()

    def save(self):
        path = self.case.file(".kidx")
        self.case.note("save, open", path=path)
        self.made.save(path)
        self.made = kith.Index(path, device=self.case.device, **where_on_a_set(self.case))

    def open_part(self):
        """Opens a range of the rows in a file, where removed rows count as well."""
        kept = np.flatnonzero(self.rows.kept)
        begin, end = np.sort(self.case.random.permutation(len(kept) + 1)[:2])
        part = kept[begin:end]
        if not self.rows.there[part].any():
            return
        path = self.case.file(".kidx")
        words = {"rows": (begin, end)}
        if self.case.metric == "negative_dot" and self.case.chance(0.7):
            words["largest"] = self.rows.of_all = self.rows.largest()
        self.case.note("save, open", path=path, **words)
        self.made.save(path)
        self.made = kith.Index(path, device=self.case.device, **words)
        self.rows.remove(np.setdiff1d(kept, part))
        self.rows.keep(part)

    def pickle(self):
        self.case.note("pickle")
        self.made = pickle.loads(pickle.dumps(self.made))

    @property
    def index(self):
        return self.made if self.kind == "Index" else self.made.index()

    def check_numbers(self):
        index, rows, case = self.index, self.rows, self.case
        case.same("numbers()", index.numbers(), rows.numbers[rows.there])
        found = np.array([len(index), index.next_row, index.positions, index.dims])
        columns = 8 * rows.values.shape[1] if case.bits else case.columns
        case.same("rows, next_row, positions, dims", found,
                  np.array([rows.there.sum(), rows.next_row, len(rows.numbers), columns]))


# ---- a source ----------------------------------------------------------------------------------------------


class Source:
    """Searches rows that stay in a file or an array."""

    def __init__(self, case):
        self.case, self.kind, self.before = case, "Source", None
        array, values = case.draw_rows(case.n)
        ids = draw_numbers(case, case.n, 0, ascending=True)
        source, words = array, {"features": case.features, "ids": ids, "element": case.as_bits}
        where = case.one_of(["array", "file", "kidx"])
        if where == "file" and case.element in ENDINGS and array.dtype.isnative:
            source = case.file(case.one_of(ENDINGS[case.element]))
            kith.files.save(source, np.ascontiguousarray(array))
        elif where == "kidx" and case.features is None and case.metric != "cosine":  # rows without ids: 0, 1, ...
            source, ids, words = case.file(".kidx"), None, {}
            kith.Index(array, case.metric, "cpu", element=case.as_bits, arithmetic="f32").save(source)
        self.rows = case.new_rows()
        self.rows.add(values, np.arange(case.n) if ids is None else ids)
        self.made = self.open(source, **words)
        if case.chance(0.15):
            self.shrink()

    def open(self, source, **words):
        """Opens the source quantized if the device supports that, else as a stream."""
        case = self.case
        words["arithmetic"] = "f32"
        words["storage"] = case.one_of(["automatic", "resident", "stream", "stream", "quantized", "quantized"])
        if case.chance(0.7):
            words["chunk_rows"] = max(case.whole(1, max(1, case.n)), case.n // 20)
        case.note("open", source=source, **words)
        try:
            made = kith.Index(source, case.metric, case.device, **words)
        except REFUSALS as error:
            if words["storage"] != "quantized":
                raise
            case.count(f"refused quantized: {type(error).__name__}")
            words["storage"] = "stream"
            case.note("refused", error=str(error))
            made = kith.Index(source, case.metric, case.device, **words)
        case.count(f"storage {made.storage}")
        return made

    @property
    def index(self):
        return self.made

    check_numbers, shrink = Subject.check_numbers, Subject.shrink


# ---- shards ------------------------------------------------------------------------------------------------


class Shards:
    """Searches all rows, divided into ranges, each on one of two devices."""

    def __init__(self, case):
        self.case = case
        array, values = case.draw_rows(case.n)
        self.first = case.one_of([0, 0, 5, 2**33])
        self.rows = case.new_rows()
        self.rows.add(values, np.arange(case.n) + self.first)
        inside = np.arange(1, case.n)
        cuts = np.sort(case.random.permutation(inside)[: case.whole(0, 5)])
        self.places = [0, *(int(cut) for cut in cuts), case.n]
        words = {"element": case.as_bits, "features": case.features, "arithmetic": "f32"}
        if case.metric == "negative_dot":
            words["largest"] = float(np.abs(values).max())
        self.made = []
        for a, b in zip(self.places, self.places[1:]):
            device = case.one_of([case.device, "cpu"])
            case.note("shard", X=array[a:b], device=device, first_row=self.first + a, **words)
            self.made.append(kith.Index(array[a:b], case.metric, device, first_row=self.first + a, **words))

    def merged(self, ask):
        """Merges the keys of all shards in random groups, some twice; `ask(shard, slice)` gives those of one shard."""
        case = self.case
        lists = [ask(shard, slice(a, b)) for shard, a, b in zip(self.made, self.places, self.places[1:])]
        lists += [case.one_of(lists)] if case.chance(0.5) else []
        order = case.random.permutation(len(lists))
        lists = [lists[i] for i in order]
        while len(lists) > 1 and case.chance(0.5):
            some = case.whole(1, len(lists))
            lists = [*lists[some:], kith.merge(lists[:some])]
        return kith.merge(lists)
