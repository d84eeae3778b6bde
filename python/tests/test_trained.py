"""Compares kith.Classifier and kith.Regressor with votes by NumPy, while rows are added and removed."""

import copy
import pickle
import threading

import kith
import numpy as np
import pytest

from reference import neighbors, whole

NONE = -(2**63)  # the label if no class wins


def votes(labels, row, weight=None):
    """Returns classes, winners [m] and shares [m, classes] of one output; scores are float32 sums in order of rank."""
    classes = np.unique(labels)
    score = np.zeros((len(row), len(classes)), np.float32)
    weight = np.ones(row.shape, np.float32) if weight is None else weight
    for q in range(len(row)):
        for j, t in enumerate(row[q]):
            score[q, np.searchsorted(classes, labels[t])] += weight[q, j]
    total = np.zeros((len(row), 1))
    for one in range(len(classes)):
        total[:, 0] += score[:, one]
    share = np.divide(score, total, out=np.zeros(score.shape), where=total > 0)
    return classes, np.where(total[:, 0] > 0, classes[score.argmax(axis=1)], NONE), share


def means(values, row, weight=None):
    """Returns means [m, outputs], in float64 and in order of rank."""
    total, value = np.zeros((len(row), 1)), np.zeros((len(row), values.shape[1]))
    for j in range(row.shape[1]):
        w = np.ones((len(row), 1)) if weight is None else weight[:, j : j + 1].astype(np.float64)
        total, value = total + w, value + w * values[row[:, j]]
    with np.errstate(invalid="ignore"):
        return value / total


def by_distance(distance):
    with np.errstate(divide="ignore"):
        inverse = np.float32(1) / distance
    return np.where(distance[:, :1] == 0, (distance == 0).astype(np.float32), inverse)


@pytest.fixture
def data(random):
    """Returns rows, queries, and for each row two labels, two values and a weight, which may be 0."""
    labels = np.stack([random.integers(-3, 3, 200) * 10**17, random.integers(0, 2, 200)], axis=1)
    weights = random.integers(0, 5, 200).astype(np.float32) / 3
    return whole(random, 200, 3), whole(random, 40, 3), labels, random.random((200, 2)), weights


def test_one_output(device, data):
    X, Q, labels, values, _ = data
    classes, label, share = votes(labels[:, 0], neighbors(X, Q, 7)[1])
    voter = kith.Classifier(X, labels[:, 0], device=device)
    assert len(voter) == 200
    assert voter.classes.dtype == np.int64 and np.array_equal(voter.classes, classes)
    found = voter.predict(Q, 7)
    assert found.dtype == np.int64 and np.array_equal(found, label)
    assert np.array_equal(voter.predict_proba(Q, 7), share)
    mean = kith.Regressor(X, values[:, 0], device=device).predict(Q, 7)
    assert mean.dtype == np.float64 and np.array_equal(mean, means(values[:, :1], neighbors(X, Q, 7)[1])[:, 0])


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("metric", ["l2", "l1"])
def test_outputs_and_weights(device, data, metric, weights):
    X, Q, labels, values, sample = data
    distance, row = neighbors(X, Q, 9, metric)
    weight = sample[row] if weights == "uniform" else by_distance(distance) * sample[row]
    voter = kith.Classifier(X, labels, metric, device, sample_weights=sample)
    label, share = voter.predict(Q, 9, weights=weights), voter.predict_proba(Q, 9, weights=weights)
    for output in range(2):
        expected = votes(labels[:, output], row, weight)
        assert np.array_equal(voter.classes[output], expected[0])
        assert np.array_equal(label[:, output], expected[1])
        assert np.array_equal(share[output], expected[2])
    prices = kith.Regressor(X, values, metric, device, sample_weights=sample)
    assert np.array_equal(prices.predict(Q, 9, weights=weights), means(values, row, weight), equal_nan=True)


def test_itself_left_out(device, data):
    X, _, labels, values, _ = data
    row = neighbors(X, X, 5, counts=~np.eye(200, dtype=bool))[1]
    voter = kith.Classifier(X, labels[:, 1], device=device)
    assert np.array_equal(voter.predict(X, 5, exclude_self_from=0), votes(labels[:, 1], row)[1])
    assert np.array_equal(voter.predict_proba(X[50:], 5, exclude_self_from=50), votes(labels[:, 1], row)[2][50:])
    found = kith.Regressor(X, values, device=device).predict(X, 5, exclude_self_from=0)
    assert np.array_equal(found, means(values, row))


def test_ids(device, data):
    """Labels, values and weights follow the ids of their rows, so ties are decided by id."""
    X, Q, labels, values, sample = data
    ids = np.random.default_rng(1).permutation(1000)[:200]
    order = np.argsort(ids)
    row = order[neighbors(X[order], Q, 6)[1]]
    voter = kith.Classifier(X, labels, device=device, sample_weights=sample, ids=ids)
    prices = kith.Regressor(X, values, device=device, sample_weights=sample, ids=ids)
    for output in range(2):
        assert np.array_equal(voter.predict(Q, 6)[:, output], votes(labels[:, output], row, sample[row])[1])
    assert np.array_equal(prices.predict(Q, 6), means(values, row, sample[row]), equal_nan=True)
    assert voter.index().numbers().tolist() == ids[order].tolist()


@pytest.mark.parametrize("ids", [None, np.arange(5000, 4800, -1)])
def test_a_history_as_built_anew(device, data, ids):
    """Rows come in three parts, of which only the second has weights; rows are removed in between."""
    X, Q, labels, values, sample = data
    a, b, c = slice(0, 90), slice(90, 150), slice(150, 200)
    numbers = np.arange(200) if ids is None else ids[::-1]
    part = (lambda one: None) if ids is None else (lambda one: numbers[one])
    gone, later = numbers[0:90:4], numbers[[1, 100, 101, 199]]
    left = np.isin(numbers, [*gone, *later], invert=True)
    weights = np.where((np.arange(200) >= 90) & (np.arange(200) < 150), sample, 1).astype(np.float32)

    def histories(kind, answers):
        first = kind(X[a], answers[a], "l2", device, ids=part(a)).without(gone)
        for one in (first, first.compact()):
            one = one.with_(X[b], answers[b], sample_weights=sample[b], ids=part(b))
            one = one.with_(X[c], answers[c], ids=part(c)).without(later)
            yield from (one, one.compact())
        assert len(first) == 90 - len(gone)  # unchanged

    anew = kith.Classifier(X[left], labels[left], "l2", device, sample_weights=weights[left])
    for one in histories(kith.Classifier, labels):
        assert len(one) == left.sum() and one.index().numbers().tolist() == numbers[left].tolist()
        assert np.array_equal(one.predict(Q, 8), anew.predict(Q, 8))
        for found, expected in zip(one.predict_proba(Q, 8), anew.predict_proba(Q, 8)):
            assert np.array_equal(found, expected)
    prices = kith.Regressor(X[left], values[left], "l2", device, sample_weights=weights[left]).predict(Q, 8)
    for one in histories(kith.Regressor, values):
        assert np.array_equal(one.predict(Q, 8), prices, equal_nan=True)


def test_classes_come_and_stay(device):
    X = np.array([[0], [1], [9]], np.float32)
    voter = kith.Classifier(X, [5, 5, -1], device=device)
    more = voter.without([2]).with_([[10.0]], [3])
    assert more.compact().classes.tolist() == more.classes.tolist() == [-1, 3, 5]
    assert more.predict([[9.0]], 1).tolist() == [3] and voter.predict([[9.0]], 1).tolist() == [-1]
    assert more.predict_proba([[9.0]], 1).tolist() == [[0, 1, 0]]
    column = kith.Classifier(X, [[5], [5], [-1]], device=device)
    assert [one.tolist() for one in column.classes] == [[-1, 5]]
    assert column.predict(X, 1).tolist() == [[5], [5], [-1]]
    with pytest.raises(ValueError, match="read-only"):
        voter.classes[0] = 1


def test_ties_and_no_label(device):
    X, zero = np.array([[0], [1], [2]], np.float32), np.zeros((1, 1), np.float32)
    voter = kith.Classifier(X, [9, 4, 6], device=device)
    assert voter.predict(zero, 3).tolist() == [4]
    assert voter.predict(zero, 3, tie="nearest").tolist() == [9]
    assert voter.predict(zero, 3, tie="abstain").tolist() == [NONE]
    none = kith.Classifier(X, [9, 4, 6], device=device, sample_weights=[0, 0, 1])
    assert none.predict(zero, 2).tolist() == [NONE] and none.predict_proba(zero, 2).tolist() == [[0, 0, 0]]
    assert np.isnan(kith.Regressor(X, [9, 4, 6], device=device, sample_weights=[0, 0, 1]).predict(zero, 2)).all()


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.float16])
def test_elements(device, data, dtype):
    X, Q, labels, values, _ = data
    label, mean = votes(labels[:, 0], neighbors(X, Q, 4)[1])[1], means(values, neighbors(X, Q, 4)[1])
    voter = kith.Classifier(X[:80].astype(dtype), labels[:80, 0], device=device).with_(X[80:], labels[80:, 0])
    assert np.array_equal(voter.predict(Q.astype(dtype), 4), label)
    prices = kith.Regressor(X.astype(dtype), values, device=device)
    assert np.array_equal(prices.predict(Q, 4), mean)


def test_its_rows_as_an_index(device, data):
    X, Q, labels, _, _ = data
    voter = kith.Classifier(X, labels[:, 0], "l1", device).without([3])
    found, expected = voter.index().search(Q, 5), kith.Index(X, "l1", device).without([3]).search(Q, 5)
    assert np.array_equal(found.row, expected.row) and np.array_equal(found.distance, expected.distance)
    assert voter.index().next_row == 200


def test_frames(device):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [0.0, 1, 9], "b": [0.0, 0, 0]})
    voter = kith.Classifier(frame, pandas.Series([1, 1, 2]), device=device)
    assert voter.with_(frame, pandas.Series([3, 3, 3])).predict(frame, 1).tolist() == [1, 1, 2]
    with pytest.raises(kith.InvalidArgument, match="kith.Classifier.predict: Q: columns"):
        voter.predict(frame[["b", "a"]], 1)


def test_threads_on_one_snapshot(device, data):
    X, Q, labels, values, _ = data
    voter, prices = kith.Classifier(X, labels, device=device), kith.Regressor(X, values, device=device)
    expected, found, wrong = voter.predict(Q, 5), prices.predict(Q, 5), []

    def ask(number):
        for _ in range(20):
            voter.with_(X[:1], labels[:1]).without([number])
            same = np.array_equal(voter.predict(Q, 5, threads=1), expected)
            if not same or not np.array_equal(prices.predict(Q, 5, threads=1), found):
                wrong.append(number)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_progress_and_no_queries(device, data):
    X, Q, labels, values, _ = data
    voter, prices = kith.Classifier(X, labels, device=device), kith.Regressor(X, values, device=device)
    for ask in (voter.predict, voter.predict_proba, prices.predict):
        told = []
        ask(Q, 3, progress=told.append)
        assert told[-1] == 1
    assert voter.predict(Q[:0], 3).shape == prices.predict(Q[:0], 3).shape == (0, 2)

    def enough(fraction):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        voter.predict(Q, 3, progress=enough)


def test_copies(device):
    for model in (kith.Classifier([[0.0]], [1], device=device), kith.Regressor([[0.0]], [1], device=device)):
        assert copy.copy(model) is model and copy.deepcopy(model) is model
        with pytest.raises(TypeError, match="it is not pickled"):
            pickle.dumps(model)


def test_texts_for_people(device):
    def shown(kind, *answers):
        return repr(kind(np.arange(6, dtype=np.float32)[:, None], *answers, device=device)).partition(", kith.Index(6 rows")[0]

    assert shown(kith.Classifier, [3, 1, 3, 1, -5, 3]) == "kith.Classifier(classes [-5, 1, 3]"
    assert shown(kith.Classifier, range(6)) == "kith.Classifier(classes [0, 1, 2, 3, ...: 6]"
    assert shown(kith.Classifier, [[7, 8], [7, 9]] * 3) == "kith.Classifier(2 outputs of classes [7], [8, 9]"
    assert shown(kith.Regressor, range(6)) == "kith.Regressor(1 value a row"
    assert shown(kith.Regressor, [[7, 8], [7, 9]] * 3) == "kith.Regressor(2 values a row"


X = np.array([[0], [1], [9]], np.float32)
REFUSED = [
    (lambda d: kith.Classifier(X, [1, 2], device=d), "kith.Classifier: 2 labels for 3 rows; give one a row"),
    (lambda d: kith.Classifier(X, [1.0, 2, 3], device=d), "kith.Classifier: labels of dtype float64; pass whole"),
    (lambda d: kith.Classifier(X, ["a", "b", "c"], device=d), "kith.Classifier: labels of dtype <U1; pass whole"),
    (lambda d: kith.Classifier(X, np.full(3, 2**63, np.uint64), device=d), "the label 9223372036854775808 is above"),
    (lambda d: kith.Classifier(X, [[[1]]] * 3, device=d), "labels of shape .3, 1, 1.; pass .3. or .3, outputs."),
    (lambda d: kith.Classifier(X, [1, 2, 3], 3, d), "kith.Index: metric=3; pass a name"),
    (lambda d: kith.Classifier(X, [1, 2, 3], device=d, ids=[1]), "index: 1 ids for 3 rows; give one a row, or none"),
    (lambda d: kith.Classifier(X, [1, 2, 3], device=d, ids=[1, 1, 2]), "rows 0 and 1 both have the id 1"),
    (lambda d: kith.Classifier(X, [1, 2, 3], device=d, sample_weights=[1]), "1 sample_weights for 3 rows"),
    (
        lambda d: kith.Classifier(X, [1, 2, 3], device=d, sample_weights=[1, 1e300, 1]),
        "weight of training row 1 is inf",
    ),
    (lambda d: kith.Classifier(X, [1, 2, 3], device=d, sample_weights=["a"] * 3), "sample_weights of dtype <U1"),
    (lambda d: kith.Regressor(X, [1, 2], device=d), "kith.Regressor: 2 values for 3 rows; give one a row"),
    (lambda d: kith.Regressor(X, [1, np.nan, 2], device=d), "the value of training row 1, output 0 is nan"),
    (lambda d: kith.Regressor(X, [1j, 2, 3], device=d), "kith.Regressor: values of dtype complex128"),
    (lambda d: kith.Regressor(X, [1, 2, 3], device=d).with_(X, [1, 2, np.inf]), "training row 2, output 0 is inf"),
]
def test_options_of_a_vote_arrive(device):
    rows = np.array([[0.0], [1.0], [2.0], [10.0]])
    voter = kith.Classifier(rows, [0, 1, 1, 2], device=device)
    near = [[0.0]]
    assert voter.predict(near, 3).tolist() == [1]
    assert voter.predict(near, 3, weights="rank", rank_weights=[5, 1, 1]).tolist() == [0]
    assert voter.predict(near, 3, priors=[9, 1, 1]).tolist() == [0]
    assert voter.predict(near, 3, costs=[[0, 9, 9], [1, 0, 1], [1, 1, 0]]).tolist() == [0]
    assert voter.predict(near, 2, tie="abstain", no_label=-7).tolist() == [-7]
    assert voter.predict(near, 1, filter=[3]).tolist() == [2]
    assert voter.predict(near, 3, memory_limit=1 << 20, how={"selector": voter.index().device.info.selectors[0]}).tolist() == [1]
    assert voter.predict_proba(near, 3, priors=[2, 1, 1]).tolist() == [[0.5, 0.5, 0.0]]


def test_rows_within_a_distance_vote(device):
    rows = np.array([[0.0], [1.0], [2.0], [10.0]])
    voter = kith.Classifier(rows, [0, 1, 1, 2], device=device)
    assert voter.predict([[0.0], [10.0], [50.0]], within=2.5, no_label=-7).tolist() == [1, 2, -7]
    assert voter.predict([[0.0], [10.0]], within=[0.5, 8.5]).tolist() == [0, 1]
    assert voter.predict_proba([[0.0]], within=1.0).tolist() == [[0.5, 0.5, 0.0]]
    assert voter.predict([[0.0]], within=2.5, filter=[3], no_label=-7).tolist() == [-7]
    prices = kith.Regressor(rows, [1.0, 2, 3, 4], device=device)
    assert prices.predict([[0.0], [10.0]], within=1.0).tolist() == [1.5, 4.0]
    assert prices.predict([[0.0]], 2, weights="rank", rank_weights=[3, 1]).tolist() == [1.25]
    two = kith.Classifier(rows, [[0, 1], [1, 1], [1, 0], [2, 0]], device=device)
    with pytest.raises(kith.InvalidArgument, match="within is for one output, and there are 2; pass k"):
        two.predict([[0.0]], within=1.0)


REFUSED_LATER = [
    (lambda m: m.with_(X, [1, 2]), "kith.Classifier.with_: 2 labels for 3 rows"),
    (
        lambda m: m.with_(X, [[1, 2]] * 3),
        "kith.Classifier.with_: labels of shape .3, 2.; pass .3, 1., as for the first",
    ),
    (lambda m: m.with_(X, [1, 2, 3], ids=[7]), "kith.Classifier.with_: 1 ids for 3 rows"),
    (lambda m: m.with_(X, [1, 2, 3], ids=[0, 1, 2]), "the id of row 0 is 0; choose from 3"),
    (lambda m: m.without([1]).without([1]), "there is no row 1 to remove"),
    (lambda m: m.without([1, 1]), "row 1 is named twice"),
    (lambda m: m.without([0, 1, 2]), "all 3 rows would be removed"),
    (lambda m: m.without([0.5]), "kith.Classifier.without: rows: dtype float64"),
    (lambda m: m.without([0]).predict(X, 3), "k = 3 is out of range for an index of 2 rows"),
    (lambda m: m.predict(X, 0), "k = 0"),
    (lambda m: m.predict(X, 1.5), "kith.Classifier.predict: k: 1.5 is no whole number"),
    (lambda m: m.predict(X, 1, weights="rank"), "0 rank weights for lists of 1 neighbours"),
    (lambda m: m.predict_proba(X, 1, weights=None), "kith.Classifier.predict_proba: weights=None; pass a name"),
    (lambda m: m.predict(X), "kith.Classifier.predict: pass k or within, and not both"),
    (lambda m: m.predict(X, 1, within=1), "kith.Classifier.predict: pass k or within, and not both"),
    (lambda m: m.predict(X, 1, priors="many"), "kith.Classifier.predict: priors='many'; pass numbers"),
    (lambda m: m.predict(X, 1, priors=[1.0]), "priors"),
    (lambda m: m.predict(X, 1, how={"speed": 1}), "how.'speed'.: there is none called so; choose from selector"),
    (lambda m: m.predict(X, 1, how={"boxes": 1}), "how.'boxes'. = 1; pass True, False, or None"),
    (lambda m: m.predict(X, 1, how={"sample": "radix"}), "how.'sample'. = 'radix'; pass a list of names"),
    (lambda m: m.predict(X, 1, tie="first"), 'there is none called "first"'),
    (lambda m: m.predict(X, 1, exclude_self_from=-1), "kith.Classifier.predict: exclude_self_from: -1 is below 0"),
    (lambda m: m.predict(np.ones((1, 2), np.float32), 1), "queries have 2 columns but the index has 1"),
]


@pytest.mark.parametrize("make, message", REFUSED, ids=[message for _, message in REFUSED])
def test_refused(device, make, message):
    with pytest.raises(kith.InvalidArgument, match=message) as raised:
        make(device)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("ask, message", REFUSED_LATER, ids=[message for _, message in REFUSED_LATER])
def test_refused_later(device, ask, message):
    with pytest.raises(kith.InvalidArgument, match=message) as raised:
        ask(kith.Classifier(X, [1, 2, 3], device=device))
    assert "\n" not in str(raised.value)
