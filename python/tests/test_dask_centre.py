"""Tests that Dask's index has one centre for all shards, and gives the bits of one index of all rows."""

import kith
import numpy as np
import pytest

from test_centre import Q, X, same

pytest.importorskip("distributed")
import dask.array  # noqa: E402
import kith.dask  # noqa: E402
from distributed import Client  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def client():
    with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as made:
        yield made


@pytest.fixture(scope="module")
def one():
    return kith.Index(X, device="cpu", centre=True)


def files(folder):
    places, names = [0, 13, 120, 400], []
    for i, (a, b) in enumerate(zip(places, places[1:])):
        names.append(str(folder / f"{i}.npy"))
        np.save(names[-1], X[a:b])
    return names


@pytest.mark.parametrize("learned", [True, False])
def test_shards_have_one_centre(one, learned, tmp_path):
    centre = True if learned else one.centre
    blocks = dask.array.from_array(X, chunks=((90, 1, 309), (2, 1)))
    one.save(tmp_path / "a.kidx")
    for index in (
        kith.dask.Index.from_array(X, device="cpu", shards=3, centre=centre),
        kith.dask.Index.from_array(X.tolist(), device="cpu", shards=2, centre=centre),
        kith.dask.Index.from_array(blocks, device="cpu", centre=centre),
        kith.dask.Index.from_files(files(tmp_path), device="cpu", centre=centre),
        kith.dask.Index.from_files(files(tmp_path), device="cpu", shard_rows=50, centre=centre),
        kith.dask.Index.from_index_file(tmp_path / "a.kidx", device="cpu", shards=3),
    ):
        right = one.search(Q, 5)
        same(index.search(Q, 5), right)
        same(index.search(Q, 5, tile=7), right)
        asked = dask.array.from_array(Q, chunks=(11, 3))
        same(kith.Neighbors(*dask.compute(*index.search(asked, 5))), right)
        np.save(tmp_path / "q.npy", Q)
        same(index.search(str(tmp_path / "q.npy"), 5), right)
        radius = float(right.distance[0, 2])
        for mine, whole in zip(index.within(Q, radius), one.within(Q, radius)):
            assert mine.tolist() == whole.tolist()
        assert index.verify(Q, 3, share=1.0, seed=1)


def test_the_advice_and_what_is_refused(tmp_path):
    with pytest.warns(kith.PrecisionWarning, match="; pass arithmetic='f64', by which every digit"):
        kith.dask.Index.from_array(X, device="cpu", arithmetic="f32")
    with pytest.raises(kith.InvalidArgument, match="and cosine is none of l2, squared_l2, l1 and linf"):
        kith.dask.Index.from_array(X, "cosine", device="cpu", centre=True)
    with pytest.raises(kith.InvalidArgument, match="the centre has 2 values for rows of 3 columns"):
        kith.dask.Index.from_array(X, device="cpu", centre=[1, 2])
    with pytest.raises(kith.InvalidArgument, match="centre='mean'; pass True"):
        kith.dask.Index.from_array(X, device="cpu", centre="mean")
    with pytest.raises(kith.InvalidArgument, match="u8, and a centre is for f32 and f64"):
        kith.dask.Index.from_array(np.ones((9, 3), np.uint8), device="cpu", centre=True)
    bad = X.copy()
    bad[300, 1] = np.nan
    with pytest.raises(kith.InvalidArgument, match="training row 300, column 1 holds NaN"):
        kith.dask.Index.from_array(bad, device="cpu", shards=3, centre=True)
