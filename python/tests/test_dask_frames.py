"""Tests what Dask's index and estimators accept and refuse: frames, labels, targets, counts and radii."""

import datetime

import kith
import numpy as np
import pytest

pytest.importorskip("distributed")
import kith.dask  # noqa: E402
from distributed import Client  # noqa: E402

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

X = pd.DataFrame({"height": [1.75, 1.5, 2.0, 1.0], "weight": [60.0, 90.0, 75.0, 40.0]})
SWAPPED = X[["weight", "height"]]


@pytest.fixture(scope="module", autouse=True)
def client():
    with Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as made:
        yield made


@pytest.mark.parametrize("made", [lambda x: x, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "Arrow"])
def test_names_are_compared(made):
    index = kith.dask.Index.from_array(made(X), device="cpu", shards=2)
    model = kith.dask.KNeighborsRegressor(1, device="cpu").fit(made(X), [1, 2, 3, 4])
    assert (
        index.search(made(X), 1).row.ravel().tolist()
        == index.search(X.to_numpy(), 1).row.ravel().tolist()
        == [0, 1, 2, 3]
    )
    for ask in (
        lambda Q: index.search(Q, 1), lambda Q: index.within(Q, 1), lambda Q: index.verify(Q, 1, seed=1), model.predict,
    ):  # fmt: skip
        ask(made(X))
        with pytest.raises(kith.InvalidArgument, match=r"columns \['weight', 'height'\], but the training rows have"):
            ask(made(SWAPPED))


@pytest.mark.parametrize(
    "y",
    [
        pl.Series(["a", "b", "a", "b"]),
        pa.array(["a", "b", "a", "b"]),
        pd.Categorical(["a", "b", "a", "b"]),
        ["a", "b", "a", "b"],
    ],
    ids=["polars", "Arrow", "categories", "list"],
)
def test_labels_of_every_library(y):
    model = kith.dask.KNeighborsClassifier(1, device="cpu").fit(X, y)
    assert model.classes_.tolist() == ["a", "b"] and model.predict(X).tolist() == ["a", "b", "a", "b"]


@pytest.mark.parametrize("classes", [2, 256, 257])
def test_each_of_many_classes_is_its_own(classes):
    rows, y = np.arange(classes, dtype=np.float32)[:, None], np.arange(classes) * 3
    model = kith.dask.KNeighborsClassifier(1, device="cpu").fit(rows, y)
    assert model.predict(rows).tolist() == y.tolist()


DAYS = [datetime.date(2024, 2, 3)] * 4


@pytest.mark.parametrize(
    "y", [list("1234"), np.array(DAYS, "M8[s]"), DAYS, pd.PeriodIndex(DAYS, freq="D"), pl.Series(DAYS)]
)
def test_targets_that_are_no_numbers_are_refused(y):
    with pytest.raises(kith.InvalidArgument, match="^kith.dask.KNeighborsRegressor: y of dtype .*; pass ") as raised:
        kith.dask.KNeighborsRegressor(1, device="cpu").fit(X, y)
    made = eval(str(raised.value).rpartition("; pass ")[2], {"numpy": np, "y": y})
    assert kith.dask.KNeighborsRegressor(1, device="cpu").fit(X, made).predict(X).tolist() == made.tolist()


@pytest.mark.parametrize("y", [np.array(list("1234")), np.array(DAYS, "M8[s]"), np.array(list("1234"), object)])
def test_lazy_targets_that_are_no_numbers_are_refused(y):
    import dask.array as da

    lazy = da.from_array(y, chunks=2)
    with pytest.raises(
        kith.InvalidArgument, match="y: a dask array of dtype .*; pass y.astype.float. where they spell"
    ):
        kith.dask.KNeighborsRegressor(1, device="cpu").fit(X, lazy)
    if y.dtype.kind != "M":
        model = kith.dask.KNeighborsRegressor(1, device="cpu").fit(X, lazy.astype(float))
        assert model.predict(X).tolist() == [1, 2, 3, 4]


def test_counts_and_radii():
    index = kith.dask.Index.from_array(X, device="cpu")
    for call, told in [
        (lambda: index.search(X, 1.0), r"k: 1.0 is of type float; pass int\(1.0\)"),
        (lambda: index.search(X, 1, tile=2.0), r"tile: 2.0 is of type float; pass int\(2.0\)"),
        (lambda: index.search(X, 1, tile=0), "tile = 0; choose 1 or more"),
        (lambda: kith.dask.Index.from_array(X, device="cpu", shards=2.0), r"shards: 2.0 is of type float"),
        (lambda: index.within(X, -1), "radius: -1.0 is below 0, and no distance is; give a radius of 0 or more for l2"),
        (lambda: index.within(X, [1, 1, -1, 1]), "radius: -1.0 of query 2 is below 0"),
    ]:
        with pytest.raises(kith.InvalidArgument, match=told):
            call()
    assert len(kith.dask.Index.from_array(X, "dot", device="cpu").within(X, -1).row) == 16
