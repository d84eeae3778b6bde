#include <algorithm>
#include <bit>

#include "device.hpp"
#include "select/shapes.hpp"

namespace kith::opencl {

std::size_t Device::bubble_scratch_bytes(const spi::SelectStep& step) const {
  if (family_ == Family::lanes) {
    const Bubbles shape(step, limits_);
    return shape.local ? 0 : lists_of(step) * shape.keys * sizeof(Key);
  }
  if (step.k <= most_in_registers) return 0;
  const Walk shape(step, limits_);
  return shape.local ? 0 : lists_of(step) * shape.window * sizeof(Key);
}

void Device::select_bubble(const spi::SelectStep& step) {
  const spi::Grid<float>& d = step.distances;
  const auto run = [&](const char* source, const std::string& defines, const char* name, std::size_t items,
                       const auto&... more) {
    launch(source, defines, name, Range{{lists_of(step) * items, 1, 1}, {items, 1, 1}}, d,
           static_cast<cl_uint>(d.cols), step.first_row, step.k, step.lists, step.out, more...);
  };
  if (family_ == Family::lanes) {
    const Bubbles shape(step, limits_);
    const std::string defines = shape.keys == 0 ? define("VECTORS", shape.vectors) : "";
    const char* name = "kith_select_bubble_lanes";
    if (shape.local)
      run("select/published/select_bubble_lanes.cl", defines + define("WINDOW", "local"), name, 1,
          Local{std::max(shape.keys * sizeof(Key), sizeof(Key))}, cl_ulong{0});
    else
      run("select/published/select_bubble_lanes.cl", defines + define("WINDOW", "global"), name, 1,
          buffer_of(step.scratch.memory), cl_ulong{shape.keys});
    return;
  }
  if (step.k <= most_in_registers) {
    const std::uint32_t bubbles = bubbles_for(step.k), list_places = std::bit_ceil(bubbles);
    const std::uint32_t items = items_for(widest_part(d.cols, step.lists), list_places);
    return run("select/published/select_bubble.cl",
               define("GROUP", items) + define("BUBBLES", bubbles) + define("PLACES", list_places),
               "kith_select_bubble_registers", items);
  }
  const Walk shape(step, limits_);
  const std::string defines =
      define("ITEMS", shape.items) + define("STRETCH", shape.stretch) + define("PACK", shape.pack);
  if (shape.local)
    run("select/published/select_bubble.cl", defines + define("WINDOW", "local"), "kith_select_bubble",
        shape.items, Local{shape.window * sizeof(Key)}, cl_ulong{0});
  else
    run("select/published/select_bubble.cl", defines + define("WINDOW", "global"), "kith_select_bubble",
        shape.items, buffer_of(step.scratch.memory), cl_ulong{shape.window});
}

}  // namespace kith::opencl
