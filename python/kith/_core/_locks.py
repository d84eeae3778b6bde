"""Declares a lock for objects that are copied, pickled, or used in a forked child."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Lock:
    """Is held by one thread of a process at a time, and by that thread any number of times.

    A copy, a pickle and a forked child have a new lock, since the thread that holds the old one would never release
    it there.
    """

    def __init__(self) -> None:
        self._by_process: dict[int, Any] = {}

    @contextmanager
    def held(self) -> Iterator[None]:
        with self._by_process.setdefault(os.getpid(), threading.RLock()):
            yield

    def __reduce__(self) -> Any:
        return Lock, ()
