#include <algorithm>
#include <array>
#include <bit>

#include "device.hpp"

namespace kith::opencl {
namespace {

constexpr std::uint32_t most_in_registers = 32;  // bubbles per item
constexpr std::uint32_t lanes = 16;              // floats of a vector

std::size_t lists_of(const spi::SelectStep& step) {
  return step.distances.rows * step.groups;
}

/// Returns for how many bubbles the kernel is compiled: up to a third more than k, so that not every k needs
/// its own kernel.
std::uint32_t bubbles_for(std::uint32_t k) {
  constexpr std::array<std::uint32_t, 10> compiled{1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
  return *std::lower_bound(compiled.begin(), compiled.end(), k);
}

/// Returns how many work-items share a list: more for longer lists, if local memory has room for their lists.
std::uint32_t items_for(std::uint32_t width, std::uint32_t list_places) {
  const std::uint32_t wanted = width < 1024 ? 32 : width < 4096 ? 64 : 128;
  return std::min(wanted, 2048 / list_places);
}

/// How packs of bubbles walk (select_bubble.cl), and where their window is.
struct Walk {
  std::uint32_t pack, items, stretch;
  std::size_t window;  // keys per list
  bool local;

  Walk(const spi::SelectStep& step, const Limits& limits) {
    pack = step.k <= 64 ? 2 : step.k <= 512 ? 4 : 8;
    const std::uint32_t packs = divide_up(step.k, pack);
    const auto most =
        static_cast<std::uint32_t>(std::min<std::size_t>(std::bit_floor(limits.work_group), 256));
    items = packs >= most ? most : std::min(most, std::max(std::bit_ceil(packs), 32u));
    // This is the longest stretch for which the growing phase is not longer than the walk. It is not 1,
    // because the kernel that PoCL 3.1 compiles for 1 crashes.
    const std::uint32_t width = group_width(step.distances.cols, step.groups);
    for (stretch = 16; stretch > 2 && std::size_t{stretch} * packs > width;) stretch /= 2;
    const auto keys = [&] { return (std::size_t{packs} + 1) * (stretch + 1) + std::size_t{packs} * pack; };
    const auto fits = [&] { return keys() * sizeof(Key) + 64 <= limits.local_memory_bytes; };
    const std::uint32_t longest = stretch;
    while (stretch > 2 && !fits()) stretch /= 2;
    local = fits();
    if (!local) stretch = longest;
    window = keys();
  }
};

/// Where the bubbles of a CPU device are kept (select_bubble_lanes.cl).
struct Bubbles {
  std::uint32_t vectors;
  std::size_t keys;  // per list; 0: they are in registers
  bool local;

  Bubbles(const spi::SelectStep& step, const Limits& limits) {
    const std::uint32_t walking = std::min(step.k, group_width(step.distances.cols, step.groups));
    vectors = std::max(1u, divide_up(walking, lanes));
    keys = vectors <= 2 ? 0 : std::size_t{2} * lanes * vectors;
    local = keys * sizeof(Key) + 64 <= limits.local_memory_bytes;
  }
};

}  // namespace

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
           static_cast<cl_uint>(d.cols), step.first_row, step.k, step.groups, step.out, more...);
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
    const std::uint32_t items = items_for(group_width(d.cols, step.groups), list_places);
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
