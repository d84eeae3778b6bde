"""kith.Classifier and kith.Regressor take all arguments of kith.Index: their rows are those of an Index with the same."""

import gc

import numpy as np
import pytest

import kith

N, M, K = 300, 20, 7
GRID = np.random.default_rng(3).integers(0, 4, (N, 3))
ASKED = np.random.default_rng(4).integers(0, 4, (M, 3))
LABELS, VALUES = np.arange(N) * 7 % 4 * 10, np.arange(N) % 13 / 7
WEIGHTS = (0.5 + np.arange(N) % 5).astype(np.float32)
FAR = 5_000_000.0  # where float32 has a step of 0.5
IDS = np.arange(N) * 37 % N + 11
OPTIONS = {
    "features": {"features": [2, 0]},
    "first_row": {"first_row": 1000},
    "ids": {"ids": IDS},
    "ids as a list": {"ids": IDS.tolist()},
    "reserve": {"reserve": N + 50},
    "stream": {"storage": "stream", "chunk_rows": 90},
    "stream, ids": {"storage": "stream", "ids": np.arange(N) * 3},
    "quantized": {"storage": "quantized", "memory_limit": 1 << 28},
    "resident": {"storage": "resident", "ids": IDS},
}


def check_same(index, order, make, Q):
    """What `make(kind, answers)` makes of rows is what an Index of them gives, whose row i is row order[i] of these."""
    voter, prices = make(kith.Classifier, LABELS), make(kith.Regressor, VALUES)
    expected = kith.Classifier(index, LABELS[order], sample_weights=WEIGHTS[order])
    for one in (voter, prices):
        rows = one.index()
        assert (rows.storage, rows.metric, rows.first_row) == (index.storage, index.metric, index.first_row)
        assert np.array_equal(rows.numbers(), index.numbers()) and (rows.centre is None) == (index.centre is None) and np.array_equal(rows.centre, index.centre)
        found, right = rows.search(Q, K), index.search(Q, K)
        assert np.array_equal(found.row, right.row) and np.array_equal(found.distance, right.distance)
    assert np.array_equal(voter.predict(Q, K), expected.predict(Q, K))
    assert np.array_equal(voter.predict_proba(Q, K), expected.predict_proba(Q, K))
    assert np.array_equal(voter.predict(Q, within=1.5), expected.predict(Q, within=1.5))
    means = kith.Regressor(index, VALUES[order], sample_weights=WEIGHTS[order])
    assert np.array_equal(prices.predict(Q, K), means.predict(Q, K))


def check_options(X, Q, order=np.arange(N), metric="l2", **options):
    index = kith.Index(X, metric, **options)
    check_same(index, order, lambda kind, answers: kind(X, answers, metric, sample_weights=WEIGHTS, **options), Q)


@pytest.mark.parametrize("options", OPTIONS)
def test_options(device, options):
    given = OPTIONS[options]
    if given.get("storage") == "quantized" and "int8" not in kith.Device(device).info.proposers:
        with pytest.raises(kith.Unsupported, match="has no proposer int8"):
            kith.Classifier(GRID.astype(np.float32), LABELS, device=device, **given)
        return
    order = np.argsort(given.get("ids", np.arange(N)))
    check_options(GRID.astype(np.float32), ASKED.astype(np.float32), order, device=device, **given)


@pytest.mark.parametrize("storage", [None, "stream"])
def test_a_centre(device, storage):
    X, Q = GRID / 8 + FAR, ASKED / 8 + FAR
    check_options(X, Q, device=device, centre=True, storage=storage)
    check_options(X, Q, device=device, centre=np.full(3, FAR), features=[0, 1], storage=storage)
    plain = kith.Classifier(GRID / 8, LABELS, device=device)
    centred = kith.Classifier(X, LABELS, device=device, centre=np.full(3, FAR))
    assert np.array_equal(centred.predict(Q, K), plain.predict(ASKED / 8, K))


@pytest.mark.parametrize("dtype", [np.float16, np.uint8, np.int8])
def test_elements_that_stay_as_they_are(device, dtype):
    check_options(GRID.astype(dtype), ASKED.astype(dtype), device=device, reserve=N + 1)


def test_bits(device):
    codes = np.random.default_rng(5).integers(0, 256, (N, 4), np.uint8)
    check_options(codes, codes[:M], metric="hamming", device=device, element="bits")


def test_rows_of_a_file_and_of_an_index_file(device, tmp_path):
    X, Q = GRID.astype(np.float32), ASKED.astype(np.float32)
    np.save(tmp_path / "rows.npy", X)
    index = kith.Index(X, "l1", device, ids=IDS)
    index.save(tmp_path / "rows.kidx")
    for storage in (None, "stream"):
        file = kith.Index(tmp_path / "rows.npy", "l1", device, storage=storage)
        check_same(
            file,
            np.arange(N),
            lambda kind, answers: kind(
                tmp_path / "rows.npy", answers, "l1", device, sample_weights=WEIGHTS, storage=storage
            ),
            Q,
        )
    order = np.argsort(IDS)
    opened = kith.Index(tmp_path / "rows.kidx", device=device)
    answers_of = {kith.Classifier: LABELS, kith.Regressor: VALUES}
    check_same(
        opened,
        order,
        lambda kind, _: kind(
            tmp_path / "rows.kidx", answers_of[kind][order], device=device, sample_weights=WEIGHTS[order]
        ),
        Q,
    )
    part = kith.Classifier(tmp_path / "rows.kidx", LABELS[order][50:90], device=device, rows=(50, 90))
    assert np.array_equal(part.predict(Q, 1), kith.Classifier(X[order][50:90], LABELS[order][50:90], "l1", device).predict(Q, 1))


def test_rows_that_stay_in_an_array_live_as_long_as_what_asks_them(device):
    X, Q = GRID.astype(np.float32), ASKED.astype(np.float32)
    expected = kith.Classifier(X, LABELS, device=device).without([5]).predict(Q, K)
    voter = kith.Classifier(X.copy(), LABELS, device=device, storage="stream").without([5])
    gc.collect()
    np.full_like(X, 9)  # memory that the copy would have left
    assert np.array_equal(voter.predict(Q, K), expected)
    with pytest.raises(kith.Unsupported) as told:
        voter.with_(X[:1], LABELS[:1])
    assert "\n" not in str(told.value)


def test_what_is_refused(device):
    X = GRID.astype(np.float32)
    index = kith.Index(X, device=device)
    for given in ({"metric": "l1"}, {"device": "cpu"}, {"centre": True}):
        with pytest.raises(kith.InvalidArgument, match="kith.Classifier: X is an Index, which has a metric"):
            kith.Classifier(index, LABELS, **given)
    for kind in (kith.Classifier, kith.Regressor):
        with pytest.raises(kith.InvalidArgument, match='there is none called "here"'):
            kind(X, LABELS, device=device, storage="here")
        with pytest.raises(kith.InvalidArgument, match="a centre"):
            kind(X, LABELS, "cosine", device, centre=True)
        with pytest.raises(kith.InvalidArgument, match='there is none called "spread"'):
            kind(X, LABELS, device=device, placement="spread")
        with pytest.raises(kith.InvalidArgument, match="reserve = 4294967295; choose from 0"):
            kind(X, LABELS, device=device, reserve=2**32 - 1)
        with pytest.raises(TypeError, match="unexpected keyword argument 'folds'"):
            kind(X, LABELS, device=device, folds=2)
        with pytest.raises(kith.InvalidArgument, match="300 .* for 299 rows; give one a row"):
            kind(index.without([0]), LABELS)
