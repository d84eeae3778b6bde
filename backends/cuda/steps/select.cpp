#include "select/selectors.hpp"

#include "steps/steps.hpp"

namespace kith::cuda {
namespace {

/// Returns why a selector cannot keep so many neighbours, as a sentence; empty if it can.
std::string refusal_of_k(const spi::SelectStep& step) {
  const std::string asked = "k = " + std::to_string(step.k);
  if (step.selector == Selector::local_sort && step.k > local_sort_max_k)
    return asked + " is more than the " + std::to_string(local_sort_max_k) +
           " values of a block, of which local_sort keeps the first k; choose k <= " +
           std::to_string(local_sort_max_k) + " or another selector";
  if (step.selector == Selector::threshold && step.k > threshold_most_k)
    return asked + " is more than the " + std::to_string(threshold_most_k) +
           " keys that a buffer of threshold is counted for; choose selector radix";
  return "";
}

const SelectorKernels* const selectors[] = {
    &threshold_selector, &radix_selector,   &bubble_selector,   &insertion_selector, &local_sort_selector,
    &k_min_selector,     &bitonic_selector, &odd_even_selector, &rank_sort_selector, &merge_sort_selector};

/// Returns null if this back end has no such selector.
const SelectorKernels* find_selector(Selector selector) {
  for (const SelectorKernels* kernels : selectors)
    if (kernels->selector == selector) return kernels;
  return nullptr;
}

std::string refusal_of_selector(Selector selector) {
  std::string known;
  for (const SelectorKernels* kernels : selectors)
    known += (known.empty() ? "" : ", ") + std::string(name(kernels->selector));
  return "it has no selector " + std::string(name(selector)) + "; choose one of " + known;
}

}  // namespace

spi::Support Device::check(const spi::SelectStep& step) const {
  const SelectorKernels* const kernels = find_selector(step.selector);
  if (!kernels) return {refusal_of_selector(step.selector), 0};
  std::string refusal = refusal_of_lists(step.distances.rows, step.lists);
  if (refusal.empty()) refusal = refusal_of_k(step);
  if (!refusal.empty()) return {refusal, 0};
  if (step.distances.rows == 0) return {};
  return {"", kernels->scratch(step)};
}

cudaError_t Device::enqueue(const spi::SelectStep& step) {
  if (step.distances.rows == 0) return cudaSuccess;
  const SelectorKernels* const kernels = find_selector(step.selector);
  if (!kernels) return cudaErrorInvalidValue;  // check() has refused it
  return kernels->select(queue_, step);
}

}  // namespace kith::cuda
