"""Declares the options of kith.h for ctypes. Written by tools/options from options.def and choices.def; do not edit."""

from __future__ import annotations

import ctypes as c
from typing import Literal

Selector = Literal[
    "automatic", "threshold", "radix", "bubble", "insertion", "local_sort", "k_min", "bitonic", "odd_even",
    "rank_sort", "merge_sort", "selection_sort", "quick_sort"
]  # fmt: skip
Proposer = Literal["automatic", "none", "gemm", "dot", "bf16", "fp16", "int8", "int4"]
Arithmetic = Literal["automatic", "f32", "f64"]
Placement = Literal["automatic", "split", "replicate"]
Residence = Literal["automatic", "resident", "stream", "quantized"]
Weights = Literal["uniform", "distance", "rank"]
TieRule = Literal["smallest_label", "nearest", "smallest_distance", "fewer_neighbors", "abstain"]
Scaling = Literal["centre", "standardize", "min_max", "l2_rows"]
Categories = Literal["ordinal", "one_hot"]
Missing = Literal["refuse", "drop", "mean", "median", "most_frequent", "pairwise"]
Criterion = Literal["informativeness", "leave_one_out"]
SelectionMethod = Literal["forward", "backward", "floating"]

# How a search is done, by kind.
TUNING = {
    "selector": "choice", "proposer": "choice", "sample": "choices", "fused": "whether", "boxes": "whether",
    "lists": "number", "query_tile": "number", "train_tile": "number",
}  # fmt: skip

PROGRESS = c.CFUNCTYPE(c.c_int32, c.c_double, c.c_void_p)


class SearchOptions(c.Structure):
    _fields_ = [
        ("size", c.c_uint64),
        ("selector", c.c_char_p),
        ("proposer", c.c_char_p),
        ("sample", c.c_void_p),
        ("sample_count", c.c_int64),
        ("fused", c.c_int32),
        ("boxes", c.c_int32),
        ("lists", c.c_int64),
        ("query_tile", c.c_int64),
        ("train_tile", c.c_int64),
        ("filter", c.c_void_p),
        ("filter_rows", c.c_int64),
        ("has_self", c.c_int32),
        ("self", c.c_int64),
        ("groups", c.c_void_p),
        ("groups_count", c.c_int64),
        ("rows_from_group", c.c_int32),
        ("memory_limit", c.c_uint64),
        ("threads", c.c_uint32),
        ("checkpoint", c.c_char_p),
        ("stop", c.c_void_p),
        ("progress", PROGRESS),
        ("user", c.c_void_p),
        ("trace", c.c_void_p),
        ("has_radius", c.c_int32),
        ("radius", c.c_double),
    ]


class IndexOptions(c.Structure):
    _fields_ = [
        ("size", c.c_uint64),
        ("metric", c.c_char_p),
        ("element", c.c_char_p),
        ("features", c.c_void_p),
        ("features_count", c.c_int64),
        ("first_row", c.c_int64),
        ("largest", c.c_float),
        ("ids", c.c_void_p),
        ("ids_count", c.c_int64),
        ("groups", c.c_void_p),
        ("groups_count", c.c_int64),
        ("placement", c.c_char_p),
        ("shares", c.c_void_p),
        ("shares_count", c.c_int64),
        ("residence", c.c_char_p),
        ("memory_limit", c.c_uint64),
        ("reserve", c.c_int64),
        ("chunk_rows", c.c_int64),
        ("centre", c.c_void_p),
        ("centre_count", c.c_int64),
        ("learn_centre", c.c_int32),
        ("box", c.c_void_p),
        ("box_count", c.c_int64),
        ("arithmetic", c.c_char_p),
        ("deduplicate", c.c_int32),
        ("column_weights", c.c_void_p),
        ("column_weights_count", c.c_int64),
        ("variances", c.c_void_p),
        ("variances_count", c.c_int64),
        ("covariance", c.c_void_p),
        ("covariance_count", c.c_int64),
        ("inverse_covariance", c.c_void_p),
        ("inverse_covariance_count", c.c_int64),
        ("degrees", c.c_int32),
        ("p", c.c_double),
        ("categorical", c.c_void_p),
        ("categorical_count", c.c_int64),
        ("ranges", c.c_void_p),
        ("ranges_count", c.c_int64),
    ]


class OpenOptions(c.Structure):
    _fields_ = [
        ("size", c.c_uint64),
        ("threads", c.c_uint32),
        ("largest", c.c_float),
        ("placement", c.c_char_p),
        ("shares", c.c_void_p),
        ("shares_count", c.c_int64),
        ("first", c.c_int64),
        ("rows", c.c_int64),
        ("stop", c.c_void_p),
        ("progress", PROGRESS),
        ("user", c.c_void_p),
    ]


class VoteOptions(c.Structure):
    _fields_ = [
        ("size", c.c_uint64),
        ("weights", c.c_char_p),
        ("tie", c.c_char_p),
        ("rank_weights", c.c_void_p),
        ("rank_weights_count", c.c_int64),
        ("priors", c.c_void_p),
        ("priors_count", c.c_int64),
        ("costs", c.c_void_p),
        ("costs_count", c.c_int64),
        ("has_no_label", c.c_int32),
        ("no_label", c.c_int64),
    ]


class PreparationOptions(c.Structure):
    _fields_ = [
        ("size", c.c_uint64),
        ("scalings", c.c_void_p),
        ("scalings_count", c.c_int64),
        ("categorical", c.c_void_p),
        ("categorical_count", c.c_int64),
        ("categories", c.c_char_p),
        ("missing", c.c_char_p),
    ]


STRUCTS: dict[str, type[c.Structure]] = {
    "kith_search_options": SearchOptions,
    "kith_index_options": IndexOptions,
    "kith_open_options": OpenOptions,
    "kith_vote_options": VoteOptions,
    "kith_preparation_options": PreparationOptions,
}
