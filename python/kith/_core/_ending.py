"""Stops calls of other threads when Python ends, and waits for them.

Daemon threads go on while Python ends. A callback of the library, such as `progress`, would then return to
no interpreter.
"""

from __future__ import annotations

import atexit
import os
import threading
from typing import Any, Optional

from ._errors import Interrupted
from ._library import lib

_lock = threading.Lock()
_changed = threading.Condition(_lock)
_running: set[Running] = set()
_ender: Optional[int] = None  # the thread that ends Python, once it does


class Running:
    """Registers a call of the library for its `with` block.

    Once Python ends, a call of another thread is stopped, and a new one does not begin: SystemExit ends that thread
    without a message.

    Parameters
    ----------
    stop : int, optional
        A kith_stop that the call checks; without it the end of Python waits for the whole call.
    """

    __slots__ = ("stop", "thread")

    def __init__(self, stop: Optional[int] = None) -> None:
        self.stop = stop
        self.thread = threading.get_ident()

    def __enter__(self) -> None:
        with _lock:
            if _ended_by_another():
                raise SystemExit
            _running.add(self)

    def __exit__(self, kind: Any, error: Optional[BaseException], trace: Any) -> None:
        with _lock:
            _running.discard(self)
            if _ender is None:
                return
            _changed.notify_all()
        if _ended_by_another() and isinstance(error, Interrupted):
            raise SystemExit from None


def _ended_by_another() -> bool:
    return _ender is not None and _ender != threading.get_ident()


def _end() -> None:
    global _ender
    with _changed:
        _ender = threading.get_ident()
        for call in _running:
            if call.stop is not None:
                lib.kith_stop_request(call.stop)
        while any(call.thread != _ender for call in _running):
            _changed.wait()


def _forget() -> None:
    """Reset the state in a forked child, which has none of the other threads."""
    global _lock, _changed, _ender
    _lock, _ender = threading.Lock(), None
    _changed = threading.Condition(_lock)
    _running.clear()


atexit.register(_end)
os.register_at_fork(after_in_child=_forget)
