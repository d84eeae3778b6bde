"""Declares an exception class for each status of the library, whose texts are the library's."""

from __future__ import annotations


class Error(Exception):
    """Is the base of all exceptions of kith. The text reads *where: what is wrong, with the values; what to do*.

    Attributes
    ----------
    code : int
        The exit code that the command ``kith`` has for the same error (docs/contract.md, section 8).
    """

    code = 1


class InvalidArgument(Error, ValueError):
    """Says that an argument is outside its documented range."""

    code = 2


class BadFile(Error, OSError):
    """Says that a file is missing, truncated, or not what it claims to be."""

    code = 3


class Unavailable(Error, RuntimeError):
    """Says that there is no such device, driver or plug-in here, or that a driver was started before this
    process forked.
    """

    code = 4


class OutOfMemory(Error, MemoryError):
    """Says that a call needs more memory than there is, or than was allowed."""

    code = 5


class Unsupported(Error, NotImplementedError):
    """Says that this device or version cannot do this; the text says what can."""

    code = 6


class DeviceFailure(Error, RuntimeError):
    """Says that a driver or device failed while it worked."""

    code = 7


class Interrupted(Error):
    """Says that a search was asked to stop."""

    code = 130


class PrecisionWarning(UserWarning):
    """Warns that rows lose digits that matter when they are rounded to single precision, in which kith computes."""


class HostCopyWarning(UserWarning):
    """Warns that rows in the memory of a GPU are copied through the memory of the host."""


_CLASSES = {
    kind.code: kind
    for kind in (InvalidArgument, BadFile, Unavailable, OutOfMemory, Unsupported, DeviceFailure, Interrupted)
}

for _kind in (Error, *_CLASSES.values(), PrecisionWarning, HostCopyWarning):
    _kind.__module__ = "kith"  # callers import it from there, and tracebacks name it so


def error_of(status: int, message: str) -> Error:
    """Return the exception for a status of the library."""
    return _CLASSES.get(status, Error)(message)
