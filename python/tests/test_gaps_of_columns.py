"""Tests missing values by sums of differences, and in columns of numbers and of categories, beside NumPy's operations:
docs/contract.md, section 1.
"""

import pickle

import kith
import numpy as np
import pytest

N, M, DIMS = 300, 12, 6
NONE = float("nan")


@pytest.fixture
def data(random):
    """Rows of float32 with missing values: two columns of categories, some rows alike, and one without a value."""
    both = []
    for rows in (N, M):
        x = random.normal(size=(rows, DIMS)).astype(np.float32) * 3
        x[:, [1, 4]] = np.floor(x[:, [1, 4]])
        x[3::7] = x[2:-1:7][: len(x[3::7])]
        x[random.random(x.shape) < 0.25] = np.nan
        x[5] = np.nan
        both.append(x)
    return both


def sums(queries, rows, terms):
    """Returns raw values of all pairs, by terms(column, query, row) in ascending columns; NaN without a common one."""
    total, common = np.zeros((len(queries), len(rows)), np.float32), np.zeros((len(queries), len(rows)))
    for d in range(rows.shape[1]):
        a, b = queries[:, None, d], rows[None, :, d]
        there = ~(np.isnan(a) | np.isnan(b))
        total = np.where(there, total + terms(d, a, b).astype(np.float32), total)
        common += there
    with np.errstate(invalid="ignore"):
        return (total.astype(float) * rows.shape[1] / common).astype(np.float32)


def check(found, raw, shown):
    """Says that lists are those of raw values, bit for bit."""
    order = np.argsort(np.where(np.isnan(raw), np.inf, raw), axis=1, kind="stable")[:, : found.row.shape[1]]
    there = ~np.isnan(np.take_along_axis(raw, order, 1))
    assert found.distance.dtype == np.float32
    assert np.array_equal(found.row, np.where(there, order, -1))
    assert np.array_equal(found.distance, np.where(there, np.take_along_axis(shown, order, 1), np.float32(np.inf)))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_sums_of_differences(device, data, kind):
    train, queries = data
    index = kith.Index(train.astype(kind), "nan_manhattan", device)
    raw = sums(queries, train, lambda d, a, b: np.abs(a - b))
    assert index.arithmetic == "f32"
    check(index.search(queries.astype(kind), N), raw, raw)
    filled = np.nan_to_num(train)
    plain, right = kith.Index(filled, "nan_manhattan", device), kith.Index(filled, "l1", device)
    for one, other in zip(plain.search(filled, 9), right.search(filled, 9)):
        assert np.array_equal(one, other)


def gower(train, queries, ranges, categorical):
    """Returns raw values and distances by nan_gower."""
    with np.errstate(invalid="ignore", divide="ignore"):
        scaled = [np.where(ranges == 0, rows * 0.0, rows / ranges).astype(np.float32) for rows in (train, queries)]
    rows, asked = (np.where(np.isin(np.arange(DIMS), categorical), x, y) for x, y in zip((train, queries), scaled))
    raw = sums(asked, rows, lambda d, a, b: a != b if d in categorical else np.abs(a - b))
    return raw, raw / np.float32(DIMS)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("categorical", [[], [4, 1]])
def test_gower(device, data, kind, categorical):
    train, queries = data
    train[:, 2] = np.where(np.isnan(train[:, 2]), np.nan, 2)
    ranges = np.nanmax(train, 0).astype(float) - np.nanmin(train, 0).astype(float)
    raw, shown = gower(train, queries, ranges, categorical)
    for given in (None, ranges):
        index = kith.Index(train.astype(kind), "nan_gower", device, categorical=categorical, ranges=given)
        assert (index.metric, index.parameter, index.arithmetic) == ("nan_gower", DIMS, "f32")
        check(index.search(queries.astype(kind), N), raw, shown)
    again = pickle.loads(pickle.dumps(index))
    check(again.search(queries, 20), raw, shown)
    near = index.within(queries, 0.2)
    assert np.array_equal(np.diff(near.first), (shown <= np.float32(0.2)).sum(axis=1))
    streamed = kith.Index(train, "nan_gower", device, categorical=categorical, storage="stream", chunk_rows=64)
    check(streamed.search(queries, 20), raw, shown)


def test_gower_without_gaps_is_gower(device, data):
    train, queries = (np.nan_to_num(rows) for rows in data)
    one = kith.Index(train, "nan_gower", device, categorical=[1, 4]).search(queries, N)
    other = kith.Index(train, "gower", device, categorical=[1, 4]).search(queries, N)
    assert np.array_equal(one.row, other.row) and np.array_equal(one.distance, other.distance)


def test_frames(device):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {
            "size": [1.0, None, 5.0, None],
            "kind": pandas.Categorical(["cat", "dog", None, None]),
            "age": pandas.array([3, None, 7, None], "Int64"),
        }
    )
    index = kith.Index(frame, "nan_gower", device)
    found = index.search(frame, 4)
    assert found.row.tolist() == [[0, 1, 2, -1], [1, 0, -1, -1], [2, 0, -1, -1], [-1, -1, -1, -1]]
    assert found.distance[:3].tolist() == [[0, 1, 1, np.inf], [0, 1, np.inf, np.inf], [0, 1, np.inf, np.inf]]
    asked = pandas.DataFrame({"size": [None, 3.0], "kind": ["cow", pandas.NA], "age": [5.0, 7.0]})
    assert index.search(asked, 4).row.tolist() == [[2, 0, 1, -1], [2, 0, -1, -1]]
    assert pickle.loads(pickle.dumps(index)).search(asked, 1).row.tolist() == [[2], [2]]
    assert index.with_(frame[:1]).search(frame[:1], 2).row.tolist() == [[0, 4]]
    assert kith.knn_graph(frame, 1, "nan_gower", device).row.tolist() == [[1], [0], [0], [-1]]
    kinds = frame.astype({"kind": object})
    with pytest.raises(kith.InvalidArgument, match="'kind' has dtype object and holds texts such as 'cat'"):
        kith.Index(kinds, "nan_gower", device)
    with pytest.raises(kith.InvalidArgument, match=r"row 0, column 1 \('kind'\) holds 'cow', which is no category"):
        index.with_(asked)
    for metric in ("gower", "matching"):
        with pytest.raises(kith.InvalidArgument, match=r"row 2, column 1 \('kind'\) holds no category; .*='nan_gower'"):
            kith.Index(frame.fillna({"size": 0, "age": 0}), metric, device)


W = 2**53  # beside which float64 has no odd whole number


def test_whole_numbers_as_categories(device):
    pandas = pytest.importorskip("pandas")
    from pandas import Categorical, DataFrame, Series

    whole = [W + 1, W + 3, W, None]
    lists = [[0], [1], [2], []]
    train = [Categorical(whole), Categorical(pandas.array(whole, "Int64")), Categorical(Series(whole, dtype=object))]
    train.append(Categorical(whole, categories=pandas.Index([W, 0.5, W + 1, W + 3], dtype=object)))
    asked = [*train, Series(whole, dtype=object), Series(whole, dtype="Int64"), Series(whole, dtype="UInt64")]
    for column in train:
        index = kith.Index(DataFrame({"kind": column}), "nan_gower", device)
        for like in asked:
            found = index.within(DataFrame({"kind": like}), 0.0)
            assert [rows.tolist() for rows in np.split(found.row, found.first[1:-1])] == lists
        full = index.within(DataFrame({"kind": np.array(whole[:3])}), 0.0)  # int64
        assert full.row.tolist() == [0, 1, 2]
        floats = index.within(DataFrame({"kind": [float(W), W + 2.0, np.nan]}), 0.0)  # the second is no category
        assert (floats.row.tolist(), floats.first.tolist()) == ([2], [0, 1, 1, 1])
        nothing = index.within(DataFrame({"kind": Series([None, None], dtype=object)}), 9.0)
        assert nothing.row.tolist() == []
        with pytest.raises(kith.InvalidArgument, match="row 1, .* holds .*9007199254740994.*, which is no category"):
            index.with_(DataFrame({"kind": [float(W), W + 2.0]}))
    plain = kith.Index(DataFrame({"kind": Categorical([float(W), 0.5])}), "matching", device)  # of floats
    assert plain.within(DataFrame({"kind": [W, W + 1]}), 0.0).row.tolist() == [0]


def test_categories_of_other_kinds(device):
    """Values are found among categories in other orders, of other dtypes, and where none is there."""
    pandas = pytest.importorskip("pandas")
    from pandas import Categorical, DataFrame, Series

    def near(train, asked):
        found = kith.Index(DataFrame({"kind": train}), "nan_gower", device).within(DataFrame({"kind": asked}), 0.0)
        return [rows.tolist() for rows in np.split(found.row, found.first[1:-1])]

    other = Categorical(["cow", None, "dog", "cat"], categories=["cow", "dog", "cat"])
    assert near(Categorical(["cat", "dog", None]), other) == [[], [], [1], [0]]
    assert near(Categorical(["cat", "dog"]), Series(["dog", None, "cow"], dtype="string")) == [[1], [], []]
    assert near(Categorical(["cat", "dog"]), Categorical([3, None])) == [[], []]
    assert near(Categorical(["1", "2"]), [1, 2]) == [[], []]
    assert near(Categorical([1, 2, "a"]), Series(["a", 2.0, None], dtype=object)) == [[2], [1], []]
    assert near(Categorical([True, False]), [False, True]) == [[1], [0]]
    assert near(Categorical([None, None]), ["a", None]) == [[], []]
    assert near(Categorical([None, None], categories=["a"]), Categorical(["a", None])) == [[], []]
    days = Series(np.array(["2024-05-06", "NaT", "2024-05-07"], "M8[ns]"))
    assert near(Categorical(days), days) == near(Categorical(days), Categorical(days)[:]) == [[0], [], [2]]
    parts = pandas.cut(Series([0.5, 1.5, None]), [0, 1, 2])
    assert near(parts, parts) == near(parts, parts.astype(object)) == [[0], [1], []]


def test_whole_numbers_of_Arrow_as_categories(device):
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    kind = pandas.ArrowDtype(arrow.int64())
    asked = pandas.DataFrame({"kind": pandas.array([W, None, W + 1], kind)})
    for train in (asked.astype("category"), pandas.DataFrame({"kind": pandas.Categorical([W, None, W + 1])})):
        index = kith.Index(train, "nan_gower", device)
        for queries in (asked, asked.astype("category")):
            assert index.search(queries, 1).row.tolist() == [[0], [-1], [2]]


def test_estimators(device, data):
    ours = pytest.importorskip("kith.sklearn")
    train, queries = data
    for metric, takes in (("nan_manhattan", {}), ("nan_gower", {"categorical": [1, 4]})):
        right = kith.Index(train, metric, device, **takes).search(queries, 5)
        model = ours.NearestNeighbors(n_neighbors=5, metric=metric, metric_params=takes, device=device).fit(train)
        distance, row = model.kneighbors(queries)
        assert np.array_equal(row, right.row) and np.array_equal(distance, right.distance)
    with pytest.raises(kith.Unsupported, match="nan_gower takes categorical and ranges; leave the others out"):
        ours.NearestNeighbors(metric="nan_gower", metric_params={"w": [1]}, device=device).fit(train)


def test_keys(device, data):
    train, queries = data
    ranges = np.nanmax(train, 0).astype(float) - np.nanmin(train, 0).astype(float)
    takes = {"categorical": [1, 4], "ranges": ranges}
    shards = [kith.Index(train[a:b], "nan_gower", device, first_row=a, **takes) for a, b in ((0, 100), (100, N))]
    merged = kith.merge([shard.search_keys(queries, 7) for shard in shards])
    found = kith.finish("nan_gower", merged, shards[0].parameter)
    check(found, *gower(train, queries, ranges, [1, 4]))


@pytest.mark.parametrize(
    "X, how, words",
    [
        ([[1, None], [2, np.inf]], {}, "training row 1, column 1 holds an infinity; make every value finite, or NaN"),
        ([[1, None], [2, 3]], {"arithmetic": "f64"}, "in which nan_gower is not computed; give f32"),
        ([[1, None], [2, 3]], {"categorical": [7]}, "categorical names column 7, but rows have 2 columns"),
        ([[1, None], [2, 3]], {"w": [1, 1]}, "nan_gower is none of l1, l2, squared_l2 and minkowski"),
        ([[1, 2], [2, 3]], {"box": [1, 1]}, "there is a box, and rows are prepared for nan_gower already"),
    ],
)
def test_refusals(device, X, how, words):
    with pytest.raises(kith.InvalidArgument, match=words):
        kith.Index(X, "nan_gower", device, **how)


def test_more_categories_than_floats_tell_apart(device, monkeypatch):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": pandas.Categorical(["x", "y", "z"]), "b": [1.0, 2.0, 3.0]})
    kith.Index(frame, "nan_gower", device)
    monkeypatch.setattr("kith._rows._categories.MOST", 2)
    with pytest.raises(kith.InvalidArgument, match=r"column 0 \('a'\) has 3 categories, and 2 can be told apart; leave"):
        kith.Index(frame, "nan_gower", device)
