"""Declares the structs of kith.h for ctypes; tests/test_header.py compares them with the header."""

from __future__ import annotations

import ctypes as c
from typing import Any, TypeVar

from ._options import (
    PROGRESS as PROGRESS,
    STRUCTS as _OPTIONS,
    TUNING as TUNING,
    IndexOptions as IndexOptions,
    OpenOptions as OpenOptions,
    SearchOptions as SearchOptions,
    VoteOptions as VoteOptions,
)

ABI_MAJOR, ABI_MINOR = 1, 0  # the version of kith.h that these structs follow

_S = TypeVar("_S", bound=c.Structure)


class Rows(c.Structure):
    _fields_ = [
        ("size", c.c_uint64),
        ("data", c.c_void_p),
        ("rows", c.c_int64),
        ("cols", c.c_int64),
        ("stride_bytes", c.c_int64),
        ("offset_bytes", c.c_int64),
        ("element", c.c_int32),
        ("where", c.c_int32),
        ("stream", c.c_void_p),
    ]


class DeviceInfo(c.Structure):
    _fields_ = [
        ("size", c.c_uint64),
        ("spec", c.c_char_p),
        ("backend", c.c_char_p),
        ("name", c.c_char_p),
        ("platform", c.c_char_p),
        ("driver", c.c_char_p),
        ("kind", c.c_char_p),
        ("pci", c.c_char_p),
        ("selectors", c.c_char_p),
        ("proposers", c.c_char_p),
        ("memory_bytes", c.c_uint64),
        ("largest_allocation_bytes", c.c_uint64),
        ("compute_units", c.c_uint32),
        ("fused_max_k", c.c_uint32),
    ]


class IndexInfo(c.Structure):
    _fields_ = [
        ("size", c.c_uint64),
        ("rows", c.c_int64),
        ("dims", c.c_int64),
        ("metric", c.c_char_p),
        ("device", c.c_char_p),
        ("features", c.c_void_p),
        ("features_count", c.c_int64),
        ("memory_bytes", c.c_uint64),
        ("first_row", c.c_int64),
        ("next_row", c.c_int64),
        ("positions", c.c_int64),
        ("centre", c.c_void_p),
        ("arithmetic", c.c_char_p),
        ("box", c.c_void_p),
        ("prepared", c.c_int64),
        ("parameter", c.c_double),
    ]


class DeviceAnswers(c.Structure):
    _fields_ = [
        ("size", c.c_uint64),
        ("distance", c.c_void_p),
        ("row", c.c_void_p),
        ("distance_offset_bytes", c.c_int64),
        ("row_offset_bytes", c.c_int64),
        ("where", c.c_int32),
        ("element", c.c_int32),
        ("stream", c.c_void_p),
    ]


class IndexFileInfo(c.Structure):
    _fields_ = [
        ("size", c.c_uint64),
        ("version", c.c_uint64),
        ("bytes", c.c_uint64),
        ("metric", c.c_char_p),
        ("element", c.c_char_p),
        ("rows", c.c_int64),
        ("removed", c.c_int64),
        ("dims", c.c_int64),
        ("features", c.c_int64),
        ("first_row", c.c_int64),
        ("rows_offset", c.c_uint64),
        ("largest", c.c_float),
        ("reserved", c.c_int32),
        ("centred", c.c_int64),
        ("periodic", c.c_int64),
        ("prepared", c.c_int64),
        ("groups", c.c_int64),
    ]


class WithinInfo(c.Structure):
    _fields_ = [
        ("size", c.c_uint64),
        ("queries", c.c_int64),
        ("first", c.c_void_p),
        ("distance", c.c_void_p),
        ("row", c.c_void_p),
        ("distance64", c.c_void_p),
    ]


class PairsInfo(c.Structure):
    _fields_ = [
        ("size", c.c_uint64),
        ("count", c.c_int64),
        ("first", c.c_void_p),
        ("second", c.c_void_p),
        ("distance", c.c_void_p),
        ("distance64", c.c_void_p),
    ]


class RadiusKeysInfo(c.Structure):
    _fields_ = [
        ("size", c.c_uint64),
        ("queries", c.c_int64),
        ("first", c.c_void_p),
        ("value", c.c_void_p),
        ("row", c.c_void_p),
        ("value64", c.c_void_p),
    ]


class Classification(c.Structure):
    _fields_ = [
        ("size", c.c_uint64),
        ("label", c.c_void_p),
        ("votes", c.c_void_p),
        ("scores", c.c_void_p),
        ("share", c.c_void_p),
        ("distance", c.c_void_p),
        ("row", c.c_void_p),
        ("scores64", c.c_void_p),
        ("distance64", c.c_void_p),
    ]


# Names each struct as kith.h does, for the test that compares layouts.
STRUCTS: dict[str, type[c.Structure]] = {
    **_OPTIONS,
    "kith_rows": Rows,
    "kith_device_info": DeviceInfo,
    "kith_index_info": IndexInfo,
    "kith_index_file_info": IndexFileInfo,
    "kith_within_info": WithinInfo,
    "kith_pairs_info": PairsInfo,
    "kith_radius_keys_info": RadiusKeysInfo,
    "kith_classification": Classification,
}


def sized(struct: type[_S], **fields: Any) -> _S:
    """Return a struct whose `size` is set as KITH_INIT does; other fields are 0, the default, unless given."""
    value = struct(**fields)
    value.size = c.sizeof(struct)
    return value


def search_options() -> SearchOptions:
    return sized(SearchOptions)
