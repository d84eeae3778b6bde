#include "steps/steps.hpp"

namespace kith::cuda {
namespace {

/// Returns why one of several parts of the rows cannot be read; empty if all can.
std::string refusal_of_parts(const std::vector<spi::RowBlocks>& parts) {
  for (const spi::RowBlocks& part : parts)
    if (std::string refusal = refusal_of_rows("rows", part); !refusal.empty()) return refusal;
  return "";
}

/// Returns why a walk through boxes cannot read queries and rows; empty if it can.
std::string refusal_of_walk(const spi::RowBlocks& queries, const spi::RowBlocks& rows) {
  constexpr std::uint32_t most_columns = 1024;  // columns of a query that fit into shared memory
  std::string refusal = refusal_of_rows("queries", queries);
  if (refusal.empty()) refusal = refusal_of_rows("rows in boxes", rows);
  if (refusal.empty() && queries.dims > most_columns)
    refusal = std::to_string(queries.dims) + " columns, but a walk through boxes takes at most " +
              std::to_string(most_columns) + "; choose no boxes";
  return refusal;
}

}  // namespace

spi::Support Device::check(const spi::BoxesStep& step) const {
  std::string refusal = refusal_of_walk(step.queries, step.train.rows);
  if (refusal.empty() && step.k > spi::boxes_max_k)
    refusal = "k = " + std::to_string(step.k) + ", but a walk through boxes keeps at most " +
              std::to_string(spi::boxes_max_k) + "; choose a smaller k, or no boxes";
  return {refusal, 0};
}

cudaError_t Device::enqueue(const spi::BoxesStep& step) {
  return boxes(queue_, step);
}

spi::Support Device::check(const spi::CountStep& step) const {
  return {refusal_of_walk(step.queries, step.train.rows), 0};
}

cudaError_t Device::enqueue(const spi::CountStep& step) {
  return count(queue_, step);
}

spi::Support Device::check(const spi::OrderStep& step) const {
  return {refusal_of_parts(step.rows), order_scratch(step)};
}

cudaError_t Device::enqueue(const spi::OrderStep& step) {
  return order(queue_, step);
}

spi::Support Device::check(const spi::PackBoxesStep& step) const {
  return {refusal_of_parts(step.rows), 0};
}

cudaError_t Device::enqueue(const spi::PackBoxesStep& step) {
  return pack_boxes(queue_, step);
}

}  // namespace kith::cuda
