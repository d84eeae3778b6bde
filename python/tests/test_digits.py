"""Tests that a warning comes only if float32 loses digits that matter, and that its advice works."""

import re
import warnings
from functools import partial

import kith
import kith.faiss
import numpy as np
import pytest
from kith._rows import _digits
from kith._rows._arrays import rows_of

EPOCHS = np.array([[1700000000], [1700000030], [1700000060]])
GROUND = np.array([[500000.25, 5411000.0], [500000.5, 5411000.1], [500001.0, 5411000.2]])
SEVERAL = np.random.default_rng(1).random((300, 3)) * 1000 + [0, 5.4e6, 2e8]


def told(call, *args, **named):
    """Returns the only warning of a call, or ""."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        call(*args, **named)
    assert len(told) <= 1 and all(one.category is kith.PrecisionWarning for one in told)
    return "".join(str(one.message) for one in told)


def rows(x, **named):
    return told(rows_of, x, "X", **named)


def by_hand(x):
    """Returns whether lost digits matter, computed value by value."""
    kept = x.astype(np.float32)
    exact = [[int(v) if x.dtype.kind in "iu" else float(v) for v in row] for row in x]
    for c in range(x.shape[1]):
        column = [row[c] for row in exact]
        rounded = any(v != (int(k) if x.dtype.kind in "iu" else float(k)) for v, k in zip(column, kept[:, c]))
        size = np.float32(max(abs(v) for v in column))
        step = float(np.nextafter(size, np.float32(np.inf))) - float(size)
        if rounded and max(column) > min(column) and step > 1e-4 * (max(column) - min(column)):
            return True
    seen = {}
    return any(seen.setdefault(tuple(k.tolist()), row) != row for k, row in zip(kept + np.float32(0), exact))


@pytest.mark.parametrize("x", [
    EPOCHS, EPOCHS.astype(float), EPOCHS.astype(np.int32), GROUND, SEVERAL, SEVERAL.astype(np.longdouble),
    np.arange(2**24, 2**24 + 9)[:, None],  # ids
    np.array([[1], [2**62 + 1], [2**62 + 2]]), np.array([[2**64 - 1], [2**64 - 3]], np.uint64),
    np.c_[np.full(9, 0.1), np.arange(9) / 10 + 1e6],  # beside a constant column
    np.c_[np.tile(np.arange(3.0), (9, 5)), np.array([0.1] * 8 + [0.1 + 1e-12])],  # differs at the end of a row only
], ids=str)  # fmt: skip
def test_what_matters_is_told(x):
    assert by_hand(x) and rows(x)


@pytest.mark.parametrize("x", [
    # Decimal steps and amounts of money.
    np.arange(0, 100, 0.1)[:, None], np.round(np.random.default_rng(0).random((999, 2)) * 1e4, 2),
    np.random.default_rng(0).standard_normal((50, 40)), np.array([[0.1], [0.1]]), np.array([[5411000.1]]),
    np.array([[2**24], [2**30]]), np.array([[0.0], [-0.0], [0.1]]), np.array([[2**53 + 1]]),
    np.repeat(np.random.default_rng(0).random((9, 3)), 9, axis=0),
], ids=str)  # fmt: skip
def test_nothing_is_told_of_dust(x):
    assert not by_hand(x) and rows(x) == ""


def test_by_hand_in_any_block(random, monkeypatch):
    """Reading blocks, narrow and wide arrays, and few columns at a time gives the answer of reading each value."""
    for turn in range(300):
        n, cols = int(random.integers(1, 12)), int(random.integers(1, 22))
        x = random.integers(0, 3, (n, cols)) * 10.0 ** random.integers(-3, 3) + 10.0 ** random.integers(0, 8, cols)
        x = x.astype(random.choice(["int64", "uint64", "int32"])) if turn % 2 else x
        monkeypatch.setattr(_digits, "_AT_ONCE", int(random.integers(1, 40)))
        monkeypatch.setattr(_digits, "_HASHED", int(random.integers(1, 5)))
        assert bool(rows(x)) == by_hand(x), x.tolist()


@pytest.mark.parametrize("row", range(6))
def test_a_single_loss_is_told_in_any_block(monkeypatch, row):
    monkeypatch.setattr(_digits, "_AT_ONCE", 2)
    x = 2**25 + 4 * np.arange(6)[:, None]
    assert rows(x) == ""
    x[row] += 1
    assert by_hand(x) and f": {x[row, 0]} becomes {x[row, 0] - 1}, 1 off; " in rows(x)


def test_the_text_has_the_worst_value():
    assert rows(GROUND) == (
        "X: column 1: float32 keeps its values to 0.5, and they span 0.2: 5411000.2 becomes 5411000, 0.2 off; "
        "subtract a common offset in float64, the same from rows and queries: x - x.mean(0)"
    )
    assert rows(EPOCHS).startswith(
        "X: column 0: float32 keeps its values to 128, and they span 60: 1700000060 becomes 1700000000, 60 off; "
        "rows 0 and 1, which differ, become equal; subtract"
    )
    assert "column 2: float32 keeps its values to 16, and they span" in (text := rows(SEVERAL))
    assert "; so it is with 1 other column;" in text
    row = int(np.argmax(np.abs(SEVERAL[:, 2] - SEVERAL[:, 2].astype(np.float32))))
    assert f" {SEVERAL[row, 2]:.15g} becomes {np.float32(SEVERAL[row, 2]):.15g}, " in text


def named(x):
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    columns = {f"c{i}": x[:, i] for i in range(x.shape[1])}
    return [pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)]


@pytest.mark.parametrize("x", [EPOCHS, GROUND, SEVERAL, np.array([[2**62 + 1], [2**62 + 20], [2**62 + 300]])], ids=str)
@pytest.mark.parametrize("kind", ["array", "list", "pandas", "polars", "pyarrow"])
def test_the_advice_was_run(x, kind):
    given = {"array": lambda: x, "list": x.tolist}.get(kind)
    given = named(x)[["pandas", "polars", "pyarrow"].index(kind)] if given is None else given()
    text = told(kith.Index, given, device="cpu", arithmetic="f32")
    column = re.search("column ([0-9])", text).group(1)
    assert (f"X: column {column} ('c{column}'): " in text) == (kind not in ("array", "list"))
    if text.endswith("; pass arithmetic='f64', by which every digit counts"):
        assert told(kith.Index, given, device="cpu", arithmetic="f64") == ""
        index = kith.Index(given, device="cpu", arithmetic="f64")
        assert index.search(given, 1).row[:, 0].tolist() == list(range(len(x)))
        return
    if text.endswith("; pass centre=True, by which the mean of each column is subtracted in float64 first"):
        assert told(kith.Index, given, device="cpu", centre=True) == ""
        index = kith.Index(given, device="cpu", centre=True)
        assert index.search(given, 1).row[:, 0].tolist() == list(range(len(x)))
        return
    shift = re.search(r"the same from rows and queries: (x = .*, then )?(x - x\.\w+\(0\))$", text)
    assert shift or "does not keep all rows apart: leave columns out that only number rows, or pass x.astype" in text
    if not shift:
        assert told(kith.Index, x.astype(np.float32), device="cpu") == ""
        return
    moved = given
    if shift.group(1):
        moved = eval(re.search("x = (.*), then", text).group(1), {"numpy": np, "x": given})
    moved = eval(shift.group(2), {"x": moved})
    assert told(kith.Index, moved, device="cpu", arithmetic="f32") == ""
    assert kith.Index(moved, device="cpu", arithmetic="f32").search(moved, 1).row[:, 0].tolist() == list(range(len(x)))


@pytest.mark.parametrize("x", [EPOCHS, GROUND, SEVERAL], ids=str)
def test_the_advice_where_there_is_no_centre_was_run(x):
    """Checks the advice for functions that take neither a centre nor double precision."""
    shift = "; subtract a common offset in float64, the same from rows and queries: x - x.mean(0)"
    assert told(kith.faiss.knn, x, x, 1).endswith(shift) and told(kith.faiss.knn, x, x - x.mean(0), 1) == ""


def test_what_is_added_to_an_index_without_a_centre_is_told_how_to_make_one():
    index = kith.Index(GROUND[:1].astype(np.float32), device="cpu")
    assert told(index.with_, GROUND).endswith("; make the index by arithmetic='f64', by which every digit counts")
    assert told(kith.Index(GROUND[:1], device="cpu", centre=True).with_, GROUND) == ""


DOORS = {
    "Index": lambda x: kith.Index(x, device="cpu", arithmetic="f32"),
    "with_": lambda x: kith.Index([[1]], device="cpu").with_(x),
    "knn_graph": lambda x: kith.knn_graph(x, 1, device="cpu", arithmetic="f32"),
    "storage": lambda x: kith.Index(x, device="cpu", arithmetic="f32", storage="stream", chunk_rows=2),
    "Classifier": lambda x: kith.Classifier(x, [0, 1, 2], device="cpu", arithmetic="f32"),
    "Regressor.with_": lambda x: kith.Regressor([[1]], [1], device="cpu").with_(x, [0, 1, 2]),
    "faiss.knn": lambda x: kith.faiss.knn(np.ones((1, 1), np.float32), x, 1, device="cpu"),
    "faiss.add": lambda x: kith.faiss.IndexFlatL2(1, "cpu").add(x),
}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_tells(door):
    for x in (EPOCHS, EPOCHS.astype(float), EPOCHS.tolist(), *named(EPOCHS)):
        with pytest.warns(kith.PrecisionWarning, match="1700000060 becomes 1700000000, 60 off") as warned:
            DOORS[door](x)
        assert len(warned) == 1 and warned[0].filename == __file__
    assert told(DOORS[door], np.array([[0.1], [0.2], [0.3]])) == ""
    assert told(DOORS[door], EPOCHS - EPOCHS.mean(0)) == ""


def test_double_precision_has_nothing_to_tell():
    made = [partial(kith.Index, device="cpu", arithmetic="f64"), kith.Index([[1.0]], device="cpu").with_]
    made += [lambda x: kith.knn_graph(x, 1, device="cpu", arithmetic="f64")]
    estimators = pytest.importorskip("kith.sklearn")
    made += [lambda x: estimators.KNeighborsClassifier(1, device="cpu").fit(x, list("abc"))]
    made += [lambda x: estimators.NearestNeighbors(n_neighbors=1, device="cpu").fit(x).kneighbors(x)]
    made += [lambda x: estimators.radius_neighbors_graph(x, 1, device="cpu")]
    for make in made:
        for x in (EPOCHS, EPOCHS.astype(float), EPOCHS.tolist(), *named(EPOCHS)):
            assert told(make, x) == ""


def test_queries_of_an_index_of_floats_are_told():
    index, voter = kith.Index([[1]], device="cpu"), kith.Classifier([[1]], [1], device="cpu")
    for x in (EPOCHS, EPOCHS.astype(float)):
        for ask in (index.search, index.search_keys, index.within, voter.predict):
            assert told(ask, x, 1).endswith("make the index by arithmetic='f64', by which every digit counts")
            assert told(ask, x[:1], 1) == ""  # one row has no spread


def test_queries_are_not_told_where_single_precision_is_what_was_asked_for():
    flat, index = kith.faiss.IndexFlatL2(1, "cpu"), kith.Index([[1]], device="cpu", arithmetic="f32")
    flat.add([[1.0]])
    for x in (EPOCHS, EPOCHS.astype(float)):
        assert told(index.search, x, 1) == told(flat.search, x, 1) == told(kith.largest_element, x) == ""


def test_estimators_do_not_tell_of_queries():
    estimators = pytest.importorskip("kith.sklearn")
    model = estimators.KNeighborsRegressor(1, device="cpu").fit(np.array([[1], [2]], np.float32), [1, 2])
    assert told(model.predict, EPOCHS) == told(model.score, EPOCHS, [1, 2, 3]) == ""


def test_columns_that_do_not_count_are_not_told():
    for make in (kith.Index, partial(kith.Index, storage="automatic")):
        assert told(make, np.c_[EPOCHS, np.arange(3)], device="cpu", features=[1]) == ""
        assert "column 2: " in told(make, np.c_[EPOCHS, np.arange(3), EPOCHS], device="cpu", features=[2, 1])
        with pytest.raises(kith.InvalidArgument, match="there is no feature 7"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            make(np.c_[EPOCHS, np.arange(3)], device="cpu", features=[7])


def test_dates_by_the_advice_are_not_told():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"when": pd.to_datetime([1700000000, 1700000030, 1700000060], unit="s")})
    with pytest.raises(kith.InvalidArgument) as raised:
        kith.Index(frame)
    advice = re.search(r"in rows and queries: (.*)$", str(raised.value)).group(1)
    frame["when"] = eval(advice, {"numpy": np, "x": frame})
    assert told(kith.Index, frame, device="cpu") == ""
    seconds = pd.DataFrame({"when": EPOCHS[:, 0]})
    assert "column 0 ('when'): float32 keeps" in told(kith.Index, seconds, device="cpu")


def test_the_rows_that_are_compared_are_the_first(monkeypatch):
    x = np.arange(2**24, 2**24 + 4)[:, None] * [1, 0] + [[2**25, 0], [0, 5], [0, 7], [0, 7]]
    assert "rows 2 and 3, which differ" not in rows(x) and not by_hand(x[:2])
    y = np.array([[0], [2**30 - 7], [2**30 - 6], [2**30]])
    assert "rows 1 and 2, which differ" in rows(y)
    monkeypatch.setattr(_digits, "_MOST_ROWS", 2)
    assert rows(y) == ""


@pytest.mark.parametrize("quiet", [False, True])
@pytest.mark.parametrize("at_once", [1, 100])
def test_values_too_large_are_refused(monkeypatch, quiet, at_once):
    monkeypatch.setattr(_digits, "_AT_ONCE", at_once)
    for x in (np.array([[0.0], [1e300]]), np.array([[np.nan], [1e300]])):
        with pytest.raises(kith.InvalidArgument, match="row 1, column 0: 1e[+]300 is too large"):
            rows_of(x, "X", quiet=quiet)
