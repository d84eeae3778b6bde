// The stages that work on lists of candidates: collect, rerank, tighten.
#include <algorithm>

#include "lab/stages/operations.hpp"

namespace kith::workloads {
namespace {

std::size_t size(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

}  // namespace

void PreparedStage::make_collect(const Operands& operands) {
  const std::size_t m = size(operation_.m), n = size(operation_.n), capacity = size(operation_.capacity);
  inputs_[0] = upload(operands.distances.data(), m * n * sizeof(float));
  inputs_[1] = upload(operands.theta.data(), m * sizeof(float));
  outputs_[0] = in_and_out(std::vector<std::uint32_t>(m).data(), m * sizeof(std::uint32_t));
  outputs_[1] = output(m * capacity * sizeof(std::uint32_t));
  set(spi::CollectStep{Proposer::none,
                       operation_.metric,
                       {},
                       {},
                       {inputs_[0].get(), 0, m, n, n},
                       {inputs_[1].get(), 0, m, 1, 1},
                       0,
                       {{outputs_[1].get(), 0, m, capacity, capacity}, {outputs_[0].get(), 0, m, 1, 1}},
                       {}});
}

void PreparedStage::make_rerank(const Operands& operands) {
  const std::uint32_t query_block = device_.info.query_block, train_block = device_.info.train_block;
  const std::size_t m = size(operation_.m), capacity = size(operation_.capacity);
  inputs_[0] = upload_rows(operands.queries, query_block);
  inputs_[1] = upload_rows(operands.train, train_block);
  inputs_[2] = upload(operands.candidates.data(), m * capacity * sizeof(std::uint32_t));
  inputs_[3] = upload(operands.counts.data(), m * sizeof(std::uint32_t));
  counts_.assign(operands.counts.begin(), operands.counts.end());
  outputs_[0] = output(m * capacity * sizeof(Key));
  set(spi::RerankStep{operation_.metric,
                      row_blocks(inputs_[0], operands.queries, query_block),
                      row_blocks(inputs_[1], operands.train, train_block),
                      0,
                      {{inputs_[2].get(), 0, m, capacity, capacity}, {inputs_[3].get(), 0, m, 1, 1}},
                      {outputs_[0].get(), 0, m, capacity, capacity}});
}

void PreparedStage::make_tighten(const Operands& operands) {
  const std::size_t m = size(operation_.m), k = size(operation_.k), capacity = size(operation_.capacity);
  inputs_[0] = upload(operands.keys.data(), m * capacity * sizeof(Key));
  outputs_[0] = in_and_out(operands.best.data(), m * k * sizeof(Key));
  outputs_[1] = output(m * sizeof(float));
  outputs_[2] = in_and_out(std::vector<std::uint32_t>(m).data(), m * sizeof(std::uint32_t));
  outputs_[3] = in_and_out(operands.counts.data(), m * sizeof(std::uint32_t));
  set(spi::TightenStep{Proposer::none,
                       operation_.metric,
                       static_cast<std::uint32_t>(operation_.dims),
                       static_cast<std::uint32_t>(operation_.k),
                       {inputs_[0].get(), 0, m, capacity, capacity},
                       {outputs_[3].get(), 0, m, 1, 1},
                       {outputs_[0].get(), 0, m, k, k},
                       {},
                       {outputs_[1].get(), 0, m, 1, 1},
                       {outputs_[2].get(), 0, m, 1, 1},
                       {}});
}

void PreparedStage::append_candidates(StageResult& result, std::int64_t first, std::int64_t rows) {
  const std::size_t capacity = size(operation_.capacity);
  std::vector<std::uint64_t> counts, lists;
  append<std::uint32_t>(counts, outputs_[0], first, rows);
  append<std::uint32_t>(lists, outputs_[1], first * operation_.capacity, rows * operation_.capacity);
  for (std::size_t q = 0; q < counts.size(); ++q) {
    const auto list = lists.begin() + static_cast<std::ptrdiff_t>(q * capacity),
               end = list + operation_.capacity;
    const std::uint64_t known = counts[q] <= capacity ? counts[q] : 0;
    std::sort(list, list + static_cast<std::ptrdiff_t>(known));
    std::fill(list + static_cast<std::ptrdiff_t>(known), end, no_row);
    result.cells.push_back(counts[q]);
    result.cells.insert(result.cells.end(), list, end);
  }
}

void PreparedStage::append_reranked(StageResult& result, std::int64_t first, std::int64_t rows) {
  const std::size_t begin = result.cells.size(), capacity = size(operation_.capacity);
  append<Key>(result.cells, outputs_[0], first * operation_.capacity, rows * operation_.capacity);
  for (std::size_t q = 0; q < size(rows); ++q)
    for (std::size_t j = counts_[size(first) + q]; j < capacity; ++j)
      result.cells[begin + q * capacity + j] = no_key;  // the step leaves these places alone
}

void PreparedStage::append_tightened(StageResult& result, std::int64_t first, std::int64_t rows) {
  std::vector<std::uint64_t> best, theta, lost;
  append<Key>(best, outputs_[0], first * operation_.k, rows * operation_.k);
  append<std::uint32_t>(theta, outputs_[1], first, rows);
  append<std::uint32_t>(lost, outputs_[2], first, rows);
  for (std::int64_t q = 0; q < rows; ++q) {
    const auto row = best.begin() + q * operation_.k;
    result.cells.insert(result.cells.end(), row, row + operation_.k);
    result.cells.push_back(theta[size(q)]);
    result.cells.push_back(lost[size(q)]);
  }
}

}  // namespace kith::workloads
