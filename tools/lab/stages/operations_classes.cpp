// The stages of filters and classes: vote, mask, tally, accumulate.
#include <limits>

#include "lab/stages/operations.hpp"

namespace kith::workloads {
namespace {

std::size_t size(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

}  // namespace

void PreparedStage::make_vote(const Operands& operands) {
  const std::size_t m = size(operation_.m), k = size(operation_.k), n = size(operation_.n);
  const std::size_t classes = size(operation_.classes);
  inputs_[0] = upload(operands.nearest.data(), m * k * sizeof(Key));
  inputs_[1] = upload(operands.labels.data(), n * sizeof(std::uint32_t));
  outputs_[0] = output(m * sizeof(std::uint32_t));
  outputs_[1] = output(m * classes * sizeof(std::uint32_t));
  set(spi::VoteStep{{inputs_[0].get(), 0, m, k, k},
                    {inputs_[1].get(), 0, 1, n, n},
                    static_cast<std::uint32_t>(operation_.classes),
                    {outputs_[1].get(), 0, m, classes, classes},
                    {outputs_[0].get(), 0, m, 1, 1},
                    operation_.vote});
}

void PreparedStage::make_mask(const Operands& operands) {
  const std::size_t m = size(operation_.m), n = size(operation_.n), words = (n + 31) / 32;
  const std::size_t filters = operands.filter.size() / words;
  inputs_[0] = upload(operands.filter.data(), operands.filter.size_bytes());
  outputs_[0] = in_and_out(operands.distances.data(), m * n * sizeof(float));
  set(spi::MaskStep{{inputs_[0].get(), 0, filters, words, words}, 0, {outputs_[0].get(), 0, m, n, n}});
}

void PreparedStage::make_tally(const Operands& operands) {
  const std::size_t m = size(operation_.m), k = size(operation_.k), n = size(operation_.n);
  const std::size_t classes = size(operation_.classes);
  inputs_[0] = upload(operands.nearest.data(), m * k * sizeof(Key));
  inputs_[1] = upload(operands.weights.data(), m * k * sizeof(float));
  inputs_[2] = upload(operands.labels.data(), n * sizeof(std::uint32_t));
  outputs_[0] = output(m * classes * sizeof(float));
  set(spi::TallyStep{{inputs_[0].get(), 0, m, k, k},
                     {inputs_[1].get(), 0, m, k, k},
                     {inputs_[2].get(), 0, 1, n, n},
                     static_cast<std::uint32_t>(operation_.classes),
                     {outputs_[0].get(), 0, m, classes, classes}});
}

void PreparedStage::make_accumulate(const Operands& operands) {
  const std::size_t m = size(operation_.m), n = size(operation_.n), classes = size(operation_.classes);
  inputs_[0] = upload(operands.distances.data(), m * n * sizeof(float));
  inputs_[1] = upload(operands.labels.data(), n * sizeof(std::uint32_t));
  const std::vector<float> farthest(m * classes, std::numeric_limits<float>::infinity()), none(m * classes);
  const auto begin_with = [&](const std::vector<float>& values) {
    return in_and_out(values.data(), values.size() * sizeof(float));
  };
  outputs_[0] = begin_with(farthest);
  outputs_[1] = begin_with(none);
  outputs_[2] = begin_with(none);
  set(spi::AccumulateStep{{inputs_[0].get(), 0, m, n, n},
                          {inputs_[1].get(), 0, 1, n, n},
                          static_cast<std::uint32_t>(operation_.classes),
                          {outputs_[0].get(), 0, m, classes, classes},
                          {outputs_[1].get(), 0, m, classes, classes},
                          {outputs_[2].get(), 0, m, classes, classes},
                          {}});
}

void PreparedStage::append_votes(StageResult& result, std::int64_t first, std::int64_t rows) {
  std::vector<std::uint64_t> winners, counts;
  append<std::uint32_t>(winners, outputs_[0], first, rows);
  append<std::uint32_t>(counts, outputs_[1], first * operation_.classes, rows * operation_.classes);
  for (std::int64_t q = 0; q < rows; ++q) {
    const auto row = counts.begin() + q * operation_.classes;
    result.cells.push_back(winners[size(q)]);
    result.cells.insert(result.cells.end(), row, row + operation_.classes);
  }
}

void PreparedStage::append_accumulated(StageResult& result, std::int64_t first, std::int64_t rows) {
  for (std::int64_t q = first; q < first + rows; ++q)
    for (std::size_t part = 0; part < 3; ++part)
      append<std::uint32_t>(result.cells, outputs_[part], q * operation_.classes, operation_.classes);
}

}  // namespace kith::workloads
