"""Tests searches in double precision: every answer equals that of doubles.py."""

import copy
import pickle
import warnings

import kith
import numpy as np
import pytest

from doubles import METRICS, nearest, within

n, m, k = 60, 6, 7
KINDS = {
    "map": lambda random, shape: np.round(random.random(shape) * 500, 3) + [691000, 5334000, 200],
    "seconds": lambda random, shape: random.integers(0, 86400, shape) * [1, 1e-3, 1e-3] + [1.7e9, 0, 0],
    "float_ulp": lambda random, shape: 1 + random.integers(0, 1 << 20, shape) * 2.0**-50,
    "one_ulp": lambda random, shape: 1 + random.integers(0, 8, shape) * 2.0**-52,
    "grid": lambda random, shape: random.integers(1, 4, shape).astype(np.float64),
    "huge": lambda random, shape: random.normal(size=shape) * 1e150,
    "tiny": lambda random, shape: random.normal(size=shape) * 1e-60,
}


@pytest.fixture(params=KINDS)
def points(request, random):
    """Returns training rows and queries."""
    make = KINDS[request.param]
    return make(random, (n, 3)), make(random, (m, 3))


@pytest.fixture
def places(random):
    return KINDS["map"](random, (n, 3)), KINDS["map"](random, (m, 3))


def same(found, expected):
    """Compares dtypes and bits."""
    kinds = [array.dtype for array in found]
    assert kinds == [np.float64, np.int64] or kinds == [np.int64, np.float64, np.int64]
    for mine, right in zip(found, expected):
        assert np.array_equal(mine, right)


@pytest.mark.parametrize("metric", METRICS)
def test_searches(points, metric, device):
    train, queries = points
    if metric == "negative_dot" and np.abs(train).max() > 1e100:
        pytest.skip("products would overflow, which is refused")
    index = kith.Index(train, metric, device)
    assert index.arithmetic == "f64"
    right = nearest(metric, train, queries, k)
    same(index.search(queries, k), right)
    same(index.within(queries, right[0][:, 3]), within(metric, train, queries, right[0][:, 3]))
    others = nearest(metric, train, train[:m], k, lambda query, row: query != row)
    same(index.search(train[:m], k, exclude_self_from=0), others)
    mask = np.arange(n) % 3 == 1
    same(index.search(queries, k, filter=mask), nearest(metric, train, queries, k, lambda _, row: mask[row]))


def test_the_graph_of_all_rows(places, device):
    train = places[0]
    found = kith.knn_graph(train, k, device=device)
    same(found, nearest("l2", train, train, k, lambda query, row: query != row))
    rounded = kith.knn_graph(train - train[0], k, device=device, arithmetic="f32")
    assert rounded.distance.dtype == np.float32


def test_one_radius_is_a_double(device):
    index = kith.Index([[0.0], [1.0 + 2**-52]], device=device)
    assert index.within([[0.0]], 1.0).row.tolist() == [0]
    assert index.within([[0.0]], 1.0 + 2**-52).row.tolist() == [0, 1]
    single = kith.Index([[0.0], [1.0 + 2**-23]], device=device, arithmetic="f32")
    assert single.within([[0.0]], 1.0 + 2**-52).row.tolist() == [0]


def test_rows_come_and_go(places, device):
    train, queries = places
    index = kith.Index(train[:40], device=device).with_(train[40:]).without([3, 41])
    right = nearest("l2", train, queries, k, lambda _, row: row not in (3, 41))
    for one in (index, index.compact(), copy.copy(index)):
        assert one.arithmetic == "f64"
        same(one.search(queries, k), right)
    ids = np.arange(n)[::-1] * 2
    distance, row = nearest("l2", train, queries, k)
    same(kith.Index(train[::-1], device=device, ids=ids).search(queries, k), (distance, row * 2))


WIDTHS = ["float32", "float16", "int8", "uint8", "bool", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize("kind", WIDTHS)
def test_every_element_enters_as_it_is(random, kind, device):
    most = {"bool": 2, "int8": 100, "uint8": 256, "float16": 2048}.get(kind, 1 << 15)
    rows = random.integers(0, most, (n, 3)).astype(kind)
    if rows.dtype.itemsize == 8:
        rows += np.array(2**53 - (1 << 15), kind)
    elif kind in ("int32", "uint32"):
        rows += np.array(2**31 - (1 << 15), kind)
    train, queries = rows[:-m], rows[-m:]
    exact = train.astype(np.float64), queries.astype(np.float64)
    right = nearest("l1", *exact, k)
    index = kith.Index(train, "l1", device, arithmetic="f64")
    same(index.search(queries, k), right)
    same(index.search(exact[1], k), right)
    same(index.with_(queries).search(queries, 1), (np.zeros((m, 1)), index.with_(exact[1]).search(queries, 1).row))
    if kind not in ("int32", "uint32", "int64", "uint64"):
        assert kith.Index(train, "l1", device).arithmetic == "f32"


@pytest.mark.parametrize(
    "rows, words",
    [
        (np.array([[0, 1], [2, 2**53 + 1]]), "row 1, column 1: 9007199254740993 is beyond 2\\^53"),
        (np.array([[0, -(2**53) - 2]]), "row 0, column 1: -9007199254740994 is beyond 2\\^53"),
        (np.array([[2**63]], np.uint64), r"row 0, column 0: 9223372036854775808 is beyond 2\^53.* in uint64"),
        (np.array([[0, 1], [np.longdouble(1) + np.longdouble(2) ** -60, 0]]), "row 1, column 0: .* is no float64"),
    ],
)
def test_what_is_no_double_is_refused_with_its_place(rows, words, device):
    if "no float64" in words and np.finfo(np.longdouble).nmant <= 52:
        pytest.skip("long double is double here")
    with pytest.raises(kith.InvalidArgument, match=f"kith.Index: X: {words}"):
        kith.Index(rows, device=device, arithmetic="f64")
    index = kith.Index(np.zeros((2, rows.shape[1])), device=device)
    with pytest.raises(kith.InvalidArgument, match=f"kith.Index.search: Q: {words}"):
        index.search(rows, 1)
    with pytest.raises(kith.InvalidArgument, match=f"more: {words}"):
        index.with_(rows)


@pytest.mark.parametrize(
    "rows, offset",
    [
        (np.array([[2**60], [2**60 + 1]]), True),
        (np.array([[2**63], [1]], np.uint64), False),  # too far apart for any offset
        (np.array([[-(2**62)], [2**62 + 1]]), False),
        (np.array([[np.longdouble(1) + np.longdouble(2) ** -60], [1]]), False),
    ],
)
def test_what_is_advised_about_numbers_that_are_no_double_can_be_done(rows, offset, device):
    if np.asarray(rows).dtype.kind == "f" and np.finfo(np.longdouble).nmant <= 52:
        pytest.skip("long double is double here")
    with pytest.raises(kith.InvalidArgument) as told:
        kith.Index(rows, device=device, arithmetic="f64")
    assert ("subtract a common offset in " in str(told.value)) == offset
    assert str(told.value).endswith("pass numpy.asarray(x, float), which rounds it")
    assert kith.Index(np.asarray(rows, float), device=device).arithmetic == "f64"
    if offset:
        moved = np.asarray(rows) - np.asarray(rows).min()
        found = kith.Index(moved, device=device, arithmetic="f64").search(moved, 2)
        assert found.distance.tolist() == [[0, 1], [0, 1]]


def test_numbers_beyond_float32_are_advised_double_precision(device):
    rows = np.array([[1.0], [1e300]])
    large, takes = ": 1e[+]300 is too large for single precision, in which kith computes; ", "which takes it, or scale"
    with pytest.raises(kith.InvalidArgument, match=f"row 1, column 0{large}pass arithmetic='f64', {takes}"):
        kith.Index(rows, device=device, arithmetic="f32")
    assert kith.Index(rows, device=device, arithmetic="f64").search(rows[1:], 1).row.tolist() == [[1]]
    index = kith.Index(rows[:1].astype(np.float32), device=device)
    with pytest.raises(kith.InvalidArgument, match=f"{large}make the index by arithmetic='f64', {takes}"):
        index.search(rows[1:], 1)


def test_frames(places, device):
    pd = pytest.importorskip("pandas")
    train, queries = places
    names = ["east", "north", "up"]
    index = kith.Index(pd.DataFrame(train, columns=names), device=device)
    same(index.search(pd.DataFrame(queries, columns=names), k), nearest("l2", train, queries, k))
    mixed = pd.DataFrame({"a": [0, 2**53 + 1], "b": [0.5, 1.5]})
    beyond = r"row 1, column 0 \('a'\) holds 9007199254740993, beyond 2\^53"
    with pytest.raises(kith.InvalidArgument, match=beyond) as told:
        kith.Index(mixed, device=device)
    assert str(told.value).endswith("numbers; make the column float64, which rounds it")
    assert kith.Index(mixed.astype(float), device=device).arithmetic == "f64"
    near = pd.DataFrame({"a": [2**60, 2**60 + 1], "b": [0.5, 1.5]})
    with pytest.raises(kith.InvalidArgument, match="numbers; subtract a common offset, the same from rows and"):
        kith.Index(near, device=device)
    assert kith.Index(mixed // 2, device=device).search(mixed // 2, 1).distance.tolist() == [[0.0], [0.0]]
    whole = pd.DataFrame({"a": [0, 1 << 20], "b": [3, 4]})
    assert kith.Index(whole, device=device).arithmetic == "f32"
    assert kith.Index(whole.astype(np.float32), device=device).arithmetic == "f32"


def test_layouts(places, device):
    train, queries = places
    right = nearest("l2", train, queries, k)
    spread = np.zeros((n, 9))
    spread[:, ::3] = train
    for rows in (np.asfortranarray(train), train.astype(">f8"), spread[:, ::3], train.tolist(), memoryview(train)):
        same(kith.Index(rows, device=device).search(queries, k), right)
        same(kith.Index(train, device=device).search(queries[::-1][::-1].astype(">f8"), k), right)


def test_outputs_of_the_caller(places, device):
    train, queries = places
    index = kith.Index(train, device=device)
    out = np.empty((m, k)), np.empty((m, k), np.int64)
    found = index.search(queries, k, out=out)
    assert found.distance is out[0] and found.row is out[1]
    same(found, nearest("l2", train, queries, k))
    with pytest.raises(kith.InvalidArgument, match="out's distance is a ndarray of float32.*C-contiguous float64 array"):
        index.search(queries, k, out=(np.empty((m, k), np.float32), out[1]))
    single = kith.Index(train.astype(np.float32), device=device)
    with pytest.raises(kith.InvalidArgument, match="out's distance is a ndarray of float64.*C-contiguous float32 array"):
        single.search(queries, k, out=out)


def test_single_precision_on_request(places, device):
    train, queries = places
    with pytest.warns(kith.PrecisionWarning, match="float32 keeps its values to 0.5"):
        index = kith.Index(train, device=device, arithmetic="f32")
    assert index.arithmetic == "f32"
    right = kith.Index(train.astype(np.float32), device=device).search(queries.astype(np.float32), k)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # queries are rounded quietly, as was asked
        found = index.search(queries, k)
        index.without([0]).search(queries, k)
    assert found.distance.dtype == np.float32
    assert np.array_equal(found.distance, right.distance) and np.array_equal(found.row, right.row)
    assert kith.Index(train, device=device, centre=True).arithmetic == "f32"


def test_queries_at_an_index_of_floats(places, device):
    train, queries = places
    index = kith.Index(train.astype(np.float32), device=device)
    advice = "float32 keeps its values to 0.5.*make the index by arithmetic='f64', by which every digit counts"
    with pytest.warns(kith.PrecisionWarning, match="kith.Index.search: Q: column 1: " + advice):
        found = index.search(queries, k)
    with pytest.warns(kith.PrecisionWarning, match=advice):
        index.within(queries, 1.0)
    right = index.search(queries.astype(np.float32), k)
    assert np.array_equal(found.distance, right.distance) and np.array_equal(found.row, right.row)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        index.search(queries[:1], k)  # one query has no spread that digits could matter to
        index.search(np.random.default_rng(0).random((m, 3)), k)


@pytest.mark.parametrize("storage", ["automatic", "resident", "stream", "quantized"])
def test_rows_in_the_callers_memory(places, storage, device):
    train, queries = places
    device = "cpu" if storage == "quantized" else device  # not every device multiplies bytes
    index = kith.Index(train, device=device, storage=storage)
    same(index.search(queries, k), nearest("l2", train, queries, k))
    single = kith.Index(train.astype(np.float32), device=device, storage=storage)
    assert single.arithmetic == "f32"


def test_files_of_rows(places, device, tmp_path):
    train, queries = places
    np.save(tmp_path / "rows.npy", train.astype(np.float32))
    assert kith.Index(tmp_path / "rows.npy", device=device).arithmetic == "f32"
    index = kith.Index(tmp_path / "rows.npy", device=device, arithmetic="f64")
    same(index.search(queries, k), nearest("l2", train.astype(np.float32), queries, k))


def test_index_files_and_pickles(places, device, tmp_path):
    train, queries = places
    index = kith.Index(train, device=device)
    index.save(tmp_path / "a.kidx")
    right = nearest("l2", train, queries, k)
    for again in (kith.Index(tmp_path / "a.kidx", device=device), pickle.loads(pickle.dumps(index))):
        assert again.arithmetic == "f64"
        same(again.search(queries, k), right)
    with pytest.raises(kith.InvalidArgument, match="arithmetic is given, but an index file has its own"):
        kith.Index(tmp_path / "a.kidx", device=device, arithmetic="f32")
    assert kith.index_file_info(tmp_path / "a.kidx").element == "f64"


@pytest.mark.parametrize("metric", ["l2", "negative_dot", "cosine"])
def test_keys_of_shards(places, metric, device):
    train, queries = places
    largest = kith.largest_element(train)
    assert largest >= np.abs(train).max() and largest == np.float32(largest)
    shards = [
        kith.Index(train[i : i + 20], metric, device, first_row=i, largest=largest) for i in range(0, n, 20)
    ]
    lists = [shard.search_keys(queries, k + 1) for shard in shards]
    assert all(one.value.dtype == np.uint64 for one in lists)
    merged = kith.merge([kith.merge(lists[1:]), lists[0], lists[2]])
    right = nearest(metric, train, queries, k + 1)
    same(kith.finish(metric, merged), right)
    assert kith.digest(merged) == kith.digest(kith.merge(lists))
    left = kith.leave_out(merged, right[1][:, 2])
    same(kith.finish(metric, left), [np.delete(array, 2, axis=1) for array in right])
    radii = right[0][:, k - 1]
    found = kith.merge([shard.within_keys(queries, radii) for shard in shards])
    same(kith.finish(metric, found), within(metric, train, queries, radii))


def test_keys_of_two_widths_are_not_merged(places, device):
    train, queries = places
    wide = kith.Index(train, device=device)
    narrow = kith.Index(train.astype(np.float32), device=device)
    for ask in (lambda index: index.search_keys(queries, 2), lambda index: index.within_keys(queries, 1.0)):
        with pytest.raises(kith.InvalidArgument, match="list 1 has values of uint32, but list 0 of uint64"):
            kith.merge([ask(wide), ask(narrow)])
    one = wide.search_keys(queries, 2)
    wrong = one.value.copy()
    wrong[3, 1] = 0xFFF0000000000001  # beyond infinity
    with pytest.raises(kith.InvalidArgument, match="query 3, rank 1"):
        kith.finish("l2", kith.Keys(wrong, one.row))
    few = kith.Index(train[:2], device=device).search_keys(queries, 3)
    assert (few.value[:, 2] == 2**64 - 1).all() and (few.row[:, 2] == -1).all()
    assert np.isinf(kith.finish("l2", few).distance[:, 2]).all()


def test_votes_and_means(random, device):
    train, queries = (KINDS["map"](random, (size, 3)) for size in (n, m))
    labels, values = random.integers(0, 3, n), random.random(n)
    distance, row = nearest("l2", train, queries, 3)
    weight = 1 / distance
    score = np.zeros((m, 3))
    total = np.zeros(m)
    mean = np.zeros(m)
    for rank in range(3):
        score[np.arange(m), labels[row[:, rank]]] += weight[:, rank]
        total = total + weight[:, rank]
        mean = mean + weight[:, rank] * values[row[:, rank]]
    voter, averager = kith.Classifier(train, labels, device=device), kith.Regressor(train, values, device=device)
    assert voter.index().arithmetic == averager.index().arithmetic == "f64"
    assert np.array_equal(voter.predict(queries, 3, weights="distance"), score.argmax(axis=1))
    share = score / ((score[:, 0] + score[:, 1]) + score[:, 2])[:, None]
    assert np.array_equal(voter.predict_proba(queries, 3, weights="distance"), share)
    assert np.array_equal(averager.predict(queries, 3, weights="distance"), mean / total)
    radius = distance[:, 2]  # the same rows
    assert np.array_equal(voter.predict(queries, within=radius, weights="distance"), score.argmax(axis=1))
    assert np.array_equal(averager.predict(queries, within=radius, weights="distance"), mean / total)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"arithmetic": "f16"}, 'arithmetic: there is none called "f16"'),
        ({"arithmetic": 64}, "arithmetic: there is none"),
        ({"arithmetic": "f64", "centre": True}, "arithmetic f64 with a centre"),
        ({"arithmetic": "f64", "metric": "hamming"}, "hamming"),
    ],
)
def test_wrong_arguments(places, arguments, words, device):
    with pytest.raises(kith.InvalidArgument, match=words):
        kith.Index(places[0], device=device, **arguments)


def test_what_is_not_finite_is_refused_with_its_place(places, device):
    wrong = places[0].copy()
    wrong[7, 1] = np.nan
    with pytest.raises(kith.InvalidArgument, match="training row 7 column 1 is NaN|row 7, column 1"):
        kith.Index(wrong, device=device)
