"""Tests which float64 arrays on a GPU the host warns about, with NumPy as a stand-in for CuPy."""

import types
import warnings

import kith
import numpy as np
import pytest

from kith._rows._digits import Given, look_at_rounding
from kith._rows._rounded import _Cupy, is_silent

LIKE_CUPY = _Cupy(
    types.SimpleNamespace(
        asnumpy=np.asarray,
        isfinite=np.isfinite,
        ascontiguousarray=np.ascontiguousarray,
        lexsort=lambda keys: np.lexsort(tuple(keys)),
        stack=np.stack,
        where=np.where,
    )
)


def host_is_silent(x, rounded, given, quiet):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            look_at_rounding(x, rounded, given, quiet)
        except kith.InvalidArgument:
            return False
    return not told


def cases():
    random = np.random.default_rng(11)
    plain = random.normal(size=(500, 5))
    far = plain + np.array([0, 0, 1e9, 0, 0])
    pair = plain.copy()
    pair[400] = pair[17]
    yield "digits that do not matter", plain, None
    yield "floats", plain.astype(np.float32).astype(np.float64), None
    yield "far from 0", far, None
    yield "far from 0 in a column that does not count", far, [0, 1, 4]
    yield "equal rows", pair, None
    apart = pair.copy()
    apart[400, 3] = np.nextafter(apart[400, 3], 9)
    yield "rows that become equal", apart, None
    yield "rows that become equal but for a column that does not count", apart, [0, 2]
    zeros = np.zeros((40, 2))
    zeros[::2] = -0.0
    yield "zeros of both signs", np.hstack([zeros, np.repeat(random.normal(size=(20, 1)), 2, 0)]), None
    large = plain.copy()
    large[3, 1] = 1e300
    yield "too large", large, None
    yield "a column of one value", np.hstack([plain, np.full((500, 1), 0.1)]), None
    yield "whole numbers", np.floor(plain * 1e12), None
    yield from with_gaps("gaps", plain, far, pair, apart)
    yield from with_gaps("a column without values", plain[:, [0, 0]], far, large)


def with_gaps(what, *arrays):
    for number, x in enumerate(arrays):
        gone = x.copy()
        gone[7:300:9, 1] = np.nan
        gone[:, 0] = gone[:, 0] if what == "gaps" else np.nan
        yield f"{what}, {number}", gone, None


@pytest.mark.parametrize("what, x, features", list(cases()), ids=lambda value: value if isinstance(value, str) else "")
@pytest.mark.parametrize("quiet", [False, True])
def test_the_device_is_silent_where_the_host_is(what, x, features, quiet):
    given = Given("X", features=features, gaps=bool(np.isnan(x).any()))
    with np.errstate(over="ignore"):
        rounded = x.astype(np.float32)
    assert is_silent(LIKE_CUPY, x, rounded, given, quiet) == host_is_silent(x, rounded, given, quiet)
