"""Makes calls that Ctrl-C can stop, and whose progress a bar can show.

The library runs without the GIL. Python handles a signal only between instructions of its main thread, so a
call that may take long runs on another thread, while the main thread waits for it, handles signals, and asks
the library to stop when a handler raises.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Callable, Optional, Union

from . import _structs as s
from ._ending import begin, end, ended_by_another
from ._errors import Interrupted
from ._library import Handle, check, lib, new_handle

Progress = Union[bool, Callable[[float], Any]]
Ask = Callable[[Optional[s.SearchOptions]], int]

# A call of fewer multiply-adds is not worth a thread: it takes some tens of milliseconds on one core.
LONG = 100_000_000
# Boxes, for example, save most of the work. A thread takes 0.2 to 0.4 ms, as long as such a search; a call like one that
# took at most so many seconds goes without, unless it has so much work that it could take some seconds after all.
MOMENT, MOST_OF_QUICK = 0.01, 100 * LONG


def needs_watching(work: float, progress: Progress, quick: float) -> bool:
    """Say whether a call of `work` multiply-adds is worth a thread of its own; up to `quick` took a moment lately."""
    if progress is not False:
        return True
    return work >= LONG and work > quick and threading.current_thread() is threading.main_thread()


def _run(ask: Ask, options: s.SearchOptions, bar: Optional[_Bar]) -> None:
    """Call `ask` on another thread, and wait for it; call it on this thread if no other can be started.

    Raises
    ------
    KeyboardInterrupt, or any exception of a handler of signals or of `progress`
        The call has ended by then.
    """
    told, failed = _Raised(), _Raised()

    def show(fraction: float, _user: Optional[int]) -> int:
        return int(told.error is not None or told.by(bar or _nothing, fraction))

    options.progress = s.PROGRESS(show) if bar is not None else s.PROGRESS()
    begun, ended = threading.Lock(), threading.Event()

    def work() -> None:
        if begun.acquire(blocking=False):
            failed.by(lambda: check(ask(options)))
            ended.set()

    try:
        _wait(threading.Thread(target=work, name="kith", daemon=True), begun, ended, options.stop)
    except _NoThread:
        options.progress = s.PROGRESS(show)
        with _raised_on_entry(show, told):
            failed.by(lambda: check(ask(options)))
    finally:
        if bar is not None:
            bar.close()
    error = told.error or failed.error
    if error is not None:
        raise error


def _nothing(_fraction: float) -> None:
    pass


@contextmanager
def _raised_on_entry(function: Any, told: _Raised) -> Iterator[None]:
    """Keep what signal handlers raise when the main thread enters a callback: Python gives it only to this hook."""

    def keep(raised: Any) -> None:
        if raised.object is function or repr(function) in (raised.err_msg or ""):  # the latter since Python 3.13
            told.error = raised.exc_value
        else:
            before(raised)

    before, sys.unraisablehook = sys.unraisablehook, keep
    try:
        yield
    finally:
        sys.unraisablehook = before


class _NoThread(Exception):
    """Says that no thread can be started."""


class _Raised:
    """Keeps what a function raised in a place where nothing may be raised: in a callback of ctypes, or on
    another thread.
    """

    error: Optional[BaseException] = None

    def by(self, function: Callable[..., Any], *arguments: Any) -> bool:
        try:
            function(*arguments)
        except BaseException as error:
            self.error = error
            return True
        return False


def _wait(thread: threading.Thread, begun: threading.Lock, ended: threading.Event, stop: Optional[int]) -> None:
    """Wait until the work of a thread has ended, even if something is raised meanwhile: it writes to arrays of
    the caller.

    If something is raised while the thread starts, it may still run: `begun` prevents that. Until Python 3.12 an
    interrupted join() takes a running thread for one that has ended: `ended` is checked instead.
    """
    raised: Optional[BaseException] = None
    try:
        thread.start()
    except BaseException as error:
        if not begun.acquire(blocking=False):
            raised = error
        elif isinstance(error, RuntimeError) and "new thread" in str(error):
            raise _NoThread from error
        else:
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
    """Make what `progress` asks for: a function that takes the part that is done."""

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
    tqdm = _tqdm()
    if tqdm is None:
        return _plain_bar()
    bar = tqdm(
        total=100.0, unit="%", desc="kith", delay=0.5, leave=False, bar_format="{desc} {percentage:3.0f}% |{bar}|"
    )

    def show(fraction: float) -> None:
        bar.update(100.0 * fraction - bar.n)

    return _Bar(show, bar.close)


@lru_cache(maxsize=None)
def _tqdm() -> Any:
    """Return the bar of tqdm, or None without it; Python would look for a missing module again at each import."""
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        return None
    return tqdm


def _plain_bar() -> _Bar:
    """Show whole percents on one line of stderr, without tqdm."""
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


def call(
    ask: Ask,
    options: Optional[s.SearchOptions],
    work: float,
    progress: Progress = False,
    asked: Optional[Handle] = None,
    like: Any = None,
) -> None:
    """Let `ask` search by `options`; None stands for the defaults.

    `work` counts multiply-adds of one core of a CPU. `like`: what those calls of the handle `asked` have in common that
    take about as long for the same work, so that after one which took a moment others need no thread. None: a call that
    tells nothing of others.
    """
    if work < LONG and progress is False:
        running = begin()
        try:
            status = ask(options)
        finally:
            end(running)
        return check(status)
    stop = new_handle(lib.kith_stop_free, lib.kith_stop_new)
    options = options or s.search_options()
    options.stop = stop.value
    bar = _bar(progress)  # may import, which may wait for other threads: Python's end does not wait for that
    quick: float = 0
    if asked is not None and like is not None:
        (before, most), asked.quick = asked.quick, (None, 0)  # if this call raises, nothing is known
        quick = most if before == like else 0
    since = time.perf_counter()
    running = begin(stop)
    try:
        if needs_watching(work, progress, quick):
            _run(ask, options, bar)
        else:
            check(ask(options))
    except Interrupted:
        if ended_by_another():
            raise SystemExit from None
        raise
    finally:
        end(running)
    if asked is not None and like is not None and time.perf_counter() - since <= MOMENT:
        asked.quick = like, max(quick, min(work, MOST_OF_QUICK))
