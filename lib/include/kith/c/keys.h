// Keys of shards, which programs merge: rows that lie in several indexes, on any devices of any machines.
// Contract, section 13.
#ifndef KITH_C_KEYS_H
#define KITH_C_KEYS_H

#include "kith/c/search.h"

KITH_C_BEGIN

// A shard is a kith_index with kith_index_options.first_row. Its keys are, of each query, values and rows of
// the nearest, by value and then by row: merged in any order and any grouping they are the keys that one
// index of all rows has, bit for bit. Values are in the order of distances but are none: kith_finish() makes
// those. A list of fewer than k rows ends in (0xFFFFFFFF, -1). Keys that no search has are
// KITH_INVALID_ARGUMENT: the message names the first place.

/// max |element| of rows in the columns that count, for kith_index_options.largest: that of all rows is the
/// largest of those of the shards.
///   features  as in kith_index_options; features_count 0: all columns
///   largest   out
KITH_C_API kith_status kith_largest_element(const kith_rows* rows, const int64_t* features,
                                            int64_t features_count, float* largest);

/// The keys of the k nearest rows of a shard. `self` is KITH_UNSUPPORTED: kith_leave_out() is right.
///   queries  [m, dims]  finite
///   k        at least 1, also above n
///   value    [m, k]     out
///   row      [m, k]     out, from first_row on
KITH_C_API kith_status kith_index_search_keys(const kith_index* index, const kith_rows* queries, int64_t k,
                                              const kith_search_options* options, uint32_t* value,
                                              int64_t* row);

/// The k nearest of several lists. A key that is in several of them counts once.
///   lists         at least 1
///   value, row    [lists]  arrays [m, k] each
///   merged_value  [m, k]   out
///   merged_row    [m, k]   out
KITH_C_API kith_status kith_merge(int64_t m, int64_t k, int64_t lists, const uint32_t* const* value,
                                  const int64_t* const* row, uint32_t* merged_value, int64_t* merged_row);

/// Distances as kith_index_search() and kith_index_within() of all rows give them, of the rows in
/// the keys.
///   metric    of the shards; NULL: `l2`
///   value     [count]
///   distance  [count]  out
KITH_C_API kith_status kith_finish(const char* metric, int64_t count, const uint32_t* value, float* distance);

/// Leave-one-out: each list without one row, where it is not in the list without its last key. Search the
/// shards for k + 1, merge, and then leave out.
///   k           of the result, at least 1
///   value, row  [m, k + 1]
///   own         [m]     of each query the row that is no neighbour of it; -1: none
///   kept_value  [m, k]  out
///   kept_row    [m, k]  out
KITH_C_API kith_status kith_leave_out(int64_t m, int64_t k, const uint32_t* value, const int64_t* row,
                                      const int64_t* own, uint32_t* kept_value, int64_t* kept_row);

/// 64 bits that tell whether two answers are the same, on every device and machine: FNV-1a over m, k, and
/// value and row of each key in turn; m, k and rows as 8 bytes, values as 4, little-endian.
///   value, row  [m, k]
///   digest      out
KITH_C_API kith_status kith_digest(int64_t m, int64_t k, const uint32_t* value, const int64_t* row,
                                   uint64_t* digest);

typedef struct kith_radius_keys kith_radius_keys;

/// The keys of all rows of a shard within a radius; arguments are those of kith_index_within(). `self` is
/// KITH_UNSUPPORTED. Free by kith_radius_keys_free().
KITH_C_API kith_status kith_index_within_keys(const kith_index* index, const kith_rows* queries,
                                              const float* radii, int64_t radius_count,
                                              const kith_search_options* options, kith_radius_keys** out);
/// All keys of several lists. A key that is in several of them counts once. Free by kith_radius_keys_free().
///   lists       at least 1
///   first       [lists]  arrays [m + 1]: the list of query q is first[q] ... first[q + 1] - 1
///   value, row  [lists]  arrays [first[m]]
KITH_C_API kith_status kith_merge_radius(int64_t m, int64_t lists, const int64_t* const* first,
                                         const uint32_t* const* value, const int64_t* const* row,
                                         kith_radius_keys** out);
KITH_C_API void kith_radius_keys_free(kith_radius_keys* keys);

/// Lists of different lengths, one behind another: that of query q is first[q] ... first[q + 1] - 1.
typedef struct kith_radius_keys_info {
  uint64_t size;
  int64_t queries;        ///< m
  const int64_t* first;   ///< [m + 1]
  const uint32_t* value;  ///< [first[m]]
  const int64_t* row;     ///< [first[m]]
} kith_radius_keys_info;
/// What `info` points to belongs to `keys`.
KITH_C_API kith_status kith_radius_keys_describe(const kith_radius_keys* keys, kith_radius_keys_info* info);

KITH_C_END

#endif
