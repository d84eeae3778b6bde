"""Defines the functions that workers run. They are pure: a task repeated on another worker gives the same bits."""

from __future__ import annotations

import glob
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

import numpy as np
from dask.sizeof import sizeof

from .._core import _keys as keys_
from .._core._centre import Learned, learn
from .._core._errors import BadFile, Error, InvalidArgument, Unsupported
from .._core._index import Index
from .._core._library import version
from .._rows._arrays import rows_of
from ._arithmetic import Width, row_bytes
from ._device import device_here
from ._files import Layout, layout_of, read_rows
from ._index_files import IndexHead, check_head, head_of, read_index_rows

if TYPE_CHECKING:
    from .._core._keys import Keys, RadiusKeys
    from .._core._types import Array, Float64, MetricName


class Rows(NamedTuple):
    """Describes rows of a file, so that any worker can read them.

    Attributes
    ----------
    path : str
    begin, end : int
        The rows begin ... end - 1 of the file.
    layout : Layout
        The file's head and fingerprint when the index was made.
    """

    path: str
    begin: int
    end: int
    layout: Layout

    def read(self) -> Array:
        return read_rows(self.path, self.begin, self.end, self.layout)

    def bytes_on_device(self, arithmetic: Width) -> int:
        return (self.end - self.begin) * row_bytes(self.layout.columns, arithmetic)


class IndexRows(NamedTuple):
    """Describes rows of an index file, so that any worker can open them.

    Attributes
    ----------
    path : str
    begin, end : int
        The rows begin ... end - 1 of the file, counting removed ones.
    head : IndexHead
        The file's head and fingerprint when the index was made.
    """

    path: str
    begin: int
    end: int
    head: IndexHead

    def open(self, device: str, largest: Optional[float]) -> Index:
        check_head(self.path, self.head)
        return Index(self.path, device=device, rows=(self.begin, self.end), largest=largest)

    def bytes_on_device(self, arithmetic: Width) -> int:
        return (self.end - self.begin) * row_bytes(self.head.columns, arithmetic)


class Recipe(NamedTuple):
    """Holds everything that a worker needs to open a shard.

    Attributes
    ----------
    rows : Rows, IndexRows, or array [n, dims]
        An array if the rows came as one; it then travels with the recipe.
    name : str
        The shard's name in messages.
    metric, device : str
    first_row : int
        The number of its first row among the rows of all shards.
    largest : float, optional
        The largest magnitude in the rows of all shards; for ``negative_dot`` in single precision.
    version : str
        The version of kith that wrote the recipe.
    centre : array, [dims], optional
        The centre of all shards; None for an index file, which has its own.
    arithmetic : {"f32", "f64"}
        That of all shards.
    takes : dict, optional
        `w`, `V`, `VI`, `degrees`, `p`, `categorical` and `ranges` of `kith.Index`.
    """

    rows: Any
    name: str
    metric: MetricName
    device: str
    first_row: int
    largest: Optional[float]
    version: str
    centre: Optional[Float64] = None
    arithmetic: Width = "f32"
    takes: Optional[dict[str, Any]] = None


class Shard:
    """Holds an open index, which is the result of a task. It is pickled as its recipe, and opened again on first use.
    """

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self._index: Optional[Index] = None
        self._lock = threading.Lock()

    def index(self) -> Index:
        with self._lock:
            if self._index is None:
                self._index = _opened(self.recipe)
            return self._index

    def nbytes(self) -> int:
        """Returns the bytes of the rows: on the device, plus on the host if they came as an array."""
        rows = self.recipe.rows
        if isinstance(rows, (Rows, IndexRows)):
            return rows.bytes_on_device(self.recipe.arithmetic) if self._index is None else self._index.memory_bytes
        return int(rows.nbytes) + (0 if self._index is None else self._index.memory_bytes)

    def __reduce__(self) -> Any:
        return Shard, (self.recipe,)


@sizeof.register(Shard)  # type: ignore[untyped-decorator,misc,unused-ignore]
def _size(shard: Shard) -> int:
    return shard.nbytes()


def _opened(recipe: Recipe) -> Index:
    if recipe.version != version():
        raise Unsupported(
            f"kith.dask: {recipe.name}: this worker has kith {version()}, but the index was made with "
            f"{recipe.version}; install the same version everywhere"
        )
    try:
        if isinstance(recipe.rows, IndexRows):
            return recipe.rows.open(device_here(recipe.device), recipe.largest)
        rows = recipe.rows.read() if isinstance(recipe.rows, Rows) else recipe.rows
        return Index(
            rows,
            recipe.metric,
            device_here(recipe.device),
            first_row=recipe.first_row,
            largest=recipe.largest,
            centre=recipe.centre,
            arithmetic=recipe.arithmetic,
            **(recipe.takes or {}),
        )
    except Error as error:
        raise named(error, recipe.name) from None


def named(error: Error, name: str) -> Error:
    """Returns the same error with the shard's name in front."""
    text = str(error)
    return error if text.startswith(name) else type(error)(f"{name}: {text}")


# ---- Before a search ----


def list_files(pattern: str) -> list[str]:
    paths = sorted(glob.glob(pattern))
    if not paths:
        raise BadFile(f"{pattern}: no file has such a name; every worker must see the files under the same names")
    return paths


def describe(path: str) -> Layout:
    return layout_of(path)


def describe_index(path: str) -> IndexHead:
    return head_of(path)


def largest_of(rows: Any, name: str) -> float:
    try:
        if isinstance(rows, IndexRows):
            return keys_.largest_element(read_index_rows(rows.path, rows.begin, rows.end, rows.head))
        return keys_.largest_element(rows.read() if isinstance(rows, Rows) else rows)
    except Error as error:
        raise named(error, name) from None


def learn_centre(rows: Any, name: str, before: Optional[Learned]) -> Learned:
    try:
        return learn(rows.read() if isinstance(rows, Rows) else np.asarray(rows), name, before)
    except Error as error:
        raise named(error, name) from None


def centre_of(learned: Learned) -> Float64:
    return learned.centre


def open_shard(recipe: Recipe) -> Shard:
    shard = Shard(recipe)
    shard.index()
    return shard


def open_block(block: Any, recipe: Recipe) -> Shard:
    """Opens a shard of an array that another task computes."""
    array = np.asarray(block)
    if recipe.centre is None and recipe.arithmetic == "f32":
        array = rows_of(array, recipe.name, quiet=True).array
    return open_shard(recipe._replace(rows=array))


class Opened(NamedTuple):
    """Says what an open shard holds.

    Attributes
    ----------
    rows : int
    metric : str
    parameter : float
        `kith.Index.parameter`.
    """

    rows: int
    metric: MetricName
    parameter: float


def is_open(shard: Shard) -> Opened:
    """Waits until a shard is open, without fetching it."""
    index = shard.index()
    return Opened(index.rows, index.metric, index.parameter)


# ---- A search ----


def queries_of(rows: Union[Rows, Array]) -> Array:
    """Returns the queries of a tile, which a task contains or reads from a file."""
    return rows.read() if isinstance(rows, Rows) else rows


def search(shard: Shard, queries: Array, first: int, k: int) -> Keys:
    """Searches a shard. `first`: the number of the first query among all queries, for messages."""
    with _told(shard, first):
        return shard.index().search_keys(queries, k)


def within(shard: Shard, queries: Array, first: int, radius: Any) -> RadiusKeys:
    with _told(shard, first):
        return shard.index().within_keys(queries, radius)


@contextmanager
def _told(shard: Shard, first: int) -> Iterator[None]:
    """Adds to errors which queries, or which shard, they are about."""
    shard.index()  # errors of this call already name the shard
    try:
        yield
    except InvalidArgument as error:
        raise InvalidArgument(f"kith.dask: queries from {first} on: {error}" if first else str(error)) from None
    except Error as error:
        raise named(error, shard.recipe.name) from None


def merge(lists: list[Any]) -> Any:
    return keys_.merge(lists)


def finish(like: Opened, keys: Any) -> Any:
    return keys_.finish(like.metric, keys, like.parameter)


# ---- Verification ----


class Signed(NamedTuple):
    """Holds the digest of a task's answer, and the worker that gave it. The digest is None if the keys
    are impossible.
    """

    digest: Optional[int]
    worker: str


def sign(shard: Shard, queries: Array, first: int, k: int) -> Signed:
    found = search(shard, queries, first, k)
    try:
        return Signed(keys_.digest(found), _worker())
    except InvalidArgument:
        return Signed(None, _worker())


def repeat(shard: Shard, device: str, queries: Array, first: int, k: int) -> Signed:
    """Repeats the search with a new index on a device that the caller chose."""
    return sign(Shard(shard.recipe._replace(device=device)), queries, first, k)


def _worker() -> str:
    from distributed import get_worker

    return str(get_worker().address)


def host_name() -> str:
    return os.uname().nodename
