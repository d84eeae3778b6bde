"""Records in pickles and copies which kith made them."""

from __future__ import annotations

from typing import Any

from ._errors import BadFile
from ._library import version

# The format of pickles of estimators and flat indices. Raise it if an attribute comes, goes or means something else.
# python/tests/test_pickles.py has the attributes.
FORMAT = 1

_STAMP = "_kith_pickle"


def stamped(state: dict[str, Any]) -> dict[str, Any]:
    return {**state, _STAMP: (version(), FORMAT)}


def unstamped(state: dict[str, Any], what: str) -> dict[str, Any]:
    """Return only the state.

    Raises
    ------
    kith.BadFile
        The pickle has another format.
    """
    state = dict(state)
    stamp = state.pop(_STAMP, None)
    if stamp is None:
        raise BadFile(
            f"{what}: its pickle does not say which version of kith made it, and this is kith {version()}, which reads "
            f"pickles of format {FORMAT}; {_ADVICE}"
        )
    made_by, kind = stamp
    if kind != FORMAT:
        raise BadFile(
            f"{what}: pickled by kith {made_by}, in format {kind}, but this is kith {version()}, which reads format "
            f"{FORMAT}; {_ADVICE}"
        )
    return state


_ADVICE = "make it again from its rows, or open it by the version that pickled it"
