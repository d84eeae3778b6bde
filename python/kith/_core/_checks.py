"""Arguments of calls, checked and written into options."""

from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np

from .._rows._arrays import address, index_array
from . import _structs as s
from ._errors import InvalidArgument
from ._metrics import check_metric, metric_named, metrics
from ._types import Float64


def metric_name(metric: Any, where: str) -> str:
    if not isinstance(metric, str):
        raise InvalidArgument(f"{where}: metric={metric!r}; pass a name, one of {', '.join(metrics())}")
    check_metric(metric, where)
    return metric


def check_columns(train: Optional[list[Any]], queries: Optional[list[Any]], what: str) -> None:
    """Refuse a frame whose columns have other names, or another order, than the training rows'."""
    # As texts: what pandas calls 0 Arrow calls "0".
    if train is not None and queries is not None and [*map(str, train)] != [*map(str, queries)]:
        raise InvalidArgument(
            f"{what}: columns {_few(queries)}, but the training rows have {_few(train)}; "
            "choose the columns in the order of the training rows"
        )


def _few(names: list[Any]) -> str:
    return repr(names) if len(names) <= 6 else f"{names[:6]!r} and {len(names) - 6} more"


def choose(
    options: s.SearchOptions,
    threads: int,
    memory_limit: int,
    selector: Optional[str],
    proposer: Optional[str],
    boxes: Optional[bool] = None,
) -> None:
    options.threads = thread_count(threads, "kith: threads")
    options.memory_limit = not_negative(memory_limit, "kith: memory_limit")
    options.selector = selector.encode() if selector else None
    options.proposer = proposer.encode() if proposer else None
    options.boxes = 0 if boxes is None else 1 if boxes else -1


def name_columns(options: s.IndexOptions, features: Optional[Any], ids: Optional[Any], what: str) -> None:
    """Write which columns count, and the numbers of the rows, into options, which keep the arrays they point at."""
    if features is not None:
        options.columns = index_array(features, f"{what}: features")
        options.features, options.feature_count = address(options.columns), len(options.columns)
    if ids is not None:
        options.numbers = index_array(ids, f"{what}: ids")
        options.ids, options.id_count = address(options.numbers), len(options.numbers)


def place(options: Union[s.IndexOptions, s.OpenOptions], placement: str, shares: Optional[Any], what: str) -> None:
    """Write where rows go on a set of devices into options, which keep the array they point at."""
    options.placement = placement.encode() if isinstance(placement, str) else b"?"
    if shares is None:
        return
    options.parts = _numbers(shares, f"{what}: shares={shares!r}; pass one number a device")
    options.shares, options.share_count = address(options.parts), len(options.parts)


def advice_on_centre(metric: str, do: str = "pass") -> str:
    """How a centre is passed, for a warning; empty where the metric takes none."""
    return f"{do} centre=True" if metric_named(metric) in ("l2", "squared_l2", "l1", "linf") else ""


def centre_by(options: s.IndexOptions, centre: Optional[Any], what: str) -> bool:
    """Write a centre into options, which keep its array; whether there is one."""
    if centre is None or centre is False:
        return False
    if centre is True:
        options.learn_centre = 1
        return True
    options.moved_by = centre_of(centre, what)
    options.centre, options.centre_count = address(options.moved_by), len(options.moved_by)
    return True


def centre_of(centre: Any, what: str) -> Float64:
    """A centre that is given."""
    shown = " ".join(repr(centre).split())
    wrong = f"{what}: centre={shown}; pass True for the mean of each column, or one number a column"
    values = _numbers(centre, wrong)
    if not len(values):
        raise InvalidArgument(wrong)
    return values


def _numbers(values: Any, wrong: str) -> Float64:
    try:
        numbers = np.ascontiguousarray(values, np.float64)
    except (TypeError, ValueError):
        numbers = np.empty((0, 0))
    if numbers.ndim != 1 or np.ndim(values) != 1:
        raise InvalidArgument(wrong)
    return numbers


def whole(value: Any, what: str) -> int:
    """A count of 64 bits, an int or NumPy's like: no float, 5.0 neither, and no bool.

    ctypes cuts off what lies beyond without a word.
    """
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        raise InvalidArgument(f"{what}: {value!r} is of type {type(value).__name__}; pass int({value})")
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        number = int(value.__index__())
    except (AttributeError, TypeError):
        raise InvalidArgument(
            f"{what}: {value!r} is no whole number, but of type {type(value).__name__}; pass an int"
        ) from None
    if not -(2**63) <= number < 2**63:
        raise InvalidArgument(f"{what}: {number} does not fit in 64 bits; pass less than 2^63")
    return number


def not_negative(value: Any, what: str) -> int:
    number = whole(value, what)
    if number < 0:
        raise InvalidArgument(f"{what}: {number} is below 0; pass 0 or more")
    return number


def at_least_1(value: Any, what: str) -> int:
    number = whole(value, what)
    if number < 1:
        raise InvalidArgument(f"{what} = {number}; choose 1 or more")
    return number


def thread_count(value: Any, what: str) -> int:
    number = not_negative(value, what)
    if number >= 2**32:
        raise InvalidArgument(f"{what}: {number}; pass the number of threads, less than 2^32, or 0 for one a core")
    return number
