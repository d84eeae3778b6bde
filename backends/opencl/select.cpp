#include <algorithm>
#include <bit>

#include "check.hpp"
#include "device.hpp"

namespace kith::opencl {
namespace {

constexpr std::uint32_t threshold_group = 256, threshold_values = 4;  // select_threshold.cl

/// How the bubbles of a step walk (select_bubble.cl), and where their window lies.
struct BubbleShape {
  std::uint32_t items, stretch;
  std::size_t window;  // keys a (query, group)
  bool local;

  BubbleShape(const spi::SelectStep& step, std::size_t work_group, std::size_t local_memory_bytes) {
    items = static_cast<std::uint32_t>(
        std::min({std::bit_ceil(std::size_t{step.k}), std::bit_floor(work_group), std::size_t{256}}));
    // The longest stretch that does not make the growing phase longer than the walk. Not 1: what
    // PoCL 3.1 makes of that kernel crashes.
    const std::uint32_t width = group_width(step.distances.cols, step.groups);
    for (stretch = 16; stretch > 2 && std::size_t{stretch} * step.k > width;) stretch /= 2;
    const auto fits = [&] { return keys(step.k) * sizeof(Key) + 64 <= local_memory_bytes; };
    const std::uint32_t longest = stretch;
    while (stretch > 2 && !fits()) stretch /= 2;
    local = fits();
    if (!local) stretch = longest;
    window = keys(step.k);
  }
  std::size_t keys(std::uint32_t k) const { return (std::size_t{k} + 1) * stretch + k; }
};

}  // namespace

spi::Support Device::check(const spi::SelectStep& step) const {
  if (step.k == 0 || step.groups == 0)
    return {"k = " + std::to_string(step.k) + " and groups = " + std::to_string(step.groups) +
                "; both must be at least 1",
            0};
  switch (step.selector) {
    case Selector::insertion:
      return {};
    case Selector::threshold:
      return {
          Shortlist(step.k, threshold_group * threshold_values).refuse(step.k, limits_.local_memory_bytes),
          0};
    case Selector::bubble: {
      const BubbleShape shape(step, limits_.work_group, limits_.local_memory_bytes);
      return {"", shape.local ? 0 : step.distances.rows * step.groups * shape.window * sizeof(Key)};
    }
    case Selector::radix:
      return {"", radix_scratch_bytes(step)};
    default:
      return {"it has no selector " + std::string(name(step.selector)) +
                  "; it has threshold, radix, bubble and insertion",
              0};
  }
}

void Device::enqueue(const spi::SelectStep& step) {
  if (step.distances.rows == 0) return;
  switch (step.selector) {
    case Selector::threshold:
      return select_threshold(step);
    case Selector::bubble:
      return select_bubble(step);
    case Selector::radix:
      return select_radix(step);
    default:
      return select_insertion(step);
  }
}

void Device::select_threshold(const spi::SelectStep& step) {
  const Shortlist shape(step.k, threshold_group * threshold_values);
  const spi::Grid<float>& d = step.distances;
  const Range range{{std::size_t{threshold_group} * step.groups, d.rows, 1}, {threshold_group, 1, 1}};
  launch("select_threshold.cl", define("GROUP", threshold_group) + define("VALUES", threshold_values),
         "kith_select_threshold", range, buffer_of(d.memory), cl_ulong{d.first}, cl_ulong{d.stride},
         static_cast<cl_uint>(d.cols), step.first_row, step.k, step.groups, shape.list_size, shape.capacity,
         shape.merge_at, buffer_of(step.out.memory), cl_ulong{step.out.first}, cl_ulong{step.out.stride},
         Local{shape.list_bytes()}, Local{shape.buffer_bytes()});
}

void Device::select_bubble(const spi::SelectStep& step) {
  const BubbleShape shape(step, limits_.work_group, limits_.local_memory_bytes);
  const spi::Grid<float>& d = step.distances;
  const Range range{{std::size_t{shape.items} * step.groups, d.rows, 1}, {shape.items, 1, 1}};
  const auto run = [&](const char* space, const auto& windows, std::size_t stride) {
    launch("select_bubble.cl",
           define("ITEMS", shape.items) + define("STRETCH", shape.stretch) + define("WINDOW", space),
           "kith_select_bubble", range, buffer_of(d.memory), cl_ulong{d.first}, cl_ulong{d.stride},
           static_cast<cl_uint>(d.cols), step.first_row, step.k, step.groups, buffer_of(step.out.memory),
           cl_ulong{step.out.first}, cl_ulong{step.out.stride}, windows, cl_ulong{stride});
  };
  if (shape.local)
    run("local", Local{shape.window * sizeof(Key)}, 0);
  else
    run("global", buffer_of(step.scratch.memory), shape.window);
}

void Device::select_insertion(const spi::SelectStep& step) {
  const spi::Grid<float>& d = step.distances;
  // Neighbouring items take neighbouring queries, or groups where there are few queries.
  const std::size_t items = family_ == Family::lanes ? 1 : 64;
  const bool down = d.rows >= items;
  launch("select_insertion.cl", "", "kith_select_insertion",
         Range{{step.groups, d.rows, 1}, {down ? 1 : items, down ? items : 1, 1}}, buffer_of(d.memory),
         cl_ulong{d.first}, cl_ulong{d.stride}, static_cast<cl_uint>(d.rows), static_cast<cl_uint>(d.cols),
         step.first_row, step.k, step.groups, buffer_of(step.out.memory), cl_ulong{step.out.first},
         cl_ulong{step.out.stride});
}

}  // namespace kith::opencl
