"""Tests frames of every library: names of columns, columns without numbers, and advice that works."""

import datetime
import re
import sys
import warnings
from decimal import Decimal

import kith
import kith.faiss
import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")


class Stream:
    """Is a frame or column that has only Arrow's PyCapsule protocol."""

    def __init__(self, held):
        self.held = held

    def __arrow_c_stream__(self, requested_schema=None):
        return self.held.__arrow_c_stream__(requested_schema)


class Capsule:
    """Is the same for a batch, which is one array."""

    def __init__(self, held):
        self.held = held

    def __arrow_c_array__(self, requested_schema=None):
        return self.held.__arrow_c_array__(requested_schema)


class Interchange:
    """Is a frame that has only the dataframe interchange protocol."""

    def __init__(self, held):
        self.held = held

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return self.held.__dataframe__(nan_as_null, allow_copy)


class Elsewhere:
    """Behaves like cuDF: NumPy cannot read it, but it can copy itself to the host."""

    def __init__(self, held):
        self.held = held
        self.columns = held.columns

    def __array__(self, *_, **__):
        raise TypeError("implicit conversion to a host NumPy array is not allowed")

    def memory_usage(self):
        return self.held.memory_usage()

    def to_pandas(self):
        return self.held


Elsewhere.__module__ = "cudf.core.dataframe"


class Lazy:
    """Behaves like a frame of Dask."""

    def __init__(self, held):
        self.held, self.columns = held, held.columns

    def compute(self):
        return self.held


Lazy.__module__ = "dask.dataframe"


def batch(frame):
    return pa.RecordBatch.from_pandas(frame)


LIBRARIES = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "Arrow": pa.Table.from_pandas,
    "batch": batch,
    "batches": lambda frame: pa.Table.from_pandas(frame).to_reader(),
    "stream": lambda frame: Stream(pl.from_pandas(frame)),
    "capsule": lambda frame: Capsule(batch(frame)),
    "interchange": lambda frame: Interchange(pa.Table.from_pandas(frame)),
    "cuDF": Elsewhere,
    "Dask": Lazy,
}
X = pd.DataFrame({"height": [1.75, 1.5, 2.0], "weight": [60.0, 90.0, 75.0]})
SWAPPED = X[["weight", "height"]]


@pytest.fixture(params=LIBRARIES)
def made(request):
    return LIBRARIES[request.param]


ASKED = {
    "search": lambda a, b: kith.Index(a, device="cpu").search(b, 1),
    "within": lambda a, b: kith.Index(a, device="cpu").within(b, 1),
    "search_keys": lambda a, b: kith.Index(a, device="cpu").search_keys(b, 1),
    "within_keys": lambda a, b: kith.Index(a, device="cpu").within_keys(b, 1),
    "with_": lambda a, b: kith.Index(a, device="cpu").with_(b),
    "with_ and search": lambda a, b: kith.Index(a, device="cpu").with_(np.ones((1, 2))).search(b, 1),
    "source": lambda a, b: kith.Index(a, device="cpu", storage="stream").search(b, 1),
    "Classifier": lambda a, b: kith.Classifier(a, [1, 2, 3], device="cpu").predict(b, 1),
    "shares": lambda a, b: kith.Classifier(a, [1, 2, 3], device="cpu").predict_proba(b, 1),
    "Classifier.with_": lambda a, b: kith.Classifier(a, [1, 2, 3], device="cpu").with_(b, [1, 2, 3]),
    "Regressor": lambda a, b: kith.Regressor(a, [1, 2, 3], device="cpu").predict(b, 1),
    "Regressor.with_": lambda a, b: kith.Regressor(a, [1, 2, 3], device="cpu").with_(b, [1, 2, 3]),
    "faiss": lambda a, b: flat(a).search(b, 1),
    "faiss, more than there are": lambda a, b: flat(a).search(b, 9),
    "faiss, range": lambda a, b: flat(a).range_search(b, 1),
    "faiss.add": lambda a, b: flat(a).add(b),
    "faiss.knn": lambda a, b: kith.faiss.knn(b, a, 1, device="cpu"),
}


def flat(rows):
    index = kith.faiss.IndexFlatL2(2, device="cpu")
    index.add(rows)
    return index


@pytest.mark.filterwarnings("ignore::kith.HostCopyWarning")
@pytest.mark.parametrize("ask", ASKED)
def test_names_are_compared(made, ask):
    ASKED[ask](made(X), made(X))
    ASKED[ask](made(X), X.to_numpy())  # an array without names is accepted, too
    words = r"columns \['weight', 'height'\], but the training rows have \['height', 'weight'\]"
    with pytest.raises(kith.InvalidArgument, match=words):
        ASKED[ask](made(X), made(SWAPPED))


@pytest.mark.filterwarnings("ignore::kith.HostCopyWarning")
@pytest.mark.parametrize("name", ["NearestNeighbors", "KNeighborsClassifier", "RadiusNeighborsRegressor"])
def test_names_are_compared_by_estimators(made, name):
    ours = pytest.importorskip("kith.sklearn")
    few = {} if name.startswith("Radius") else {"n_neighbors": 1}
    model = getattr(ours, name)(**few, device="cpu").fit(made(X), [1, 2, 1])
    assert model.feature_names_in_.tolist() == ["height", "weight"]
    ask = getattr(model, "predict", getattr(model, "radius_neighbors", None))
    ask(made(X))
    with pytest.raises(ValueError, match="in the same order as they were in fit"):
        ask(made(SWAPPED))


def test_libraries_share_names():
    index = kith.Index(pa.Table.from_pandas(X), device="cpu")
    assert (
        index.search(pl.from_pandas(X), 1).row.ravel().tolist() == index.search(X, 1).row.ravel().tolist() == [0, 1, 2]
    )
    unnamed = pd.DataFrame(X.to_numpy())
    assert kith.Index(unnamed, device="cpu").search(pa.Table.from_pandas(unnamed), 1).row.ravel().tolist() == [0, 1, 2]


def test_without_a_library_that_reads_the_protocol(monkeypatch):
    arrow, interchanged = Stream(pl.from_pandas(X)), Interchange(pa.Table.from_pandas(X))
    for name in ("pyarrow", "polars", "pyarrow.interchange", "pandas.api.interchange"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(kith.Unavailable, match="X: Stream speaks Arrow's protocol; install pyarrow or polars"):
        kith.Index(arrow, device="cpu")
    with pytest.raises(kith.Unavailable, match="X: Interchange speaks __dataframe__; install pyarrow or pandas"):
        kith.Index(interchanged, device="cpu")


def test_each_library_that_reads_the_protocol(monkeypatch):
    arrow, interchanged = Stream(pl.from_pandas(X)), Interchange(pa.Table.from_pandas(X))
    for absent in (("polars",), ("pyarrow", "pyarrow.interchange")):
        with monkeypatch.context() as patched:
            for name in absent:
                patched.setitem(sys.modules, name, None)
            for frame in (arrow, interchanged):
                assert kith.Index(frame, device="cpu").search(X, 1).row.ravel().tolist() == [0, 1, 2]


def test_a_frame_elsewhere_is_told():
    with pytest.warns(kith.HostCopyWarning, match="kith.Index: X: a Elsewhere of cuDF"):
        kith.Index(Elsewhere(X), device="cpu")


@pytest.mark.filterwarnings("ignore::kith.HostCopyWarning")
def test_bools_beside_numbers(made):
    frame = pd.get_dummies(pd.DataFrame({"city": ["a", "b", "a"], "v": [1.0, 2, 4], "n": [3, 200, 5]}))
    index = kith.Index(made(frame), device="cpu")
    assert index.search(made(frame), 1).distance.max() == 0 and index.dims == 4
    expected = kith.Index(frame.to_numpy(np.float64), device="cpu").search(frame.to_numpy(np.float64), 3)
    for found in (index.search(made(frame), 3), kith.knn_graph(made(frame), 2, device="cpu")):
        distance = expected.distance if found.row.shape[1] == 3 else expected.distance[:, 1:]
        assert np.array_equal(found.distance, distance)
    assert flat_of(made(frame)).search(made(frame), 1)[0].max() == 0
    assert kith.Classifier(made(frame), [1, 2, 3], device="cpu").predict(made(frame), 1).tolist() == [1, 2, 3]


def flat_of(rows):
    index = kith.faiss.IndexFlatL2(4, device="cpu")
    index.add(rows)
    return index


@pytest.mark.parametrize(
    "kinds",
    [
        ["bool", "bool"],
        ["bool", "float16"],
        ["uint8", "int8"],
        ["Int64", "bool"],
        ["boolean", "Float32"],
        ["float32", "int32"],
    ],
)
def test_kinds_of_numbers_that_have_one_for_both(kinds):
    frame = pd.DataFrame({"a": pd.array([1, 0, 1], kinds[0]), "b": pd.array([1, 1, 0], kinds[1])})
    expected = np.array([[1, 1], [0, 1], [1, 0]], np.float32)
    index = kith.Index(frame, device="cpu")
    assert index.search(expected, 1).distance.max() == 0 == index.search(frame, 1).distance.max()


def told(make, *arguments):
    with pytest.raises(kith.InvalidArgument) as raised:
        make(*arguments)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def index(x):
    return kith.Index(x, device="cpu")


@pytest.fixture(params=["kith", "kith.sklearn"])
def fitted(request):
    """Returns an index or an estimator, neither of which may misread a cell."""
    if request.param == "kith":
        return index
    return lambda x: pytest.importorskip("kith.sklearn").NearestNeighbors(n_neighbors=1, device="cpu").fit(x)


def advised(message, x):
    """Runs the advice of a message on `x`, or on the column that it names."""
    advice = re.search(r"(?:pass|put|queries:) (\(?numpy\..*?)(?:, with other columns .*| in its place.*)?$", message)
    return eval(advice.group(1), {"numpy": np, "x": x, "X": x})


VECTORS = pd.DataFrame({"emb": [[1.0, 2], [3, 4], [5, 6]]})
HELD = {
    "Series": VECTORS["emb"],
    "NumPy": VECTORS["emb"].to_numpy(),
    "NumPy, one column": VECTORS["emb"].to_numpy()[:, None],
    "tuples": pd.Series([(1.0, 2), (3, 4), (5, 6)]),
    "arrays": pd.Series([np.array([1.0, 2]), np.array([3.0, 4]), np.array([5.0, 6])]),
    "polars": pl.from_pandas(VECTORS)["emb"],
    "Arrow": pa.array(VECTORS["emb"].tolist()),
    "Arrow, chunks": pa.Table.from_pandas(VECTORS)["emb"],
    "Arrow, fixed size": pa.array(VECTORS["emb"].tolist(), pa.list_(pa.float64(), 2)),
    "frame": VECTORS,
    "frame of polars": pl.from_pandas(VECTORS),
    "frame of Arrow": pa.Table.from_pandas(VECTORS),
    "arrays of polars": pl.DataFrame({"emb": pl.Series(VECTORS["emb"].tolist(), dtype=pl.Array(pl.Float64, 2))}),
    "structs of polars": pl.DataFrame({"emb": [{"a": 1.0, "b": 2.0}, {"a": 3.0, "b": 4.0}, {"a": 5.0, "b": 6.0}]}),
    "pictures": pd.Series([np.array([[1.0], [2]]), np.array([[3.0], [4]]), np.array([[5.0], [6]])]),
    "beside a number": VECTORS.assign(v=1.0),
}


@pytest.mark.parametrize("which", HELD)
def test_columns_of_vectors(fitted, which):
    x = HELD[which]
    message = told(fitted, x)
    assert "numpy.stack(" in message or "of polars" in which
    assert advised(message, x).tolist() == [[1, 2], [3, 4], [5, 6]]
    index(advised(message, x))


@pytest.mark.parametrize(
    "x, words",
    [
        (pd.Series([[1, 2], [3]]), "X: lists of 1 to 2 cells, and a row needs as many"),
        ([[1, 2], [3]], "X: row 0 has 2 values, but row 1 has 1; give each row as many"),
        (([1.0], [2.0], []), "X: row 0 has 1 values, but row 2 has 0"),
        ([[[1], [2, 3]], [[1], [2]]], "X: lists in lists of different lengths"),
        (pd.Series([[1, 2], None]), "2 numbers in each cell, but none in row 1"),
        (pd.DataFrame({"e": [["a", "b"], ["c"]]}), "column 'e' .* lists of 1 to 2 cells"),
        (pd.Series([["a"], ["c"]]), r"lists such as \"\['a'\]\""),
    ],
)
def test_rows_of_different_lengths(fitted, x, words):
    assert re.search(words, told(fitted, x))


DAYS = [datetime.date(2024, 2, 3), datetime.date(2024, 2, 4), datetime.date(2024, 2, 3)]
MOMENTS = {
    "datetime": pd.Series(pd.to_datetime(DAYS)),
    "with a zone": pd.Series(pd.to_datetime(DAYS).tz_localize("UTC")),
    "date": pd.Series(DAYS),
    "period": pd.Series(pd.PeriodIndex(DAYS, freq="D")),
    "of Arrow": pd.Series(DAYS, dtype=pd.ArrowDtype(pa.date32())),
}


@pytest.mark.parametrize(
    "library, kind",
    [(one, kind) for one in ("pandas", "polars", "Arrow") for kind in MOMENTS if one == "pandas" or kind != "period"],
)
def test_dates(fitted, library, kind):
    frame = LIBRARIES[library](pd.DataFrame({"v": [1.0, 2, 3], "when": MOMENTS[kind]}))
    message = told(fitted, frame)
    assert (
        "column 'when' has dtype" in message and "dates such as 2024-02-03" in message and "get_dummies" not in message
    )
    assert advised(message, frame).tolist() == [0, 86400, 0]


@pytest.mark.parametrize("x", [np.array([DAYS], "M8[ns]").T, np.array([DAYS], object).T, [[day] for day in DAYS]])
def test_dates_of_arrays(fitted, x):
    seconds = advised(told(fitted, x), x)
    assert seconds.tolist() == [[0], [86400], [0]]
    index(seconds)


@pytest.mark.parametrize("library", ["pandas", "polars", "Arrow"])
def test_durations(fitted, library):
    frame = LIBRARIES[library](pd.DataFrame({"took": pd.to_timedelta([1, 5], "s")}))
    assert advised(told(fitted, frame), frame).tolist() == [1, 5]
    array = np.array([[1], [5]], "m8[s]")
    assert advised(told(fitted, array), array).tolist() == [[1], [5]]


MISSING = {
    "Int64": pd.DataFrame({"v": [1.0, 2], "age": pd.array([1, None], "Int64")}),
    "Float64": pd.DataFrame({"v": [1.0, 2], "age": pd.array([1.5, None], "Float64")}),
    "boolean": pd.DataFrame({"v": [1.0, 2], "age": pd.array([True, None], "boolean")}),
    "float": pd.DataFrame({"v": [1.0, 2], "age": [1.0, np.nan]}),
    "object": pd.DataFrame({"v": [1.0, 2], "age": np.array([1, None], object)}),
    "Arrow's": pd.DataFrame({"v": [1.0, 2], "age": pd.Series([1, None], dtype="int64[pyarrow]")}),
    "all": pl.DataFrame({"v": [1.0, 2.0], "age": [5.0, None]}),
    "polars": pl.DataFrame({"v": [1.0, 2], "age": [7, None]}),
    "bools of polars": pl.DataFrame({"v": [1.0, 2], "age": [True, None]}),
    "Arrow": pa.table({"v": [1.0, 2], "age": [7, None]}),
    "bools of Arrow": pa.table({"v": [1.0, 2], "age": [True, None]}),
}


@pytest.mark.parametrize("kind", MISSING)
def test_missing_values_have_the_name_of_their_column(fitted, kind):
    assert "X: row 1, column 1 ('age') holds NaN; fill it in, or leave the row out" in told(fitted, MISSING[kind])
    if hasattr(MISSING[kind], "dropna"):
        fitted(MISSING[kind].dropna().infer_objects())


def test_missing_values_of_queries():
    made = index(pd.DataFrame({"v": [1.0, 2], "age": [1.0, 2]}))
    for kind in ("Int64", "polars", "Arrow", "float"):
        assert "Q: row 1, column 1 ('age') holds NaN" in told(lambda x: made.search(x, 1), MISSING[kind])
    assert "column 0 ('v') holds inf" in told(index, pd.DataFrame({"v": [np.inf, 1]}))


@pytest.mark.parametrize(
    "column",
    [[Decimal("1.5"), Decimal(2)], np.array([1.5, 2], object), ["1.5", "2"], np.array([True, 2], object)],
    ids=["Decimal", "object", "numerals", "bool and int"],
)
def test_numbers_that_are_objects_or_texts(column):
    frame = pd.DataFrame({"v": pd.Series(column)})
    message = told(index, frame)
    assert "column 'v' has dtype" in message and advised(message, frame).tolist() == [float(value) for value in column]
    array = np.array(column, None if isinstance(column[0], str) else object)[:, None]
    index(advised(told(index, array), array))


def test_texts():
    frame = pd.DataFrame({"city": ["a", "b", "a"], "v": [1.0, 2, 3]})
    message = told(index, frame)
    assert "column 'city'" in message and "(pandas.get_dummies(x))" in message
    index(pd.get_dummies(frame))
    message = told(index, pl.from_pandas(frame))
    assert "(x.to_dummies('city'))" in message
    index(pl.from_pandas(frame).to_dummies("city"))
    message = told(index, pa.Table.from_pandas(frame))
    assert "(pandas.get_dummies(x.to_pandas()))" in message
    index(pd.get_dummies(pa.Table.from_pandas(frame).to_pandas()))
    message = told(index, frame[["city"]].to_numpy())
    assert "(pandas.get_dummies(pandas.DataFrame(x)))" in message
    index(pd.get_dummies(pd.DataFrame(frame[["city"]].to_numpy())))


def test_other_cells():
    assert "pass x.collect()" in told(index, pl.from_pandas(X).lazy())
    index(pl.from_pandas(X).lazy().collect())
    records = np.array([(1, 2.0), (3, 4.0)], [("a", "i4"), ("b", "f4")])
    assert advised(told(index, records), records).tolist() == [[1, 2], [3, 4]]
    parts = np.array([[1 + 2j], [3 - 1j]])
    assert advised(told(index, parts), parts).tolist() == [[1, 2], [3, -1]]
    assert "two columns of it, of its real and its imaginary parts" in told(index, pd.DataFrame({"z": [1j]}))
    assert "column 'o' has dtype object and holds objects of type object; leave it out" in told(
        index, pd.DataFrame({"o": [object()]})
    )


@pytest.mark.parametrize(
    "x", [[1.0, 2.0], np.array([1.0, 2.0]), pd.Series([1.0, 2]), pl.Series([1.0, 2]), pa.array([1.0, 2])]
)
def test_one_dimension(x):
    message = told(index, x)
    one_row, one_column = re.search(r"pass (.*) for one row, (.*) for one column", message).groups()
    assert (
        index(eval(one_row, {"numpy": np, "x": x})).dims == 2
        and len(index(eval(one_column, {"numpy": np, "x": x}))) == 2
    )


def test_a_frame_warns_once():
    with pytest.warns(kith.PrecisionWarning) as warned:
        index(pd.DataFrame({"v": [10**9 + 1, 10**9 + 2], "b": [True, False]}))
    assert len(warned) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        index(X)
