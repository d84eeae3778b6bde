// Copies rows to a device, searches them by k or by radius, stops searches, and reports what they did.
#ifndef KITH_C_SEARCH_H
#define KITH_C_SEARCH_H

#include "kith/c/device.h"
#include "kith/c/options.h"

KITH_C_BEGIN

/// Make a stop, by which one thread ends calls of others. Once requested, a stop stays. Free by
/// kith_stop_free(), even while calls that were given it go on.
KITH_C_API kith_status kith_stop_new(kith_stop** out);
KITH_C_API void kith_stop_free(kith_stop* stop);
/// Make calls that were given `stop` return KITH_INTERRUPTED within a step or two, and later ones at once.
/// Any thread may call this.
KITH_C_API kith_status kith_stop_request(const kith_stop* stop);

/// Make room for the report of a search. One call at a time fills it, and replaces what it holds. Free
/// by kith_trace_free().
///   time_steps  not 0: time each step, which costs a little
KITH_C_API kith_status kith_trace_new(int32_t time_steps, kith_trace** out);
KITH_C_API void kith_trace_free(kith_trace* trace);

/// Holds the report of the last search. Texts belong to the trace, until a search fills it again.
typedef struct kith_trace_info {
  uint64_t size;
  const char* plan;       ///< every decision, one per line, for people
  const char* selector;   ///< the selector that was used
  const char* proposer;   ///< the proposer that was used; `none`: the chain alone
  double device_seconds;  ///< device clock from the first step of each query tile to its last
  double total_seconds;   ///< host clock around the whole call
  int64_t query_tiles;
  int64_t train_tiles;   ///< per query tile
  int64_t repeats;       ///< queries that were searched by the proposer again
  int64_t fallbacks;     ///< queries that were left to the chain alone
  int64_t step_count;    ///< for kith_trace_step()
  int64_t member_count;  ///< for kith_trace_member(); 0 if one device searched
} kith_trace_info;
KITH_C_API kith_status kith_trace_describe(const kith_trace* trace, kith_trace_info* info);
/// Get the seconds of one step (`distance`, `select`, `upload`, ...); steps are sorted by name.
KITH_C_API kith_status kith_trace_step(const kith_trace* trace, int64_t number, const char** name,
                                       double* seconds);

/// Holds what one member of a set of devices did in the last search. Members work at the same time.
typedef struct kith_member_info {
  uint64_t size;
  const char* device;     ///< kith_device_info.spec
  int64_t rows;           ///< training rows that it holds
  int64_t queries;        ///< queries that it searched for
  double share;           ///< its part of rows * queries of all members: 0 ... 1
  double seconds;         ///< host clock around its search
  double device_seconds;  ///< as in kith_trace_info
  uint64_t memory_bytes;  ///< device memory of its rows, and of what proposers and boxes keep of them
} kith_member_info;
/// Describe a member that took part; members are in the order of the set.
KITH_C_API kith_status kith_trace_member(const kith_trace* trace, int64_t number, kith_member_info* info);

typedef struct kith_index kith_index;
typedef struct kith_within kith_within;

/// Make a filter by which only these rows count.
///   rows   [count]           0-based, in any order
///   words  [ceil(n / 32)]    out
KITH_C_API kith_status kith_filter_of(int64_t n, const int64_t* rows, int64_t count, uint32_t* words);

/// Copy rows to a device; the caller's memory may change afterwards. Free by kith_index_free().
///   train  [n, dims]  finite, n and dims at least 1, n below 2^32 - 1; for `cosine` no row of zeros
KITH_C_API kith_status kith_index_new(const kith_device* device, const kith_rows* train,
                                      const kith_index_options* options, kith_index** out);
/// Make an index of these rows and more, whose numbers continue from kith_index_info.next_row; `index` does
/// not change, and both share the memory of its rows. Free by kith_index_free().
///   more  [rows, dims]
///   ids   [rows]  the numbers of the rows instead, kith_index_info.next_row or more, none twice; NULL: none
KITH_C_API kith_status kith_index_with(const kith_index* index, const kith_rows* more, const int64_t* ids,
                                       kith_index** out);
/// Make an index without these rows; `index` does not change, and both share memory. Rows keep their numbers,
/// and a removed number is not given again. Free by kith_index_free().
///   rows  [count]  numbers of existing rows, in any order, none twice, not all
KITH_C_API kith_status kith_index_without(const kith_index* index, const int64_t* rows, int64_t count,
                                          kith_index** out);
/// Make an index of the remaining rows in memory of their own, with the same answers. Free
/// by kith_index_free().
KITH_C_API kith_status kith_index_compact(const kith_index* index, kith_index** out);
KITH_C_API void kith_index_free(kith_index* index);

/// Compute the mean of each column, as `learn_centre` does, from rows that come in parts, in order. The bits
/// do not depend on how the rows are divided, so that several processes can learn one centre.
///   rows    [m, dims]  KITH_F32 or KITH_F64
///   before  rows of all parts before
///   state   [2, dims]  in: what the call before left there; out: what the next call needs
///   centre  [dims]     out: the means of all rows so far; NULL: not wanted
KITH_C_API kith_status kith_centre_learn(const kith_rows* rows, int64_t before, double* state,
                                         double* centre);

typedef struct kith_index_info {
  uint64_t size;
  int64_t rows;  ///< n
  int64_t dims;  ///< columns of rows and queries, as given
  const char* metric;
  const char* device;       ///< kith_device_info.spec
  const int64_t* features;  ///< the columns that count, ascending
  int64_t features_count;
  uint64_t memory_bytes;  ///< device memory of the rows, those shared with other indices included
  int64_t first_row;      ///< as in kith_index_options
  int64_t next_row;       ///< the number that the next row gets
  int64_t positions;  ///< number of rows ever given. The position of a row is how many of these have smaller
                      ///< numbers; without ids it is its number
  const double* centre;    ///< [dims], is subtracted from rows and queries; NULL: nothing
  const char* arithmetic;  ///< `f32`, or `f64`: functions whose names end in _f64 then search the index
  const double* box;       ///< [dims], kith_index_options.box; NULL: there is none
  int64_t prepared;        ///< 1: rows and queries are prepared for the metric, or weighted; else 0
  double parameter;  ///< of minkowski p, of gower, nan_gower and matching the number of columns that count,
                     ///< of rows of bits with codes (docs/contract.md, section 1) 1; else 0. It makes
                     ///< distances of keys, by kith_finish()
} kith_index_info;
/// What `info` points to belongs to `index`.
KITH_C_API kith_status kith_index_describe(const kith_index* index, kith_index_info* info);
/// Get the numbers of the rows, ascending.
///   numbers  [n]  out
KITH_C_API kith_status kith_index_numbers(const kith_index* index, int64_t* numbers);

/// Find the k training rows nearest to each query, exactly.
///   queries   [m, dims]  finite
///   k         1 ... n (n - 1 with `self`)
///   distance  [m, k]     out; NULL: not wanted
///   row       [m, k]     out, 0-based; NULL: not wanted
/// If fewer than k rows count, a list ends in (+infinity, -1). Contract, section 2.
KITH_C_API kith_status kith_index_search(const kith_index* index, const kith_rows* queries, int64_t k,
                                         const kith_search_options* options, float* distance, int64_t* row);
/// Do the same by an index in double precision. Here and elsewhere a function with doubles refuses an index
/// in single precision, and one with floats an index in double precision: KITH_INVALID_ARGUMENT.
KITH_C_API kith_status kith_index_search_f64(const kith_index* index, const kith_rows* queries, int64_t k,
                                             const kith_search_options* options, double* distance,
                                             int64_t* row);

/// Says where a search writes answers in device memory: [m, k] each, row-major and without gaps.
typedef struct kith_device_answers {
  uint64_t size;
  void* distance;                 ///< memory for distances: a CUDA device address, or a cl_mem
  void* row;                      ///< memory for 64-bit integers, likewise
  int64_t distance_offset_bytes;  ///< from `distance` to the first element, a multiple of its bytes
  int64_t row_offset_bytes;       ///< from `row` to the first element, a multiple of 8
  int32_t where;                  ///< KITH_CUDA or KITH_OPENCL
  int32_t element;                ///< of distances: KITH_F32, or KITH_F64 in double precision
  void* stream;                   ///< CUDA stream or OpenCL queue whose work comes first
} kith_device_answers;

/// Search into memory of the device that holds the index; answers are complete when this returns.
/// KITH_UNSUPPORTED: the memory is of another device or context.
/// KITH_INVALID_ARGUMENT: it is too small or not aligned, or its element is not that of the distances.
KITH_C_API kith_status kith_index_search_on_device(const kith_index* index, const kith_rows* queries,
                                                   int64_t k, const kith_search_options* options,
                                                   const kith_device_answers* answers);

/// Make now what kith_index_search() for m queries sooner or later makes of the rows: quantized rows for a
/// proposer, or boxes.
KITH_C_API kith_status kith_index_prepare(const kith_index* index, int64_t m, int64_t k,
                                          const kith_search_options* options);

/// Find the k rows nearest to each query, exactly, without an index that is kept: as kith_index_new() and
/// kith_index_search() do. On a CPU few queries are compared with the rows where these lie, and not all
/// rows are copied.
///   rows           [n, dims]
///   queries        [m, dims]
///   distance, row  [m, k]  out; NULL: not wanted
KITH_C_API kith_status kith_knn(const kith_device* device, const kith_rows* rows, const kith_rows* queries,
                                int64_t k, const kith_index_options* index_options,
                                const kith_search_options* options, float* distance, int64_t* row);
/// Do the same in double precision, for which `index_options` or the rows ask.
KITH_C_API kith_status kith_knn_f64(const kith_device* device, const kith_rows* rows,
                                    const kith_rows* queries, int64_t k,
                                    const kith_index_options* index_options,
                                    const kith_search_options* options, double* distance, int64_t* row);

/// Find the k rows nearest to each row, except itself, exactly.
///   k              1 ... n - 1
///   options        without `self`
///   distance, row  [n, k]  out; NULL: not wanted
KITH_C_API kith_status kith_knn_graph(const kith_device* device, const kith_rows* rows, int64_t k,
                                      const kith_index_options* index_options,
                                      const kith_search_options* options, float* distance, int64_t* row);
/// Do the same in double precision, for which `index_options` or the rows ask.
KITH_C_API kith_status kith_knn_graph_f64(const kith_device* device, const kith_rows* rows, int64_t k,
                                          const kith_index_options* index_options,
                                          const kith_search_options* options, double* distance, int64_t* row);

/// Do the same into memory of the device; answers are complete when this returns. It refuses what
/// kith_index_search_on_device() refuses.
KITH_C_API kith_status kith_knn_graph_on_device(const kith_device* device, const kith_rows* rows, int64_t k,
                                                const kith_index_options* index_options,
                                                const kith_search_options* options,
                                                const kith_device_answers* answers);

/// Find all training rows whose distance, as kith_index_search() returns it, is at most a radius.
///   radii  [radius_count], 1 for all queries, or m; no NaN
///   out    free by kith_within_free()
KITH_C_API kith_status kith_index_within(const kith_index* index, const kith_rows* queries,
                                         const float* radii, int64_t radius_count,
                                         const kith_search_options* options, kith_within** out);
/// Do the same by an index in double precision.
KITH_C_API kith_status kith_index_within_f64(const kith_index* index, const kith_rows* queries,
                                             const double* radii, int64_t radius_count,
                                             const kith_search_options* options, kith_within** out);
KITH_C_API void kith_within_free(kith_within* within);

/// Holds lists of different lengths without gaps: that of query q is first[q] ... first[q + 1] - 1.
typedef struct kith_within_info {
  uint64_t size;
  int64_t queries;           ///< m
  const int64_t* first;      ///< [m + 1]
  const float* distance;     ///< [first[m]]; NULL in double precision
  const int64_t* row;        ///< [first[m]]
  const double* distance64;  ///< [first[m]]; NULL in single precision
} kith_within_info;
/// What `info` points to belongs to `within`.
KITH_C_API kith_status kith_within_describe(const kith_within* within, kith_within_info* info);

/// Count the training rows within radii of each query, as many as kith_index_within() finds, without listing
/// them. For an index of either precision.
///   radii         [radius_rows, radius_count], no NaN, ascending in each row
///   radius_rows   1 for all queries, or m
///   radius_count  r, at least 1
///   strict        1: count rows nearer than a radius, and not those at it; else 0
///   counts        [m, r]  out
KITH_C_API kith_status kith_index_count(const kith_index* index, const kith_rows* queries,
                                        const double* radii, int64_t radius_rows, int64_t radius_count,
                                        int32_t strict, const kith_search_options* options, int64_t* counts);
/// Add up the counts of all queries.
///   counts  [r]  out
KITH_C_API kith_status kith_index_two_point(const kith_index* index, const kith_rows* queries,
                                            const double* radii, int64_t radius_rows, int64_t radius_count,
                                            int32_t strict, const kith_search_options* options,
                                            int64_t* counts);

typedef struct kith_pairs kith_pairs;
/// Begin to find all pairs of training rows whose distance is at most `radius`. Free by kith_pairs_free().
/// The index may be freed before; a filter, one row of words for all, and a stop must live as long.
KITH_C_API kith_status kith_pairs_new(const kith_index* index, double radius,
                                      const kith_search_options* options, kith_pairs** out);
KITH_C_API void kith_pairs_free(kith_pairs* pairs);

/// Holds some pairs, by the smaller number of the two, then by distance, then by the other.
typedef struct kith_pairs_info {
  uint64_t size;
  int64_t count;             ///< 0: there are no more pairs
  const int64_t* first;      ///< [count], the smaller numbers
  const int64_t* second;     ///< [count]
  const float* distance;     ///< [count]; NULL in double precision
  const double* distance64;  ///< [count]; NULL in single precision
} kith_pairs_info;
/// Find the next pairs. What `info` points to belongs to `pairs`, until the next call.
KITH_C_API kith_status kith_pairs_next(kith_pairs* pairs, kith_pairs_info* info);

/// Describe what kith_index_search() would do for m queries, one decision per line, for people. Free
/// by kith_text_free().
KITH_C_API kith_status kith_index_explain(const kith_index* index, int64_t m, int64_t k,
                                          const kith_search_options* options, char** out);
KITH_C_API void kith_text_free(char* text);

KITH_C_END

#endif
