"""One exception class for each status of the library; texts are the library's own."""

from __future__ import annotations


class Error(Exception):
    """Everything that kith raises. The text reads *where: what is wrong, with the values; what to do*.

    Attributes
    ----------
    code : int
        The exit code that the command ``kith`` has for the same error (docs/contract.md, section 8).
    """

    code = 1


class InvalidArgument(Error, ValueError):
    """An argument is outside its documented range."""

    code = 2


class BadFile(Error, OSError):
    """A file is missing, truncated, or not what it claims to be."""

    code = 3


class Unavailable(Error, RuntimeError):
    """There is no such device, driver or plug-in here, or a driver was started before this process forked."""

    code = 4


class OutOfMemory(Error, MemoryError):
    """What was asked needs more memory than there is, or than was allowed."""

    code = 5


class Unsupported(Error, NotImplementedError):
    """This device or version cannot do this; the text says what can."""

    code = 6


class DeviceFailure(Error, RuntimeError):
    """A driver or device failed while it worked."""

    code = 7


class Interrupted(Error):
    """A search was asked to stop."""

    code = 130


class PrecisionWarning(UserWarning):
    """Rows lose digits that matter when they are rounded to single precision, in which kith computes."""


class HostCopyWarning(UserWarning):
    """Rows in the memory of a GPU are copied through the memory of the host."""


_CLASSES = {
    kind.code: kind
    for kind in (InvalidArgument, BadFile, Unavailable, OutOfMemory, Unsupported, DeviceFailure, Interrupted)
}

for _kind in (Error, *_CLASSES.values(), PrecisionWarning, HostCopyWarning):
    _kind.__module__ = "kith"  # where callers know it from, and tracebacks name it


def error_of(status: int, message: str) -> Error:
    """The exception for a status of the library."""
    return _CLASSES.get(status, Error)(message)
