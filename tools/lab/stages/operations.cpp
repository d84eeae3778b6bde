#include "lab/stages/operations.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>

namespace kith::workloads {
namespace {

std::size_t size(std::int64_t value) {
  return static_cast<std::size_t>(value);
}
std::uint32_t count32(std::int64_t value) {
  return static_cast<std::uint32_t>(value);
}

std::string value_text(float value) {
  char buffer[48];
  std::snprintf(buffer, sizeof buffer, "%.9g (0x%08X)", static_cast<double>(value),
                std::bit_cast<std::uint32_t>(value));
  return buffer;
}

std::string cell_text(const StageResult& result, std::int64_t column, std::uint64_t cell) {
  using Content = StageResult::Content;
  Content content = result.content;
  if (content == Content::bounds)
    content = column < result.cols - 2    ? Content::keys
              : column == result.cols - 2 ? Content::values
                                          : Content::counts;
  switch (content) {
    case Content::values:
      return value_text(std::bit_cast<float>(static_cast<std::uint32_t>(cell)));
    case Content::keys:
      if (cell == no_key) return "no key";
      return "row " + std::to_string(row_of(cell)) + " at " + value_text(value_of(cell));
    default:
      return cell == no_row ? "none" : std::to_string(cell);
  }
}

}  // namespace

std::string_view name(Stage stage) {
  switch (stage) {
    case Stage::distance:
      return spi::DistanceStep::name;
    case Stage::select:
      return spi::SelectStep::name;
    case Stage::nearest:
      return spi::NearestStep::name;
    case Stage::merge:
      return spi::MergeStep::name;
    case Stage::collect:
      return spi::CollectStep::name;
    case Stage::rerank:
      return spi::RerankStep::name;
    case Stage::tighten:
      return spi::TightenStep::name;
    case Stage::vote:
      return spi::VoteStep::name;
    case Stage::mask:
      return spi::MaskStep::name;
    case Stage::tally:
      return spi::TallyStep::name;
    case Stage::accumulate:
      return spi::AccumulateStep::name;
  }
  return "?";
}

std::string title(const Operation& operation) {
  std::string text(name(operation.stage));
  if (operation.stage == Stage::select) text += " " + std::string(kith::name(operation.selector));
  return text;
}

std::string difference(const StageResult& expected, const StageResult& actual) {
  if (expected.cols != actual.cols || expected.cells.size() != actual.cells.size())
    return "the result has " + std::to_string(actual.cells.size()) + " elements, expected " +
           std::to_string(expected.cells.size());
  const auto [right, found] =
      std::mismatch(expected.cells.begin(), expected.cells.end(), actual.cells.begin());
  if (right == expected.cells.end()) return "";
  const auto at = right - expected.cells.begin(), column = at % expected.cols;
  return "row " + std::to_string(at / expected.cols) + ", column " + std::to_string(column) + ": " +
         cell_text(actual, column, *found) + ", expected " + cell_text(expected, column, *right);
}

std::vector<float> pack_rows(MatrixView<const float> rows, std::uint32_t block) {
  const std::size_t dims = size(rows.cols());
  const std::size_t blocks = (size(rows.rows()) + block - 1) / block;
  std::vector<float> packed(blocks * block * dims);
  for (std::size_t r = 0; r < size(rows.rows()); ++r)
    for (std::size_t d = 0; d < dims; ++d)
      packed[(r / block * dims + d) * block + r % block] = rows.row(static_cast<std::int64_t>(r))[d];
  return packed;
}

PreparedStage::PreparedStage(spi::Device& device, const Operation& operation, const Operands& operands)
    : device_(device), operation_(operation) {
  switch (operation.stage) {
    case Stage::distance:
      make_distance(operands);
      break;
    case Stage::select:
      make_select(operands);
      break;
    case Stage::nearest:
      make_nearest(operands);
      break;
    case Stage::merge:
      make_merge(operands);
      break;
    case Stage::collect:
      make_collect(operands);
      break;
    case Stage::rerank:
      make_rerank(operands);
      break;
    case Stage::tighten:
      make_tighten(operands);
      break;
    case Stage::vote:
      make_vote(operands);
      break;
    case Stage::mask:
      make_mask(operands);
      break;
    case Stage::tally:
      make_tally(operands);
      break;
    case Stage::accumulate:
      make_accumulate(operands);
      break;
  }
  device_.finish();
}

PreparedStage::Memory PreparedStage::upload(const void* from, std::size_t bytes) {
  Memory memory = device_.allocate(std::max<std::size_t>(bytes, 1));
  constexpr std::size_t most = std::size_t{256} << 20;  // bytes a write
  for (std::size_t at = 0; at < bytes; at += most)
    device_.write(*memory, at, static_cast<const char*>(from) + at, std::min(most, bytes - at));
  return memory;
}

// Results and scratch begin as nonsense, at least the first MiB: what a step leaves out must not look right
// because an earlier one was.
PreparedStage::Memory PreparedStage::output(std::size_t bytes) {
  Memory memory = device_.allocate(std::max<std::size_t>(bytes, 1));
  const std::vector<unsigned char> nonsense(std::min(bytes, std::size_t{1} << 20), 0xA5);
  if (!nonsense.empty()) device_.write(*memory, 0, nonsense.data(), nonsense.size());
  return memory;
}

PreparedStage::Memory PreparedStage::in_and_out(const void* from, std::size_t bytes) {
  Memory memory = device_.allocate(std::max<std::size_t>(bytes, 1));
  const auto* first = static_cast<const unsigned char*>(from);
  begins_.push_back({memory.get(), std::vector<unsigned char>(first, first + bytes)});
  return memory;
}

PreparedStage::Memory PreparedStage::upload_rows(MatrixView<const float> rows, std::uint32_t block) {
  const std::vector<float> packed = pack_rows(rows, block);
  return upload(packed.data(), packed.size() * sizeof(float));
}

spi::RowBlocks PreparedStage::row_blocks(const Memory& memory, MatrixView<const float> rows,
                                         std::uint32_t block) {
  return {memory.get(), 0, count32(rows.rows()), count32(rows.cols()), block};
}

/// Asks the device about the step, and gives it the scratch it wants.
void PreparedStage::set(spi::Work work) {
  step_ = {std::move(work), operation_.threads};
  const spi::Support support = device_.check(step_);
  refusal_ = support.refusal;
  if (!refusal_.empty() || support.scratch_bytes == 0) return;
  scratch_ = output(support.scratch_bytes);
  const spi::Scratch scratch{scratch_.get(), support.scratch_bytes};
  std::visit(
      [&](auto& step) {
        if constexpr (requires { step.scratch; }) step.scratch = scratch;
      },
      step_.work);
}

void PreparedStage::make_distance(const Operands& operands) {
  const std::uint32_t query_block = device_.info.query_block, train_block = device_.info.train_block;
  inputs_[0] = upload_rows(operands.queries, query_block);
  inputs_[1] = upload_rows(operands.train, train_block);
  const std::size_t m = size(operation_.m), n = size(operation_.n);
  outputs_[0] = output(m * n * sizeof(float));
  set(spi::DistanceStep{operation_.metric,
                        row_blocks(inputs_[0], operands.queries, query_block),
                        row_blocks(inputs_[1], operands.train, train_block),
                        {outputs_[0].get(), 0, m, n, n}});
}

void PreparedStage::make_select(const Operands& operands) {
  const std::size_t m = size(operation_.m), n = size(operation_.n);
  const std::size_t cols = size(operation_.groups * operation_.k);
  inputs_[0] = upload(operands.distances.data(), m * n * sizeof(float));
  outputs_[0] = output(m * cols * sizeof(Key));
  set(spi::SelectStep{operation_.selector,
                      {inputs_[0].get(), 0, m, n, n},
                      0,
                      count32(operation_.k),
                      count32(operation_.groups),
                      {outputs_[0].get(), 0, m, cols, cols},
                      {}});
}

void PreparedStage::make_nearest(const Operands& operands) {
  const std::uint32_t query_block = device_.info.query_block, train_block = device_.info.train_block;
  inputs_[0] = upload_rows(operands.queries, query_block);
  inputs_[1] = upload_rows(operands.train, train_block);
  const std::size_t m = size(operation_.m), cols = size(operation_.groups * operation_.k);
  outputs_[0] = output(m * cols * sizeof(Key));
  set(spi::NearestStep{operation_.metric,
                       row_blocks(inputs_[0], operands.queries, query_block),
                       row_blocks(inputs_[1], operands.train, train_block),
                       0,
                       count32(operation_.k),
                       count32(operation_.groups),
                       {outputs_[0].get(), 0, m, cols, cols},
                       {}});
}

void PreparedStage::make_merge(const Operands& operands) {
  const std::size_t m = size(operation_.m), k = size(operation_.k);
  const std::size_t cols = size(operation_.groups) * k;
  inputs_[0] = upload(operands.lists.data(), m * cols * sizeof(Key));
  outputs_[0] = output(m * k * sizeof(Key));
  set(spi::MergeStep{count32(operation_.groups),
                     count32(operation_.k),
                     {inputs_[0].get(), 0, m, cols, cols},
                     {outputs_[0].get(), 0, m, k, k},
                     {}});
}

PreparedStage::Seconds PreparedStage::run() {
  for (const Begin& begin : begins_) device_.write(*begin.memory, 0, begin.bytes.data(), begin.bytes.size());
  if (!begins_.empty()) device_.finish();
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t before = device_.mark();
  device_.enqueue(step_);
  const std::uint64_t after = device_.mark();
  device_.finish();
  const std::chrono::duration<double> host = std::chrono::steady_clock::now() - start;
  return {device_.elapsed(before, after), host.count()};
}

StageResult PreparedStage::result(std::int64_t first, std::int64_t rows) {
  using Content = StageResult::Content;
  StageResult result;
  switch (operation_.stage) {
    case Stage::distance:
    case Stage::mask:
      result.cols = operation_.n;
      append<std::uint32_t>(result.cells, outputs_[0], first * result.cols, rows * result.cols);
      break;
    case Stage::select:
    case Stage::nearest:
    case Stage::merge:
      result.content = Content::keys;
      result.cols = operation_.k * (operation_.stage == Stage::merge ? 1 : operation_.groups);
      append<Key>(result.cells, outputs_[0], first * result.cols, rows * result.cols);
      break;
    case Stage::collect:
      result.content = Content::counts;
      result.cols = 1 + operation_.capacity;
      append_candidates(result, first, rows);
      break;
    case Stage::rerank:
      result.content = Content::keys;
      result.cols = operation_.capacity;
      append_reranked(result, first, rows);
      break;
    case Stage::tighten:
      result.content = Content::bounds;
      result.cols = operation_.k + 2;
      append_tightened(result, first, rows);
      break;
    case Stage::vote:
      result.content = Content::counts;
      result.cols = 1 + operation_.classes;
      append_votes(result, first, rows);
      break;
    case Stage::tally:
      result.cols = operation_.classes;
      append<std::uint32_t>(result.cells, outputs_[0], first * result.cols, rows * result.cols);
      break;
    case Stage::accumulate:
      result.cols = 3 * operation_.classes;
      append_accumulated(result, first, rows);
      break;
  }
  return result;
}

}  // namespace kith::workloads
