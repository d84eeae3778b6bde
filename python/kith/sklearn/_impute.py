"""Fills in missing values by nearest neighbours."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Callable, Literal, Optional, Union

import numpy as np
import sklearn.impute
from sklearn.utils._mask import _get_mask
from sklearn.utils._missing import is_scalar_nan
from sklearn.utils.validation import FLOAT_DTYPES, check_is_fitted, validate_data

from .._core._errors import InvalidArgument, PrecisionWarning, Unsupported
from .._core._index import Index
from .._core._types import Array, DeviceLike
from .._rows._digits import equal_rows
from .._rows._host import _caller
from . import _parameters as parameters

if TYPE_CHECKING:
    from .._core._types import Bool, Float32, Float64, Int64

_WHERE = "kith.sklearn.KNNImputer"
_RECEIVERS_AT_ONCE = 1 << 15
_LARGE = 20  # fitted values become less than 2 to this power
_LARGEST = 2.0**50  # of which squares, and their sums, are floats


class KNNImputer(sklearn.impute.KNNImputer):  # type: ignore[misc,unused-ignore]
    """Fills in missing values with means of near rows, as `sklearn.impute.KNNImputer`.

    A missing value becomes the mean of its column over the `n_neighbors` rows nearest by ``nan_euclidean`` among those
    that have the column, added from the nearest on; or of all rows that have it, if no such row has a column in common
    with this one.

    Neighbours are those by distances in float32, of which equal ones are taken in the order of the rows. Before values
    are rounded to float32, the median of their fitted column is subtracted in float64, and all are scaled by one power
    of two, so that offsets and large values cost no digits. Weights are of distances in float64, and means are added in
    float64.

    Parameters
    ----------
    missing_values : float
        What stands for a missing value.
    n_neighbors : int
    weights : {"uniform", "distance"} or callable
        A callable takes distances, ``[rows, n_neighbors]``, ascending, NaN where there is no neighbour. A weight of NaN
        counts 0; beside an infinite one only the infinite ones count, each 1. Where weights add up to 0, the value
        becomes the mean of its column over all rows that have it.
    metric : {"nan_euclidean"}
    copy, add_indicator, keep_empty_features : bool
    n_jobs : int, optional
        Threads; None: as many as there are cores.
    device : str or kith.Device
        kith's own: where rows are kept and searched. Answers do not depend on it.

    Examples
    --------
    >>> import numpy
    >>> from kith.sklearn import KNNImputer
    >>> X = [[1, 2, numpy.nan], [3, 4, 3], [numpy.nan, 6, 5], [8, 8, 7]]
    >>> KNNImputer(n_neighbors=2).fit_transform(X).tolist()
    [[1.0, 2.0, 4.0], [3.0, 4.0, 3.0], [5.5, 6.0, 5.0], [8.0, 8.0, 7.0]]
    """

    def __init__(
        self,
        *,
        missing_values: Any = np.nan,
        n_neighbors: int = 5,
        weights: Union[Literal["uniform", "distance"], Callable[[Any], Any]] = "uniform",
        metric: Literal["nan_euclidean"] = "nan_euclidean",
        copy: bool = True,
        add_indicator: bool = False,
        keep_empty_features: bool = False,
        n_jobs: Optional[int] = None,
        device: DeviceLike = "auto",
    ) -> None:
        super().__init__(
            missing_values=missing_values,
            n_neighbors=n_neighbors,
            weights=weights,
            metric=metric,
            copy=copy,
            add_indicator=add_indicator,
            keep_empty_features=keep_empty_features,
        )
        self.n_jobs = n_jobs
        self.device = device

    def fit(self, X: Any, y: Any = None) -> KNNImputer:
        """Keep rows.

        Parameters
        ----------
        X : array or frame, [n, columns]
        y : ignored

        Returns
        -------
        self
        """
        if self.metric != "nan_euclidean":
            raise Unsupported(
                f"kith.sklearn.KNNImputer: metric={self.metric!r}; choose 'nan_euclidean', or sklearn.impute.KNNImputer"
            )
        parameters.threads_of(self.n_jobs, _WHERE)
        super().fit(X, y)
        with_nan = np.where(self._mask_fit_X, np.nan, self._fit_X)
        self._moves = _Moves(with_nan)
        self._moves.look_at_digits(with_nan)
        return self

    def transform(self, X: Any) -> Array:
        """Return rows in which no value is missing.

        Parameters
        ----------
        X : array or frame, [m, columns]

        Returns
        -------
        array, [m, columns out], of float64 or float32
            Without the columns that no fitted row has, unless `keep_empty_features` makes them 0; with
            `add_indicator` followed by columns that say which values were missing.
        """
        check_is_fitted(self)
        finite: Any = "allow-nan" if is_scalar_nan(self.missing_values) else True
        rows = validate_data(
            self, X, dtype=FLOAT_DTYPES, force_writeable=True, ensure_all_finite=finite, copy=self.copy, reset=False
        )
        gaps: Bool = _get_mask(rows, self.missing_values)
        marks = self._transform_indicator(gaps)
        there: Bool = self._valid_mask
        (receivers,) = np.nonzero(gaps[:, there].any(axis=1))
        if len(receivers):
            self._fill(rows, gaps, receivers)
        if self.keep_empty_features:
            rows[:, ~there] = 0
        else:
            rows = rows[:, there]
        filled: Array = self._concatenate_indicator(rows, marks)
        return filled

    def _fill(self, rows: Array, gaps: Bool, receivers: Int64) -> None:
        donors = _Donors(self._fit_X, self._mask_fit_X, self)
        for begin in range(0, len(receivers), _RECEIVERS_AT_ONCE):
            some = receivers[begin : begin + _RECEIVERS_AT_ONCE]
            means, asked = np.array(rows[some]), gaps[some]
            near = donors.near(np.where(asked, np.nan, rows[some]), some)
            for column in np.flatnonzero(asked.any(axis=0) & self._valid_mask):
                own = asked[:, column]
                means[own, column] = near.means(int(column), np.flatnonzero(own))
            rows[some] = means


class _Moves:
    """Prepares values for float32: subtracts from each column a value of the fitted rows, their median, by which whole
    numbers stay whole, and scales all by one power of two. Distances change by that power alone.

    Attributes
    ----------
    offset : array of float64, [columns]
        0 for a column without values.
    power : int
    """

    def __init__(self, rows: Array) -> None:
        self.offset, self.power = np.zeros(rows.shape[1]), 0
        largest = 0.0
        for place, column in enumerate(rows.T.astype(np.float64)):
            there = column[~np.isnan(column)]
            if not len(there):
                continue
            middle = (len(there) - 1) // 2
            median = np.partition(there, middle)[middle]
            with np.errstate(over="ignore"):
                most = np.abs(there - median).max()
            if np.isfinite(most):
                self.offset[place] = median
            else:
                most = np.abs(there).max()
            largest = max(largest, float(most))
        if largest > 0:
            exponent = int(np.frexp(largest)[1])
            self.power = exponent - min(max(exponent, 0), _LARGE)

    def moved(self, rows: Array, others: Optional[Array] = None) -> Float64:
        """Return rows less the offsets, or less `others`, by the power; infinity where that is no float64."""
        with np.errstate(over="ignore"):
            apart = rows.astype(np.float64) - (self.offset if others is None else others)
            return np.asarray(np.ldexp(apart, -self.power))

    def rounded(self, rows: Array, numbers: Optional[Int64] = None) -> Float32:
        """Return rows for the index; refuse a value too far away. `numbers`: those of the rows for the caller."""
        moved = self.moved(rows)
        far = np.abs(moved) > _LARGEST
        if far.any():
            row, column = (int(i) for i in np.argwhere(far)[0])
            raise InvalidArgument(
                f"{_WHERE}: X: row {row if numbers is None else numbers[row]}, column {column}: {rows[row, column]} is "
                "too far from the fitted rows for single precision, in which kith computes; make the value missing, or "
                "leave the row out"
            )
        return moved.astype(np.float32)

    def look_at_digits(self, rows: Array) -> None:
        """Warn if float32 makes different rows equal, though they are moved."""
        pair = equal_rows(self.moved(rows), self.rounded(rows), None)
        if pair is not None:
            warnings.warn(
                f"{_WHERE}: X: rows {pair[0]} and {pair[1]}, which differ, become equal in float32, by which "
                "neighbours are chosen, so that the first counts as nearer; leave columns out that only number rows, or "
                "use sklearn.impute.KNNImputer, which computes in float64",
                PrecisionWarning,
                stacklevel=_caller(),
            )


class _Donors:
    """Holds the fitted rows, on a device."""

    def __init__(self, rows: Array, gaps: Bool, asked: KNNImputer) -> None:
        self.rows, self.has = rows, ~gaps
        self.k, self.weights = asked.n_neighbors, asked.weights
        self.threads = parameters.threads_of(asked.n_jobs, _WHERE)
        device = "auto" if asked.device is None else asked.device
        self.with_nan, self.moves = np.where(gaps, np.nan, rows), asked._moves
        self.index = Index(self.moves.rounded(self.with_nan), "nan_euclidean", device)

    def near(self, queries: Array, numbers: Int64) -> _Near:
        """Look for neighbours; `numbers`: those of the queries for the caller."""
        return _Near(self, queries, self.moves.rounded(queries, numbers))


class _Near:
    """Holds the nearest fitted rows of some queries, more than are needed where no row lacks a column.

    Attributes
    ----------
    row : array, [queries, width]
    """

    def __init__(self, donors: _Donors, queries: Array, rounded: Float32) -> None:
        self.donors, self.queries, self.rounded = donors, queries, rounded
        self.width = min(len(donors.rows), 2 * donors.k + 8)
        found = donors.index.search(rounded, self.width, threads=donors.threads)
        self.row = found.row

    def means(self, column: int, queries: Int64) -> Float64:
        """Return the mean of a column over the nearest rows that have it, for some of the queries."""
        donors = self.donors
        has = donors.has[:, column]
        k = min(donors.k, int(has.sum()))
        row = self.row[queries]
        counts = has[row] & (row >= 0)
        places = np.argsort(~counts, axis=1, kind="stable")[:, :k]
        near = np.where(np.take_along_axis(counts, places, axis=1), np.take_along_axis(row, places, axis=1), -1)
        lacks = np.flatnonzero((near[:, -1] < 0) & (row[:, -1] >= 0) & (self.width < len(donors.rows)))
        if len(lacks):  # more rows that have the column may be beyond the list
            asked = self.rounded[queries[lacks]]
            near[lacks] = donors.index.search(asked, k, filter=has, threads=donors.threads).row
        values = donors.rows[:, column].astype(np.float64)
        weights = np.where(near >= 0, self._weights(self.queries[queries], near), 0.0)
        total, weight = np.zeros(len(near)), np.zeros(len(near))
        for place in range(k):  # one after the other, so that every machine adds in the same order
            total += weights[:, place] * np.where(near[:, place] >= 0, values[near[:, place]], 0.0)
            weight += weights[:, place]
        counting = weight != 0
        return np.where(counting, total / np.where(counting, weight, 1.0), values[has].mean())

    def _weights(self, queries: Array, near: Int64) -> Float64:
        """Return the weight of each neighbour, [queries, k]."""
        chosen = self.donors.weights
        if chosen in ("uniform", None):
            return np.ones(near.shape)
        distance = self._distances(queries, near)
        if chosen != "distance":
            weights = np.asarray(chosen(distance), np.float64)
            if weights.shape != distance.shape:
                raise InvalidArgument(
                    f"{_WHERE}: weights returned {weights.shape} for distances of {distance.shape}; "
                    "return one weight for each distance"
                )
        else:
            with np.errstate(divide="ignore"):
                weights = 1.0 / distance
        weights = np.where(np.isnan(weights), 0.0, weights)
        infinite = np.isinf(weights) & (near >= 0)
        return np.where(infinite.any(axis=1, keepdims=True), infinite, weights)

    def _distances(self, queries: Array, near: Int64) -> Float64:
        """Return the distance of each neighbour in float64; NaN where there is none."""
        moves, total, common = self.donors.moves, np.zeros(near.shape), np.zeros(near.shape)
        for column in range(queries.shape[1]):
            apart = moves.moved(queries[:, column, None], self.donors.with_nan[near, column])
            known = ~np.isnan(apart)
            total += np.where(known, apart * apart, 0.0)
            common += known
        with np.errstate(invalid="ignore", over="ignore"):
            distance = np.ldexp(np.sqrt(total * queries.shape[1] / common), moves.power)
        return np.where(near >= 0, distance, np.nan)
