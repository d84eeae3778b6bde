"""Checks arguments of calls, and writes them into options."""

from __future__ import annotations

import ctypes as c
import math
import numbers
from typing import Any, Optional, Union

import numpy as np

from .._rows._arrays import address, index_array
from . import _structs as s
from ._errors import InvalidArgument
from ._metrics import metric_named, metrics
from ._types import Float64, How


def metric_name(metric: Any, where: str) -> str:
    if not isinstance(metric, str):
        raise InvalidArgument(f"{where}: metric={metric!r}; pass a name, one of {', '.join(metrics())}")
    return metric


def check_columns(train: Optional[list[Any]], queries: Optional[list[Any]], what: str) -> None:
    """Refuse a frame whose columns have other names, or another order, than the training rows'."""
    # Names are compared as texts, since pandas may call a column 0, and Arrow calls it "0".
    if train is not None and queries is not None and [*map(str, train)] != [*map(str, queries)]:
        raise InvalidArgument(
            f"{what}: columns {_few(queries)}, but the training rows have {_few(train)}; "
            "choose the columns in the order of the training rows"
        )


def _few(names: list[Any]) -> str:
    return repr(names) if len(names) <= 6 else f"{names[:6]!r} and {len(names) - 6} more"


def search_options(
    where: str,
    threads: int = 0,
    memory_limit: int = 0,
    how: Optional[How] = None,
    exclude_self_from: Optional[int] = None,
    groups: Optional[Any] = None,
    rows_from_group: bool = False,
) -> s.SearchOptions:
    """Return checked options of a search, without a filter."""
    options = s.search_options()
    options.threads = thread_count(threads, f"{where}: threads")
    options.memory_limit = not_negative(memory_limit, f"{where}: memory_limit")
    if exclude_self_from is not None:
        options.has_self, options.self = 1, not_negative(exclude_self_from, f"{where}: exclude_self_from")
    if rows_from_group:
        options.rows_from_group = 1
    if groups is not None:
        divide(options, groups, where)
    if how:
        for name, value in how.items():
            _tune(options, name, value, f"{where}: how")
    return options


def _tune(options: s.SearchOptions, name: Any, value: Any, where: str) -> None:
    """Write a tuning option, by its kind, into options, which keep the values it points at."""
    kind = s.TUNING.get(name)
    what = f"{where}[{name!r}]"
    if kind is None:
        raise InvalidArgument(f"{what}: there is none called so; choose from {', '.join(s.TUNING)}")
    if kind == "number":
        setattr(options, name, not_negative(value, what))
    elif kind == "whether":
        if value is not None and not isinstance(value, bool):
            raise InvalidArgument(f"{what} = {value!r}; pass True, False, or None to let kith choose")
        setattr(options, name, 0 if value is None else 1 if value else -1)
    elif kind == "choice":
        setattr(options, name, _name_of(value, what))
    else:
        if isinstance(value, str):
            raise InvalidArgument(f"{what} = {value!r}; pass a list of names")
        names = [_name_of(one, what) for one in value]
        options.texts = (c.c_char_p * len(names))(*names)
        setattr(options, name, c.addressof(options.texts))
        setattr(options, f"{name}_count", len(names))


def _name_of(value: Any, what: str) -> bytes:
    if not isinstance(value, str):
        raise InvalidArgument(f"{what} = {value!r}; pass a name")
    return value.encode()


def divide(options: Union[s.IndexOptions, s.SearchOptions], groups: Optional[Any], what: str) -> None:
    """Write the borders of groups into options, which keep the array they point at."""
    if groups is not None:
        options.borders = index_array(groups, f"{what}: groups")
        options.groups, options.groups_count = address(options.borders), len(options.borders)


def name_columns(options: s.IndexOptions, features: Optional[Any], ids: Optional[Any], what: str) -> None:
    """Write which columns count, and the numbers of the rows, into options, which keep the arrays they point at."""
    if features is not None:
        options.columns = index_array(features, f"{what}: features")
        options.features, options.features_count = address(options.columns), len(options.columns)
    if ids is not None:
        options.numbers = index_array(ids, f"{what}: ids")
        options.ids, options.ids_count = address(options.numbers), len(options.numbers)


def place(options: Union[s.IndexOptions, s.OpenOptions], placement: str, shares: Optional[Any], what: str) -> None:
    """Write where rows go on a set of devices into options, which keep the array they point at."""
    options.placement = placement.encode() if isinstance(placement, str) else b"?"
    if shares is None:
        return
    options.parts = _numbers(shares, f"{what}: shares={shares!r}; pass one number a device")
    options.shares, options.shares_count = address(options.parts), len(options.parts)


def advice_on_centre(metric: str, do: str = "pass") -> str:
    """Say in a warning how to pass a centre; empty if the metric takes none."""
    return f"{do} centre=True" if metric_named(metric) in ("l2", "squared_l2", "l1", "linf") else ""


def centre_by(options: s.IndexOptions, centre: Optional[Any], what: str) -> bool:
    """Write a centre into options, which keep its array. Returns whether there is one."""
    if centre is None or centre is False:
        return False
    if centre is True:
        options.learn_centre = 1
        return True
    options.moved_by = centre_of(centre, what)
    options.centre, options.centre_count = address(options.moved_by), len(options.moved_by)
    return True


def box_by(options: s.IndexOptions, box: Optional[Any], what: str) -> bool:
    """Write the lengths of a periodic box into options, which keep their array. Returns whether there is one."""
    if box is None:
        return False
    wrong = f"{what}: box={' '.join(repr(box).split())}; pass one length a column, 0 for an open one"
    options.lengths = _numbers(box, wrong)
    if not len(options.lengths):
        raise InvalidArgument(wrong)
    options.box, options.box_count = address(options.lengths), len(options.lengths)
    return True


def measure_by(
    options: s.IndexOptions, metric: str, w: Optional[Any], V: Optional[Any], VI: Optional[Any], degrees: bool, what: str
) -> None:
    """Write what the metric takes into options, which keep the arrays: weights of columns, for seuclidean and
    mahalanobis V or VI, and whether places are in degrees."""
    name = metric_named(metric)
    for given, values, takers in (("V", V, ("seuclidean", "mahalanobis")), ("VI", VI, ("mahalanobis",))):
        if values is not None and name not in takers:
            raise InvalidArgument(
                f"{what}: {given} is given, which {' and '.join(takers)} {'take' if len(takers) > 1 else 'takes'}, but "
                f"the metric is {name}; leave it out, or choose {' or '.join(takers)}"
            )
    _measure(options, "column_weights", w, 1, f"{what}: w")
    if name == "seuclidean":
        _measure(options, "variances", V, 1, f"{what}: V")
    else:
        _measure(options, "covariance", V, 2, f"{what}: V")
    _measure(options, "inverse_covariance", VI, 2, f"{what}: VI")
    if not isinstance(degrees, (bool, np.bool_)):
        raise InvalidArgument(f"{what}: degrees={degrees!r}; pass True or False")
    options.degrees = 1 if degrees else 0


def terms_by(
    options: s.IndexOptions, p: Optional[Any], categorical: Optional[Any], ranges: Optional[Any], what: str
) -> None:
    """Write p of minkowski, and what metrics of categories take, into options, which keep the arrays."""
    if p is not None:
        if isinstance(p, bool) or not isinstance(p, numbers.Real) or math.isnan(p) or p == 0:
            raise InvalidArgument(f"{what}: p={p!r}; choose 0.5, 1, 1.5 and so on up to 8, or infinity")
        options.p = float(p)
    if categorical is not None:
        options.kept_categorical = index_array(categorical, f"{what}: categorical")
        options.categorical, options.categorical_count = (
            address(options.kept_categorical), len(options.kept_categorical),
        )  # fmt: skip
    _measure(options, "ranges", ranges, 1, f"{what}: ranges")


def _measure(options: s.IndexOptions, name: str, values: Optional[Any], axes: int, what: str) -> None:
    if values is None:
        return
    shape = "[dims]" if axes == 1 else "[dims, dims]"
    try:
        array = np.ascontiguousarray(values, np.float64)
    except (TypeError, ValueError):
        array = np.empty(())
    if np.ndim(array) != axes or not array.size or (axes == 2 and array.shape[0] != array.shape[1]):
        raise InvalidArgument(f"{what} has shape {list(np.shape(array))}; pass numbers of shape {shape}")
    setattr(options, f"kept_{name}", array)
    setattr(options, name, address(array))
    setattr(options, f"{name}_count", array.size)


def centre_of(centre: Any, what: str) -> Float64:
    """Return a given centre as an array."""
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
    """Return a count of 64 bits, from an int or NumPy's integers. A float, even 5.0, and a bool are refused.

    ctypes would cut off higher bits without an error.
    """
    if type(value) is int and 0 <= value < 2**63:  # most calls
        return value
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
