"""The structs of kith.h as ctypes sees them; tests/test_header.py holds them against the header."""

from __future__ import annotations

import ctypes as c
from typing import Any, TypeVar

ABI_MAJOR, ABI_MINOR = 1, 3  # of kith.h, that these structs are written after

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


class IndexOptions(c.Structure):
    _fields_ = [
        ("size", c.c_uint64),
        ("metric", c.c_char_p),
        ("features", c.c_void_p),
        ("feature_count", c.c_int64),
        ("first_row", c.c_int64),
        ("largest", c.c_float),
        ("ids", c.c_void_p),
        ("id_count", c.c_int64),
        ("placement", c.c_char_p),
        ("shares", c.c_void_p),
        ("share_count", c.c_int64),
        ("reserve", c.c_int64),
        ("centre", c.c_void_p),
        ("centre_count", c.c_int64),
        ("learn_centre", c.c_int32),
        ("reserved", c.c_int32),
    ]


class SourceOptions(c.Structure):
    _fields_ = [
        ("size", c.c_uint64),
        ("index", c.POINTER(IndexOptions)),
        ("residence", c.c_char_p),
        ("memory_limit", c.c_uint64),
        ("chunk_rows", c.c_int64),
        ("element", c.c_char_p),
    ]


PROGRESS = c.CFUNCTYPE(c.c_int32, c.c_double, c.c_void_p)


class OpenOptions(c.Structure):
    _fields_ = [
        ("size", c.c_uint64),
        ("first", c.c_int64),
        ("rows", c.c_int64),
        ("largest", c.c_float),
        ("threads", c.c_uint32),
        ("placement", c.c_char_p),
        ("shares", c.c_void_p),
        ("share_count", c.c_int64),
        ("stop", c.c_void_p),
        ("progress", PROGRESS),
        ("user", c.c_void_p),
    ]


class SearchOptions(c.Structure):
    _fields_ = [
        ("size", c.c_uint64),
        ("selector", c.c_char_p),
        ("proposer", c.c_char_p),
        ("sample", c.c_void_p),
        ("sample_count", c.c_int64),
        ("groups", c.c_int64),
        ("query_tile", c.c_int64),
        ("train_tile", c.c_int64),
        ("filter", c.c_void_p),
        ("filter_rows", c.c_int64),
        ("self", c.c_int64),
        ("memory_limit", c.c_uint64),
        ("threads", c.c_uint32),
        ("fused", c.c_int32),
        ("stop", c.c_void_p),
        ("progress", PROGRESS),
        ("user", c.c_void_p),
        ("trace", c.c_void_p),
        ("boxes", c.c_int32),
        ("reserved", c.c_int32),
    ]


class IndexInfo(c.Structure):
    _fields_ = [
        ("size", c.c_uint64),
        ("rows", c.c_int64),
        ("dims", c.c_int64),
        ("metric", c.c_char_p),
        ("device", c.c_char_p),
        ("features", c.c_void_p),
        ("feature_count", c.c_int64),
        ("memory_bytes", c.c_uint64),
        ("first_row", c.c_int64),
        ("next_row", c.c_int64),
        ("positions", c.c_int64),
        ("host_answers", c.c_int32),
        ("reserved", c.c_int32),
        ("centre", c.c_void_p),
    ]


class DeviceAnswers(c.Structure):
    _fields_ = [
        ("size", c.c_uint64),
        ("distance", c.c_void_p),
        ("row", c.c_void_p),
        ("distance_offset_bytes", c.c_int64),
        ("row_offset_bytes", c.c_int64),
        ("where", c.c_int32),
        ("reserved", c.c_int32),
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
    ]


class WithinInfo(c.Structure):
    _fields_ = [
        ("size", c.c_uint64),
        ("queries", c.c_int64),
        ("first", c.c_void_p),
        ("distance", c.c_void_p),
        ("row", c.c_void_p),
    ]


class RadiusKeysInfo(c.Structure):
    _fields_ = [
        ("size", c.c_uint64),
        ("queries", c.c_int64),
        ("first", c.c_void_p),
        ("value", c.c_void_p),
        ("row", c.c_void_p),
    ]


class VoteOptions(c.Structure):
    _fields_ = [
        ("size", c.c_uint64),
        ("weights", c.c_char_p),
        ("tie", c.c_char_p),
        ("rank_weights", c.c_void_p),
        ("rank_weight_count", c.c_int64),
        ("priors", c.c_void_p),
        ("prior_count", c.c_int64),
        ("costs", c.c_void_p),
        ("cost_count", c.c_int64),
        ("no_label", c.c_int64),
    ]


class TrainOptions(c.Structure):
    _fields_ = [
        ("size", c.c_uint64),
        ("metric", c.c_char_p),
        ("features", c.c_void_p),
        ("feature_count", c.c_int64),
        ("sample_weights", c.c_void_p),
        ("sample_weight_count", c.c_int64),
        ("ids", c.c_void_p),
        ("id_count", c.c_int64),
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
    ]


# kith.h's name of each struct, for the test that compares layouts.
STRUCTS: dict[str, type[c.Structure]] = {
    "kith_rows": Rows,
    "kith_device_info": DeviceInfo,
    "kith_index_options": IndexOptions,
    "kith_source_options": SourceOptions,
    "kith_search_options": SearchOptions,
    "kith_index_info": IndexInfo,
    "kith_index_file_info": IndexFileInfo,
    "kith_open_options": OpenOptions,
    "kith_within_info": WithinInfo,
    "kith_radius_keys_info": RadiusKeysInfo,
    "kith_vote_options": VoteOptions,
    "kith_train_options": TrainOptions,
    "kith_classification": Classification,
}


def sized(struct: type[_S], **fields: Any) -> _S:
    """A struct whose `size` is set, as kith_..._init() sets it; other fields are 0 unless given."""
    value = struct(**fields)
    value.size = c.sizeof(struct)
    return value


def search_options() -> SearchOptions:
    """As kith_search_options_init() leaves it."""
    options = sized(SearchOptions)
    options.self = -1
    return options


def vote_options() -> VoteOptions:
    """As kith_vote_options_init() leaves it."""
    return sized(VoteOptions, no_label=-(2**63))
