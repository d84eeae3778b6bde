"""Calls that Ctrl-C can stop and a progress bar can watch.

The library runs without the GIL. Python handles a signal only between instructions of its main thread, so a
call that may take long runs on another thread, while the main thread waits for it, handles signals, and asks
the library to stop when a handler raises.
"""

from __future__ import annotations

import sys
import threading
from typing import Any, Callable, Optional, Union

from . import _structs as s
from ._library import check, lib, new_handle

Progress = Union[bool, Callable[[float], Any]]
Ask = Callable[[Optional[s.SearchOptions]], int]

# Multiply-adds below which a call is over before a thread would pay: some tens of milliseconds on one core.
LONG = 100_000_000


def needs_watching(work: int, progress: Progress) -> bool:
    """Whether a call of `work` multiply-adds is worth a thread of its own."""
    return progress is not False or (work >= LONG and threading.current_thread() is threading.main_thread())


def _run(ask: Ask, options: s.SearchOptions, progress: Progress) -> None:
    """Call `ask` on another thread, and wait.

    Raises
    ------
    KeyboardInterrupt, or whatever else a handler of signals or `progress` raises
        The call has ended by then.
    """
    stop = new_handle(lib.kith_stop_free, lib.kith_stop_new)
    options.stop = stop.value
    bar = _bar(progress)
    told, failed = _Raised(), _Raised()

    def show(fraction: float, _user: Optional[int]) -> int:
        assert bar is not None
        return int(told.by(bar, fraction))

    options.progress = s.PROGRESS(show) if bar is not None else s.PROGRESS()
    begun, ended = threading.Lock(), threading.Event()

    def work() -> None:
        if begun.acquire(blocking=False):
            failed.by(lambda: check(ask(options)))
            ended.set()

    try:
        _wait(threading.Thread(target=work, name="kith", daemon=True), begun, ended, stop.value)
    finally:
        if bar is not None:
            bar.close()
    error = told.error or failed.error
    if error is not None:
        raise error


class _Raised:
    """What a function raised where nothing may be raised: in a callback of ctypes, on another thread."""

    error: Optional[BaseException] = None

    def by(self, function: Callable[..., Any], *arguments: Any) -> bool:
        try:
            function(*arguments)
        except BaseException as error:
            self.error = error
            return True
        return False


def _wait(thread: threading.Thread, begun: threading.Lock, ended: threading.Event, stop: Optional[int]) -> None:
    """Until its work has ended, whatever is raised meanwhile: it writes to arrays of the caller.

    What is raised while it starts leaves open whether it will run: it does unless `begun` is taken from it. Until
    Python 3.12 an interrupted join() takes a thread that runs for one that has ended: `ended` is asked instead.
    """
    raised: Optional[BaseException] = None
    try:
        thread.start()
    except BaseException as error:
        raised = error
        lib.kith_stop_request(stop)
        if begun.acquire(blocking=False):
            raise
    while not ended.is_set():
        try:
            if raised is not None:
                lib.kith_stop_request(stop)
            ended.wait()
        except BaseException as error:
            raised = raised or error
    if raised is not None:
        raise raised


class _Bar:
    """What `progress` asks for, fed with fractions."""

    def __init__(self, show: Callable[[float], Any], close: Callable[[], Any]) -> None:
        self._show = show
        self.close = close

    def __call__(self, fraction: float) -> None:
        self._show(fraction)


def _bar(progress: Progress) -> Optional[_Bar]:
    if progress is False:
        return None
    if callable(progress):
        return _Bar(progress, lambda: None)
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        return _plain_bar()
    bar = tqdm(
        total=100.0, unit="%", desc="kith", delay=0.5, leave=False, bar_format="{desc} {percentage:3.0f}% |{bar}|"
    )

    def show(fraction: float) -> None:
        bar.update(100.0 * fraction - bar.n)

    return _Bar(show, bar.close)


def _plain_bar() -> _Bar:
    """Without tqdm: whole percents on stderr, each on the same line."""
    last = [-1]

    def show(fraction: float) -> None:
        percent = int(100 * fraction)
        if percent != last[0]:
            last[0] = percent
            print(f"\rkith {percent:3d}%", end="", file=sys.stderr, flush=True)

    def close() -> None:
        if last[0] >= 0:
            print(file=sys.stderr, flush=True)

    return _Bar(show, close)


def call(ask: Ask, options: Optional[s.SearchOptions], work: int, progress: Progress = False) -> None:
    """Let `ask` search, which gets `options`; None stands for the defaults.

    `work` is in multiply-adds of one core of a CPU.
    """
    if needs_watching(work, progress):
        _run(ask, options or s.search_options(), progress)
    else:
        check(ask(options))
