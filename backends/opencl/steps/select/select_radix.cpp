#include <algorithm>
#include <utility>

#include "device.hpp"
#include "select/shapes.hpp"

namespace kith::opencl {

std::size_t Device::radix_scratch_bytes(const spi::SelectStep& step) const {
  const std::size_t of_runs =
      merges_of(step.k, sorted_run(limits_)) == 0 ? 0 : lists_of(step) * step.k * sizeof(Key);
  return family_ == Family::groups ? std::max(of_runs, Partition(step).bytes(step)) : of_runs;
}

void Device::select_radix(const spi::SelectStep& step) {
  if (partitions(step)) return select_by_partition(step);
  const spi::Grid<float>& d = step.distances;
  const std::uint32_t first_run = sorted_run(limits_);
  const cl_uint items = family_ == Family::lanes ? 1 : 256;
  const std::string defines = define("GROUP", items);
  // Each merge writes from one of two places to the other, and the last one must end in `out`.
  const spi::Grid<Key> spare{step.scratch.memory, 0, d.rows, step.out.cols, std::size_t{step.lists} * step.k};
  spi::Grid<Key> now = step.out, next = spare;
  if (merges_of(step.k, first_run) % 2 == 1) std::swap(now, next);

  const bool all = widest_part(d.cols, step.lists) <= step.k;
  const Range range = all ? Range{{step.k, step.lists, d.rows}, {items, 1, 1}}
                          : Range{{std::size_t{items} * step.lists, d.rows, 1}, {items, 1, 1}};
  launch("select/select_radix.cl", defines, all ? "kith_select_radix_all" : "kith_select_radix", range, d,
         static_cast<cl_uint>(d.cols), step.first_row, step.k, step.lists, now);
  launch("select/select_radix.cl", defines, "kith_sort_runs",
         Range{{std::size_t{items} * divide_up(step.k, first_run), step.lists, d.rows}, {items, 1, 1}}, now,
         step.k, first_run, Local{first_run * sizeof(Key)});
  for (std::uint64_t run = first_run; run < step.k; run *= 2) {
    const auto rows = static_cast<std::uint32_t>(d.rows);
    merge_runs(now, rows, step.lists, step.k, static_cast<std::uint32_t>(run), next, step.k,
               static_cast<std::uint32_t>(std::min<std::uint64_t>(2 * run, step.k)));
    std::swap(now, next);
  }
}

}  // namespace kith::opencl
