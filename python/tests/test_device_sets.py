"""Tests that the placement of rows on a set of devices changes no answer."""

import kith
import numpy as np
import pytest

from reference import neighbors, whole


@pytest.fixture
def both(device):
    """Returns a set of the device under test and another one, if there is another."""
    specs = [found.spec for found in kith.devices()]
    others = [spec for spec in specs if spec != kith.Device(device).info.spec]
    if not others:
        pytest.skip("there is one device alone")
    return f"{device}+{others[0]}"


@pytest.mark.parametrize("placement, shares", [("automatic", None), ("split", [3, 1]), ("replicate", np.ones(2))])
def test_placement(both, random, tmp_path, placement, shares):
    train, queries = whole(random, 500, 4), whole(random, 30, 4)
    distance, row = neighbors(train, queries, 7, "l2")
    index = kith.Index(train, device=both, placement=placement, shares=shares)
    index.save(tmp_path / "a.kidx")
    opened = kith.Index(tmp_path / "a.kidx", device=both, placement=placement, shares=shares)
    streamed = kith.Index(train, device=both, storage="stream", placement=placement, shares=shares, chunk_rows=90)
    for one in (index, opened, streamed):
        found = one.search(queries, 7)
        assert np.array_equal(found.row, row) and np.array_equal(found.distance, distance)


@pytest.mark.parametrize("placement, shares", [("automatic", None), ("split", [3, 1]), ("replicate", np.ones(2))])
def test_placement_of_rows_with_answers(both, random, placement, shares):
    train, queries = whole(random, 500, 4), whole(random, 30, 4)
    labels, values = np.arange(500) % 7, np.arange(500) / 7
    for storage in (None, "stream"):
        given = {"device": both, "placement": placement, "shares": shares, "storage": storage}
        index = kith.Index(train, **given)
        voter, prices = kith.Classifier(train, labels, **given), kith.Regressor(train, values, **given)
        assert np.array_equal(voter.predict(queries, 7), kith.Classifier(index, labels).predict(queries, 7))
        assert np.array_equal(voter.predict_proba(queries, 7), kith.Classifier(index, labels).predict_proba(queries, 7))
        assert np.array_equal(prices.predict(queries, 7), kith.Regressor(index, values).predict(queries, 7))


def test_what_is_no_placement(device, random):
    train = whole(random, 5, 2)
    with pytest.raises(kith.InvalidArgument, match="none called"):
        kith.Index(train, device=device, placement="spread")
    with pytest.raises(kith.InvalidArgument, match="one number a device"):
        kith.Index(train, device=device, shares=[[1, 2]])
    with pytest.raises(kith.InvalidArgument, match="twice"):
        kith.Index(train, device="cpu+cpu")


def test_shares_of_another_count(both, random):
    with pytest.raises(kith.InvalidArgument, match="3 shares for the 2 members"):
        kith.Index(whole(random, 5, 2), device=both, shares=[1, 2, 3])
    with pytest.raises(kith.InvalidArgument, match="3 shares for the 2 members"):
        kith.Classifier(whole(random, 5, 2), range(5), device=both, shares=[1, 2, 3])
