// What calls are told. Written by tools/options from options.def; do not edit.
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

/// How far a search has come.
struct Progress {
  double fraction = 0;  ///< 0 ... 1
};

/// The answer of a query for which no class wins, unless the caller has another.
inline constexpr std::int64_t default_no_label = std::numeric_limits<std::int64_t>::min();

/// How a search is done, and what it is asked. kith chooses each method and size that is left at its default.
/// Only `filter` and `self` can change the answers.
struct SearchOptions {
  /// Method that selects the nearest.
  Selector selector = Selector::automatic;
  /// Method that proposes candidates, which the chain ranks.
  Proposer proposer = Proposer::automatic;
  /// Selectors that are timed on the distances of one query: the fastest is used for all (GS_KNN: Liu, Zheng,
  /// Liu 2019). Empty: chosen without data.
  std::vector<Selector> sample = {};
  /// Distance and selection in one step.
  std::optional<bool> fused = {};
  /// Boxes around rows that lie together, which are skipped where nothing in them can be near
  /// (docs/boxes.md). Metrics squared_l2, l2, cosine, l1 and linf.
  std::optional<bool> boxes = {};
  /// Lists a query and tile of training rows; 0: chosen.
  std::int64_t lists = 0;
  /// Queries a step; 0: chosen.
  std::int64_t query_tile = 0;
  /// Training rows a step; 0: chosen.
  std::int64_t train_tile = 0;
  /// Which training rows count, [1 or m, ceil(n / 32)]: bit t % 32 of word t / 32 is 1 where row t does; one
  /// row of words is for all queries. A RowFilter of C++ is kept; other words the caller keeps during the
  /// search. Empty: all rows count. Where rows were removed or have ids, n is the number of positions, and t
  /// a position.
  FilterWords filter = {};
  /// Query q is training row self + q, by position, and not its own neighbour: leave-one-out, right under
  /// duplicates. None of these rows is removed, and k is at most n - 1.
  std::optional<std::int64_t> self = {};
  /// Bytes of device memory that a search may take beside its rows; 0: half of what is left.
  std::size_t memory_limit = 0;
  /// Threads of the host; 0: as many as there are cores.
  std::uint32_t threads = 0;
  /// Of rows that pass through the device (`stream`), and a search for k: a file that keeps what was found
  /// after each chunk, from which the same search goes on after a stop or a kill, on any device, to the same
  /// bits. It stays when all is done: remove it then. The file of another search is refused, a damaged one is
  /// a bad file.
  std::string checkpoint = {};
  /// A search that is asked to stop ends as interrupted within a step.
  std::stop_token stop = {};
  /// Called between steps, on the thread that called kith, with no lock held: how far the search has come, 0
  /// ... 1.
  std::function<void(const Progress&)> progress = {};
};

/// What an index is told beside its rows.
struct IndexOptions {
  /// The columns that count, from 0, in any order, none twice: distances go over these in ascending order.
  /// Rows and queries are still given with all columns. Empty: all.
  std::vector<std::int64_t> features = {};
  /// Where the rows are a shard: the number of its first row among the rows of all shards, from which keys
  /// and messages about training rows count; all else counts from 0.
  std::int64_t first_row = 0;
  /// Where the rows are a shard: the largest magnitude in the rows of all shards, by which negative_dot
  /// refuses queries. 0: that of the rows here.
  float largest = 0;
  /// The numbers of the rows, [n], 0 or more, none twice. Rows whose ids do not ascend are put in their
  /// order, so that ties go by id. Empty: 0, 1, ...
  std::vector<std::int64_t> ids = {};
  /// On a set of devices: what each of them holds. It changes no answer.
  Placement placement = Placement::automatic;
  /// On a set of devices, one a device, 0 or more: the parts of the work that they get, in proportion. Empty:
  /// by what was measured on them (docs/howto/device-sets.md).
  std::vector<double> shares = {};
  /// Where the rows of a source stay.
  Residence residence = Residence::automatic;
  /// For rows of a source: bytes of device memory that one search and the index take together. 0: chunks of
  /// at most 512 MiB on a GPU, 128 MiB elsewhere.
  std::size_t memory_limit = 0;
  /// Total rows to make room for, including those given: rows that are added go there and copy none, if rows
  /// stay as they are (docs/howto/elements.md). 0: as many as are given.
  std::int64_t reserve = 0;
  /// With `stream`: rows of a chunk; 0: as many as the limit has room for.
  std::int64_t chunk_rows = 0;
  /// [dims], subtracted in double precision from each row and each query, which are f32 or f64; each value is
  /// then rounded once. For l2, squared_l2, l1 and linf (docs/contract.md, section 3). Empty: none.
  std::vector<double> centre = {};
  /// The centre is the mean of each column of the rows.
  bool learn_centre = false;
};

/// How an index file is opened.
struct OpenOptions {
  /// Threads of the host; 0: as many as there are cores.
  std::uint32_t threads = 0;
  /// Of a part: the largest magnitude in the rows of all parts, by which negative_dot refuses queries. 0:
  /// what the file says.
  float largest = 0;
  /// On a set of devices: as for an index.
  Placement placement = Placement::automatic;
  /// On a set of devices: as for an index.
  std::vector<double> shares = {};
  /// First row of the file that is opened, those that are removed counted. Several devices or machines so
  /// open one file together, and merge the keys that they find.
  std::int64_t first = 0;
  /// So many rows alone, those that are removed counted: the index answers as that of the whole file without
  /// all other rows, under the same numbers. Below 0: all from `first` on.
  std::int64_t rows = -1;
  /// Reading that is asked to stop ends as interrupted.
  std::stop_token stop = {};
  /// Told, now and then, which part is read, 0 ... 1.
  std::function<void(double)> progress = {};
};

/// How neighbours become a class or a value. The score of a class is the sum of the weights of its
/// neighbours, in order of rank, in single precision; times its prior, in double precision. With costs the
/// class of the smallest expected cost wins instead of that of the highest score. A weight above 2^95 counts
/// as 2^95. docs/contract.md, section 5.
struct VotingOptions {
  /// What the vote of a neighbour weighs.
  Weights weights = Weights::uniform;
  /// Who wins of several classes that lead with the same score. What a rule leaves undecided goes to the
  /// smallest label. A neighbour whose vote weighs 0 breaks no tie.
  TieRule tie = TieRule::smallest_label;
  /// [at least k], finite, 0 or more, for weights by rank; else empty.
  std::vector<float> rank_weights = {};
  /// [classes], 1e-100 ... 1e100, in the order of the classes. Empty: all 1.
  std::vector<double> priors = {};
  /// [classes, classes], each 0 or 1e-100 ... 1e100: what it costs to answer the class of the column where
  /// that of the row is right. Empty: 0 on the diagonal, else 1.
  std::vector<double> costs = {};
  /// The answer where no class wins: all neighbours weigh 0, there are none, or the tie abstains. Left out:
  /// the smallest number of 64 bits.
  std::int64_t no_label = default_no_label;
};

/// What a classifier or regressor is told beside its rows and answers.
struct TrainOptions {
  /// The columns that count, as for an index.
  std::vector<std::int64_t> features = {};
  /// [n], finite, 0 or more: what the vote of each training row is multiplied by, in single precision. Empty:
  /// all 1.
  std::vector<float> sample_weights = {};
  /// [n], as for an index: answers and weights are put in order with their rows. Empty: 0, 1, ...
  std::vector<std::int64_t> ids = {};
};

/// What happens to rows before they are searched. docs/contract.md, section 3.
struct PreparationOptions {
  /// Scalings, one after another, in this order. Empty: none.
  std::vector<Scaling> scalings = {};
  /// Columns that hold categories, 0, 1, ..., in any order, none twice.
  std::vector<std::int64_t> categorical = {};
  /// How a column of categories becomes numbers.
  Categories categories = Categories::ordinal;
  /// What becomes of a missing value, which is a NaN. It is done first; what is filled in is learned from the
  /// training rows.
  Missing missing = Missing::refuse;
};

}  // namespace kith
