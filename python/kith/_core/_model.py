"""Holds rows with answers, which may be added and removed, and predicts by them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Optional, TypeVar

import numpy as np

from .._rows._answers import ids_of, sample_weights_of
from .._rows._arrays import Rows, address, index_array
from .._rows._limits import filter_words, radii_of
from . import _structs as s
from ._checks import search_options, whole
from ._errors import InvalidArgument
from ._index import Index
from ._library import Handle, lib, new_handle
from ._watch import Ask, Progress, call

if TYPE_CHECKING:
    from ._types import Array, DeviceLike, Float32, Float64, IndexArguments, MetricName

_T = TypeVar("_T", bound="Model")

NO_LABEL = -(2**63)  # the library's answer if no class wins
NO_CODE = -1  # the same for estimators, whose labels are codes 0, 1, ...


class Vote(NamedTuple):
    """Holds kith_vote_options as a caller gives them."""

    weights: str = "uniform"
    tie: str = "smallest_label"
    priors: Optional[Float64] = None  # [classes]
    costs: Optional[Float64] = None  # [classes, classes]
    no_label: int = NO_CODE
    rank_weights: Optional[Float32] = None  # [at least k]

    def options(self) -> s.VoteOptions:
        options = s.sized(s.VoteOptions, has_no_label=1, no_label=self.no_label)
        options.weights, options.tie = self.weights.encode(), self.tie.encode()
        for name in ("priors", "costs", "rank_weights"):
            array = getattr(self, name)
            if array is not None:
                setattr(options, name, address(array))
                setattr(options, f"{name}_count", array.size)
        return options


class Options(NamedTuple):
    """Holds kith_search_options as a caller gives them."""

    threads: int = 0
    exclude_self_from: Optional[int] = None
    progress: Progress = False
    filter: Any = None  # the words of a filter
    memory_limit: int = 0
    how: Any = None
    where: str = "kith"
    groups: Any = None

    def options(self) -> s.SearchOptions:
        rest = (self.exclude_self_from, self.groups)
        options = search_options(self.where, self.threads, self.memory_limit, self.how, *rest)
        if self.filter is not None:
            options.filter, options.filter_rows = address(self.filter), len(self.filter)
        return options

    def like(self, k: int) -> Optional[tuple[int, int]]:
        """Return what `_watch.call` needs to know of a search for k neighbours."""
        wishes = (self.exclude_self_from, self.filter, self.memory_limit or None, self.how or None, self.groups)
        return (k, self.threads) if all(wish is None for wish in wishes) else None


def vote_of(where: str, weights: Any, tie: Any, no_label: Optional[int] = None, **arrays: Any) -> Vote:
    """Check the types of names; the library checks the names."""
    for what, name in (("weights", weights), ("tie", tie)):
        if not isinstance(name, str):
            raise InvalidArgument(f"{where}: {what}={name!r}; pass a name, as docs/options.md lists them")
    given: dict[str, Any] = {}
    for name, values in arrays.items():
        kind = np.float32 if name == "rank_weights" else np.float64
        if values is not None:
            try:
                given[name] = np.ascontiguousarray(values, kind)
            except (TypeError, ValueError):
                raise InvalidArgument(f"{where}: {name}={values!r}; pass numbers") from None
    label = NO_LABEL if no_label is None else whole(no_label, f"{where}: no_label")
    return Vote(weights, tie, no_label=label, **given)


class Model:
    """Holds rows with answers on a device, for `kith.Classifier` and `kith.Regressor`."""

    _kind: ClassVar[str]  # in names of the library's functions
    _handle: Handle
    _index: Index  # of these rows
    _outputs: int  # answers per row
    _flat: bool  # whether there is one answer per row, given as [n]

    def _train(
        self,
        X: Any,
        answers: Any,
        metric: Optional[MetricName],
        device: DeviceLike,
        sample_weights: Any,
        arguments: IndexArguments,
    ) -> None:
        where = self._where()
        if not isinstance(X, Index):
            index = Index(X, metric, device, **arguments)
        elif metric is None and device == "auto" and not arguments:
            index = X
        else:
            raise InvalidArgument(f"{where}: X is an Index, which has a metric, a device and options; leave these out")
        given = self._answers_of(answers, index.rows, where)
        weights, ids = sample_weights_of(sample_weights, index.rows, where), arguments.get("ids")
        self._flat, self._outputs = given.ndim == 1, given.shape[1] if given.ndim == 2 else 1
        if ids is not None:  # the order of the index, into which answers go with their rows
            order = np.argsort(index_array(ids, f"{where}: ids"))
            given, weights = given[order], None if weights is None else weights[order]
        free, new = self._function("free"), self._function("of_index")
        told = None if weights is None else address(weights)
        self._take(new_handle(free, new, index._handle.value, address(given), self._outputs, told), index)

    def _grown(self: _T, more: Any, answers: Any, sample_weights: Any, ids: Any) -> _T:
        where = f"{self._where()}.with_"
        rows = self._index._queries(more, f"{where}: more", quiet=False)
        n = int(rows.struct.rows)
        given = self._answers_of(answers, n, where, self._outputs)
        weights, numbers = sample_weights_of(sample_weights, n, where), ids_of(ids, n, where)
        optional = [None if one is None else address(one) for one in (weights, numbers)]
        return self._next("with", rows.struct, address(given), *optional)

    def _next(self: _T, name: str, *arguments: Any) -> _T:
        handle = new_handle(self._function("free"), self._function(name), self._handle.value, *arguments)
        made = type(self).__new__(type(self))
        made._flat, made._outputs = self._flat, self._outputs
        rows = new_handle(lib.kith_index_free, self._function("index"), handle.value)
        made._take(handle, Index._of(rows, self._index.device, self._index._columns, self._index._source))
        return made

    def _take(self, handle: Handle, index: Index) -> None:
        self._handle, self._index = handle, index

    def _ask(self, ask: Ask, m: int, how: Options, k: Optional[int] = None) -> None:
        """Let `ask` search for m queries; k: for so many neighbours each."""
        call(ask, how.options(), m * self._index._work, how.progress, self._handle, None if k is None else how.like(k))

    def _answers_of(self, answers: Any, n: int, where: str, outputs: Optional[int] = None) -> Array:
        raise NotImplementedError

    def _shown_answers(self) -> str:
        """Describe the answers for people."""
        raise NotImplementedError

    def _function(self, name: str) -> Any:
        return getattr(lib, f"kith_{self._kind}_{name}")

    def _where(self) -> str:
        return f"kith.{self._kind.capitalize()}"

    def _asked(self, where: str, Q: Any, k: Optional[int], within: Optional[Any], how: Options) -> tuple[Rows, Any, Options]:
        """Check the queries, k or the radii of `within`, and the options, and return them."""
        if (k is None) == (within is None):
            raise InvalidArgument(f"{where}: pass k or within, and not both")
        rows = self._index._queries(Q, f"{where}: Q")
        if within is None:
            limit: Any = whole(k, f"{where}: k")
        else:
            limit = radii_of(within, self._index.metric, f"{where}: within", self._index._kind())
        words = how.filter
        if words is not None:
            words = filter_words(words, self._index.positions, len(rows.array), f"{where}: filter")
        how = how._replace(filter=words, where=where)
        how.options()
        return rows, limit, how

    def _returned(self, answers: Array, rows: Rows) -> Any:
        return rows.returned(answers[:, 0] if self._flat else answers)

    def without(self: _T, rows: Any) -> _T:
        """Return one without these rows. This one does not change.

        Parameters
        ----------
        rows : sequence of int
            As for `Index.without`, which says what is kept and what is refused. Classes stay, even those that no row
            has any more.
        """
        gone = index_array(rows, f"{self._where()}.without: rows")
        return self._next("without", address(gone), len(gone))

    def compact(self: _T) -> _T:
        """Return one of the remaining rows in memory of their own, with the same answers."""
        return self._next("compact")

    def index(self) -> Index:
        """Return its rows as an `Index`, which shares their device memory: ``index().numbers()`` are their numbers.
        """
        return self._index

    def __len__(self) -> int:
        return len(self._index)

    def __repr__(self) -> str:
        return f"{self._where()}({self._shown_answers()}, {self._index!r})"

    def __copy__(self: _T) -> _T:
        return self  # it never changes

    def __deepcopy__(self: _T, memo: Any) -> _T:
        return self

    def __reduce__(self) -> Any:
        raise TypeError(f"{self._where()}: the library has no file of it, so it is not pickled; pickle X and answers")
