"""Finds the client of a scheduler, names its failures, and brings arrays to workers."""

from __future__ import annotations

import os
import tempfile
import uuid
import weakref
from typing import TYPE_CHECKING, Any, Callable, Optional

import dask
import numpy as np
from distributed import Client, as_completed, get_client, wait

from .._core._errors import Error, InvalidArgument, Unavailable
from . import _tasks as tasks
from ._files import layout_of

if TYPE_CHECKING:
    from .._core._types import Array

AT_ONCE = 8 * 2**20  # an array of at most so many bytes travels inside a task, through the scheduler


def client_of(client: Optional[Client], where: str) -> Client:
    if client is not None:
        return client
    try:
        return get_client()
    except ValueError:
        raise Unavailable(
            f"{where}: there is no Dask client; make one (distributed.Client()), or pass client="
        ) from None


def token() -> str:
    return uuid.uuid4().hex


def task(function: Callable[..., Any], key: str, *arguments: Any) -> Any:
    """Returns a lazy call. Its key begins with ``kith-``; dashboards name and colour it by that."""
    return dask.delayed(function, pure=True, traverse=False)(*arguments, dask_key_name=f"kith-{key}")


def run(client: Client, lazy: list[Any], told: Optional[Callable[[int, Any], None]] = None) -> list[Any]:
    """Return the results of lazy calls in order. With `told`, pass it each result as it comes instead, and keep none.

    Raises
    ------
    kith.Error
        A task failed; if several did, the error of the first call.
    kith.Unavailable
        The scheduler is gone or has restarted; workers died again and again.
    """
    with named_failures(client):
        futures = client.compute(lazy)
        try:
            if told is not None:
                place = {future.key: i for i, future in enumerate(futures)}
                for future in as_completed(futures):
                    if future.status != "finished":
                        break
                    told(place[future.key], future.result())
                    future.release()
                else:
                    return []
            wait(futures)
            for future in futures:
                if future.status == "error":
                    future.result()  # raises the first error in order, not in time
            return list(client.gather(futures))
        except BaseException:
            client.cancel(futures)
            raise


class named_failures:
    """Turns Dask's failures into kith's errors."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is None or isinstance(error, Error):
            return
        name = type(error).__name__
        if name == "KilledWorker":
            raise Unavailable(
                f"kith.dask: workers died while they ran {error.task}, the last one {error.last_worker.address}; give "
                "workers more memory, or make shards or tiles smaller; if machines die often, raise "
                "distributed.scheduler.allowed-failures"
            ) from error
        if name in ("CancelledError", "FutureCancelledError", "FuturesCancelledError", "CommClosedError", "LostError"):
            raise gone(self._client) from error


def gone(client: Client) -> Unavailable:
    address = client.scheduler.address if client.scheduler is not None else "?"
    return Unavailable(
        f"kith.dask: the scheduler {address} has lost the index: it was restarted, or is gone; "
        "make the index again, from the same files"
    )


def one_host(client: Client) -> bool:
    """Returns whether every worker runs on the machine of this process."""
    return set(client.run(tasks.host_name, on_error="ignore").values()) <= {tasks.host_name()}


class Shipped:
    """Sends an array to workers: inside tasks up to 8 MB, else as a file that all of them read.

    Parameters
    ----------
    array : array, [rows, ...]
    scratch : str, optional
        A folder that all workers see, for arrays above 8 MB. None: a temporary one, if all workers run on this machine.
    """

    def __init__(self, client: Client, array: Array, scratch: Optional[str], where: str) -> None:
        self._array = array
        self._file: Optional[str] = None
        if array.nbytes <= AT_ONCE:
            return
        if scratch is None and not one_host(client):
            raise InvalidArgument(
                f"{where}: an array of {array.nbytes / 2**20:.1f} MB, which is more than the {AT_ONCE / 2**20:.0f} MB "
                "that travel by the scheduler; pass scratch=, a folder that all workers see, or the name of a file"
            )
        with tempfile.NamedTemporaryFile(
            dir=scratch and os.path.abspath(scratch), prefix="kith-", suffix=".npy", delete=False
        ) as file:
            self._file = file.name
            np.save(file, array.reshape(len(array), -1), allow_pickle=False)
        self._layout = layout_of(self._file)

    def part(self, begin: int, end: int) -> Any:
        """Returns rows begin ... end - 1 in the form in which a task takes them."""
        if self._file is None:
            return self._array[begin:end]
        return tasks.Rows(self._file, begin, end, self._layout)

    def remove(self) -> None:
        if self._file is not None and os.path.exists(self._file):
            os.unlink(self._file)


def finalize(client: Client, shipped: Shipped) -> None:
    """Removes the file once the client is gone, since tasks may read it again until then."""
    weakref.finalize(client, shipped.remove)
