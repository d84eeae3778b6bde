"""Writes files that appear complete or not at all, by the rules of lib/src/base/whole_file.cpp."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any, Callable

from .._core._errors import BadFile, Error

_ATTEMPTS = 100
_ADVICE = {
    errno.ENOENT: "make the folder first",
    errno.EACCES: "choose a folder that you may write to",
    errno.EPERM: "choose a folder that you may write to",
    errno.EROFS: "choose a folder that you may write to",
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "free some space",
    errno.EFBIG: "raise the limit of a file's size (ulimit -f), or write less",
}


def write_whole(path: str | os.PathLike[str], body: Callable[[IO[bytes]], Any]) -> None:
    """Let `body` write a file of `whole_file`."""
    with whole_file(path) as file, _told(path):
        body(file)


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Give a temporary file beside the target, which replaces it at the end and keeps its permissions.

    A link stays, and its target is replaced; a link to nothing is replaced itself. Files that ended processes left
    beside the target are removed.

    Raises
    ------
    BadFile
        The target is no ordinary file, or cannot be written.
    """
    with _told(path):
        target, before = _target_of(path)
        _remove_unfinished(target)
        file = _beside(target, 0o666 if before is None else before)
    try:
        with _told(path):
            if before is not None:
                os.fchmod(file.fileno(), before)
        yield file
        with _told(path):
            file.flush()
            os.fsync(file.fileno())
            os.replace(file.name, target)
    except BaseException:
        os.unlink(file.name)
        raise
    finally:
        with suppress(OSError):  # the data is on the disk, or an error was raised
            file.close()
    with _told(path):
        _sync_folder_of(target)


@contextmanager
def _told(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn an error of the system into a sentence."""
    try:
        yield
    except Error:
        raise
    except OSError as error:
        advice = _ADVICE.get(error.errno or 0, "choose another place")
        raise BadFile(f"{os.fsdecode(path)}: cannot be written: {error.strerror or error}; {advice}") from error


def _target_of(path: str | os.PathLike[str]) -> tuple[str, int | None]:
    """Return where to write, and the permissions of the file there."""
    shown = path = os.fsdecode(path)
    if "\0" in path:
        raise BadFile(f"{shown!r} has a zero byte, which no name of a file has; name another")
    try:
        there = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        folder, name = os.path.split(path)
        return os.path.join(os.path.realpath(folder), name), None
    if not stat.S_ISREG(there.st_mode):
        what = "a folder" if stat.S_ISDIR(there.st_mode) else "a pipe or a device"
        raise BadFile(f"{shown}: is {what}, which cannot be written as a whole; name an ordinary file")
    return os.path.realpath(path), stat.S_IMODE(there.st_mode)


def _beside(target: str, mode: int) -> IO[bytes]:
    """Make a file, locked while it is open, so that no other process takes it for one that was left behind."""
    for attempt in range(_ATTEMPTS):
        name = f"{target}.partial-{os.getpid()}-{attempt}"
        try:
            file = open(name, "x+b", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW, mode))
        except FileExistsError:
            continue
        try:
            _lock(file.fileno(), fcntl.LOCK_EX)
            if os.path.exists(name) and os.path.samestat(os.stat(name), os.fstat(file.fileno())):
                return file
        except BaseException:
            file.close()
            os.unlink(name)
            raise
        file.close()  # another process removed it before it was locked
    raise FileExistsError(errno.EEXIST, f"{_ATTEMPTS} unfinished files are there already", target)


def _lock(descriptor: int, how: int) -> bool:
    """Lock a file, and say whether that worked; some file systems have no locks."""
    try:
        fcntl.flock(descriptor, how)
    except OSError:
        return False
    return True


def _remove_unfinished(target: str) -> None:
    """Remove files that ended processes left beside `target`."""
    folder, name = os.path.split(target)
    unfinished = re.compile(re.escape(name) + r"\.partial-(\d{1,10})-\d+")
    try:
        with os.scandir(folder) as entries:
            found = [(entry.path, match) for entry in entries if (match := unfinished.fullmatch(entry.name))]
    except OSError:  # the folder may be written to, but not read
        return
    for path, match in found:
        if not _runs(int(match[1])):
            _remove_unlocked(path)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it is another user's
        pass
    return True


def _remove_unlocked(path: str) -> None:
    """Remove a file, unless it is locked by a process of another machine or container, whose number is unknown here.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    with suppress(OSError):
        if stat.S_ISREG(os.fstat(descriptor).st_mode) and _lock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB):
            os.unlink(path)
    os.close(descriptor)


def _sync_folder_of(target: str) -> None:
    """Write the folder to the disk, so that the new name is there, too, if the file system can."""
    try:
        folder = os.open(os.path.dirname(target) or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:  # the folder may be written to, but not read
        return
    try:
        os.fsync(folder)
    except OSError as error:
        if error.errno in (errno.EIO, errno.ENOSPC, errno.EDQUOT):
            raise
    finally:
        os.close(folder)
