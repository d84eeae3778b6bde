"""Finds and loads libkith.so, and declares the types of its functions."""

from __future__ import annotations

import ctypes as c
import os
import re
from typing import Any

from . import _structs as s
from ._errors import Error, Unavailable, error_of

_HANDLE = c.c_void_p
_OUT = c.POINTER(c.c_void_p)
_COUNT = c.POINTER(c.c_int64)
_TEXT_OUT = c.POINTER(c.c_char_p)
_ROWS = c.POINTER(s.Rows)
_SEARCH = c.POINTER(s.SearchOptions)
_VOTE = c.POINTER(s.VoteOptions)
_VOID = c.c_void_p  # an array of the caller, as an address
_I64 = c.c_int64

# Maps a name to (result, arguments). A result of c_int32 is a kith_status, and is checked.
_STATUS = c.c_int32
_VERSION_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "kith_last_error": (c.c_char_p, []),
    "kith_version": (c.c_char_p, []),
    "kith_abi_version": (c.c_uint32, []),
}
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    **_VERSION_FUNCTIONS,
    "kith_metric_count": (_I64, []),
    "kith_metric_name": (c.c_char_p, [_I64]),
    "kith_metric_find": (_STATUS, [c.c_char_p, _TEXT_OUT]),
    "kith_inventory_new": (_STATUS, [_OUT]),
    "kith_inventory_free": (None, [_HANDLE]),
    "kith_inventory_device_count": (_STATUS, [_HANDLE, _COUNT]),
    "kith_inventory_device": (_STATUS, [_HANDLE, _I64, c.POINTER(s.DeviceInfo)]),
    "kith_inventory_backend_count": (_STATUS, [_HANDLE, _COUNT]),
    "kith_inventory_backend": (_STATUS, [_HANDLE, _I64, _TEXT_OUT, _TEXT_OUT]),
    "kith_inventory_warning_count": (_STATUS, [_HANDLE, _COUNT]),
    "kith_inventory_warning": (_STATUS, [_HANDLE, _I64, _TEXT_OUT]),
    "kith_device_open": (_STATUS, [c.c_char_p, _OUT]),
    "kith_device_adopt_opencl": (_STATUS, [_VOID, _VOID, _VOID, _OUT]),
    "kith_device_free": (None, [_HANDLE]),
    "kith_device_describe": (_STATUS, [_HANDLE, c.POINTER(s.DeviceInfo)]),
    "kith_stop_new": (_STATUS, [_OUT]),
    "kith_stop_free": (None, [_HANDLE]),
    "kith_stop_request": (_STATUS, [_HANDLE]),
    "kith_filter_of": (_STATUS, [_I64, _VOID, _I64, _VOID]),
    "kith_index_new": (_STATUS, [_HANDLE, _ROWS, c.POINTER(s.IndexOptions), _OUT]),
    "kith_index_with": (_STATUS, [_HANDLE, _ROWS, _VOID, _OUT]),
    "kith_index_without": (_STATUS, [_HANDLE, _VOID, _I64, _OUT]),
    "kith_index_compact": (_STATUS, [_HANDLE, _OUT]),
    "kith_index_numbers": (_STATUS, [_HANDLE, _VOID]),
    "kith_index_free": (None, [_HANDLE]),
    "kith_centre_learn": (_STATUS, [_ROWS, _I64, _VOID, _VOID]),
    "kith_index_describe": (_STATUS, [_HANDLE, c.POINTER(s.IndexInfo)]),
    "kith_index_from_file": (_STATUS, [_HANDLE, c.c_char_p, c.POINTER(s.IndexOptions), _OUT]),
    "kith_index_from_rows": (_STATUS, [_HANDLE, _ROWS, c.POINTER(s.IndexOptions), _OUT]),
    "kith_index_residence": (_STATUS, [_HANDLE, c.POINTER(c.c_char_p)]),
    "kith_index_save": (_STATUS, [_HANDLE, c.c_char_p, _HANDLE, s.PROGRESS, _VOID]),
    "kith_index_open": (_STATUS, [_HANDLE, c.c_char_p, c.POINTER(s.OpenOptions), _OUT]),
    "kith_index_file_describe": (_STATUS, [c.c_char_p, c.POINTER(s.IndexFileInfo)]),
    "kith_index_search": (_STATUS, [_HANDLE, _ROWS, _I64, _SEARCH, _VOID, _VOID]),
    "kith_index_search_f64": (_STATUS, [_HANDLE, _ROWS, _I64, _SEARCH, _VOID, _VOID]),
    "kith_index_search_on_device": (_STATUS, [_HANDLE, _ROWS, _I64, _SEARCH, c.POINTER(s.DeviceAnswers)]),
    "kith_knn": (_STATUS, [_HANDLE, _ROWS, _ROWS, _I64, c.POINTER(s.IndexOptions), _SEARCH, _VOID, _VOID]),
    "kith_index_within": (_STATUS, [_HANDLE, _ROWS, _VOID, _I64, _SEARCH, _OUT]),
    "kith_index_within_f64": (_STATUS, [_HANDLE, _ROWS, _VOID, _I64, _SEARCH, _OUT]),
    "kith_within_free": (None, [_HANDLE]),
    "kith_within_describe": (_STATUS, [_HANDLE, c.POINTER(s.WithinInfo)]),
    "kith_index_count": (_STATUS, [_HANDLE, _ROWS, _VOID, _I64, _I64, c.c_int32, _SEARCH, _VOID]),
    "kith_index_two_point": (_STATUS, [_HANDLE, _ROWS, _VOID, _I64, _I64, c.c_int32, _SEARCH, _VOID]),
    "kith_pairs_new": (_STATUS, [_HANDLE, c.c_double, _SEARCH, _OUT]),
    "kith_pairs_free": (None, [_HANDLE]),
    "kith_pairs_next": (_STATUS, [_HANDLE, c.POINTER(s.PairsInfo)]),
    "kith_index_search_keys": (_STATUS, [_HANDLE, _ROWS, _I64, _SEARCH, _VOID, _VOID]),
    "kith_index_within_keys": (_STATUS, [_HANDLE, _ROWS, _VOID, _I64, _SEARCH, _OUT]),
    "kith_index_search_keys_f64": (_STATUS, [_HANDLE, _ROWS, _I64, _SEARCH, _VOID, _VOID]),
    "kith_index_within_keys_f64": (_STATUS, [_HANDLE, _ROWS, _VOID, _I64, _SEARCH, _OUT]),
    "kith_radius_keys_free": (None, [_HANDLE]),
    "kith_radius_keys_describe": (_STATUS, [_HANDLE, c.POINTER(s.RadiusKeysInfo)]),
    "kith_merge": (_STATUS, [_I64, _I64, _I64, _VOID, _VOID, _VOID, _VOID]),
    "kith_merge_radius": (_STATUS, [_I64, _I64, _VOID, _VOID, _VOID, _OUT]),
    "kith_finish": (_STATUS, [c.c_char_p, c.c_double, _I64, _VOID, _VOID]),
    "kith_leave_out": (_STATUS, [_I64, _I64, _VOID, _VOID, _VOID, _VOID, _VOID]),
    "kith_digest": (_STATUS, [_I64, _I64, _VOID, _VOID, _VOID]),
    "kith_merge_f64": (_STATUS, [_I64, _I64, _I64, _VOID, _VOID, _VOID, _VOID]),
    "kith_merge_radius_f64": (_STATUS, [_I64, _I64, _VOID, _VOID, _VOID, _OUT]),
    "kith_finish_f64": (_STATUS, [c.c_char_p, c.c_double, _I64, _VOID, _VOID]),
    "kith_leave_out_f64": (_STATUS, [_I64, _I64, _VOID, _VOID, _VOID, _VOID, _VOID]),
    "kith_digest_f64": (_STATUS, [_I64, _I64, _VOID, _VOID, _VOID]),
    "kith_largest_element": (_STATUS, [_ROWS, _VOID, _I64, _VOID]),
    "kith_index_prepare": (_STATUS, [_HANDLE, _I64, _I64, _SEARCH]),
    "kith_index_explain": (_STATUS, [_HANDLE, _I64, _I64, _SEARCH, _OUT]),
    "kith_text_free": (None, [_HANDLE]),
    "kith_classifier_of_index": (_STATUS, [_HANDLE, _VOID, _I64, _VOID, _OUT]),
    "kith_classifier_with": (_STATUS, [_HANDLE, _ROWS, _VOID, _VOID, _VOID, _OUT]),
    "kith_classifier_without": (_STATUS, [_HANDLE, _VOID, _I64, _OUT]),
    "kith_classifier_compact": (_STATUS, [_HANDLE, _OUT]),
    "kith_classifier_free": (None, [_HANDLE]),
    "kith_classifier_classes": (_STATUS, [_HANDLE, _I64, _OUT, _COUNT, _VOID]),
    "kith_classifier_index": (_STATUS, [_HANDLE, _OUT]),
    "kith_classifier_predict": (_STATUS, [_HANDLE, _ROWS, _I64, _VOTE, _SEARCH, _VOID]),
    "kith_classifier_classify": (_STATUS, [_HANDLE, _ROWS, _I64, _VOTE, _SEARCH, _I64, _VOID]),
    "kith_classifier_classify_within": (
        _STATUS,
        [_HANDLE, _ROWS, _VOID, _I64, _VOTE, _SEARCH, c.POINTER(s.Classification), _OUT],
    ),
    "kith_classifier_classify_within_f64": (
        _STATUS,
        [_HANDLE, _ROWS, _VOID, _I64, _VOTE, _SEARCH, c.POINTER(s.Classification), _OUT],
    ),
    "kith_regressor_of_index": (_STATUS, [_HANDLE, _VOID, _I64, _VOID, _OUT]),
    "kith_regressor_with": (_STATUS, [_HANDLE, _ROWS, _VOID, _VOID, _VOID, _OUT]),
    "kith_regressor_without": (_STATUS, [_HANDLE, _VOID, _I64, _OUT]),
    "kith_regressor_compact": (_STATUS, [_HANDLE, _OUT]),
    "kith_regressor_free": (None, [_HANDLE]),
    "kith_regressor_index": (_STATUS, [_HANDLE, _OUT]),
    "kith_regressor_predict": (_STATUS, [_HANDLE, _ROWS, _I64, _VOTE, _SEARCH, _VOID, _VOID, _VOID]),
    "kith_regressor_predict_within": (
        _STATUS,
        [_HANDLE, _ROWS, _VOID, _I64, _VOTE, _SEARCH, _VOID, _OUT],
    ),
    "kith_regressor_predict_within_f64": (
        _STATUS,
        [_HANDLE, _ROWS, _VOID, _I64, _VOTE, _SEARCH, _VOID, _OUT],
    ),
}


def _candidates() -> list[str]:
    """Return where the library may be: $KITH_LIBRARY, else in this package, else in a build beside the sources."""
    named = os.environ.get("KITH_LIBRARY")
    if named:
        return [named]
    here = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    source = os.path.dirname(os.path.dirname(here))
    return [os.path.join(here, "_lib", "libkith.so.0"), os.path.join(source, "build", "lib", "libkith.so.0")]


def _load() -> c.CDLL:
    for path in _candidates():
        if os.path.exists(path):
            try:
                return c.CDLL(path, mode=c.RTLD_LOCAL)
            except OSError as failure:
                raise Unavailable(f"kith: {path} does not load: {failure}; install kith-knn again") from None
    looked = ", ".join(_candidates())
    raise Unavailable(
        f"kith: there is no libkith.so.0 (looked for {looked}); install kith-knn, or name the library in KITH_LIBRARY"
    )


def _bind(library: c.CDLL, functions: dict[str, tuple[Any, list[Any]]]) -> None:
    for name, (result, arguments) in functions.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            raise Unavailable(
                f"kith: libkith.so.0 has no {name}; install kith-knn again, so that both are of one version"
            ) from None
        function.restype, function.argtypes = result, arguments


lib = _load()
_bind(lib, _VERSION_FUNCTIONS)
_abi = int(lib.kith_abi_version())
if _abi >> 16 != s.ABI_MAJOR or _abi & 0xFFFF < s.ABI_MINOR:
    raise Unavailable(
        f"kith: libkith.so.0 has interface {_abi >> 16}.{_abi & 0xFFFF}, but this package needs "
        f"{s.ABI_MAJOR}.{s.ABI_MINOR}; install kith-knn again, so that both are of one version"
    )
_bind(lib, FUNCTIONS)


def text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")


# Options of the library as its sentences name them, and the arguments of Python that they are.
_ARGUMENTS = (
    (re.compile(r"\bresidence(?=: there is none called| (?:resident|stream|quantized)\b)"), "storage"),
    (re.compile(r"\bcolumn_weights\b"), "w"),
    (re.compile(r"\binverse_covariance\b"), "VI"),
    (re.compile(r"\bcovariance(?= has | is not |\[| and VI\b)|\bvariances(?= has | of column )"), "V"),
    (re.compile(r"\bwithout variances(, .*)?; give one a column"), r"without V\1; give one variance a column"),
)


def failure(status: int) -> Error:
    """Return the exception for a status of this thread's last call. Its text names arguments as Python does."""
    sentence = text(lib.kith_last_error())
    for option, argument in _ARGUMENTS:
        sentence = option.sub(argument, sentence)
    return error_of(status, sentence)


def check(status: int) -> None:
    """Raise the exception for a status, with the library's sentence. Only the thread that made the call may use it.
    """
    if status:
        raise failure(status)


def version() -> str:
    return text(lib.kith_version())


class Handle:
    """Holds a handle of the library, which the given function frees once.

    `quick`: for what its last call asked if that took a moment, and the work of the largest such call: `_watch.call`.
    """

    __slots__ = ("_free", "quick", "value")

    def __init__(self, value: int | None, free: Any) -> None:
        self.value = value
        self.quick: tuple[Any, float] = None, 0
        self._free = free

    def __reduce__(self) -> Any:
        raise TypeError("kith: a handle of the library belongs to one process and is not copied")

    def __del__(self) -> None:
        value, self.value = getattr(self, "value", None), None
        if value:
            self._free(value)


def new_handle(free: Any, function: Any, *arguments: Any) -> Handle:
    """Call a function that writes a handle to its last argument."""
    out = c.c_void_p()
    check(function(*arguments, c.byref(out)))
    return Handle(out.value, free)
