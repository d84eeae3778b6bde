// Describes each stage of a search: `kith compare` runs it for its bits, `kith-lab bench` for its time, both
// on memory of the device, without the host in between.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/key.hpp"
#include "kith/matrix_view.hpp"
#include "kith/metric.hpp"
#include "kith/selector.hpp"
#include "kith/spi/step_runner.hpp"

namespace kith::workloads {

/// Lists the stages whose bits the contract fixes. `prepare` is not among them: its row terms are bounds, and
/// any bound is right.
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
  score,
  accumulate
};
inline constexpr std::array all_stages = {Stage::distance, Stage::select, Stage::nearest,   Stage::merge,
                                          Stage::collect,  Stage::rerank, Stage::tighten,   Stage::vote,
                                          Stage::mask,     Stage::score,  Stage::accumulate};

std::string_view name(Stage stage);

/// Holds one stage and its sizes. A stage ignores sizes that it does not need.
struct Operation {
  Stage stage = Stage::distance;
  Metric metric = Metric::squared_l2;
  Selector selector = Selector::threshold;
  std::int64_t n = 0, m = 0, dims = 0, k = 0;
  std::int64_t lists = 1;
  std::int64_t capacity = 1;  ///< places of a list of candidates
  std::int64_t classes = 1;
  std::uint32_t threads = 0;
  spi::VoteMethod vote = spi::VoteMethod::automatic;
};

/// Returns a title such as `select bubble` or `merge`.
std::string title(const Operation& operation);

/// Holds what a stage reads, in host memory. Unused operands stay empty.
struct Operands {
  MatrixView<const float> queries;            ///< [m, dims]
  MatrixView<const float> train;              ///< [n, dims]
  MatrixView<const float> distances;          ///< [m, n], for select, collect, mask and accumulate
  std::span<const Key> lists;                 ///< [m, lists, k], for merge
  std::span<const float> threshold;           ///< [m], for collect
  std::span<const std::uint32_t> counts;      ///< [m], for rerank and tighten
  std::span<const std::uint32_t> candidates;  ///< [m, capacity], for rerank
  std::span<const Key> keys;                  ///< [m, capacity], for tighten
  std::span<const Key> best;                  ///< [m, k], for tighten
  std::span<const Key> nearest;               ///< [m, k], for vote and score
  std::span<const std::uint32_t> labels;      ///< [n], each < classes, for vote, score and accumulate
  std::span<const std::uint32_t> filter;      ///< [1 or m, ceil(n / 32)], for mask
  std::span<const float> weights;             ///< [m, k], for score
};

/// Holds what a stage writes, row by row. Lists of candidates may be in any order, so they are sorted. The
/// rows of a list that is too short are undefined, so all its places become no_row.
struct StageResult {
  enum class Content {
    values,  ///< bits of a float; accumulate: smallest, high and low of all classes
    keys,
    counts,  ///< vote: winner, then counts; collect: count, then rows
    bounds,  ///< tighten: k keys, bits of the threshold, lost
  } content = Content::values;
  std::int64_t cols = 0;
  std::vector<std::uint64_t> cells;

  bool operator==(const StageResult&) const = default;
};

/// Return decimals and bits such as `1.5 (0x3FC00000)`, and the same after `row 7 at`.
std::string value_text(float value);
std::string value_text(double value);
std::string neighbor_text(std::int64_t row, float distance);
std::string neighbor_text(std::int64_t row, double distance);

/// Returns where `actual` first differs from `expected`, with both values as decimals and as bits; empty if
/// they are equal.
std::string difference(const StageResult& expected, const StageResult& actual);

/// Computes the result slowly by the contract, on spi::plain_device().
StageResult plain_result(const Operation& operation, const Operands& operands);

/// Computes the result on a device. Throws unsupported: `WHERE: SPEC refuses STAGE: ...`.
StageResult result_of(const Device& device, const Operation& operation, const Operands& operands,
                      const std::string& where);

/// Holds a stage on a device with its operands in place. It must live inside spi::with_device().
class PreparedStage {
 public:
  /// Returns where an operand is on the device; null if the stage allocates memory for it.
  ///   what  `queries`, `training rows`, `distances`, ...
  using Place = std::function<spi::Allocation*(const char* what, const void* from, std::size_t bytes)>;

  PreparedStage(spi::Device& device, const Operation& operation, const Operands& operands, Place place = {});

  /// Returns why the device does not do this; empty when it does.
  const std::string& refusal() const { return runner_.refusal(); }
  /// Runs the step once, after restoring the operands that it changes.
  spi::StepRunner::Seconds run() { return runner_.time(); }
  /// Returns rows first .. first + rows - 1 of the last run's output.
  StageResult result(std::int64_t first, std::int64_t rows);

  /// Holds a part of the stage's output, in the order of StageResult's columns.
  struct Part {
    spi::Allocation* memory;
    std::size_t cols, cell_bytes;
  };
  const std::vector<Part>& parts() const { return parts_; }

 private:
  template <class T>
  spi::Grid<T> reads(const char* what, const T* from, std::size_t rows, std::size_t cols);
  spi::RowBlocks reads_rows(const char* what, MatrixView<const float> rows, std::uint32_t block);
  template <class T>
  spi::Grid<T> writes(const spi::Grid<T>& grid);
  template <class T>
  spi::Grid<T> writes(std::size_t cols) {
    return writes(runner_.output<T>(m_, cols));
  }
  template <class T>
  spi::Grid<T> changes(const T* begin, std::size_t cols);
  void make_search(const Operands& operands);
  void make_candidates(const Operands& operands);
  void make_classes(const Operands& operands);

  spi::StepRunner runner_;
  const Operation operation_;
  const Place place_;
  const std::size_t m_, n_, k_, width_, capacity_, classes_;
  std::vector<Part> parts_;
  std::vector<std::uint32_t> counts_;  ///< counts of the lists that rerank reads
};

}  // namespace kith::workloads
