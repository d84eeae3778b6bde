#include "steps/steps.hpp"

namespace kith::cuda {

std::string refusal_of_rows(const char* what, const spi::RowBlocks& rows) {
  if (std::string refusal = spi::refusal_of_block(what, rows, spi::rows_a_block); !refusal.empty())
    return refusal;
  // Kernels read slightly beyond the last row, and count rows in 32 bits.
  constexpr std::uint64_t most = 0xFFFFF000u;
  const std::uint64_t end = std::uint64_t{rows.first} + rows.rows;
  if (end > most)
    return std::string(what) + " end at row " + std::to_string(end) +
           " of their block of memory, but its kernels count to " + std::to_string(most) +
           "; use smaller blocks";
  return "";
}

std::string refusal_of_lists(std::uint64_t rows, std::uint64_t lists) {
  constexpr std::uint64_t most = 0x7FFFFFFFu;  // blocks of a launch
  if (rows * lists <= most) return "";
  return std::to_string(rows) + " queries * " + std::to_string(lists) +
         " lists of a query are more than the " + std::to_string(most) +
         " lists of a step; choose a smaller query tile or fewer lists";
}

spi::Support Device::check(const spi::DistanceStep& step) const {
  std::string refusal = refusal_of_rows("queries", step.queries);
  if (refusal.empty()) refusal = refusal_of_rows("training rows", step.train);
  return {refusal, 0};
}

cudaError_t Device::enqueue(const spi::DistanceStep& step) {
  if (step.queries.rows == 0 || step.train.rows == 0) return cudaSuccess;
  if (is_of_sums(step.metric)) return distance_of_sums(queue_, step);
  if (step.train.terms) return distance_by_terms(queue_, step);
  // With fewer queries a tile of 128 would compute more padding than queries.
  return step.queries.rows <= spi::small_batch ? distance_of_small_batch(queue_, step)
                                               : distance_of_many(queue_, step);
}

}  // namespace kith::cuda
