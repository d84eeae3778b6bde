// select: finds the k smallest keys of each part of each row of a distance matrix, by any method that the
// CPU has.
#include <array>

#include "cpu/sorts/sorts.hpp"
#include "cpu/steps/shortlist.hpp"
#include "cpu/steps/steps.hpp"
#include "host/parallel.hpp"

namespace kith::cpu {
namespace {

struct Method {
  Selector selector;
  Sort* sort;  ///< null: the method is threshold
};

constexpr Method methods[] = {{Selector::threshold, nullptr},
                              {Selector::rank_sort, rank_sort},
                              {Selector::merge_sort, merge_sort},
                              {Selector::selection_sort, selection_sort},
                              {Selector::quick_sort, quick_sort}};

const Method* method_of(Selector selector) {
  for (const Method& method : methods)
    if (method.selector == selector) return &method;
  return nullptr;
}

std::size_t part_size(const spi::SelectStep& step) {
  return Parts(step.distances.cols, step.lists).size;
}

/// Returns the bytes of keys that a thread needs: those of a short list, or all keys of a part and as
/// many again.
std::size_t bytes_a_thread(const spi::SelectStep& step) {
  const std::size_t size = part_size(step);
  const bool threshold = step.selector == Selector::threshold;
  return (threshold ? shortlist_capacity(step.k, size) : 2 * size) * sizeof(Key);
}

void by_threshold(const spi::SelectStep& step, const Kernels& kernels, const float* values, std::size_t count,
                  std::uint32_t first_row, Key* scratch, Key* out) {
  std::size_t entries = 0, ranked = 0;
  float threshold = 0;
  Shortlists list{
      scratch,         shortlist_capacity(step.k, part_size(step)), &entries, &ranked, &threshold, step.k,
      kernels.sort_few};
  clear(list, 0);
  kernels.filter(values, count, first_row, list, 0);
  finish(list, 0, out);
}

void by_sort(const spi::SelectStep& step, Sort* sort, const float* values, std::size_t count,
             std::uint32_t first_row, Key* keys, Key* out) {
  for (std::size_t t = 0; t < count; ++t)
    keys[t] = make_key(values[t], first_row + static_cast<std::uint32_t>(t));
  const std::size_t found = std::min<std::size_t>(step.k, count);
  if (found) sort(keys, keys + part_size(step), count, found, out);
  std::fill(out + found, out + step.k, no_key);
}

}  // namespace

const std::vector<Selector>& selectors() {
  static const std::vector<Selector> list = [] {
    std::vector<Selector> all;
    for (const Method& method : methods) all.push_back(method.selector);
    return all;
  }();
  return list;
}

spi::Support check(const spi::SelectStep& step, const Resources& with) {
  if (method_of(step.selector)) return {{}, with.team * bytes_a_thread(step)};
  std::string others;
  for (const Method& method : methods)
    others += (others.empty() ? "" : ", ") + std::string(name(method.selector));
  return {"selector " + std::string(name(step.selector)) + " is not made for a CPU; choose one of " + others,
          0};
}

void run(const spi::SelectStep& step, const Resources& with) {
  const Method* const method = method_of(step.selector);
  if (!method) throw Error(Errc::unsupported, "cpu: " + check(step, with).refusal);
  const ScratchParts scratch(spi::SelectStep::name, step.scratch, bytes_a_thread(step), with.team);
  const Parts parts(step.distances.cols, step.lists);
  const std::size_t work = step.distances.rows * step.distances.cols * (method->sort ? step.k : 1);
  run_team(step.distances.rows * step.lists, work, scratch.team(), [&](std::size_t task, std::size_t thread) {
    const std::size_t q = task / step.lists, g = task % step.lists;
    const std::size_t begin = parts.begin(g), count = parts.end(g) - begin;
    const float* const values = elements(step.distances) + q * step.distances.stride + begin;
    const auto first_row = step.first_row + static_cast<std::uint32_t>(begin);
    Key* const out = elements(step.out) + q * step.out.stride + g * step.k;
    Key* const mine = scratch.of<Key>(thread);
    if (method->sort) {
      by_sort(step, method->sort, values, count, first_row, mine, out);
    } else {
      by_threshold(step, with.kernels, values, count, first_row, mine, out);
    }
  });
}

}  // namespace kith::cpu
