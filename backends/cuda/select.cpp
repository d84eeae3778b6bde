#include "steps.hpp"

namespace kith::cuda {
namespace {

Selection selection_of(const spi::SelectStep& step) {
  return {input_of(step.distances),
          static_cast<std::uint32_t>(step.distances.rows),
          static_cast<std::uint32_t>(step.distances.cols),
          step.first_row,
          step.k,
          step.groups,
          matrix_of(step.out)};
}

}  // namespace

spi::Support Device::check(const spi::SelectStep& step) const {
  const std::string refusal = refusal_of_lists(step.distances.rows, step.groups);
  if (!refusal.empty()) return {refusal, 0};
  if (step.distances.rows == 0 || step.distances.cols == 0) return {};
  const Selection selection = selection_of(step);
  switch (step.selector) {
    case Selector::threshold:
      if (step.k <= threshold_max_k) return {};
      return {"selector threshold keeps at most " + std::to_string(threshold_max_k) +
                  " neighbours in shared memory, but k = " + std::to_string(step.k) +
                  "; choose selector radix",
              0};
    case Selector::radix:
      return {"", select_radix_scratch(selection)};
    case Selector::bubble:
      return {"", select_bubble_scratch(selection)};
    case Selector::insertion:
      return {"", select_insertion_scratch(selection)};
    default:
      return {"it has no selector " + std::string(name(step.selector)) +
                  "; choose threshold, radix, bubble or insertion",
              0};
  }
}

cudaError_t Device::enqueue(const spi::SelectStep& step) {
  if (step.distances.rows == 0 || step.distances.cols == 0) return cudaSuccess;
  const Selection selection = selection_of(step);
  const Scratch scratch = scratch_of(step.scratch);
  switch (step.selector) {
    case Selector::threshold:
      return select_threshold(queue_, selection);
    case Selector::radix:
      return select_radix(queue_, selection, scratch);
    case Selector::bubble:
      return select_bubble(queue_, selection, scratch);
    case Selector::insertion:
      return select_insertion(queue_, selection, scratch);
    default:
      return cudaErrorInvalidValue;  // check() refused it
  }
}

}  // namespace kith::cuda
