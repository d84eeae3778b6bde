// Holds the options of calls. Written by tools/options from options.def; do not edit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "kith/choices.hpp"
#include "kith/filter.hpp"

namespace kith {

/// Says how far a search has come.
struct Progress {
  double fraction = 0;  ///< 0 ... 1
};

/// The answer of a query for which no class wins, unless the caller has another.
inline constexpr std::int64_t default_no_label = std::numeric_limits<std::int64_t>::min();

/// Says how to search, and among which rows. kith chooses each method and size that is left at its default.
/// Only `filter`, `self`, `radius`, `groups` and `rows_from_group` can change the answers.
struct SearchOptions {
  /// The method that selects the nearest.
  Selector selector = Selector::automatic;
  /// The method that proposes candidates, which the chain ranks.
  Proposer proposer = Proposer::automatic;
  /// Selectors that are timed on the distances of one query: the fastest is used for all (GS_KNN: Liu, Zheng,
  /// Liu 2019). Empty: a selector is chosen without data.
  std::vector<Selector> sample = {};
  /// Computes distances and selects in one step.
  std::optional<bool> fused = {};
  /// Puts boxes around rows that lie together, and skips a box that can hold no near row (docs/boxes.md). For
  /// metrics squared_l2, l2, cosine, l1 and linf; sets of bits stand by their numbers of ones, if it is asked
  /// for.
  std::optional<bool> boxes = {};
  /// Lists per query and tile of training rows; 0: chosen.
  std::int64_t lists = 0;
  /// Queries per step; 0: chosen.
  std::int64_t query_tile = 0;
  /// Training rows per step; 0: chosen.
  std::int64_t train_tile = 0;
  /// Says which training rows count, [1 or m, ceil(n / 32)]: bit t % 32 of word t / 32 is 1 if row t counts;
  /// a single row of words is for all queries. A RowFilter of C++ is kept; the caller keeps other words
  /// during the search. Empty: all rows count. If rows were removed or have ids, n is the number of
  /// positions, and t is a position.
  FilterWords filter = {};
  /// Says that query q is training row self + q, by position, and is not its own neighbour: leave-one-out,
  /// right even if rows are equal. None of these rows may be removed, and k is at most n - 1.
  std::optional<std::int64_t> self = {};
  /// If the rows have groups: the borders of the groups of queries, as many, ascending from 0 to m. Query
  /// group g asks row group g. Empty: the borders of the rows.
  std::vector<std::int64_t> groups = {};
  /// If the rows have groups: rows are counted from the first row of their group, instead of from that of
  /// all.
  bool rows_from_group = false;
  /// Bytes of device memory that a search may take besides its rows; 0: half of what is left.
  std::size_t memory_limit = 0;
  /// Threads of the host; 0: as many as there are cores.
  std::uint32_t threads = 0;
  /// For a search for k whose rows pass through the device (`stream`): a file that keeps what was found after
  /// each chunk. After a stop or a kill the same search continues from it, on any device, to the same bits.
  /// The file stays when the search is done: remove it then. The file of another search is refused; a damaged
  /// one is a bad file.
  std::string checkpoint = {};
  /// Asks the search to stop: it then ends as interrupted within a step or two.
  std::stop_token stop = {};
  /// Is called between steps, on the thread that called kith, with no lock held: it takes the part of the
  /// search that is done, 0 ... 1.
  std::function<void(const Progress&)> progress = {};
  /// For a search for k: only rows whose distance is at most this count, so that a list ends in (+infinity,
  /// -1) where fewer are so near. In the unit of the metric; no NaN.
  std::optional<double> radius = {};
};

/// Says how to make an index of rows.
struct IndexOptions {
  /// The columns that count, from 0, in any order, none twice: distances go over these in ascending order.
  /// Rows and queries are still given with all columns. Empty: all.
  std::vector<std::int64_t> features = {};
  /// If the rows are a shard: the number of its first row among the rows of all shards. Keys and messages
  /// about training rows count from it; all else counts from 0.
  std::int64_t first_row = 0;
  /// If the rows are a shard: the largest magnitude in the rows of all shards, by which negative_dot refuses
  /// queries. 0: that of the rows here.
  float largest = 0;
  /// The numbers of the rows, [n], 0 or more, none twice. Rows whose ids do not ascend are sorted by id, so
  /// that ties go by id. Empty: 0, 1, ...
  std::vector<std::int64_t> ids = {};
  /// The borders of groups of rows, ascending from 0 to n: group g has rows groups[g] ... groups[g + 1] - 1,
  /// or none. A query asks only the rows of its group, as if these were an index of their own
  /// (docs/howto/many-small-searches.md). Empty: there are no groups.
  std::vector<std::int64_t> groups = {};
  /// On a set of devices: which rows each of them holds. It changes no answer.
  Placement placement = Placement::automatic;
  /// On a set of devices: the parts of the work that they get, in proportion, one number for each device, 0
  /// or more. Empty: chosen by what was measured on them (docs/howto/device-sets.md).
  std::vector<double> shares = {};
  /// Says where the rows of a source are kept.
  Residence residence = Residence::automatic;
  /// For rows of a source: bytes of device memory that one search and the index take together. 0: chunks of
  /// at most 512 MiB on a GPU, 128 MiB elsewhere.
  std::size_t memory_limit = 0;
  /// Total rows to make room for, including those given: rows that are added later go there without a copy of
  /// the others, if rows are kept in their own element (docs/howto/elements.md). 0: as many as are given.
  std::int64_t reserve = 0;
  /// With `stream`: rows of a chunk; 0: as many as the limit has room for.
  std::int64_t chunk_rows = 0;
  /// [dims], is subtracted in double precision from each row and each query, which are f32 or f64; each value
  /// is then rounded once. For l2, squared_l2, l1 and linf (docs/contract.md, section 3). Empty: none.
  std::vector<double> centre = {};
  /// Takes the mean of each column of the rows as the centre.
  bool learn_centre = false;
  /// [dims], the lengths of a periodic box, 0 for an open column: distances are those to the nearest image,
  /// and rows and queries are moved into the box (docs/howto/periodic-boxes.md). For l2, squared_l2, l1 and
  /// linf. Empty: there is no box.
  std::vector<double> box = {};
  /// The precision of chains, distances and radii (docs/contract.md, section 3).
  Arithmetic arithmetic = Arithmetic::automatic;
  /// Keeps and searches equal rows once. Each is still found under its own number: no answer changes
  /// (docs/howto/repeated-rows.md). Chosen: for rows on the host, if at least half of them repeat others.
  std::optional<bool> deduplicate = {};
  /// [dims], 0 or more: the weight of each column in l1, l2, squared_l2 or minkowski (docs/contract.md,
  /// section 1). Empty: all 1.
  std::vector<double> column_weights = {};
  /// [dims], above 0: the variance of each column, for seuclidean. Empty: those of the rows.
  std::vector<double> variances = {};
  /// [dims, dims], symmetric and positive definite, for mahalanobis: V of SciPy and scikit-learn. Empty:
  /// none.
  std::vector<double> covariance = {};
  /// [dims, dims], likewise, in place of the covariance: VI. Empty: none.
  std::vector<double> inverse_covariance = {};
  /// For haversine: rows and queries are in degrees. Distances and radii stay in radians.
  bool degrees = false;
  /// For minkowski: the power of differences, 0.5, 1, 1.5 ... 8 or infinity; 1, 2 and infinity are l1, l2 and
  /// linf. 0: none.
  double p = 0;
  /// For gower and nan_gower: the columns that hold categories, from 0, in any order, none twice. The others
  /// hold numbers. Empty: none.
  std::vector<std::int64_t> categorical = {};
  /// [dims], 0 or more, for gower and nan_gower: by which differences of columns of numbers are divided; 0: a
  /// column counts 0. Empty: the largest value less the smallest of the rows given.
  std::vector<double> ranges = {};
};

/// Says how to open an index file.
struct OpenOptions {
  /// Threads of the host; 0: as many as there are cores.
  std::uint32_t threads = 0;
  /// For a part: the largest magnitude in the rows of all parts, by which negative_dot refuses queries. 0:
  /// what the file says.
  float largest = 0;
  /// On a set of devices: as for an index.
  Placement placement = Placement::automatic;
  /// On a set of devices: as for an index.
  std::vector<double> shares = {};
  /// The first row of the file to open; removed rows count, too. So several devices or machines can open one
  /// file together, and merge the keys that they find.
  std::int64_t first = 0;
  /// How many rows to open; removed rows count, too. The index answers as that of the whole file without all
  /// other rows, under the same numbers. Below 0: all from `first` on.
  std::int64_t rows = -1;
  /// Asks the reading to stop: it then ends as interrupted.
  std::stop_token stop = {};
  /// Is called now and then with the part that is read, 0 ... 1.
  std::function<void(double)> progress = {};
};

/// Says how neighbours become a class or a value. The score of a class is the sum of the weights of its
/// neighbours, added in order of rank in single precision, times its prior, in double precision. With costs
/// the class of the smallest expected cost wins, instead of that of the highest score. A weight above 2^95
/// counts as 2^95. docs/contract.md, section 5.
struct VotingOptions {
  /// Says how much the vote of a neighbour weighs.
  Weights weights = Weights::uniform;
  /// Says which class wins if several lead with the same score. What a rule leaves undecided goes to the
  /// smallest label. A neighbour whose vote weighs 0 breaks no tie.
  TieRule tie = TieRule::smallest_label;
  /// [at least k], finite, 0 or more: the weight of each rank, for weights by rank; else empty.
  std::vector<float> rank_weights = {};
  /// [classes], 1e-100 ... 1e100, in the order of the classes: the score of each class is multiplied by its
  /// prior. Empty: all 1.
  std::vector<double> priors = {};
  /// [classes, classes], each 0 or 1e-100 ... 1e100: the cost of the class of the column as the answer if
  /// that of the row is right. Empty: 0 on the diagonal, else 1.
  std::vector<double> costs = {};
  /// The answer if no class wins: all neighbours weigh 0, there are none, or the tie abstains. Default: the
  /// smallest 64-bit number.
  std::int64_t no_label = default_no_label;
};

/// Says how to prepare rows before they are searched. docs/contract.md, section 3.
struct PreparationOptions {
  /// Scalings, which are done one after another, in this order. Empty: none.
  std::vector<Scaling> scalings = {};
  /// Columns that hold categories, 0, 1, ..., in any order, none twice.
  std::vector<std::int64_t> categorical = {};
  /// Says how a column of categories becomes numbers.
  Categories categories = Categories::ordinal;
  /// Says what happens to a missing value, which is a NaN. This is done first; values that replace it are
  /// learned from the training rows.
  Missing missing = Missing::refuse;
};

}  // namespace kith
