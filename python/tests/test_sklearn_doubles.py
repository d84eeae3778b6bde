"""Tests that estimators of kith.sklearn answer in the precision of the rows that they were fitted to."""

import kith
import numpy as np
import pytest

pytest.importorskip("sklearn")
import kith.sklearn as ours  # noqa: E402

from doubles import nearest, within  # noqa: E402
from estimators import NAMES, fitted  # noqa: E402

n, m, k = 60, 6, 5


@pytest.fixture
def places(random):
    def made(rows):
        return np.round(random.random((rows, 3)) * 500, 3) + [691000, 5334000, 200]

    return made(n), made(m)


def test_neighbours_are_those_in_double_precision(places):
    train, queries = places
    model = fitted("NearestNeighbors", train, None, n_neighbors=k)
    distance, row = nearest("l2", train, queries, k)
    found = model.kneighbors(queries)
    assert np.array_equal(found[0], distance) and np.array_equal(found[1], row)
    others = nearest("l2", train, train, k, lambda query, other: query != other)
    assert np.array_equal(model.kneighbors()[0], others[0]) and np.array_equal(model.kneighbors()[1], others[1])
    first, distance, row = within("l2", train, queries, [100.0] * m)
    found = model.radius_neighbors(queries, 100.0)
    assert np.array_equal(np.concatenate(found[0]), distance) and np.array_equal(np.concatenate(found[1]), row)
    graph = ours.kneighbors_graph(train, k, mode="distance")
    assert np.array_equal(graph.data.reshape(n, k), others[0])


@pytest.mark.parametrize("kind", ["float32", "float16", "int8", "uint8", "bool", "int16", "uint16"])
def test_rows_of_few_digits_stay_in_single_precision(random, kind):
    X = random.integers(0, 2, (n, 3)).astype(kind)
    X[0] = 1
    for name in NAMES:
        model = fitted(name, X, np.arange(n) % 2)
        assert model._fit_X.dtype == np.float32 and model._index().arithmetic == "f32"
        queries, _ = model._queries(X[:2].astype(np.float64) + 0.1)
        assert queries.dtype == np.float32


@pytest.mark.parametrize("kind", ["float64", "int32", "uint32", "int64", "list", "frame", "frame of whole numbers"])
@pytest.mark.parametrize("name", NAMES)
def test_all_other_rows_are_kept(random, kind, name):
    pd = pytest.importorskip("pandas")
    whole = 2**25 + random.integers(0, 1000, (n, 3))
    X = {
        "list": lambda: whole.tolist(),
        "frame": lambda: pd.DataFrame(whole.astype(np.float64), columns=list("abc")),
        "frame of whole numbers": lambda: pd.DataFrame(whole, columns=list("abc")),
    }.get(kind, lambda: whole.astype(kind))()
    model = fitted(name, X, np.arange(n) % 2)
    assert model._fit_X.dtype == np.float64 and np.array_equal(model._fit_X, whole)
    assert model._index().arithmetic == "f64"
    queries, _ = model._queries(X)
    assert queries.dtype == np.float64 and np.array_equal(queries, whole)


def test_whole_numbers_that_are_no_double_are_refused(places):
    pd = pytest.importorskip("pandas")
    large = np.array([[0, 1], [2**53 + 1, 2]])
    words = r"row 1, column 0.* 9007199254740993.* beyond 2\^53"
    for rows in (large, large.tolist(), pd.DataFrame(large, columns=["a", "b"])):
        with pytest.raises(kith.InvalidArgument, match=f"kith.sklearn.NearestNeighbors: X: {words}"):
            ours.NearestNeighbors(device="cpu").fit(rows)
        with pytest.raises(kith.InvalidArgument, match=words):
            ours.NearestNeighbors(n_neighbors=1, device="cpu").fit([[0.0, 1.0]]).kneighbors(rows)


def test_frames_of_float32_stay_so(random):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(random.random((n, 2)).astype(np.float32), columns=["a", "b"])
    assert fitted("NearestNeighbors", frame, None)._fit_X.dtype == np.float32
