"""Declares an index whose shards are on the workers of a Dask cluster."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Optional, Union

from distributed import Client

from .._core._checks import whole
from .._core._errors import InvalidArgument
from .._core._results import Neighbors, RadiusNeighbors
from .._core._types import Arithmetic, MetricName
from .._core._watch import Progress
from . import _client as c
from . import _tasks as tasks
from ._answers import gather_neighbors, gather_radius, lazy_neighbors, watched, write_neighbors
from ._arithmetic import checked, distance_type
from ._graph import finished
from ._queries import Columns, Queries, radii
from ._shards import shards_of_array, shards_of_files, shards_of_index_file
from ._verify import Verified, verify


class Index:
    """Holds training rows in shards on the workers of a Dask cluster, and searches them exactly.

    Answers have the bits of one `kith.Index` of all rows, for any shards, workers and devices, even if workers die,
    come late or are replaced meanwhile. Make one by `from_files`, `from_array` or `from_index_file`.

    Every step is a task: *open* a shard, *search* it for a tile of queries, *merge* eight lists of keys,
    *finish*. An open shard is the result of a task, and moves as a recipe, which has the name of its file, its
    rows and a fingerprint.
    """

    def __init__(
        self, client: Client, shards: list[Any], recipes: list[tasks.Recipe], columns: Columns
    ) -> None:
        self._client = client
        self._recipes = recipes
        self._columns = columns
        name = c.token()
        with c.named_failures(client):
            self._shards = client.persist(shards)
        opened = [c.task(tasks.is_open, f"open-{name}-{i}", shard) for i, shard in enumerate(self._shards)]
        held: list[tasks.Opened] = c.run(client, opened)
        self._rows, self._like = sum(one.rows for one in held), held[0]

    @classmethod
    def from_files(
        cls,
        files: Union[str, os.PathLike[str], Sequence[Union[str, os.PathLike[str]]]],
        metric: MetricName = "l2",
        device: str = "auto",
        client: Optional[Client] = None,
        *,
        shard_rows: Optional[int] = None,
        centre: Optional[Any] = None,
        w: Optional[Any] = None,
        V: Optional[Any] = None,
        VI: Optional[Any] = None,
        degrees: bool = False,
        p: Optional[float] = None,
        categorical: Optional[Any] = None,
        ranges: Optional[Any] = None,
        arithmetic: Arithmetic = "automatic",
    ) -> Index:
        """Make an index of files that every worker sees under the same names; the client need not see them.

        Parameters
        ----------
        files : str, or sequence of str
            A pattern (``"base-*.u8bin"``), whose files are taken in the order of their sorted names, or names.
            ``.npy``, ``.fbin``, ``.u8bin``, ``.i8bin``, ``.f16bin``. Rows are numbered through all files.
        metric, device : str
            As for `kith.Index`; each worker decides what ``"auto"`` is: its own GPU, if there are several.
        client : distributed.Client, optional
            None: the current one.
        shard_rows : int, optional
            The most rows of a shard; longer files become several. None: one shard per file.
        centre : True or array, [dims], optional
            As for `kith.Index`. True: learned from one shard after another, so that it has the bits of one index.
        w, V, VI, degrees, p, categorical, ranges
            As for `kith.Index`. Variances for ``seuclidean`` and ranges for ``gower`` and ``nan_gower`` that are not
            given are learned from the rows of all shards, which are read for it.
        arithmetic : {"automatic", "f32", "f64"}
            As for `kith.Index`, and the same for all shards: ``automatic`` is ``f64`` for files of float64 without a
            `centre`, else ``f32``.

        Returns
        -------
        Index
            It is returned once every shard is open.

        Raises
        ------
        kith.BadFile
            A file is missing or damaged (named).
        kith.InvalidArgument
            A row has an infinity, or a NaN that is no missing value (named, with its file); files of different columns;
            an unknown metric; files of float64 beside others, unless `arithmetic` chooses.
        kith.Unavailable
            There is no client, no such device, or the scheduler is gone.
        """
        where = "kith.dask.Index.from_files"
        client, choice = c.client_of(client, where), checked(arithmetic, centre, where, metric)
        takes = {
            "w": w, "V": V, "VI": VI, "degrees": degrees, "p": p, "categorical": categorical, "ranges": ranges,
        }  # fmt: skip
        return cls(client, *shards_of_files(client, files, metric, device, shard_rows, centre, choice, takes))

    @classmethod
    def from_array(
        cls,
        array: Any,
        metric: MetricName = "l2",
        device: str = "auto",
        client: Optional[Client] = None,
        *,
        shards: Optional[int] = None,
        scratch: Optional[str] = None,
        centre: Optional[Any] = None,
        w: Optional[Any] = None,
        V: Optional[Any] = None,
        VI: Optional[Any] = None,
        degrees: bool = False,
        p: Optional[float] = None,
        categorical: Optional[Any] = None,
        ranges: Optional[Any] = None,
        arithmetic: Arithmetic = "automatic",
    ) -> Index:
        """Make an index of a dask array, with one shard per block of rows, or of an array in memory.

        Parameters
        ----------
        array : dask array or array, [n, dims]
            Blocks are converted in place, to float32 or by `arithmetic` to float64, and never pass through the client
            or the scheduler. An array above 8 MB that is not Dask's goes to the workers as a file.
        metric, device, client
            As for `from_files`.
        shards : int, optional
            The number of shards of an array in memory. None: one per worker.
        scratch : str, optional
            A folder that all workers see, for an array above 8 MB. The file stays as long as the client. None: a
            temporary folder, if all workers run on this machine.
        centre, w, V, VI, degrees, p, categorical, ranges
            As for `from_files`.
        arithmetic : {"automatic", "f32", "f64"}
            As for `kith.Index`, by the dtype of the array.

        Returns
        -------
        Index
            It is returned once every shard is open.

        Raises
        ------
        As `from_files`.
        """
        where = "kith.dask.Index.from_array"
        client, choice = c.client_of(client, where), checked(arithmetic, centre, where, metric)
        takes = {
            "w": w, "V": V, "VI": VI, "degrees": degrees, "p": p, "categorical": categorical, "ranges": ranges,
        }  # fmt: skip
        return cls(client, *shards_of_array(client, array, metric, device, shards, scratch, centre, choice, takes))

    @classmethod
    def from_index_file(
        cls,
        path: Union[str, os.PathLike[str]],
        device: str = "auto",
        client: Optional[Client] = None,
        *,
        shards: Optional[int] = None,
    ) -> Index:
        """Open an index file, which every worker sees under the same name; the client need not see it.

        Each shard is a part of its rows, opened as `kith.Index` opens it. Numbers, ids and removed rows are those of
        the file.

        Parameters
        ----------
        path : str
            An index file, ``.kidx``.
        device, client
            As for `from_files`.
        shards : int, optional
            The number of shards. None: one per worker.

        Returns
        -------
        Index
            It is returned once every shard is open.

        Raises
        ------
        kith.BadFile
            The file is missing or damaged (named).
        kith.InvalidArgument
            The file is a shard itself (`first_row`).
        kith.Unavailable, kith.Unsupported
            As for `from_files`.
        """
        client = c.client_of(client, "kith.dask.Index.from_index_file")
        return cls(client, *shards_of_index_file(client, path, device, shards))

    def search(
        self,
        Q: Any,
        k: int,
        *,
        out: Optional[str] = None,
        tile: Optional[int] = None,
        scratch: Optional[str] = None,
        progress: Progress = False,
    ) -> Any:
        """Find the k training rows nearest to each query, exactly.

        Parameters
        ----------
        Q : array, dask array [m, dims], or name of a file that every worker sees
            Each block of rows of a dask array is a tile.
        k : int
            1 to n.
        out : str, optional
            A folder of this process, in which ``distance.npy`` and ``row.npy`` are written tile by tile; they appear
            once they are complete.
        tile : int, optional
            Queries that a task searches for. None: at most 10,000, and 8 MB of queries and of keys.
        scratch : str, optional
            A folder that all workers see, for queries above 8 MB. None: a temporary one, if all are on this machine.
        progress : bool or callable
            As for `kith.Index.search`; it counts tiles. It is not for a dask array.

        Returns
        -------
        Neighbors
            Arrays ``distance`` (float64 if `arithmetic` is ``f64``) and ``row``, [m, k]: dask arrays, not computed yet, for a dask array; mapped arrays of
            NumPy with `out`.

        Raises
        ------
        As `kith.Index.search`, and as `from_files`.
        """
        where = "kith.dask.Index.search: Q"
        k = self._checked(k)
        with Queries(self._client, Q, self._columns, k, tile, scratch, where) as queries:
            lists = self._neighbors(queries, k)
            if queries.lazy and out is None:
                return lazy_neighbors(queries.tiles, lists, k, self._kind())
            self._alive()
            shown = watched(progress, len(lists))
            if out is not None:
                return write_neighbors(self._client, queries.tiles, lists, k, self._kind(), out, shown)
            return gather_neighbors(self._client, queries.tiles, lists, k, self._kind(), shown)

    def within(
        self,
        Q: Any,
        radius: Any,
        *,
        tile: Optional[int] = None,
        scratch: Optional[str] = None,
        progress: Progress = False,
    ) -> RadiusNeighbors:
        """Find all training rows whose distance, as `search` returns it, is at most a radius.

        Parameters
        ----------
        Q, tile, scratch, progress
            As for `search`.
        radius : float or array, [m]

        Returns
        -------
        RadiusNeighbors
            NumPy arrays, even for a dask array, since the lengths of lists are not known before.

        Raises
        ------
        As `search`.
        """
        where = "kith.dask.Index.within: Q"
        with Queries(self._client, Q, self._columns, 1, tile, scratch, where) as queries:
            of = radii(radius, queries.count, self.metric, "kith.dask.Index.within: radius", self._kind())
            lists = finished(
                self._shards,
                self._like,
                queries.tiles,
                lambda shard, t, key: c.task(tasks.within, key, shard, t.rows, t.begin, of(t)),
            )
            self._alive()
            return gather_radius(self._client, lists, self._kind(), watched(progress, len(lists)))

    def verify(
        self,
        Q: Any,
        k: int,
        *,
        share: float = 0.01,
        device: str = "cpu",
        tile: Optional[int] = None,
        scratch: Optional[str] = None,
        seed: Optional[int] = None,
    ) -> Verified:
        """Repeat a random part of a search on other workers and another device, and compare digests.

        Parameters
        ----------
        Q, k, tile, scratch
            As for `search`.
        share : float
            The part of the tasks (a shard for a tile of queries) to repeat, 0 to 1; at least one is repeated.
        device : str
            The device of the repetition.
        seed : int, optional
            The seed of the choice. None: another one at each call.

        Returns
        -------
        Verified
            It says what was compared; all of it was equal.

        Raises
        ------
        kith.DeviceFailure
            Digests differ (names the workers, the shard and the queries). With three workers or more a third one
            decides which of two is wrong.
        """
        k = self._checked(k)
        with Queries(self._client, Q, self._columns, k, tile, scratch, "kith.dask.Index.verify: Q") as queries:
            self._alive()
            names = [recipe.name for recipe in self._recipes]
            return verify(self._client, self._shards, names, queries.tiles, k, share, device, seed)

    def _neighbors(self, queries: Queries, k: int) -> list[Any]:
        """Returns the lazy `Neighbors` of each tile."""
        return finished(
            self._shards,
            self._like,
            queries.tiles,
            lambda shard, t, key: c.task(tasks.search, key, shard, t.rows, t.begin, k),
        )

    def _kind(self) -> Any:
        """Returns the dtype of distances."""
        return distance_type(self._columns.arithmetic)

    def _checked(self, k: Any) -> int:
        asked = whole(k, "kith.dask.Index: k")
        if not 1 <= asked <= self._rows:
            raise InvalidArgument(
                f"kith.dask.Index: k = {asked} is out of range for an index of {self._rows} rows; choose k from 1 to {self._rows}"
            )
        return asked

    def _alive(self) -> None:
        """Refuses to search if the scheduler has forgotten the shards, since it would wait for them for ever."""
        from distributed import futures_of

        # The future of a worker that died is "lost" until the scheduler has opened its shard again.
        if any(future.status == "cancelled" for future in futures_of(self._shards)):
            raise c.gone(self._client)

    @property
    def rows(self) -> int:
        """The number of training rows of all shards, n."""
        return self._rows

    @property
    def dims(self) -> int:
        return self._columns.number

    @property
    def metric(self) -> MetricName:
        return self._like.metric

    @property
    def arithmetic(self) -> Arithmetic:
        """The precision of all answers: ``f32`` or ``f64``."""
        return self._columns.arithmetic

    @property
    def shards(self) -> int:
        return len(self._recipes)

    @property
    def client(self) -> Client:
        return self._client

    def __len__(self) -> int:
        return self._rows

    def __repr__(self) -> str:
        return (
            f"kith.dask.Index({self._rows} rows x {self.dims} columns in {self.shards} shards, "
            f"metric={self.metric!r}, device={self._recipes[0].device!r}, scheduler={self._client.scheduler.address!r})"
        )
