// Each stage of a search as one description: `kith compare` runs it for its bits, `kith bench` for
// its time, both on memory of the device, without the host in between.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/key.hpp"
#include "kith/matrix_view.hpp"
#include "kith/metric.hpp"
#include "kith/selector.hpp"
#include "kith/spi.hpp"

namespace kith::workloads {

/// Stages whose bits the contract fixes. Not `prepare`: its facts are bounds, and any bound will do.
enum class Stage {
  distance,
  select,
  nearest,
  merge,
  collect,
  rerank,
  tighten,
  vote,
  mask,
  tally,
  accumulate
};
inline constexpr std::array all_stages = {Stage::distance, Stage::select, Stage::nearest,   Stage::merge,
                                          Stage::collect,  Stage::rerank, Stage::tighten,   Stage::vote,
                                          Stage::mask,     Stage::tally,  Stage::accumulate};

std::string_view name(Stage stage);

/// One stage and its sizes. A stage ignores those it has no use for.
struct Operation {
  Stage stage = Stage::distance;
  Metric metric = Metric::squared_l2;
  Selector selector = Selector::threshold;
  std::int64_t n = 0, m = 0, dims = 0, k = 0;
  std::int64_t groups = 1;
  std::int64_t capacity = 1;  ///< places of a list of candidates
  std::int64_t classes = 1;
  std::uint32_t threads = 0;
  spi::VoteMethod vote = spi::VoteMethod::automatic;
};

/// `select bubble`, `merge`.
std::string title(const Operation& operation);

/// What a stage reads, in host memory. Unused ones stay empty.
struct Operands {
  MatrixView<const float> queries;            ///< [m, dims]
  MatrixView<const float> train;              ///< [n, dims]
  MatrixView<const float> distances;          ///< [m, n], for select, collect, mask and accumulate
  std::span<const Key> lists;                 ///< [m, groups, k], for merge
  std::span<const float> theta;               ///< [m], for collect
  std::span<const std::uint32_t> counts;      ///< [m], for rerank and tighten
  std::span<const std::uint32_t> candidates;  ///< [m, capacity], for rerank
  std::span<const Key> keys;                  ///< [m, capacity], for tighten
  std::span<const Key> best;                  ///< [m, k], for tighten
  std::span<const Key> nearest;               ///< [m, k], for vote and tally
  std::span<const std::uint32_t> labels;      ///< [n], each < classes, for vote, tally and accumulate
  std::span<const std::uint32_t> filter;      ///< [1 or m, ceil(n / 32)], for mask
  std::span<const float> weights;             ///< [m, k], for tally
};

/// What a stage writes, row by row. Lists of candidates, which are in any order, are put in order here;
/// which rows a list holds that is too short is left open, so all its places are then no_row.
struct StageResult {
  enum class Content {
    values,  ///< bits of a float; accumulate: smallest, high and low of all classes
    keys,
    counts,  ///< vote: winner, then counts; collect: count, then rows
    bounds,  ///< tighten: k keys, bits of theta, lost
  } content = Content::values;
  std::int64_t cols = 0;
  std::vector<std::uint64_t> cells;

  bool operator==(const StageResult&) const = default;
};

/// Where `actual` first departs from `expected`, with both values as decimals and as bits; empty
/// when they are the same.
std::string difference(const StageResult& expected, const StageResult& actual);

/// What the contract says. Shares no code with the library but metrics.def. Slow.
StageResult plain_result(const Operation& operation, const Operands& operands);

/// Rows as RowBlocks has them, from row 0 of their memory; what pads the last block is 0.
std::vector<float> pack_rows(MatrixView<const float> rows, std::uint32_t block);

/// A stage on a device with its operands in place. Lives inside spi::with_device().
class PreparedStage {
 public:
  struct Seconds {
    double device, host;  ///< between two time stamps; from the first call until finish() returns
  };

  PreparedStage(spi::Device& device, const Operation& operation, const Operands& operands);

  /// Why the device does not do this; empty when it does.
  const std::string& refusal() const { return refusal_; }
  /// Operands that the step changes are as at first again.
  Seconds run();
  /// Rows first .. first + rows - 1 of what the last run wrote.
  StageResult result(std::int64_t first, std::int64_t rows);

 private:
  using Memory = std::unique_ptr<spi::Allocation>;
  Memory upload(const void* from, std::size_t bytes);
  Memory output(std::size_t bytes);
  /// Memory that holds `from` whenever a run begins.
  Memory in_and_out(const void* from, std::size_t bytes);
  Memory upload_rows(MatrixView<const float> rows, std::uint32_t block);
  spi::RowBlocks row_blocks(const Memory& memory, MatrixView<const float> rows, std::uint32_t block);
  /// Reads elements from..from + count of `memory` and appends them to `cells`.
  template <class T>
  void append(std::vector<std::uint64_t>& cells, const Memory& memory, std::int64_t from,
              std::int64_t count) {
    std::vector<T> read(static_cast<std::size_t>(count));
    device_.read(*memory, static_cast<std::size_t>(from) * sizeof(T), read.data(), read.size() * sizeof(T));
    cells.insert(cells.end(), read.begin(), read.end());
  }
  void make_distance(const Operands& operands);
  void make_select(const Operands& operands);
  void make_nearest(const Operands& operands);
  void make_merge(const Operands& operands);
  void make_collect(const Operands& operands);
  void make_rerank(const Operands& operands);
  void make_tighten(const Operands& operands);
  void make_vote(const Operands& operands);
  void make_mask(const Operands& operands);
  void make_tally(const Operands& operands);
  void make_accumulate(const Operands& operands);
  void append_candidates(StageResult& result, std::int64_t first, std::int64_t rows);
  void append_reranked(StageResult& result, std::int64_t first, std::int64_t rows);
  void append_tightened(StageResult& result, std::int64_t first, std::int64_t rows);
  void append_votes(StageResult& result, std::int64_t first, std::int64_t rows);
  void append_accumulated(StageResult& result, std::int64_t first, std::int64_t rows);
  void set(spi::Work work);

  spi::Device& device_;
  Operation operation_;
  std::string refusal_;
  Memory inputs_[4], outputs_[4], scratch_;
  struct Begin {
    spi::Allocation* memory;
    std::vector<unsigned char> bytes;
  };
  std::vector<Begin> begins_;
  std::vector<std::uint32_t> counts_;  ///< of the lists that rerank reads
  spi::Step step_;
};

}  // namespace kith::workloads
