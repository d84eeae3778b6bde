"""Tests labels and targets of every library, and outputs of different dtypes."""

import array
import datetime
import re
from decimal import Decimal

import kith
import numpy as np
import pytest

ours = pytest.importorskip("kith.sklearn")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

X = np.array([[0], [1], [2], [3]], np.float32)
TEXTS, NUMBERS = ["n", "f", "n", "f"], [3, 1, 3, 1]


class OnlyArray:
    """Is an array that has only ``__array__``, like a tensor."""

    def __init__(self, held):
        self.held = np.asarray(held)

    def __array__(self, dtype=None, copy=None):
        return self.held if dtype is None else self.held.astype(dtype)


class Tensor(OnlyArray):
    """Is the same with a dtype that is not NumPy's."""

    dtype = "torch.int64"

    def __len__(self):
        return len(self.held)


class OnlyDLPack:
    def __init__(self, held):
        self.held = np.asarray(held)

    def __dlpack__(self, **options):
        return self.held.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.held.__dlpack_device__()


class OnGPU(OnlyDLPack):
    def __dlpack_device__(self):
        return 2, 0


class Stream:
    def __init__(self, held):
        self.held = held

    def __arrow_c_stream__(self, requested_schema=None):
        return self.held.__arrow_c_stream__(requested_schema)


OF_TEXTS = {
    "list": TEXTS,
    "polars": pl.Series(TEXTS),
    "polars, categories": pl.Series(TEXTS, dtype=pl.Categorical),
    "polars, enum": pl.Series(TEXTS, dtype=pl.Enum(["n", "f"])),
    "polars, frame": pl.DataFrame({"y": TEXTS}),
    "Arrow": pa.array(TEXTS),
    "Arrow, chunks": pa.chunked_array([TEXTS[:1], TEXTS[1:]]),
    "Arrow, dictionary": pa.array(TEXTS).dictionary_encode(),
    "Arrow, table": pa.table({"y": TEXTS}),
    "pandas": pd.Series(TEXTS),
    "pandas, index": pd.Index(TEXTS),
    "pandas, categories": pd.Categorical(TEXTS),
    "pandas, Arrow": pd.Series(TEXTS, dtype=pd.ArrowDtype(pa.string())),
    "array": OnlyArray(TEXTS),
    "stream": Stream(pl.Series(TEXTS)),
}
OF_NUMBERS = {
    "polars": pl.Series(NUMBERS),
    "polars, small": pl.Series(NUMBERS, dtype=pl.UInt8),
    "polars, frame": pl.DataFrame({"y": NUMBERS}),
    "Arrow": pa.array(NUMBERS),
    "Arrow, table": pa.table({"y": NUMBERS}),
    "pandas": pd.Series(NUMBERS, dtype="Int64"),
    "tensor": Tensor(NUMBERS),
    "array": OnlyArray(NUMBERS),
    "buffer": array.array("i", NUMBERS),
    "view": memoryview(array.array("q", NUMBERS)),
    "DLPack": OnlyDLPack(NUMBERS),
    "stream": Stream(pl.Series(NUMBERS)),
    "objects": np.array(NUMBERS, object),
}
CLASSIFIERS = [ours.KNeighborsClassifier(1, device="cpu"), ours.RadiusNeighborsClassifier(0.1, device="cpu")]
REGRESSORS = [ours.KNeighborsRegressor(1, device="cpu"), ours.RadiusNeighborsRegressor(0.1, device="cpu")]
quiet = pytest.mark.filterwarnings("ignore:A column-vector y")


@quiet
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize(
    "y", [*OF_TEXTS.values(), *OF_NUMBERS.values()], ids=[*OF_TEXTS, *(f"{name}, numbers" for name in OF_NUMBERS)]
)
def test_labels_of_every_library(model, y):
    expected = TEXTS if any(y is one for one in OF_TEXTS.values()) else NUMBERS
    model.fit(X, y)
    assert model.classes_.tolist() == sorted(set(expected)) and model.predict(X).tolist() == expected
    assert model.classes_.dtype.kind == ("U" if expected is TEXTS else model.classes_.dtype.kind)
    assert model.score(X, y) == 1.0


@quiet
@pytest.mark.parametrize("name", OF_NUMBERS)
def test_numbers_of_every_library(name):
    y = OF_NUMBERS[name]
    assert np.ravel(kith.Classifier(X, y, device="cpu").predict(X, 1)).tolist() == NUMBERS
    assert np.ravel(kith.Regressor(X, y, device="cpu").predict(X, 1)).tolist() == NUMBERS
    for model in REGRESSORS:
        assert np.ravel(model.fit(X, y).predict(X)).tolist() == NUMBERS and model.score(X, y) == 1.0


def test_labels_on_a_gpu_that_only_speak_dlpack():
    for take in (CLASSIFIERS[0].fit, REGRESSORS[0].fit, kith.Classifier):
        with pytest.raises(
            kith.Unsupported, match="in the memory of a GPU, which only speaks DLPack; pass it through torch"
        ):
            take(X, OnGPU(NUMBERS))


@pytest.mark.parametrize(
    "y",
    [pl.Series(["a", None, "b", "b"]), pl.Series([1, None, 2, 2]), pa.array([1, None, 2, 2]), pd.array([1, None, 2, 2], "Int64"),
     ["a", None, "b", "b"], np.array(["a", np.nan, "b", "b"], object), pd.Categorical(["a", None, "b", "b"])],
)  # fmt: skip
def test_missing_labels_are_refused_with_their_row(y):
    for model in CLASSIFIERS:
        with pytest.raises(kith.InvalidArgument, match="y: missing labels, first in row 1; leave their rows out"):
            model.fit(X, y)


# ---- Outputs of different kinds ----

OUTPUTS = pd.DataFrame({"color": ["red", "blue", "red"], "rooms": [9, 10, 11]})
ROWS = [[0.0], [1], [2]]
OF_OUTPUTS = {
    "pandas": OUTPUTS,
    "pandas, objects": OUTPUTS.astype(object),
    "pandas, categories": OUTPUTS.assign(color=pd.Categorical(OUTPUTS["color"])),
    "pandas, Int64": OUTPUTS.astype({"rooms": "Int64"}),
    "pandas, one name twice": pd.DataFrame(OUTPUTS.to_numpy(), columns=["y", "y"]),
    "polars": pl.from_pandas(OUTPUTS),
    "Arrow": pa.Table.from_pandas(OUTPUTS),
    "stream": Stream(pl.from_pandas(OUTPUTS)),
    "lists": OUTPUTS.to_numpy().tolist(),
    "tuples": [tuple(row) for row in OUTPUTS.to_numpy().tolist()],
    "NumPy": OUTPUTS.to_numpy(),
}


@pytest.mark.parametrize("which", OF_OUTPUTS)
@pytest.mark.parametrize(
    "model",
    [ours.KNeighborsClassifier(3, device="cpu"), ours.RadiusNeighborsClassifier(2.0, device="cpu")],
    ids=lambda model: type(model).__name__,
)
def test_outputs_keep_their_kinds(model, which):
    model.fit(ROWS, OF_OUTPUTS[which])
    colors, rooms = model.classes_
    assert colors.tolist() == ["blue", "red"] and rooms.tolist() == [9, 10, 11] and rooms.dtype == np.int64
    found = model.predict([[1.0], [0.9]])
    assert found.tolist() == [["red", 9], ["red", 9]] and [type(label) for label in found[0].tolist()] == [str, int]
    shares = model.predict_proba([[1.0]])
    assert [share.round(3).tolist() for share in shares] == [[[0.333, 0.667]], [[0.333, 0.333, 0.333]]]
    by_function = type(model)(
        **{
            **model.get_params(),
            "weights": np.ones_like if hasattr(model, "n_neighbors") else lambda d: [np.ones_like(one) for one in d],
        }
    )
    assert by_function.fit(ROWS, OF_OUTPUTS[which]).predict([[1.0]]).tolist() == [["red", 9]]


@pytest.mark.parametrize(
    "columns, kinds",
    [
        (([True, False, True], [9, 10, 11]), "bi"),
        (([1.0, 2.0, 1.0], [9, 10, 11]), "fi"),
        ((["a", "b", "a"], [True, False, True]), "Ub"),
    ],
)
def test_other_kinds_of_outputs(columns, kinds):
    frames = [
        pd.DataFrame(dict(enumerate(columns))),
        pl.DataFrame(dict(zip("ab", columns))),
        list(map(list, zip(*columns))),
    ]
    for y in frames:
        model = ours.KNeighborsClassifier(1, device="cpu").fit(ROWS, y)
        assert "".join(found.dtype.kind for found in model.classes_) == kinds
        found = model.predict(ROWS)
        assert [type(label) for label in found[0]] == [type(column[0]) for column in columns]
        assert found.tolist() == list(map(list, zip(*columns)))


def test_outputs_of_one_kind_stay_one_array():
    for y in (
        [[1, 2], [3, 4], [1, 4]],
        pl.DataFrame({"a": [1, 3, 1], "b": [2, 4, 4]}),
        np.array([[1, 2], [3, 4], [1, 4]]),
    ):
        found = ours.KNeighborsClassifier(1, device="cpu").fit(ROWS, y).predict(ROWS)
        assert found.dtype == np.int64 and found.tolist() == [[1, 2], [3, 4], [1, 4]]
    texts = ours.KNeighborsClassifier(1, device="cpu").fit(ROWS, [["a", "xyz"], ["b", "x"], ["a", "x"]])
    assert texts.predict(ROWS).dtype.kind == "U" and texts.predict(ROWS).tolist()[0] == ["a", "xyz"]


def test_outliers_and_abstentions_of_outputs_that_differ():
    y = pl.from_pandas(OUTPUTS)
    model = ours.RadiusNeighborsClassifier(0.1, outlier_label=["blue", 10], device="cpu").fit(ROWS, y)
    assert model.predict([[0.0], [50.0]]).tolist() == [["red", 9], ["blue", 10]]
    assert [shares.tolist() for shares in model.predict_proba([[50.0]])] == [[[1, 0]], [[0, 1, 0]]]
    model = ours.RadiusNeighborsClassifier(0.1, outlier_label="most_frequent", device="cpu").fit(ROWS, y)
    assert model.predict([[50.0]]).tolist() == [["red", 9]]


def test_a_missing_label_of_an_output_has_its_name():
    with pytest.raises(kith.InvalidArgument, match="y: column 'rooms': missing labels, first in row 1"):
        CLASSIFIERS[0].fit(ROWS, OUTPUTS.assign(rooms=pd.array([9, None, 11], "Int64")))


def test_labels_that_do_not_sort():
    with pytest.raises(
        kith.InvalidArgument, match="y has labels of types int, str, which do not sort; make them of one type"
    ):
        CLASSIFIERS[0].fit(X, np.array(["a", 1, "a", 1], object))
    CLASSIFIERS[0].fit(X, np.array(["a", 1, "a", 1], object).astype(str))


# ---- Targets that are not numbers ----

DAYS = [datetime.date(2024, 2, day) for day in (3, 4, 3, 4)]
SECONDS = [0, 86400, 0, 86400]
OF_TARGETS = {
    "numerals": (["1", "2", "3", "4"], [1, 2, 3, 4]),
    "numerals of bytes": ([b"1", b"2", b"3", b"4"], [1, 2, 3, 4]),
    "objects": (np.array(["1", "2", "3", "4"], object), [1, 2, 3, 4]),
    "categories": (pd.Series(["1", "2", "3", "4"], dtype="category"), [1, 2, 3, 4]),
    "numerals of polars": (pl.Series(["1", "2", "3", "4"]), [1, 2, 3, 4]),
    "numerals of Arrow": (pa.array(["1", "2", "3", "4"]), [1, 2, 3, 4]),
    "outputs": ([["1", "9"]] * 4, [[1, 9]] * 4),
    "dates": (np.array(DAYS, "M8[ns]"), SECONDS),
    "Timestamps": (pd.Series(pd.to_datetime(DAYS).tz_localize("UTC")), SECONDS),
    "DatetimeIndex": (pd.DatetimeIndex(DAYS), SECONDS),
    "date": (DAYS, SECONDS),
    "dates of polars": (pl.Series(DAYS), SECONDS),
    "dates of Arrow": (pa.array(DAYS), SECONDS),
    "periods": (pd.PeriodIndex(DAYS, freq="D"), SECONDS),
    "a Series of periods": (pd.Series(pd.PeriodIndex(DAYS, freq="D")), SECONDS),
    "durations": (pd.to_timedelta([1, 2, 3, 4], "s"), [1, 2, 3, 4]),
    "durations of polars": (pl.Series([datetime.timedelta(0, i) for i in (1, 2, 3, 4)]), [1, 2, 3, 4]),
    "complex": (np.array([1 + 2j, 1, 1, 1]), [[1, 2], [1, 0], [1, 0], [1, 0]]),
    "words": (["low", "high", "low", "high"], None),
    "words of polars": (pl.Series(["low", "high", "low", "high"]), None),
    "times": ([datetime.time(1)] * 4, None),
}
TAKES = {
    "KNeighborsRegressor": (REGRESSORS[0].fit, "kith.sklearn.KNeighborsRegressor: y"),
    "RadiusNeighborsRegressor": (REGRESSORS[1].fit, "kith.sklearn.RadiusNeighborsRegressor: y"),
    "Regressor": (lambda X, y: kith.Regressor(X, y, device="cpu"), "kith.Regressor: values"),
    "with_": (lambda X, y: kith.Regressor(X, X, device="cpu").with_(X, y), "kith.Regressor.with_: values"),
}


@pytest.mark.parametrize("take", TAKES)
@pytest.mark.parametrize("which", OF_TARGETS)
def test_targets_that_are_no_numbers_are_refused(take, which):
    call, where = TAKES[take]
    y, expected = OF_TARGETS[which]
    with pytest.raises(kith.InvalidArgument, match=f"^{re.escape(where)} of dtype .*; pass ") as raised:
        call(X, y)
    advice = str(raised.value).rpartition("; pass ")[2]
    if expected is None:
        assert advice == "numbers, or ask a classifier"
    else:
        made = eval(advice, {"numpy": np, "y": y})
        assert made.tolist() == expected
        for model in REGRESSORS:
            model.fit(X, made)


@pytest.mark.parametrize("take", TAKES)
def test_a_column_of_targets_has_its_name(take):
    frame = pd.DataFrame({"price": [1.0, 2, 3, 4], "when": DAYS})
    for y in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        with pytest.raises(kith.InvalidArgument, match="column 'when' of dtype .*dates such as 2024-02-03") as raised:
            TAKES[take][0](X, y)
        assert eval(str(raised.value).rpartition("; pass ")[2], {"numpy": np, "y": y}).tolist() == SECONDS


@pytest.mark.parametrize("y", [[1, 2.5, None, 3], np.array([1, Decimal("2.5"), None, 3], object), [None] * 4])
def test_a_missing_target_has_its_row(y):
    for call, where in list(TAKES.values())[:3]:
        with pytest.raises(kith.InvalidArgument, match=f"{where}: row [02] holds no value; fill it in, or leave"):
            call(X, y)


@pytest.mark.parametrize(
    "y", [np.array([1, Decimal("2.5"), True, 3.0], object), pl.Series(["1", "2.5", "1", "3"]).cast(pl.Decimal(5, 2))]
)
def test_numbers_that_are_objects_are_targets(y):
    assert (
        REGRESSORS[0].fit(X, y).predict(X).tolist()
        == [1, 2.5, 1, 3]
        == kith.Regressor(X, y, device="cpu").predict(X, 1).tolist()
    )


@pytest.mark.parametrize(
    "name", ["KNeighborsClassifier", "RadiusNeighborsClassifier", "KNeighborsRegressor", "RadiusNeighborsRegressor"]
)
def test_fit_without_labels_names_the_class(name):
    with pytest.raises(kith.InvalidArgument, match=f"kith.sklearn.{name}: requires y to be passed"):
        getattr(ours, name)().fit(X)
