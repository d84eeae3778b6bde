// Holds the options of calls. Written by tools/options from options.def; do not edit.
#ifndef KITH_C_OPTIONS_H
#define KITH_C_OPTIONS_H

#include "kith/c/base.h"

KITH_C_BEGIN

typedef struct kith_stop kith_stop;
typedef struct kith_trace kith_trace;

/// Is called between steps of a call, on the thread that called kith, with the part that is done, 0 ... 1. If
/// it returns a value other than 0, the call ends with KITH_INTERRUPTED. It may call kith, but not throw or
/// jump out.
typedef int32_t (*kith_progress)(double fraction, void* user);

/// Says how to search, and among which rows. kith chooses each method and size that is left at its default.
/// Only `filter`, `self`, `radius`, `groups` and `rows_from_group` can change the answers.
typedef struct kith_search_options {
  uint64_t size;
  /// The method that selects the nearest. NULL: `automatic`; `threshold`, `radix`, `bubble`, `insertion`,
  /// `local_sort`, `k_min`, `bitonic`, `odd_even`, `rank_sort`, `merge_sort`, `selection_sort`, `quick_sort`.
  const char* selector;
  /// The method that proposes candidates, which the chain ranks. NULL: `automatic`; `none`, `gemm`, `dot`,
  /// `bf16`, `fp16`, `int8`, `int4`.
  const char* proposer;
  /// Selectors that are timed on the distances of one query: the fastest is used for all (GS_KNN: Liu, Zheng,
  /// Liu 2019). NULL: a selector is chosen without data. Each of `threshold`, `radix`, `bubble`, `insertion`,
  /// `local_sort`, `k_min`, `bitonic`, `odd_even`, `rank_sort`, `merge_sort`, `selection_sort`, `quick_sort`.
  const char* const* sample;
  int64_t sample_count;
  /// Computes distances and selects in one step. 0: chosen; 1: yes; -1: never.
  int32_t fused;
  /// Puts boxes around rows that lie together, and skips a box that can hold no near row (docs/boxes.md). For
  /// metrics squared_l2, l2, cosine, l1 and linf; sets of bits stand by their numbers of ones, if it is asked
  /// for. 0: chosen; 1: yes; -1: never.
  int32_t boxes;
  /// Lists per query and tile of training rows; 0: chosen.
  int64_t lists;
  /// Queries per step; 0: chosen.
  int64_t query_tile;
  /// Training rows per step; 0: chosen.
  int64_t train_tile;
  /// Says which training rows count, [1 or m, ceil(n / 32)]: bit t % 32 of word t / 32 is 1 if row t counts;
  /// a single row of words is for all queries. A RowFilter of C++ is kept; the caller keeps other words
  /// during the search. NULL: all rows count. If rows were removed or have ids, n is the number of positions,
  /// and t is a position.
  const uint32_t* filter;
  int64_t filter_rows;
  /// Says that query q is training row self + q, by position, and is not its own neighbour: leave-one-out,
  /// right even if rows are equal. None of these rows may be removed, and k is at most n - 1.
  int32_t has_self;
  int64_t self;
  /// If the rows have groups: the borders of the groups of queries, as many, ascending from 0 to m. Query
  /// group g asks row group g. NULL: the borders of the rows.
  const int64_t* groups;
  int64_t groups_count;
  /// If the rows have groups: rows are counted from the first row of their group, instead of from that of
  /// all.
  int32_t rows_from_group;
  /// Bytes of device memory that a search may take besides its rows; 0: half of what is left.
  uint64_t memory_limit;
  /// Threads of the host; 0: as many as there are cores.
  uint32_t threads;
  /// For a search for k whose rows pass through the device (`stream`): a file that keeps what was found after
  /// each chunk. After a stop or a kill the same search continues from it, on any device, to the same bits.
  /// The file stays when the search is done: remove it then. The file of another search is refused; a damaged
  /// one is a bad file.
  const char* checkpoint;
  /// Asks the search to stop: it then ends as interrupted within a step or two.
  const kith_stop* stop;
  /// Is called between steps, on the thread that called kith, with no lock held: it takes the part of the
  /// search that is done, 0 ... 1.
  kith_progress progress;
  void* user;
  /// Takes a report of what the search did.
  kith_trace* trace;
  /// For a search for k: only rows whose distance is at most this count, so that a list ends in (+infinity,
  /// -1) where fewer are so near. In the unit of the metric; no NaN.
  int32_t has_radius;
  double radius;
} kith_search_options;

/// Says how to make an index of rows.
typedef struct kith_index_options {
  uint64_t size;
  /// Says how distance is measured. NULL: `l2`.
  const char* metric;
  /// For a file of u8: `bits` says that each byte is 8 columns, for a metric of bits.
  const char* element;
  /// The columns that count, from 0, in any order, none twice: distances go over these in ascending order.
  /// Rows and queries are still given with all columns. NULL: all.
  const int64_t* features;
  int64_t features_count;
  /// If the rows are a shard: the number of its first row among the rows of all shards. Keys and messages
  /// about training rows count from it; all else counts from 0.
  int64_t first_row;
  /// If the rows are a shard: the largest magnitude in the rows of all shards, by which negative_dot refuses
  /// queries. 0: that of the rows here.
  float largest;
  /// The numbers of the rows, [n], 0 or more, none twice. Rows whose ids do not ascend are sorted by id, so
  /// that ties go by id. NULL: 0, 1, ...
  const int64_t* ids;
  int64_t ids_count;
  /// The borders of groups of rows, ascending from 0 to n: group g has rows groups[g] ... groups[g + 1] - 1,
  /// or none. A query asks only the rows of its group, as if these were an index of their own
  /// (docs/howto/many-small-searches.md). NULL: there are no groups.
  const int64_t* groups;
  int64_t groups_count;
  /// On a set of devices: which rows each of them holds. It changes no answer. NULL: `automatic`; `split`,
  /// `replicate`.
  const char* placement;
  /// On a set of devices: the parts of the work that they get, in proportion, one number for each device, 0
  /// or more. NULL: chosen by what was measured on them (docs/howto/device-sets.md).
  const double* shares;
  int64_t shares_count;
  /// Says where the rows of a source are kept. NULL: `automatic`; `resident`, `stream`, `quantized`.
  const char* residence;
  /// For rows of a source: bytes of device memory that one search and the index take together. 0: chunks of
  /// at most 512 MiB on a GPU, 128 MiB elsewhere.
  uint64_t memory_limit;
  /// Total rows to make room for, including those given: rows that are added later go there without a copy of
  /// the others, if rows are kept in their own element (docs/howto/elements.md). 0: as many as are given.
  int64_t reserve;
  /// With `stream`: rows of a chunk; 0: as many as the limit has room for.
  int64_t chunk_rows;
  /// [dims], is subtracted in double precision from each row and each query, which are f32 or f64; each value
  /// is then rounded once. For l2, squared_l2, l1 and linf (docs/contract.md, section 3). NULL: none.
  const double* centre;
  int64_t centre_count;
  /// Takes the mean of each column of the rows as the centre.
  int32_t learn_centre;
  /// [dims], the lengths of a periodic box, 0 for an open column: distances are those to the nearest image,
  /// and rows and queries are moved into the box (docs/howto/periodic-boxes.md). For l2, squared_l2, l1 and
  /// linf. NULL: there is no box.
  const double* box;
  int64_t box_count;
  /// The precision of chains, distances and radii (docs/contract.md, section 3). NULL: `automatic`; `f32`,
  /// `f64`.
  const char* arithmetic;
  /// Keeps and searches equal rows once. Each is still found under its own number: no answer changes
  /// (docs/howto/repeated-rows.md). Chosen: for rows on the host, if at least half of them repeat others. 0:
  /// chosen; 1: yes; -1: never.
  int32_t deduplicate;
  /// [dims], 0 or more: the weight of each column in l1, l2, squared_l2 or minkowski (docs/contract.md,
  /// section 1). NULL: all 1.
  const double* column_weights;
  int64_t column_weights_count;
  /// [dims], above 0: the variance of each column, for seuclidean. NULL: those of the rows.
  const double* variances;
  int64_t variances_count;
  /// [dims, dims], symmetric and positive definite, for mahalanobis: V of SciPy and scikit-learn. NULL: none.
  const double* covariance;
  int64_t covariance_count;
  /// [dims, dims], likewise, in place of the covariance: VI. NULL: none.
  const double* inverse_covariance;
  int64_t inverse_covariance_count;
  /// For haversine: rows and queries are in degrees. Distances and radii stay in radians.
  int32_t degrees;
  /// For minkowski: the power of differences, 0.5, 1, 1.5 ... 8 or infinity; 1, 2 and infinity are l1, l2 and
  /// linf. 0: none.
  double p;
  /// For gower and nan_gower: the columns that hold categories, from 0, in any order, none twice. The others
  /// hold numbers. NULL: none.
  const int64_t* categorical;
  int64_t categorical_count;
  /// [dims], 0 or more, for gower and nan_gower: by which differences of columns of numbers are divided; 0: a
  /// column counts 0. NULL: the largest value less the smallest of the rows given.
  const double* ranges;
  int64_t ranges_count;
} kith_index_options;

/// Says how to open an index file.
typedef struct kith_open_options {
  uint64_t size;
  /// Threads of the host; 0: as many as there are cores.
  uint32_t threads;
  /// For a part: the largest magnitude in the rows of all parts, by which negative_dot refuses queries. 0:
  /// what the file says.
  float largest;
  /// On a set of devices: as for an index. NULL: `automatic`; `split`, `replicate`.
  const char* placement;
  /// On a set of devices: as for an index.
  const double* shares;
  int64_t shares_count;
  /// The first row of the file to open; removed rows count, too. So several devices or machines can open one
  /// file together, and merge the keys that they find.
  int64_t first;
  /// How many rows to open; removed rows count, too. The index answers as that of the whole file without all
  /// other rows, under the same numbers. Below 0: all from `first` on.
  int64_t rows;
  /// Asks the reading to stop: it then ends as interrupted.
  const kith_stop* stop;
  /// Is called now and then with the part that is read, 0 ... 1.
  kith_progress progress;
  void* user;
} kith_open_options;

/// Says how neighbours become a class or a value. The score of a class is the sum of the weights of its
/// neighbours, added in order of rank in single precision, times its prior, in double precision. With costs
/// the class of the smallest expected cost wins, instead of that of the highest score. A weight above 2^95
/// counts as 2^95. docs/contract.md, section 5.
typedef struct kith_vote_options {
  uint64_t size;
  /// Says how much the vote of a neighbour weighs. NULL: `uniform`; `distance`, `rank`.
  const char* weights;
  /// Says which class wins if several lead with the same score. What a rule leaves undecided goes to the
  /// smallest label. A neighbour whose vote weighs 0 breaks no tie. NULL: `smallest_label`; `nearest`,
  /// `smallest_distance`, `fewer_neighbors`, `abstain`.
  const char* tie;
  /// [at least k], finite, 0 or more: the weight of each rank, for weights by rank; else empty.
  const float* rank_weights;
  int64_t rank_weights_count;
  /// [classes], 1e-100 ... 1e100, in the order of the classes: the score of each class is multiplied by its
  /// prior. NULL: all 1.
  const double* priors;
  int64_t priors_count;
  /// [classes, classes], each 0 or 1e-100 ... 1e100: the cost of the class of the column as the answer if
  /// that of the row is right. NULL: 0 on the diagonal, else 1.
  const double* costs;
  int64_t costs_count;
  /// The answer if no class wins: all neighbours weigh 0, there are none, or the tie abstains. Default: the
  /// smallest 64-bit number.
  int32_t has_no_label;
  int64_t no_label;
} kith_vote_options;

/// Says how to prepare rows before they are searched. docs/contract.md, section 3.
typedef struct kith_preparation_options {
  uint64_t size;
  /// Scalings, which are done one after another, in this order. NULL: none. Each of `centre`, `standardize`,
  /// `min_max`, `l2_rows`.
  const char* const* scalings;
  int64_t scalings_count;
  /// Columns that hold categories, 0, 1, ..., in any order, none twice.
  const int64_t* categorical;
  int64_t categorical_count;
  /// Says how a column of categories becomes numbers. NULL: `ordinal`; `one_hot`.
  const char* categories;
  /// Says what happens to a missing value, which is a NaN. This is done first; values that replace it are
  /// learned from the training rows. NULL: `refuse`; `drop`, `mean`, `median`, `most_frequent`, `pairwise`.
  const char* missing;
} kith_preparation_options;

KITH_C_END

#endif
