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

enum class Stage { distance, select, nearest, merge, vote };
inline constexpr std::array all_stages = {Stage::distance, Stage::select, Stage::nearest, Stage::merge,
                                          Stage::vote};

std::string_view name(Stage stage);

/// One stage and its sizes. A stage ignores those it has no use for.
struct Operation {
  Stage stage = Stage::distance;
  Metric metric = Metric::squared_l2;
  Selector selector = Selector::threshold;
  std::int64_t n = 0, m = 0, dims = 0, k = 0;
  std::int64_t groups = 1;
  std::int64_t classes = 1;
  std::uint32_t threads = 0;
};

/// `select bubble`, `merge`.
std::string title(const Operation& operation);

/// What a stage reads, in host memory. Unused ones stay empty.
struct Operands {
  MatrixView<const float> queries;        ///< [m, dims]
  MatrixView<const float> train;          ///< [n, dims]
  MatrixView<const float> distances;      ///< [m, n], for select
  std::span<const Key> lists;             ///< [m, groups, k], for merge
  std::span<const Key> nearest;           ///< [m, k], for vote
  std::span<const std::uint32_t> labels;  ///< [n], each < classes, for vote
};

/// What a stage writes, row by row.
struct StageResult {
  enum class Content { values, keys, counts } content = Content::values;
  std::int64_t cols = 0;
  std::vector<std::uint64_t> cells;  ///< bits of a float, a key, or a number; vote: winner, then counts

  bool operator==(const StageResult&) const = default;
};

/// Where `actual` first departs from `expected`, with both values as decimals and as bits; empty
/// when they are the same.
std::string difference(const StageResult& expected, const StageResult& actual);

/// What the contract says. Shares no code with the library but metrics.def. Slow.
StageResult plain_result(const Operation& operation, const Operands& operands);

/// A stage on a device with its operands in place. Lives inside spi::with_device().
class PreparedStage {
 public:
  struct Seconds {
    double device, host;  ///< between two time stamps; from the first call until finish() returns
  };

  PreparedStage(spi::Device& device, const Operation& operation, const Operands& operands);

  /// Why the device does not do this; empty when it does.
  const std::string& refusal() const { return refusal_; }
  Seconds run();
  /// Rows first .. first + rows - 1 of what the last run wrote.
  StageResult result(std::int64_t first, std::int64_t rows);

 private:
  using Memory = std::unique_ptr<spi::Allocation>;
  Memory upload(const void* from, std::size_t bytes);
  Memory output(std::size_t bytes);
  Memory upload_rows(MatrixView<const float> rows, std::uint32_t block);
  spi::RowBlocks row_blocks(const Memory& memory, MatrixView<const float> rows, std::uint32_t block);
  /// Reads elements from..from + count of `memory` and appends them to `cells`.
  template <class T>
  void append(std::vector<std::uint64_t>& cells, const Memory& memory, std::int64_t from, std::int64_t count);
  void make_distance(const Operands& operands);
  void make_select(const Operands& operands);
  void make_nearest(const Operands& operands);
  void make_merge(const Operands& operands);
  void make_vote(const Operands& operands);
  void set(spi::Work work);

  spi::Device& device_;
  Operation operation_;
  std::string refusal_;
  Memory inputs_[2], outputs_[2], scratch_;
  spi::Step step_;
};

}  // namespace kith::workloads
