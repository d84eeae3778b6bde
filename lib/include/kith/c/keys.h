// Merges the keys of shards, which are rows in several indexes, on any devices of any machines. Contract,
// section 13.
#ifndef KITH_C_KEYS_H
#define KITH_C_KEYS_H

#include "kith/c/search.h"

KITH_C_BEGIN

// A shard is a kith_index with kith_index_options.first_row. Its keys are the values and rows of the nearest
// of each query, sorted by value and then by row. Merged in any order and any grouping, they are the keys
// that one index of all rows has, bit for bit. Values have the order of distances, but kith_finish() makes
// the distances from them. A list of fewer than k rows ends in (0xFFFFFFFF, -1). Keys that no search returns
// are KITH_INVALID_ARGUMENT: the message names the first place.
//
// Values of shards in double precision have 64 bits, and 0xFFFFFFFFFFFFFFFF marks a place without a row. Keys
// of both widths are never merged.

/// Compute max |element| of rows in the columns that count, for kith_index_options.largest: for all rows it
/// is the largest of those of the shards.
///   features  as in kith_index_options; features_count 0: all columns
///   largest   out
KITH_C_API kith_status kith_largest_element(const kith_rows* rows, const int64_t* features,
                                            int64_t features_count, float* largest);

/// Find the keys of the k nearest rows of a shard. `self` is KITH_UNSUPPORTED: use kith_leave_out().
///   queries  [m, dims]  finite
///   k        at least 1; it may exceed n
///   value    [m, k]     out
///   row      [m, k]     out, from first_row on
KITH_C_API kith_status kith_index_search_keys(const kith_index* index, const kith_rows* queries, int64_t k,
                                              const kith_search_options* options, uint32_t* value,
                                              int64_t* row);
KITH_C_API kith_status kith_index_search_keys_f64(const kith_index* index, const kith_rows* queries,
                                                  int64_t k, const kith_search_options* options,
                                                  uint64_t* value, int64_t* row);

/// Merge several lists into one of the k nearest. A key that is in several of them counts once.
///   lists         at least 1
///   value, row    [lists]  arrays [m, k] each
///   merged_value  [m, k]   out
///   merged_row    [m, k]   out
KITH_C_API kith_status kith_merge(int64_t m, int64_t k, int64_t lists, const uint32_t* const* value,
                                  const int64_t* const* row, uint32_t* merged_value, int64_t* merged_row);
KITH_C_API kith_status kith_merge_f64(int64_t m, int64_t k, int64_t lists, const uint64_t* const* value,
                                      const int64_t* const* row, uint64_t* merged_value, int64_t* merged_row);

/// Compute the distances of keys, as kith_index_search() and kith_index_within() of all rows return them.
///   metric     the metric of the shards; NULL: `l2`
///   parameter  kith_index_info.parameter of the shards
///   value      [count]
///   distance   [count]  out
KITH_C_API kith_status kith_finish(const char* metric, double parameter, int64_t count, const uint32_t* value,
                                   float* distance);
KITH_C_API kith_status kith_finish_f64(const char* metric, double parameter, int64_t count,
                                       const uint64_t* value, double* distance);

/// Leave one row out of each list, for leave-one-out over shards; a list without that row loses its last key.
/// Search the shards for k + 1, merge, and then leave out.
///   k           neighbours in the result, at least 1
///   value, row  [m, k + 1]
///   own         [m]     the row that is no neighbour of each query; -1: none
///   kept_value  [m, k]  out
///   kept_row    [m, k]  out
KITH_C_API kith_status kith_leave_out(int64_t m, int64_t k, const uint32_t* value, const int64_t* row,
                                      const int64_t* own, uint32_t* kept_value, int64_t* kept_row);
KITH_C_API kith_status kith_leave_out_f64(int64_t m, int64_t k, const uint64_t* value, const int64_t* row,
                                          const int64_t* own, uint64_t* kept_value, int64_t* kept_row);

/// Compute 64 bits that show whether two answers are equal, the same on every device and machine: FNV-1a over
/// m, k, and value and row of each key in turn; m, k and rows as 8 bytes, values as 4 or 8, little-endian.
///   value, row  [m, k]
///   digest      out
KITH_C_API kith_status kith_digest(int64_t m, int64_t k, const uint32_t* value, const int64_t* row,
                                   uint64_t* digest);
KITH_C_API kith_status kith_digest_f64(int64_t m, int64_t k, const uint64_t* value, const int64_t* row,
                                       uint64_t* digest);

typedef struct kith_radius_keys kith_radius_keys;

/// Find the keys of all rows of a shard within a radius; arguments are those of kith_index_within(). `self`
/// is KITH_UNSUPPORTED. Free by kith_radius_keys_free().
KITH_C_API kith_status kith_index_within_keys(const kith_index* index, const kith_rows* queries,
                                              const float* radii, int64_t radius_count,
                                              const kith_search_options* options, kith_radius_keys** out);
KITH_C_API kith_status kith_index_within_keys_f64(const kith_index* index, const kith_rows* queries,
                                                  const double* radii, int64_t radius_count,
                                                  const kith_search_options* options, kith_radius_keys** out);
/// Merge several lists into one of all their keys. A key that is in several of them counts once. Free
/// by kith_radius_keys_free().
///   lists       at least 1
///   first       [lists]  arrays [m + 1]: the list of query q is first[q] ... first[q + 1] - 1
///   value, row  [lists]  arrays [first[m]]
KITH_C_API kith_status kith_merge_radius(int64_t m, int64_t lists, const int64_t* const* first,
                                         const uint32_t* const* value, const int64_t* const* row,
                                         kith_radius_keys** out);
KITH_C_API kith_status kith_merge_radius_f64(int64_t m, int64_t lists, const int64_t* const* first,
                                             const uint64_t* const* value, const int64_t* const* row,
                                             kith_radius_keys** out);
KITH_C_API void kith_radius_keys_free(kith_radius_keys* keys);

/// Holds lists of different lengths without gaps: that of query q is first[q] ... first[q + 1] - 1.
typedef struct kith_radius_keys_info {
  uint64_t size;
  int64_t queries;          ///< m
  const int64_t* first;     ///< [m + 1]
  const uint32_t* value;    ///< [first[m]]; NULL in double precision
  const int64_t* row;       ///< [first[m]]
  const uint64_t* value64;  ///< [first[m]]; NULL in single precision
} kith_radius_keys_info;
/// What `info` points to belongs to `keys`.
KITH_C_API kith_status kith_radius_keys_describe(const kith_radius_keys* keys, kith_radius_keys_info* info);

KITH_C_END

#endif
