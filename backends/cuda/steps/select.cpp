#include "steps/steps.hpp"

namespace kith::cuda {
namespace {

/// Why a selector cannot keep so many neighbours, as a sentence; empty when it can.
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

/// What a selector is to this back end.
struct Method {
  Selector selector;
  std::size_t (*scratch)(const spi::SelectStep&);
  cudaError_t (*select)(const Queue&, const spi::SelectStep&);
};

constexpr Method methods[] = {
    {Selector::threshold, select_threshold_scratch, select_threshold},
    {Selector::radix, select_radix_scratch, select_radix},
    {Selector::bubble, select_bubble_scratch, select_bubble},
    {Selector::insertion, select_insertion_scratch, select_insertion},
    {Selector::local_sort, select_local_sort_scratch, select_local_sort},
    {Selector::k_min, select_k_min_scratch, select_k_min},
    {Selector::bitonic, select_bitonic_scratch, select_bitonic},
    {Selector::odd_even, select_odd_even_scratch, select_odd_even},
    {Selector::rank_sort, [](const spi::SelectStep&) { return std::size_t{0}; }, select_rank_sort},
    {Selector::merge_sort, select_merge_sort_scratch, select_merge_sort},
};

/// Null when there is no such selector here.
const Method* find_method(Selector selector) {
  for (const Method& method : methods)
    if (method.selector == selector) return &method;
  return nullptr;
}

std::string refusal_of_selector(Selector selector) {
  std::string known;
  for (const Method& method : methods)
    known += (known.empty() ? "" : ", ") + std::string(name(method.selector));
  return "it has no selector " + std::string(name(selector)) + "; choose one of " + known;
}

}  // namespace

spi::Support Device::check(const spi::SelectStep& step) const {
  const Method* method = find_method(step.selector);
  if (!method) return {refusal_of_selector(step.selector), 0};
  std::string refusal = refusal_of_lists(step.distances.rows, step.groups);
  if (refusal.empty()) refusal = refusal_of_k(step);
  if (!refusal.empty()) return {refusal, 0};
  if (step.distances.rows == 0) return {};
  return {"", method->scratch(step)};
}

cudaError_t Device::enqueue(const spi::SelectStep& step) {
  if (step.distances.rows == 0) return cudaSuccess;
  const Method* method = find_method(step.selector);
  if (!method) return cudaErrorInvalidValue;  // check() refused it
  return method->select(queue_, step);
}

}  // namespace kith::cuda
