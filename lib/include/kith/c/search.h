// Rows on a device, searched by k or by radius; how a search is steered, stopped and watched.
#ifndef KITH_C_SEARCH_H
#define KITH_C_SEARCH_H

#include "kith/c/device.h"
#include "kith/c/options.h"

KITH_C_BEGIN

/// By which one thread ends what others do. Once asked for, a stop stays. Free by kith_stop_free(), also
/// while calls that were given it go on.
KITH_C_API kith_status kith_stop_new(kith_stop** out);
KITH_C_API void kith_stop_free(kith_stop* stop);
/// From any thread: calls that were given `stop` return KITH_INTERRUPTED within a step, later ones at once.
KITH_C_API kith_status kith_stop_request(const kith_stop* stop);

/// Make room for what a search reports of itself. One call at a time fills it, from the start.
/// kith_trace_free() frees it.
///   time_steps  not 0: time each step, which costs a little
KITH_C_API kith_status kith_trace_new(int32_t time_steps, kith_trace** out);
KITH_C_API void kith_trace_free(kith_trace* trace);

/// What the last search told. Texts belong to the trace, until a search fills it again.
typedef struct kith_trace_info {
  uint64_t size;
  const char* plan;       ///< every decision, one a line, for people
  const char* selector;   ///< that was used
  const char* proposer;   ///< `none`: the chain alone
  double device_seconds;  ///< device clock from the first step of each query tile to its last
  double total_seconds;   ///< host clock around the whole call
  int64_t query_tiles;
  int64_t train_tiles;   ///< a query tile
  int64_t repeats;       ///< queries that were searched once more by the proposer
  int64_t fallbacks;     ///< queries that were searched by the chain alone in the end
  int64_t step_count;    ///< for kith_trace_step()
  int64_t member_count;  ///< for kith_trace_member(); 0 where one device searched
} kith_trace_info;
KITH_C_API kith_status kith_trace_describe(const kith_trace* trace, kith_trace_info* info);
/// Seconds of one step (`distance`, `select`, `upload`, ...), by name, ascending.
KITH_C_API kith_status kith_trace_step(const kith_trace* trace, int64_t number, const char** name,
                                       double* seconds);

/// What one member of a set of devices did in the last search. Members work at the same time.
typedef struct kith_member_info {
  uint64_t size;
  const char* device;     ///< kith_device_info.spec
  int64_t rows;           ///< training rows that it holds
  int64_t queries;        ///< queries that it searched for
  double share;           ///< of rows * queries of all members together: 0 ... 1
  double seconds;         ///< host clock around its search
  double device_seconds;  ///< as in kith_trace_info
  uint64_t memory_bytes;  ///< device memory of its rows, with what proposers and boxes keep of them
} kith_member_info;
/// Of members that took part, in the order of the set.
KITH_C_API kith_status kith_trace_member(const kith_trace* trace, int64_t number, kith_member_info* info);

typedef struct kith_index kith_index;
typedef struct kith_within kith_within;

/// Write the filter of these rows and no others.
///   rows   [count]           0-based, in any order
///   words  [ceil(n / 32)]    out
KITH_C_API kith_status kith_filter_of(int64_t n, const int64_t* rows, int64_t count, uint32_t* words);

/// Copy rows to a device; the caller's memory is free afterwards. Free by kith_index_free().
///   train  [n, dims]  finite, n and dims at least 1, n below 2^32 - 1; for `cosine` no row of zeros
KITH_C_API kith_status kith_index_new(const kith_device* device, const kith_rows* train,
                                      const kith_index_options* options, kith_index** out);
/// An index of these rows and more, which are numbered on, from kith_index_info.next_row; `index` stays as it
/// is, and both share the memory of its rows. Free by kith_index_free().
///   more  [rows, dims]
///   ids   [rows]  kith_index_info.next_row or more, none twice: their numbers instead; NULL: none
KITH_C_API kith_status kith_index_with(const kith_index* index, const kith_rows* more, const int64_t* ids,
                                       kith_index** out);
/// An index without these rows; `index` stays as it is, and both share memory. Numbers stay, and are not
/// given again. Free by kith_index_free().
///   rows  [count]  numbers of rows that are there, in any order, none twice, not all
KITH_C_API kith_status kith_index_without(const kith_index* index, const int64_t* rows, int64_t count,
                                          kith_index** out);
/// An index of the rows that are left, in memory of their own: the same answers. Free by kith_index_free().
KITH_C_API kith_status kith_index_compact(const kith_index* index, kith_index** out);
KITH_C_API void kith_index_free(kith_index* index);

/// The mean of each column, as `learn_centre` has it, of rows that come part by part in their order: the same
/// bits however they are parted. So several processes learn one centre.
///   rows     [m, dims]       KITH_F32 or KITH_F64
///   before   rows of all parts before
///   state    [2, dims]       what they left there, and what is left for the next
///   centre   [dims]  out     of all rows so far; NULL: not wanted
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
  uint64_t memory_bytes;  ///< of the device, those shared with other indices included
  int64_t first_row;      ///< as in kith_index_options
  int64_t next_row;       ///< the number that the next row gets
  int64_t positions;  ///< rows that were ever given. The position of a row is how many of these have smaller
                      ///< numbers: its number, where rows have no ids
  const double* centre;  ///< [dims], what is subtracted from rows and queries; NULL: nothing
} kith_index_info;
/// What `info` points to belongs to `index`.
KITH_C_API kith_status kith_index_describe(const kith_index* index, kith_index_info* info);
/// The numbers of the rows that are there, ascending.
///   numbers  [n]  out
KITH_C_API kith_status kith_index_numbers(const kith_index* index, int64_t* numbers);

/// The k training rows nearest to each query, exactly.
///   queries   [m, dims]  finite
///   k         1 ... n (n - 1 with `self`)
///   distance  [m, k]     out; NULL: not wanted
///   row       [m, k]     out, 0-based; NULL: not wanted
/// Where fewer than k rows count, a list ends in (+infinity, -1). Contract, section 2.
KITH_C_API kith_status kith_index_search(const kith_index* index, const kith_rows* queries, int64_t k,
                                         const kith_search_options* options, float* distance, int64_t* row);

/// Memory of a device that answers go to, [m, k] each, row-major and without gaps.
typedef struct kith_device_answers {
  uint64_t size;
  void* distance;                 ///< of floats: a CUDA device address, or a cl_mem
  void* row;                      ///< of 64-bit integers, likewise
  int64_t distance_offset_bytes;  ///< from `distance` to the first element, a multiple of 4
  int64_t row_offset_bytes;       ///< from `row` to the first element, a multiple of 8
  int32_t where;                  ///< KITH_CUDA or KITH_OPENCL
  int32_t reserved;               ///< 0
  void* stream;                   ///< CUDA stream or OpenCL queue whose work comes first
} kith_device_answers;

/// kith_index_search() into memory of the device of the index, where all is when this returns.
/// KITH_UNSUPPORTED: memory of another device or context. KITH_INVALID_ARGUMENT: memory that is too small or
/// not aligned.
KITH_C_API kith_status kith_index_search_on_device(const kith_index* index, const kith_rows* queries,
                                                   int64_t k, const kith_search_options* options,
                                                   const kith_device_answers* answers);

/// Make now what kith_index_search() for m queries would make of the rows: what a proposer works on, or
/// boxes. Without this the first such search does.
KITH_C_API kith_status kith_index_prepare(const kith_index* index, int64_t m, int64_t k,
                                          const kith_search_options* options);

/// The k nearest rows of each row, itself left out, exactly.
///   k              1 ... n - 1
///   options        without `self`
///   distance, row  [n, k]  out; NULL: not wanted
KITH_C_API kith_status kith_knn_graph(const kith_device* device, const kith_rows* rows, int64_t k,
                                      const kith_index_options* index_options,
                                      const kith_search_options* options, float* distance, int64_t* row);

/// kith_knn_graph() into memory of the device, where all is when this returns. Refuses what
/// kith_index_search_on_device() refuses.
KITH_C_API kith_status kith_knn_graph_on_device(const kith_device* device, const kith_rows* rows, int64_t k,
                                                const kith_index_options* index_options,
                                                const kith_search_options* options,
                                                const kith_device_answers* answers);

/// All training rows whose distance, as kith_index_search() gives it, is at most a radius.
///   radii  [radius_count], 1 for all queries, or m; no NaN
///   out    free by kith_within_free()
KITH_C_API kith_status kith_index_within(const kith_index* index, const kith_rows* queries,
                                         const float* radii, int64_t radius_count,
                                         const kith_search_options* options, kith_within** out);
KITH_C_API void kith_within_free(kith_within* within);

/// Lists of different lengths, one behind another: that of query q is first[q] ... first[q + 1] - 1.
typedef struct kith_within_info {
  uint64_t size;
  int64_t queries;        ///< m
  const int64_t* first;   ///< [m + 1]
  const float* distance;  ///< [first[m]]
  const int64_t* row;     ///< [first[m]]
} kith_within_info;
/// What `info` points to belongs to `within`.
KITH_C_API kith_status kith_within_describe(const kith_within* within, kith_within_info* info);

/// What kith_index_search() would do with m queries, one decision a line, for people. Free by
/// kith_text_free().
KITH_C_API kith_status kith_index_explain(const kith_index* index, int64_t m, int64_t k,
                                          const kith_search_options* options, char** out);
KITH_C_API void kith_text_free(char* text);

KITH_C_END

#endif
