#include "steps/select/published/select_blocks.hpp"

namespace kith::opencl {

void Device::select_rank_sort(const spi::SelectStep& step) {
  const spi::Grid<float>& d = step.distances;
  const bool lanes = family_ == Family::lanes;
  const std::uint32_t width = widest_part(d.cols, step.lists);
  const std::size_t lists = d.rows * step.lists;
  // An item of a GPU ranks four values if there is then still work for all items.
  const std::uint32_t group = lanes ? 1 : 256;
  const std::uint32_t own = lanes ? 64 : lists * width >= std::size_t{info.compute_units} * 8192 ? 4 : 1;
  const std::uint32_t blocks = std::max(1u, divide_up(width, std::size_t{group} * own));
  launch("select/published/select_rank_sort.cl", define("GROUP", group) + (lanes ? "" : define("OWN", own)),
         lanes ? "kith_select_rank_sort_lanes" : "kith_select_rank_sort",
         Range{{lists * blocks * group, 1, 1}, {group, 1, 1}}, d, static_cast<cl_uint>(d.cols),
         step.first_row, step.k, step.lists, blocks, step.out);
}

}  // namespace kith::opencl
