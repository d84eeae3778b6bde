#include <algorithm>
#include <utility>

#include "device.hpp"
#include "select/shapes.hpp"

namespace kith::opencl {
namespace {

/// Passed of select_guess.cl, an argument by value.
struct PassedSizes {
  cl_ulong lists;
  cl_uint room, unused;
};

/// Returns why a list is too long for selectors that pad it to a power of two; empty if it is not.
std::string refuse_length(const spi::SelectStep& step) {
  constexpr std::uint32_t most = 1u << 30;
  const bool threshold = step.selector == Selector::threshold;
  if (step.selector == Selector::radix || step.selector == Selector::bubble ||
      step.selector == Selector::insertion)
    return "";
  const std::uint32_t columns = threshold ? 0 : widest_part(step.distances.cols, step.lists);
  const std::uint32_t length = std::max(columns, step.k);
  if (length <= most) return "";
  return "a list of " + std::to_string(length) + " values is longer than 2^30, the most that selector " +
         std::string(name(step.selector)) + " takes; use smaller training tiles or more lists";
}

}  // namespace

const Device::SelectorKernels* Device::find_selector(Selector selector) {
  static constexpr SelectorKernels all[] = {
      {Selector::threshold, &Device::threshold_scratch_bytes, &Device::select_threshold},
      {Selector::radix, &Device::radix_scratch_bytes, &Device::select_radix},
      {Selector::bubble, &Device::bubble_scratch_bytes, &Device::select_bubble},
      {Selector::insertion, &Device::no_scratch_bytes, &Device::select_insertion},
      {Selector::local_sort, &Device::local_sort_scratch_bytes, &Device::select_local_sort},
      {Selector::k_min, &Device::k_min_scratch_bytes, &Device::select_k_min},
      {Selector::bitonic, &Device::bitonic_scratch_bytes, &Device::select_bitonic},
      {Selector::odd_even, &Device::odd_even_scratch_bytes, &Device::select_odd_even},
      {Selector::rank_sort, &Device::no_scratch_bytes, &Device::select_rank_sort},
      {Selector::merge_sort, &Device::merge_sort_scratch_bytes, &Device::select_merge_sort},
  };
  for (const SelectorKernels& kernels : all)
    if (kernels.selector == selector) return &kernels;
  return nullptr;
}

spi::Support Device::check(const spi::SelectStep& step) const {
  const SelectorKernels* const kernels = find_selector(step.selector);
  if (!kernels) {
    std::string known;
    for (const Selector selector : info.selectors)
      known += (known.empty() ? "" : ", ") + std::string(name(selector));
    return {"it has no selector " + std::string(name(step.selector)) + "; it has " + known, 0};
  }
  std::string refusal = refuse_length(step);
  if (refusal.empty() && step.selector == Selector::local_sort) refusal = refuse_local_sort(step);
  if (!refusal.empty()) return {std::move(refusal), 0};
  return {"", (this->*kernels->scratch)(step)};
}

void Device::enqueue(const spi::SelectStep& step) {
  if (step.distances.rows == 0) return;
  (this->*find_selector(step.selector)->select)(step);
}

bool Device::guesses(const spi::SelectStep& step) const {
  return family_ == Family::groups && Threshold(step.k, limits_.local_memory_bytes).local &&
         Guess::pays(step);
}

std::size_t Device::threshold_scratch_bytes(const spi::SelectStep& step) const {
  const Threshold threshold(step.k, limits_.local_memory_bytes);
  if (guesses(step)) return lists_of(step) * Guess(step.k).bytes_a_list();
  return threshold.local ? 0 : step.distances.rows * step.lists * threshold.part * sizeof(Key);
}

void Device::select_by_guess(const spi::SelectStep& step) {
  const Threshold threshold(step.k, limits_.local_memory_bytes);
  const Guess guess(step.k);
  const spi::Grid<float>& d = step.distances;
  const auto columns = static_cast<cl_uint>(d.cols);
  const cl::Buffer& passed = buffer_of(step.scratch.memory);
  const PassedSizes sizes{lists_of(step), guess.room, 0};
  const std::uint32_t slices = divide_up(widest_part(d.cols, step.lists), Guess::slice_columns);
  const auto run = [&](const char* kernel, std::uint32_t a_list, const auto&... arguments) {
    launch("select/select_guess.cl", define("GROUP", threshold_group) + define("VALUES", threshold_values),
           kernel,
           Range{{std::size_t{threshold_group} * step.lists * a_list, d.rows, 1}, {threshold_group, 1, 1}}, d,
           columns, arguments...);
  };
  run("kith_select_guess", 1, guess.rank, step.lists, guess.sample.sizes(0), passed, sizes,
      Local{guess.sample.list_bytes() + guess.sample.buffer_bytes()});
  run("kith_select_filter", slices, step.first_row, step.lists, Guess::slice_columns, passed, sizes);
  run("kith_select_passed", 1, step.first_row, step.k, step.lists, threshold.shape.sizes(0), passed, sizes,
      step.out, Local{threshold.part * sizeof(Key)});
}

void Device::select_threshold(const spi::SelectStep& step) {
  if (guesses(step)) return select_by_guess(step);
  const Threshold threshold(step.k, limits_.local_memory_bytes);
  const Shortlist& shape = threshold.shape;
  const spi::Grid<float>& d = step.distances;
  const Range range{{std::size_t{threshold_group} * step.lists, d.rows, 1}, {threshold_group, 1, 1}};
  const auto run = [&](const char* where, const auto&... lists) {
    launch("select/select_threshold.cl",
           define("GROUP", threshold_group) + define("VALUES", threshold_values) + where,
           "kith_select_threshold", range, d, static_cast<cl_uint>(d.cols), step.first_row, step.k,
           step.lists, shape.sizes(0), step.out, lists...);
  };
  if (threshold.local)
    run("", Local{threshold.part * sizeof(Key)}, cl_ulong{0});
  else
    run(" -D LISTS_IN_SCRATCH", buffer_of(step.scratch.memory), cl_ulong{threshold.part});
}

void Device::select_insertion(const spi::SelectStep& step) {
  const spi::Grid<float>& d = step.distances;
  // Neighbouring items take neighbouring queries, or lists if there are few queries.
  const std::size_t items = family_ == Family::lanes ? 1 : 64;
  const bool down = d.rows >= items;
  launch("select/select_insertion.cl", "", "kith_select_insertion",
         Range{{step.lists, d.rows, 1}, {down ? 1 : items, down ? items : 1, 1}}, d,
         static_cast<cl_uint>(d.rows), static_cast<cl_uint>(d.cols), step.first_row, step.k, step.lists,
         step.out);
}

}  // namespace kith::opencl
