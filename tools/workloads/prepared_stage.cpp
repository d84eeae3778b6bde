// Makes a step of a stage's description, and a result of what the step wrote.
#include <algorithm>
#include <limits>

#include "workloads/operations.hpp"

namespace kith::workloads {
namespace {

std::size_t size(std::int64_t value) {
  return static_cast<std::size_t>(value);
}
std::uint32_t count32(std::size_t value) {
  return static_cast<std::uint32_t>(value);
}

StageResult::Content content_of(Stage stage) {
  using Content = StageResult::Content;
  switch (stage) {
    case Stage::distance:
    case Stage::mask:
    case Stage::score:
    case Stage::accumulate:
      return Content::values;
    case Stage::collect:
    case Stage::vote:
      return Content::counts;
    case Stage::tighten:
      return Content::bounds;
    default:
      return Content::keys;
  }
}

template <class T>
std::vector<std::uint64_t> cells_of(spi::Device& device, const spi::Allocation& memory, std::size_t first,
                                    std::size_t count) {
  std::vector<T> values(count);
  if (count > 0) device.read(memory, first * sizeof(T), values.data(), count * sizeof(T));
  return {values.begin(), values.end()};
}

}  // namespace

PreparedStage::PreparedStage(spi::Device& device, const Operation& operation, const Operands& operands,
                             Place place)
    : runner_(device, operation.threads),
      operation_(operation),
      place_(std::move(place)),
      m_(size(operation.m)),
      n_(size(operation.n)),
      k_(size(operation.k)),
      width_(size(operation.lists) * k_),
      capacity_(size(operation.capacity)),
      classes_(size(operation.classes)) {
  if (operation.stage <= Stage::merge)
    make_search(operands);
  else if (operation.stage <= Stage::tighten)
    make_candidates(operands);
  else
    make_classes(operands);
  device.finish();
}

template <class T>
spi::Grid<T> PreparedStage::reads(const char* what, const T* from, std::size_t rows, std::size_t cols) {
  const std::size_t bytes = rows * cols * sizeof(T);
  return {place_ ? place_(what, from, bytes) : runner_.put(from, bytes), 0, rows, cols, cols};
}

spi::RowBlocks PreparedStage::reads_rows(const char* what, MatrixView<const float> rows,
                                         std::uint32_t block) {
  if (!place_) return runner_.rows(rows, block);
  const std::vector<float> packed = spi::packed(rows, block);
  return {place_(what, packed.data(), packed.size() * sizeof(float)), 0, count32(size(rows.rows())),
          count32(size(rows.cols())), block};
}

/// Adds a grid that the step writes to the result.
template <class T>
spi::Grid<T> PreparedStage::writes(const spi::Grid<T>& grid) {
  parts_.push_back({grid.memory, grid.cols, sizeof(T)});
  return grid;
}

/// Adds memory that the step changes. It begins as a copy of `begin`, or as zeros if that is null.
template <class T>
spi::Grid<T> PreparedStage::changes(const T* begin, std::size_t cols) {
  const std::vector<T> zeros(begin ? 0 : m_ * cols);
  return {runner_.put_again(begin ? begin : zeros.data(), m_ * cols * sizeof(T)), 0, m_, cols, cols};
}

void PreparedStage::make_search(const Operands& operands) {
  const DeviceInfo& info = runner_.device().info;
  const auto both_rows = [&](auto step) {
    step.metric = operation_.metric;
    step.queries = reads_rows("queries", operands.queries, info.query_block);
    step.train = reads_rows("training rows", operands.train, info.train_block);
    return step;
  };
  switch (operation_.stage) {
    case Stage::distance: {
      auto step = both_rows(spi::DistanceStep{});
      step.out = writes<float>(n_);
      return runner_.set(step);
    }
    case Stage::nearest: {
      auto step = both_rows(spi::NearestStep{});
      step.k = count32(k_);
      step.lists = count32(size(operation_.lists));
      step.out = writes<Key>(width_);
      return runner_.set(step);
    }
    case Stage::select:
      return runner_.set(spi::SelectStep{operation_.selector,
                                         reads("distances", operands.distances.data(), m_, n_),
                                         0,
                                         count32(k_),
                                         count32(size(operation_.lists)),
                                         writes<Key>(width_),
                                         {}});
    default:
      return runner_.set(spi::MergeStep{count32(size(operation_.lists)),
                                        count32(k_),
                                        reads("lists", operands.lists.data(), m_, width_),
                                        writes<Key>(k_),
                                        {}});
  }
}

void PreparedStage::make_candidates(const Operands& operands) {
  const DeviceInfo& info = runner_.device().info;
  const auto counts = [&] { return reads("counts", operands.counts.data(), m_, 1); };
  switch (operation_.stage) {
    case Stage::collect: {
      const auto found = writes(changes<std::uint32_t>(nullptr, 1));
      return runner_.set(spi::CollectStep{Proposer::none,
                                          operation_.metric,
                                          {},
                                          {},
                                          reads("distances", operands.distances.data(), m_, n_),
                                          reads("threshold", operands.threshold.data(), m_, 1),
                                          0,
                                          {writes<std::uint32_t>(capacity_), found},
                                          {}});
    }
    case Stage::rerank:
      counts_.assign(operands.counts.begin(), operands.counts.end());
      return runner_.set(
          spi::RerankStep{operation_.metric,
                          reads_rows("queries", operands.queries, info.query_block),
                          reads_rows("training rows", operands.train, info.train_block),
                          0,
                          {reads("candidates", operands.candidates.data(), m_, capacity_), counts()},
                          writes<Key>(capacity_)});
    default: {
      const auto best = writes(changes(operands.best.data(), k_));
      const auto threshold = writes<float>(1);
      return runner_.set(spi::TightenStep{Proposer::none,
                                          operation_.metric,
                                          count32(size(operation_.dims)),
                                          count32(k_),
                                          reads("keys", operands.keys.data(), m_, capacity_),
                                          changes(operands.counts.data(), 1),
                                          best,
                                          {},
                                          threshold,
                                          writes(changes<std::uint32_t>(nullptr, 1)),
                                          {}});
    }
  }
}

void PreparedStage::make_classes(const Operands& operands) {
  const auto nearest = [&] { return reads("nearest", operands.nearest.data(), m_, k_); };
  const auto labels = [&] { return reads("labels", operands.labels.data(), 1, n_); };
  switch (operation_.stage) {
    case Stage::vote: {
      const auto winner = writes<std::uint32_t>(1);
      const auto table = labels();
      return runner_.set(spi::VoteStep{nearest(), table, count32(classes_), writes<std::uint32_t>(classes_),
                                       winner, operation_.vote});
    }
    case Stage::mask: {
      const std::size_t words = (n_ + 31) / 32, filters = operands.filter.size() / words;
      return runner_.set(spi::MaskStep{reads("filter", operands.filter.data(), filters, words), 0,
                                       writes(changes(operands.distances.data(), n_))});
    }
    case Stage::score:
      return runner_.set(spi::ScoreStep{nearest(), reads("weights", operands.weights.data(), m_, k_),
                                        labels(), count32(classes_), writes<float>(classes_)});
    default: {
      const std::vector<float> farthest(m_ * classes_, std::numeric_limits<float>::infinity());
      const auto smallest = writes(changes(farthest.data(), classes_)),
                 high = writes(changes<float>(nullptr, classes_)),
                 low = writes(changes<float>(nullptr, classes_));
      return runner_.set(spi::AccumulateStep{reads("distances", operands.distances.data(), m_, n_),
                                             labels(),
                                             count32(classes_),
                                             smallest,
                                             high,
                                             low,
                                             {}});
    }
  }
}

StageResult PreparedStage::result(std::int64_t first, std::int64_t rows) {
  StageResult result{content_of(operation_.stage), 0, {}};
  for (const Part& part : parts_) result.cols += static_cast<std::int64_t>(part.cols);
  const std::size_t cols = size(result.cols);
  result.cells.resize(size(rows) * cols);
  std::size_t begin = 0;
  for (const Part& part : parts_) {
    const auto read = part.cell_bytes == sizeof(Key) ? cells_of<Key> : cells_of<std::uint32_t>;
    const auto cells = read(runner_.device(), *part.memory, size(first) * part.cols, size(rows) * part.cols);
    for (std::size_t q = 0; q < size(rows); ++q)
      std::copy_n(&cells[q * part.cols], part.cols, &result.cells[q * cols + begin]);
    begin += part.cols;
  }
  for (std::size_t q = 0; q < size(rows); ++q) {
    std::uint64_t* const row = &result.cells[q * cols];
    if (operation_.stage == Stage::collect) {  // rows are in any order, and undefined if there are too many
      std::uint64_t* const end = row + 1 + (row[0] <= capacity_ ? row[0] : 0);
      std::sort(row + 1, end);
      std::fill(end, row + cols, no_row);
    }
    if (operation_.stage == Stage::rerank)  // the step does not write the places behind the last candidate
      std::fill(row + std::min<std::size_t>(counts_[size(first) + q], cols), row + cols, no_key);
  }
  return result;
}

}  // namespace kith::workloads
