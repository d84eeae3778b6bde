#include "plan/proposal_sizes.hpp"

#include <algorithm>

#include "base/numbers.hpp"
#include "kith/key.hpp"
#include "kith/spi.hpp"

namespace kith {

bool has_own_order(Proposer proposer) {
  switch (proposer) {
    case Proposer::dot:
    case Proposer::bf16:
    case Proposer::fp16:
    case Proposer::int8:
    case Proposer::int4:
      return true;
    default:
      return false;
  }
}

std::size_t quantized_row_bytes(Proposer proposer, std::int64_t rows, std::int64_t dims) {
  if (!has_own_order(proposer)) return size(rows) * size(dims) * sizeof(float);
  return size(whole_quantized_blocks(rows)) * spi::quantized_bytes_a_row(proposer, size(dims));
}

std::int64_t whole_quantized_blocks(std::int64_t rows) {
  return (rows + spi::quantized_block_rows - 1) / spi::quantized_block_rows * spi::quantized_block_rows;
}

std::size_t bytes_of_rows_as_bytes(std::int64_t rows, std::int64_t dims) {
  return quantized_row_bytes(Proposer::int8, rows, dims) + size(rows) * sizeof(float);
}

std::size_t quantized_bytes(Proposer proposer, std::int64_t rows, std::int64_t dims) {
  return quantized_row_bytes(proposer, rows, dims) + size(rows) * spi::terms_a_row * sizeof(float);
}

std::size_t row_copy_bytes(const DeviceInfo& device, Proposer proposer, const Problem& problem) {
  // To read 4 bytes of one row, a GPU reads 32 if rows are in blocks of 32, and a CPU 64 if they are in
  // blocks of 16; with bounds of bytes many rows have to be ranked. No copy is kept if it would take much of
  // the memory.
  constexpr std::size_t share = 8;
  if (device.profile.host_threads && problem.m < few_queries) return 0;
  const std::size_t bytes = size(problem.n) * size(problem.dims) * sizeof(float);
  return spi::is_scaled(proposer) && bytes <= device.memory_bytes / share ? bytes : 0;
}

ProposalSizes::ProposalSizes(const Plan& plan) {
  if (plan.proposer == Proposer::none) return;
  const std::size_t q = size(plan.query_tile), listed = q * size(plan.candidates);
  quantized =
      quantized_row_bytes(spi::proposer_of_queries(plan.proposer), plan.query_tile, plan.problem.dims);
  values = has_own_order(plan.proposer) ? 0 : q * size(plan.visit_rows) * sizeof(float);
  rows = listed * sizeof(std::uint32_t);
  // A sample uses the memory of the bounds, and almost never needs more.
  keys =
      std::max(listed * sizeof(Key), q * (size(plan.sample_rows) / spi::sample_rows) * sizeof(std::uint32_t));
  if (has_own_order(plan.proposer)) low = listed * sizeof(float);
  small = q * (spi::terms_a_row * sizeof(float) + sizeof(float) + 2 * sizeof(std::uint32_t));
  if (plan.masked) terms = size(plan.problem.n) * spi::terms_a_row * sizeof(float);
}

std::size_t ProposalSizes::largest() const {
  return std::max({quantized, values, rows, keys, low, small, terms});
}

}  // namespace kith
