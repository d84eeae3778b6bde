"""A lock that objects may have which are copied, pickled, and there in a forked child."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Lock:
    """Held by one thread of a process at a time, and by that thread as often as it asks.

    A copy, a pickle and a forked child have it anew: whoever holds it elsewhere never gives it back there.
    """

    def __init__(self) -> None:
        self._by_process: dict[int, Any] = {}

    @contextmanager
    def held(self) -> Iterator[None]:
        with self._by_process.setdefault(os.getpid(), threading.RLock()):
            yield

    def __reduce__(self) -> Any:
        return Lock, ()
