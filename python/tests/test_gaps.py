"""Tests rows with missing values beside scikit-learn: docs/contract.md, section 1."""

import pickle
import warnings

import kith
import numpy as np
import pytest

METRIC = "nan_euclidean"
NONE = float("nan")


def holes(random, rows, columns=6, share=0.2):
    """Returns rows of float64 with missing values; some are like others, and one has none at all."""
    x = random.normal(size=(rows, columns))
    x[3::7] = x[2:-1:7][: len(x[3::7])]
    x[random.random(x.shape) < share] = np.nan
    x[5] = np.nan
    return x


def distances(queries, rows):
    """Returns distances in double precision; NaN where no column is common."""
    off = queries[:, None, :].astype(float) - rows[None, :, :].astype(float)
    common = (~np.isnan(off)).sum(axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt(np.nansum(off**2, axis=2) / common * rows.shape[1])


def check(found, right):
    """Says that lists are those of `right`, but for ties and for the rounding to float32."""
    distance, row = found
    there, k = row >= 0, row.shape[1]
    assert np.array_equal(there.sum(axis=1), np.minimum((~np.isnan(right)).sum(axis=1), k))
    assert np.isinf(distance[~there]).all() and (row[~there] == -1).all()
    mine = np.where(there, np.take_along_axis(right, np.maximum(row, 0), 1), np.nan)
    assert np.allclose(mine, np.sort(right, axis=1)[:, :k], rtol=1e-6, atol=1e-6, equal_nan=True)
    assert np.allclose(mine[there], distance[there], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_arrays(device, random, kind):
    X, Q = holes(random, 200).astype(kind), holes(random, 15).astype(kind)
    index = kith.Index(X, METRIC, device)
    found, right = index.search(Q, 200), distances(Q, X)
    check(found, right)
    assert index.arithmetic == "f32" and found.distance.dtype == np.float32
    near = index.within(Q, 1.5)
    assert np.array_equal(np.diff(near.first), (found.distance <= 1.5).sum(axis=1)) and (near.row >= 0).all()
    grown = kith.Index(X[:150], METRIC, device).with_(X[150:])
    assert np.array_equal(grown.search(Q, 200).row, found.row)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_pickles(device, random, kind):
    X = holes(random, 50).astype(kind)
    index = kith.Index(X, METRIC, device)
    again = pickle.loads(pickle.dumps(index))
    assert again.metric == METRIC and np.array_equal(again.search(X, 50).row, index.search(X, 50).row)


def test_lists_and_tensors(device):
    lists = [[1.0, None, 3], [2, 5, NONE], [None, None, None]]
    array = np.array(lists, float)
    right = kith.Index(array, METRIC, device).search(array, 3)
    assert right.row.tolist() == [[0, 1, -1], [1, 0, -1], [-1, -1, -1]]
    found = kith.Index(lists, METRIC, device).search(lists, 3)
    assert np.array_equal(found.row, right.row) and np.array_equal(found.distance, right.distance)
    torch = pytest.importorskip("torch")
    for kind in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        tensor = torch.tensor(array, dtype=kind)
        assert np.array_equal(kith.Index(tensor, METRIC, device).search(tensor, 3).row, right.row)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_models_and_graphs(device, kind):
    X, Q = np.array([[1, NONE], [2, NONE], [5, NONE], [NONE, 0]], kind), np.array([[NONE, NONE], [1.5, 3]], kind)
    voter = kith.Classifier(X, [4, 4, 9, 7], METRIC, device)
    assert voter.predict(Q, 2, no_label=-5).tolist() == [-5, 4]
    assert voter.predict_proba(Q, 3)[0].tolist() == [0, 0, 0]
    assert voter.with_([[5.0, None]], [1]).predict(Q, 5, no_label=-5).tolist() == [-5, 4]
    means = kith.Regressor(X, [1.0, 2, 3, 4], METRIC, device).predict(Q, 2)
    assert np.isnan(means[0]) and means[1] == 1.5
    graph = kith.knn_graph(X, 2, METRIC, device)
    assert graph.row.tolist() == [[1, 2], [0, 2], [1, 0], [-1, -1]] and np.isinf(graph.distance[3]).all()


def test_a_graph_of_float64_by_braycurtis(device, random):
    X = random.random((20, 3))
    found = kith.knn_graph(X, 2, "braycurtis", device)
    assert np.array_equal(found.row, kith.knn_graph(X.astype(np.float32), 2, "braycurtis", device).row)


# ---- Frames ----

COLUMNS = {
    "float": [1.5, NONE, 3],
    "Int64": ("Int64", [1, None, 3]),
    "Float64": ("Float64", [1.5, None, 3]),
    "Float32": ("Float32", [1.5, None, 3]),
    "boolean": ("boolean", [True, None, False]),
    "object": np.array([1, None, 3], object),
    "object without a gap": np.array([1, 2.5, 3], object),
    "nothing": np.array([None, None, None], object),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_frames_of_pandas(device, kind):
    pd = pytest.importorskip("pandas")
    given = COLUMNS[kind]
    column = pd.array(given[1], given[0]) if isinstance(given, tuple) else given
    as_frames(device, pd.DataFrame({"v": [1.0, 2, 4], "age": column}), given[1] if isinstance(given, tuple) else given)


@pytest.mark.parametrize("column", [[1.5, None, 3.0], [1, None, 3], [True, None, False], [None] * 3])
@pytest.mark.parametrize("library", ["polars", "pyarrow", "pandas of pyarrow"])
def test_frames_of_others(device, library, column):
    module = pytest.importorskip(library.rpartition(" ")[2])
    frame = getattr(module, "DataFrame", getattr(module, "table", None))({"v": [1.0, 2, 4], "age": column})
    if library.startswith("pandas"):
        pd = pytest.importorskip("pandas")
        frame = frame.to_pandas(types_mapper=pd.ArrowDtype)
    as_frames(device, frame, column)


def as_frames(device, frame, column):
    rows = np.array([[1.0, 2, 4], column], float).T
    right = kith.Index(rows, METRIC, device).search(rows, 3)
    for train, queries in ((frame, frame), (frame, rows), (rows, frame)):
        found = kith.Index(train, METRIC, device).search(queries, 3)
        assert np.array_equal(found.row, right.row) and np.array_equal(found.distance, right.distance)
    with pytest.raises(kith.InvalidArgument):
        kith.Index(frame, "l2", device).search(rows, 1)
    ours = pytest.importorskip("kith.sklearn")
    found = ours.NearestNeighbors(n_neighbors=3, metric=METRIC, device=device).fit(frame).kneighbors(frame)
    assert np.array_equal(found[1], right.row)


@pytest.mark.parametrize("others", [{}, {"age": [True, False]}])  # by one array, and by columns
def test_what_frames_refuse(device, others):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"v": [NONE, np.inf], **others})
    for take in (
        lambda: kith.Index(frame, METRIC, device),
        lambda: kith.Index(frame[:1], METRIC, device).search(frame, 1),
    ):
        with pytest.raises(kith.InvalidArgument, match=r"row 1, column 0 \('v'\) holds inf; fill it in"):
            take()
    with pytest.raises(kith.InvalidArgument, match=r"row 0, column 0 \('v'\) holds NaN; fill it in"):
        kith.Index(frame, "l2", device)
    with pytest.raises(kith.InvalidArgument, match="column 't' has dtype .* texts"):
        kith.Index(pd.DataFrame({"t": np.array(["a", None], object)}), METRIC, device)


def test_what_arrays_refuse(device):
    with pytest.raises(kith.InvalidArgument, match="row 1, column 0 holds an infinity; make every value finite, or NaN"):
        kith.Index([[NONE], [-np.inf]], METRIC, device)
    with pytest.raises(kith.InvalidArgument, match="row 1, column 0: 1e\\+300 is too large for single .*; scale the"):
        kith.Index([[NONE], [1e300]], METRIC, device)
    for metric in ("l2", "cosine", "braycurtis"):
        with pytest.raises(kith.InvalidArgument, match="row 0, column 1 holds NaN"):
            kith.Index([[1, NONE], [2, 3]], metric, device)


# ---- Digits ----


def notes(take):
    """Returns the texts of warnings about digits, of which there is nothing else."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        take()
    assert all(one.category is kith.PrecisionWarning for one in told)
    return [str(one.message) for one in told]


def far(gap):
    x = np.array([[1e9, 1], [1e9 + 7, 2], [1e9 + 30, 3], [gap, 4]])
    return np.hstack([x, np.full((4, 1), np.nan)]) if np.isnan(gap) else np.hstack([x, np.zeros((4, 1))])


def test_lost_digits_are_told_beside_gaps(device):
    [right], [found] = (notes(lambda: kith.Index(far(one), METRIC, device)) for one in (1e9, NONE))
    said = "kith.Index: X: column 0: float32 keeps its values to 64, and they span 30: 1000000030 becomes 1000000000, 30 off"
    assert right == f"{said}; subtract a common offset in float64, the same from rows and queries: x - x.mean(0)"
    assert found == right.replace("x.mean(0)", "numpy.nanmean(x, axis=0)")
    x = far(NONE)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        moved = x - np.nanmean(x, axis=0)
    assert notes(lambda: kith.Index(moved, METRIC, device)) == []
    pd = pytest.importorskip("pandas")
    [named] = notes(lambda: kith.Index(pd.DataFrame(x), METRIC, device))
    assert named.endswith("from rows and queries: x - x.mean(0)")


def test_other_ways_tell_lost_digits(device):
    x = far(NONE)
    index = kith.Index(x.astype(np.float32), METRIC, device)
    for take in (
        lambda: kith.knn_graph(x, 1, METRIC, device),
        lambda: index.search(x, 1),
        lambda: index.with_(x),
        lambda: kith.Classifier(x, [1, 2, 3, 4], METRIC, device),
    ):
        [told] = notes(take)
        assert "column 0: float32 keeps its values to 64" in told and "arithmetic=" not in told
    assert notes(lambda: kith.Index(x, METRIC, device, features=[1])) == []
    ours = pytest.importorskip("kith.sklearn")
    [told] = notes(lambda: ours.NearestNeighbors(metric=METRIC, device=device).fit(x))
    assert "column 0: float32 keeps its values to 64" in told


def test_rows_that_become_equal(device):
    near = np.nextafter(0.1, 1)
    x = np.array([[0.1, NONE, 1], [near, 5, 1], [NONE, NONE, 1], [near, NONE, 1], [9, 9, 9]])
    [told] = notes(lambda: kith.Index(x, METRIC, device))
    assert "; rows 0 and 3, which differ, become equal" in told
    assert notes(lambda: kith.Index(x[[0, 1, 2, 4]], METRIC, device)) == []
    equal = np.array([[0.1, NONE], [0.1, -NONE], [0.1, NONE], [5, 5]])
    assert notes(lambda: kith.Index(equal, METRIC, device)) == []


# ---- scikit-learn ----


def test_like_scikit_learn(device, random):
    neighbors, ours = pytest.importorskip("sklearn.neighbors"), pytest.importorskip("kith.sklearn")
    X, Q = holes(random, 200), holes(random, 60)
    Q[5] = 0.5
    labels, how = np.arange(200) % 3, {"n_neighbors": 5, "metric": METRIC}
    right = neighbors.NearestNeighbors(**how, algorithm="brute").fit(X)
    mine = ours.NearestNeighbors(**how, device=device).fit(X)
    assert mine.__sklearn_tags__().input_tags.allow_nan
    assert not ours.NearestNeighbors(metric="l2").__sklearn_tags__().input_tags.allow_nan
    check(mine.kneighbors(Q), distances(Q, X))
    theirs, found = right.kneighbors(Q), mine.kneighbors(Q)
    assert np.allclose(found[0], theirs[0], rtol=1e-6, atol=1e-6)
    same = (np.sort(found[1], axis=1) == np.sort(theirs[1], axis=1)).all(axis=1)
    assert same.mean() > 0.9
    for one, other in zip(mine.radius_neighbors(Q, 1.7)[1], right.radius_neighbors(Q, 1.7)[1]):
        assert set(one) == set(other)
    for weights in ("uniform", "distance"):
        theirs = neighbors.KNeighborsClassifier(**how, weights=weights, algorithm="brute").fit(X, labels)
        voter = ours.KNeighborsClassifier(**how, weights=weights, device=device).fit(X, labels)
        assert np.array_equal(voter.predict(Q)[same], theirs.predict(Q)[same])
        assert np.allclose(voter.predict_proba(Q)[same], theirs.predict_proba(Q)[same], rtol=1e-4)
        theirs = neighbors.KNeighborsRegressor(**how, weights=weights, algorithm="brute").fit(X, labels)
        mean = ours.KNeighborsRegressor(**how, weights=weights, device=device).fit(X, labels)
        assert np.allclose(mean.predict(Q)[same], theirs.predict(Q)[same], rtol=1e-4)
    again = pickle.loads(pickle.dumps(voter))
    assert np.array_equal(again.predict(Q), voter.predict(Q))


def test_few_neighbours_of_estimators(device):
    ours = pytest.importorskip("kith.sklearn")
    X, Q = np.array([[1, NONE], [2, NONE], [NONE, 0]]), np.array([[NONE, NONE], [1.25, NONE], [NONE, 3]])
    model = ours.NearestNeighbors(n_neighbors=2, metric=METRIC, device=device).fit(X)
    distance, row = model.kneighbors(Q)
    assert row.tolist() == [[-1, -1], [0, 1], [2, -1]] and np.isinf(distance[row < 0]).all()
    graph = model.kneighbors_graph(Q)
    assert graph.toarray().tolist() == [[0, 0, 0], [1, 1, 0], [0, 0, 1]] and graph.nnz == 3
    assert [len(one) for one in model.radius_neighbors(Q, 99)[1]] == [0, 2, 1]
    pytest.importorskip("pandas")
    frame = model.kneighbors_frame(Q)
    assert frame[["query", "rank", "neighbor"]].values.tolist() == [[1, 0, 0], [1, 1, 1], [2, 0, 2]]


@pytest.mark.parametrize("weights", ["uniform", "distance", np.ones_like, lambda distance: distance])
def test_a_query_without_neighbours_has_no_answer(device, weights):
    ours = pytest.importorskip("kith.sklearn")
    X, Q = np.array([[1, NONE], [2, NONE], [NONE, 0]]), np.array([[NONE, NONE], [1.25, NONE], [NONE, 3]])
    how = {"n_neighbors": 2, "metric": METRIC, "device": device, "weights": weights}
    voter = ours.KNeighborsClassifier(**how).fit(X, ["a", "a", "b"])
    with pytest.raises(kith.InvalidArgument, match="no class wins for 1 of 3 queries, first query 0; pass no_label"):
        voter.predict(Q)
    assert voter.set_params(no_label="?").predict(Q).tolist() == ["?", "a", "b"]
    assert voter.predict_proba(Q).tolist() == [[0, 0], [1, 0], [0, 1]]
    mean = ours.KNeighborsRegressor(**how).fit(X, [3.0, 3, 5]).predict(Q)
    assert np.isnan(mean[0]) and mean[1:].tolist() == [3, 5]


def test_a_query_without_rows_within_a_radius(device):
    ours = pytest.importorskip("kith.sklearn")
    X, Q = np.array([[1, NONE], [2, NONE], [NONE, 0]]), np.array([[NONE, NONE], [1.25, NONE]])
    near = ours.RadiusNeighborsClassifier(9, metric=METRIC, device=device).fit(X, ["a", "a", "b"])
    with pytest.raises(kith.InvalidArgument, match="No neighbors found for test samples .0."):
        near.predict(Q)
    with pytest.warns(UserWarning, match="predicting NaN"):
        mean = ours.RadiusNeighborsRegressor(9, metric=METRIC, device=device).fit(X, [3.0, 3, 5]).predict(Q)
    assert np.isnan(mean[0]) and mean[1] == 3


def test_what_estimators_refuse(device):
    ours = pytest.importorskip("kith.sklearn")
    X = np.array([[1, NONE], [2, 3], [4, 5]])
    with pytest.raises(ValueError, match="contains infinity"):
        ours.NearestNeighbors(metric=METRIC, device=device).fit([[NONE], [np.inf]])
    with pytest.raises(ValueError, match="contains NaN"):
        ours.NearestNeighbors(metric="l2", device=device).fit(X)
    model = ours.NearestNeighbors(metric=METRIC, device=device, n_neighbors=1).fit(X).set_params(metric="l2")
    assert model.kneighbors(X)[1].tolist() == [[0], [1], [2]]  # by the metric of fit


@pytest.mark.parametrize("metric", [METRIC, "braycurtis"])
@pytest.mark.parametrize("kind", ["list", "objects", "array", "Int64", "object column", "polars", "pyarrow"])
def test_estimators_give_advice_that_runs(device, metric, kind):
    ours = pytest.importorskip("kith.sklearn")
    column = [10**9, 10**9 + 1, 10**9 + 30, None if metric == METRIC else 10**9]
    if kind == "list":
        x = [[one, 1] for one in column]
    elif kind in ("objects", "array"):
        x = np.array([[one, 1] for one in column], object if kind == "objects" else float)
    elif kind in ("Int64", "object column"):
        pd = pytest.importorskip("pandas")
        x = pd.DataFrame({"a": pd.array(column, "Int64") if kind == "Int64" else np.array(column, object), "b": 1})
    else:
        module = pytest.importorskip(kind)
        x = getattr(module, "DataFrame", getattr(module, "table", None))({"a": column, "b": [1] * 4})
    for estimator in (ours.NearestNeighbors, ours.KNeighborsClassifier, ours.KNeighborsRegressor):
        model = estimator(n_neighbors=1, metric=metric, device=device)
        [told] = notes(lambda: model.fit(x, [1, 2, 3, 4]))
        assert told.startswith(f"kith.sklearn.{estimator.__name__}: X: column 0")
        assert notes(lambda: (model.kneighbors(x), model.kneighbors())) == []
    names = {"x": x, "numpy": np}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of pandas, about mean(0)
        *before, shown = told.rpartition(": ")[2].split(", then ")
        if before:
            exec(before[0], names)
        moved = eval(shown, names)
    assert np.asarray(moved)[2, 0] - np.asarray(moved)[1, 0] == 29


def test_advice_on_dates_of_which_the_first_is_missing(device):
    dates = np.array(["NaT", "2024-05-06", "2024-05-09"], "M8[D]")[:, None]
    for x in (dates, dates.astype(object), np.array([[one] for one in dates[:, 0]] + [[None]], object)):
        with pytest.raises(kith.InvalidArgument, match="dates such as 2024-05-06.*; pass .numpy") as told:
            kith.Index(x, METRIC, device)
        moved = eval(str(told.value).rpartition("; pass ")[2], {"numpy": np, "x": x})
        assert moved[1:3].tolist() == [[0], [3 * 86400]] and np.isnan(moved[0, 0])
        assert kith.Index(moved, METRIC, device).search(moved[:1], 1).row.tolist() == [[-1]]
    with pytest.raises(kith.InvalidArgument, match="dates that are missing.*datetime64.'1970-01-01'"):
        kith.Index(dates[:1], METRIC, device)
    pd = pytest.importorskip("pandas")
    with pytest.raises(kith.InvalidArgument, match="column 't' .* dates such as 2024-05-06; .*datetime64.'2024-05-06'"):
        kith.Index(pd.DataFrame({"t": dates[:, 0].astype("M8[s]")}), METRIC, device)


# ---- What numbers and missing values are told ----


def test_masked_values(device):
    x = np.ma.masked_array([[1, 2], [3, 4]], [[0, 0], [0, 1]])
    with pytest.raises(kith.InvalidArgument, match=r"masked values; make them NaN \(x.astype\(float\).filled\(numpy.nan\)"):
        kith.Index(x, METRIC, device)
    filled = x.astype(float).filled(np.nan)
    assert np.array_equal(filled, [[1, 2], [3, NONE]], equal_nan=True)
    assert kith.Index(filled, METRIC, device).search([[3, 9]], 2).row.tolist() == [[1, 0]]
    ours = pytest.importorskip("kith.sklearn")
    with pytest.raises(kith.InvalidArgument, match=r"NearestNeighbors: X: masked values; make them NaN"):
        ours.NearestNeighbors(metric=METRIC, device=device).fit(x.astype(object))


def test_None_by_a_metric_without_gaps(device):
    for metric in ("l2", "cosine", "braycurtis"):
        with pytest.raises(kith.InvalidArgument, match="X: row 1, column 2 holds None; .*, or choose metric='nan_euclidean'"):
            kith.Index([[1, 2, 4], [1, 2, None]], metric, device)
    advised = [("l1", {}, "nan_manhattan"), ("cityblock", {}, "nan_manhattan"), ("gower", {}, "nan_gower")]
    for metric, takes, other in [*advised, ("l1", {"box": [9, 9]}, "nan_manhattan"), ("l2", {"centre": True}, METRIC)]:
        for arithmetic in ("f32", "f64") if not takes else ("f32",):
            with pytest.raises(kith.InvalidArgument, match=f"row 1, column 1 holds None; .* metric='{other}'"):
                kith.Index([[1, 2], [1, None]], metric, device, arithmetic=arithmetic, **takes)
        index = kith.Index([[1, 2], [1, 3]], metric, device, **takes)
        with pytest.raises(kith.InvalidArgument, match=f"Q: row 0, column 1 holds None; .* metric='{other}'"):
            index.search([[1, None]], 1)
        with pytest.raises(kith.InvalidArgument, match=f"X: row 1, column 1 holds None; .* metric='{other}'"):
            kith.knn_graph([[1, 2], [1, None]], 1, metric, device, **takes)
    with pytest.raises(kith.InvalidArgument, match="Q: row 0, column 0 holds None; fill it in"):
        kith.Index([[1, 2]], "l2", device).search([[None, 1]], 1)


def estimators_and_index(device):
    ours = pytest.importorskip("kith.sklearn")
    return [
        lambda x: kith.Index(x, METRIC, device),
        lambda x: ours.NearestNeighbors(metric=METRIC, device=device).fit(x),
    ]


def test_whole_numbers_beside_None(device):
    for take in estimators_and_index(device):
        with pytest.raises(kith.InvalidArgument, match=f"row 1, column 0 holds {2**60 + 1}, which is no float64, .*; subtract"):
            take([[2**60, None], [2**60 + 1, 1]])
        with pytest.raises(kith.InvalidArgument, match="row 0, column 0 holds a number of more than 30 digits.*; scale the"):
            take([[10**400, 1], [2**60, None]])
        with pytest.raises(kith.InvalidArgument, match="row 0, column 1 holds a number of more than 30 digits.*; scale the"):
            take([[None, 10**9999]])
        take([[2**20, None], [2**53, 1]])


@pytest.mark.parametrize("kind", ["Int64", "int64[pyarrow]", "beside floats", "polars", "pyarrow"])
def test_whole_numbers_beside_gaps_of_frames(device, kind):
    pd = pytest.importorskip("pandas")
    column, other = [2**60 + 1, None, 2**60], [1.0, 2.0, NONE]
    if kind in ("polars", "pyarrow"):
        module = pytest.importorskip(kind)
        frame = getattr(module, "DataFrame", getattr(module, "table", None))({"v": other, "age": column})
    elif kind == "beside floats":
        frame = pd.DataFrame({"v": other, "age": [2**60 + 1, 2**60, 2**60]})
    else:
        if "pyarrow" in kind:
            pytest.importorskip("pyarrow")
        frame = pd.DataFrame({"v": other, "age": pd.array(column, kind)})
    for take in estimators_and_index(device):
        with pytest.raises(kith.InvalidArgument, match="'age'.* row 0 holds|row 0, column 1 .'age'. holds.*; subtract a common"):
            take(frame)
