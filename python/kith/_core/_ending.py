"""Stops calls of other threads when Python ends, and waits for them.

Daemon threads go on while Python ends. A callback of the library, such as `progress`, would then return to
no interpreter.
"""

from __future__ import annotations

import atexit
import os
import time
from threading import get_ident
from typing import Optional

from ._library import Handle, lib

# A small search is not to wait for a lock. Python's dictionaries have their own where there is no GIL, so that either a
# call sees that Python ends, or the end sees the call.
_running: dict[object, tuple[int, Optional[Handle]]] = {}  # the thread of each call, and its kith_stop
_ender: Optional[int] = None  # the thread that ends Python, once it does
_LOOK = 0.001  # seconds after which the end looks again whether calls go on


def begin(stop: Optional[Handle] = None) -> object:
    """Register a call of the library, and return what `end` takes.

    Once Python ends, a call of another thread is stopped, and a new one does not begin: SystemExit ends that thread
    without a message.

    Parameters
    ----------
    stop : Handle, optional
        A kith_stop that the call checks; without it the end of Python waits for the whole call.
    """
    call, thread = object(), get_ident()
    _running[call] = thread, stop
    if _ender is not None and _ender != thread:
        end(call)
        raise SystemExit
    return call


def end(call: object) -> None:
    _running.pop(call, None)  # a child that a callback forked has forgotten it


def ended_by_another() -> bool:
    return _ender is not None and _ender != get_ident()


def _end() -> None:
    global _ender
    _ender = get_ident()
    for _thread, stop in list(_running.values()):
        if stop is not None:
            lib.kith_stop_request(stop.value)
    while any(thread != _ender for thread, _stop in list(_running.values())):
        time.sleep(_LOOK)


def _forget() -> None:
    """Reset the state in a forked child, which has none of the other threads."""
    global _ender
    _ender = None
    _running.clear()


atexit.register(_end)
os.register_at_fork(after_in_child=_forget)
