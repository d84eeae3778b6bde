// What calls are told. Written by tools/options from options.def; do not edit.
#ifndef KITH_C_OPTIONS_H
#define KITH_C_OPTIONS_H

#include "kith/c/base.h"

KITH_C_BEGIN

typedef struct kith_stop kith_stop;
typedef struct kith_trace kith_trace;

/// Called between steps of a call, on the thread that called kith: how far it has come, 0 ... 1. A value
/// other than 0 ends the call with KITH_INTERRUPTED. It may call kith, but not throw or jump out.
typedef int32_t (*kith_progress)(double fraction, void* user);

/// How a search is done, and what it is asked. kith chooses each method and size that is left at its default.
/// Only `filter` and `self` can change the answers.
typedef struct kith_search_options {
  uint64_t size;
  /// Method that selects the nearest. NULL: `automatic`; `threshold`, `radix`, `bubble`, `insertion`,
  /// `local_sort`, `k_min`, `bitonic`, `odd_even`, `rank_sort`, `merge_sort`, `selection_sort`, `quick_sort`.
  const char* selector;
  /// Method that proposes candidates, which the chain ranks. NULL: `automatic`; `none`, `gemm`, `dot`,
  /// `bf16`, `fp16`, `int8`.
  const char* proposer;
  /// Selectors that are timed on the distances of one query: the fastest is used for all (GS_KNN: Liu, Zheng,
  /// Liu 2019). NULL: chosen without data. Each of `threshold`, `radix`, `bubble`, `insertion`, `local_sort`,
  /// `k_min`, `bitonic`, `odd_even`, `rank_sort`, `merge_sort`, `selection_sort`, `quick_sort`.
  const char* const* sample;
  int64_t sample_count;
  /// Distance and selection in one step. 0: chosen; 1: yes; -1: never.
  int32_t fused;
  /// Boxes around rows that lie together, which are skipped where nothing in them can be near
  /// (docs/boxes.md). Metrics squared_l2, l2, cosine, l1 and linf. 0: chosen; 1: yes; -1: never.
  int32_t boxes;
  /// Lists a query and tile of training rows; 0: chosen.
  int64_t lists;
  /// Queries a step; 0: chosen.
  int64_t query_tile;
  /// Training rows a step; 0: chosen.
  int64_t train_tile;
  /// Which training rows count, [1 or m, ceil(n / 32)]: bit t % 32 of word t / 32 is 1 where row t does; one
  /// row of words is for all queries. A RowFilter of C++ is kept; other words the caller keeps during the
  /// search. NULL: all rows count. Where rows were removed or have ids, n is the number of positions, and t a
  /// position.
  const uint32_t* filter;
  int64_t filter_rows;
  /// Query q is training row self + q, by position, and not its own neighbour: leave-one-out, right under
  /// duplicates. None of these rows is removed, and k is at most n - 1.
  int32_t has_self;
  int64_t self;
  /// Bytes of device memory that a search may take beside its rows; 0: half of what is left.
  uint64_t memory_limit;
  /// Threads of the host; 0: as many as there are cores.
  uint32_t threads;
  /// Of rows that pass through the device (`stream`), and a search for k: a file that keeps what was found
  /// after each chunk, from which the same search goes on after a stop or a kill, on any device, to the same
  /// bits. It stays when all is done: remove it then. The file of another search is refused, a damaged one is
  /// a bad file.
  const char* checkpoint;
  /// A search that is asked to stop ends as interrupted within a step.
  const kith_stop* stop;
  /// Called between steps, on the thread that called kith, with no lock held: how far the search has come, 0
  /// ... 1.
  kith_progress progress;
  void* user;
  /// Hears what the search did.
  kith_trace* trace;
} kith_search_options;

/// What an index is told beside its rows.
typedef struct kith_index_options {
  uint64_t size;
  /// How distance is measured. NULL: `l2`.
  const char* metric;
  /// Of a file of u8: `bits`, 8 columns a byte, for the metric hamming.
  const char* element;
  /// The columns that count, from 0, in any order, none twice: distances go over these in ascending order.
  /// Rows and queries are still given with all columns. NULL: all.
  const int64_t* features;
  int64_t features_count;
  /// Where the rows are a shard: the number of its first row among the rows of all shards, from which keys
  /// and messages about training rows count; all else counts from 0.
  int64_t first_row;
  /// Where the rows are a shard: the largest magnitude in the rows of all shards, by which negative_dot
  /// refuses queries. 0: that of the rows here.
  float largest;
  /// The numbers of the rows, [n], 0 or more, none twice. Rows whose ids do not ascend are put in their
  /// order, so that ties go by id. NULL: 0, 1, ...
  const int64_t* ids;
  int64_t ids_count;
  /// On a set of devices: what each of them holds. It changes no answer. NULL: `automatic`; `split`,
  /// `replicate`.
  const char* placement;
  /// On a set of devices, one a device, 0 or more: the parts of the work that they get, in proportion. NULL:
  /// by what was measured on them (docs/howto/device-sets.md).
  const double* shares;
  int64_t shares_count;
  /// Where the rows of a source stay. NULL: `automatic`; `resident`, `stream`, `quantized`.
  const char* residence;
  /// For rows of a source: bytes of device memory that one search and the index take together. 0: chunks of
  /// at most 512 MiB on a GPU, 128 MiB elsewhere.
  uint64_t memory_limit;
  /// Total rows to make room for, including those given: rows that are added go there and copy none, if rows
  /// stay as they are (docs/howto/elements.md). 0: as many as are given.
  int64_t reserve;
  /// With `stream`: rows of a chunk; 0: as many as the limit has room for.
  int64_t chunk_rows;
  /// [dims], subtracted in double precision from each row and each query, which are f32 or f64; each value is
  /// then rounded once. For l2, squared_l2, l1 and linf (docs/contract.md, section 3). NULL: none.
  const double* centre;
  int64_t centre_count;
  /// The centre is the mean of each column of the rows.
  int32_t learn_centre;
  int32_t reserved;
} kith_index_options;

/// How an index file is opened.
typedef struct kith_open_options {
  uint64_t size;
  /// Threads of the host; 0: as many as there are cores.
  uint32_t threads;
  /// Of a part: the largest magnitude in the rows of all parts, by which negative_dot refuses queries. 0:
  /// what the file says.
  float largest;
  /// On a set of devices: as for an index. NULL: `automatic`; `split`, `replicate`.
  const char* placement;
  /// On a set of devices: as for an index.
  const double* shares;
  int64_t shares_count;
  /// First row of the file that is opened, those that are removed counted. Several devices or machines so
  /// open one file together, and merge the keys that they find.
  int64_t first;
  /// So many rows alone, those that are removed counted: the index answers as that of the whole file without
  /// all other rows, under the same numbers. Below 0: all from `first` on.
  int64_t rows;
  /// Reading that is asked to stop ends as interrupted.
  const kith_stop* stop;
  /// Told, now and then, which part is read, 0 ... 1.
  kith_progress progress;
  void* user;
} kith_open_options;

/// How neighbours become a class or a value. The score of a class is the sum of the weights of its
/// neighbours, in order of rank, in single precision; times its prior, in double precision. With costs the
/// class of the smallest expected cost wins instead of that of the highest score. A weight above 2^95 counts
/// as 2^95. docs/contract.md, section 5.
typedef struct kith_vote_options {
  uint64_t size;
  /// What the vote of a neighbour weighs. NULL: `uniform`; `distance`, `rank`.
  const char* weights;
  /// Who wins of several classes that lead with the same score. What a rule leaves undecided goes to the
  /// smallest label. A neighbour whose vote weighs 0 breaks no tie. NULL: `smallest_label`; `nearest`,
  /// `smallest_distance`, `fewer_neighbors`, `abstain`.
  const char* tie;
  /// [at least k], finite, 0 or more, for weights by rank; else empty.
  const float* rank_weights;
  int64_t rank_weights_count;
  /// [classes], 1e-100 ... 1e100, in the order of the classes. NULL: all 1.
  const double* priors;
  int64_t priors_count;
  /// [classes, classes], each 0 or 1e-100 ... 1e100: what it costs to answer the class of the column where
  /// that of the row is right. NULL: 0 on the diagonal, else 1.
  const double* costs;
  int64_t costs_count;
  /// The answer where no class wins: all neighbours weigh 0, there are none, or the tie abstains. Left out:
  /// the smallest number of 64 bits.
  int32_t has_no_label;
  int64_t no_label;
} kith_vote_options;

/// What a classifier or regressor is told beside its rows and answers.
typedef struct kith_train_options {
  uint64_t size;
  /// How distance is measured. NULL: `l2`.
  const char* metric;
  /// The columns that count, as for an index.
  const int64_t* features;
  int64_t features_count;
  /// [n], finite, 0 or more: what the vote of each training row is multiplied by, in single precision. NULL:
  /// all 1.
  const float* sample_weights;
  int64_t sample_weights_count;
  /// [n], as for an index: answers and weights are put in order with their rows. NULL: 0, 1, ...
  const int64_t* ids;
  int64_t ids_count;
} kith_train_options;

/// What happens to rows before they are searched. docs/contract.md, section 3.
typedef struct kith_preparation_options {
  uint64_t size;
  /// Scalings, one after another, in this order. NULL: none. Each of `centre`, `standardize`, `min_max`,
  /// `l2_rows`.
  const char* const* scalings;
  int64_t scalings_count;
  /// Columns that hold categories, 0, 1, ..., in any order, none twice.
  const int64_t* categorical;
  int64_t categorical_count;
  /// How a column of categories becomes numbers. NULL: `ordinal`; `one_hot`.
  const char* categories;
  /// What becomes of a missing value, which is a NaN. It is done first; what is filled in is learned from the
  /// training rows. NULL: `refuse`; `drop`, `mean`, `median`, `most_frequent`.
  const char* missing;
} kith_preparation_options;

KITH_C_END

#endif
