#include <algorithm>
#include <utility>

#include "device.hpp"

namespace kith::opencl {
namespace {

constexpr std::uint32_t merge_group = 256;  // merge.cl
constexpr std::uint32_t few_rows_keys = 8;  // keys per item and step, if rows are few
constexpr std::uint32_t longest_insertion = 48;

enum class MergeWay { insertion, shortlist, runs };

/// Returns whether a shortlist of k fits into local memory.
bool at_once(std::uint32_t k, std::size_t local_memory_bytes) {
  return k <= 2048 && Shortlist(k, merge_group).refuse(k, local_memory_bytes).empty();
}

MergeWay way_of(const spi::MergeStep& step, Family family, std::size_t local_memory_bytes) {
  if (step.lists == 1) return MergeWay::runs;
  if (family == Family::lanes) return step.k <= longest_insertion ? MergeWay::insertion : MergeWay::runs;
  // There are few keys, and enough queries to fill the device with one work-item each.
  if (std::uint64_t{step.lists} * step.k <= 64 && step.out.rows >= 1024) return MergeWay::insertion;
  return at_once(step.k, local_memory_bytes) ? MergeWay::shortlist : MergeWay::runs;
}

/// Returns how many keys the first merge of pairs writes; the second needs space for at most half as many.
std::size_t pair_keys(const spi::MergeStep& step, std::uint32_t lists) {
  return lists <= 1 ? 0 : step.out.rows * lists * step.k;
}

}  // namespace

spi::Support Device::check(const spi::MergeStep& step) const {
  if (std::uint64_t{step.lists} * step.k > 0xFFFFFFFFu)
    return {std::to_string(step.lists) + " lists of " + std::to_string(step.k) +
                " keys are more than 2^32 - 1 a query; use fewer lists",
            0};
  if (way_of(step, family_, limits_.local_memory_bytes) != MergeWay::runs) return {};
  const std::uint32_t half = divide_up(step.lists, 2), quarter = divide_up(half, 2);
  return {"", (pair_keys(step, half) + pair_keys(step, half > 1 ? quarter : 0)) * sizeof(Key)};
}

void Device::enqueue(const spi::MergeStep& step) {
  if (step.out.rows == 0) return;
  const auto rows = static_cast<cl_uint>(step.out.rows);
  const cl_uint group = family_ == Family::lanes ? 1 : merge_group;
  switch (way_of(step, family_, limits_.local_memory_bytes)) {
    case MergeWay::insertion:
      return launch("merge/merge_insertion.cl", "", "kith_merge_insertion",
                    Range{{rows, 1, 1}, {group, 1, 1}}, step.in, rows, step.lists, step.k, step.out);
    case MergeWay::shortlist:
      return merge_at_once(step.in, rows, 1, step.lists, step.k, step.out);
    case MergeWay::runs:
      return merge_pairs(step);
  }
}

bool Device::merges_at_once(std::uint32_t k) const {
  return family_ == Family::groups && at_once(k, limits_.local_memory_bytes);
}

/// Merges the `lists` lists of k keys of each of `results` results of a row by kith_merge (merge.cl).
void Device::merge_at_once(const spi::Grid<Key>& in, std::uint32_t rows, std::uint32_t results,
                           std::uint32_t lists, std::uint32_t k, const spi::Grid<Key>& out) {
  constexpr std::uint32_t most_keys = merge_group * few_rows_keys;
  const Shortlist large(k, most_keys);
  const bool few = std::uint64_t{rows} * results <= 2 * std::uint64_t{info.compute_units} &&
                   std::uint64_t{lists} * k > merge_group &&
                   large.refuse(k, limits_.local_memory_bytes).empty();
  const std::uint32_t parts = parts_for(k, 512);
  const Shortlist shape = few ? large : Shortlist(k, merge_group);
  ShortlistSizes sizes = shape.sizes(parts);
  if (few) sizes.merge_at = shape.capacity - most_keys;
  launch("merge/merge.cl", define("GROUP", merge_group) + define("KEYS", few ? few_rows_keys : 1u),
         "kith_merge", Range{{std::size_t{merge_group} * rows * results, 1, 1}, {merge_group, 1, 1}}, in,
         results, lists, k, sizes, out, Local{shape.list_bytes()}, Local{shape.buffer_bytes()},
         Local{std::size_t{2} * parts * sizeof(cl_uint)});
}

/// Merges lists in pairs, from one part of scratch to the other, until one list is left.
void Device::merge_pairs(const spi::MergeStep& step) {
  const auto rows = static_cast<std::uint32_t>(step.out.rows);
  spi::Grid<Key> from = step.in;
  std::size_t spare = 0;  // beginning of the part of scratch that does not contain `from`
  std::size_t other = pair_keys(step, divide_up(step.lists, 2));
  for (std::uint32_t lists = step.lists;;) {
    const std::uint32_t left = divide_up(lists, 2);
    const std::size_t cols = std::size_t{left} * step.k;
    const spi::Grid<Key> to =
        left == 1 ? step.out : spi::Grid<Key>{step.scratch.memory, spare, step.out.rows, cols, cols};
    merge_runs(from, rows, 1, lists * step.k, step.k, to, left * step.k, step.k);
    if (left == 1) return;
    lists = left;
    from = to;
    std::swap(spare, other);
  }
}

/// Runs one round of kith_merge_runs (merge_runs.cl).
void Device::merge_runs(const spi::Grid<Key>& in, std::uint32_t rows, std::uint32_t lists,
                        std::uint32_t total, std::uint32_t run, const spi::Grid<Key>& out,
                        std::uint32_t out_total, std::uint32_t out_run) {
  const bool lanes = family_ == Family::lanes;
  const std::uint32_t piece = lanes ? 1024 : 8, pieces = divide_up(out_run, piece);
  const std::size_t pairs = divide_up(divide_up(total, run), 2);
  launch("merge/merge_runs.cl", define("PIECE", piece), "kith_merge_runs",
         Range{{pairs * pieces, lists, rows}, {lanes ? 1u : 64u, 1, 1}}, in, total, run, pieces, out,
         out_total, out_run);
}

}  // namespace kith::opencl
