#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "boxes/shapes.hpp"
#include "device.hpp"

namespace kith::opencl {
namespace {

/// The layout of scratch: two times n places, n numbers, and the counts.
struct SortMemory {
  Places turns[2];
  spi::Grid<std::uint32_t> counts;  ///< [digits, groups]

  /// `out` has the numbers of the first turn.
  SortMemory(const spi::Scratch& scratch, const spi::Grid<std::uint32_t>& out)
      : turns{{{scratch.memory, 0, 1, out.cols, out.cols}, out},
              {{scratch.memory, out.cols, 1, out.cols, out.cols},
               {scratch.memory, 4 * out.cols, 1, out.cols, out.cols}}} {
    const std::uint32_t groups = groups_of(static_cast<std::uint32_t>(out.cols));
    counts = {scratch.memory, 5 * out.cols, digits, groups, groups};
  }
  std::size_t bytes() const { return (counts.first + counts.rows * counts.cols) * sizeof(std::uint32_t); }
};

/// The bits by which places are sorted.
struct Sort {
  std::uint32_t first_bit, passes;
};

/// Returns one sort for the curve, or one for each cut.
std::vector<Sort> sorts_of(const spi::OrderStep& step) {
  constexpr std::uint32_t bits_of_value = 32;
  const std::uint32_t dims = step.rows.front().dims, all = spi::curve_columns(dims) * spi::curve_bits(dims),
                      bits = std::min(step.bits, all);
  if (step.cuts.empty()) return {{all - bits, divide_up(bits, digit_bits)}};
  std::vector<Sort> sorts;
  for (std::size_t i = 0; i < step.cuts.size(); ++i)
    sorts.push_back({0, divide_up(bits_of_value + spi::bits_before(step.cuts, i), digit_bits)});
  return sorts;
}

std::string defines_of(const spi::RowBlocks& part) {
  return define("BLOCK", part.block) + define("COLUMNS", spi::curve_columns(part.dims)) +
         define("BITS", spi::curve_bits(part.dims));
}

}  // namespace

spi::Support Device::check(const spi::OrderStep& step) const {
  if (family_ == Family::lanes) return {"the host puts rows in order for kernels of CPUs", 0};
  if (limits_.work_group < sort_group || limits_.local_memory_bytes < sort_local_bytes)
    return {"sorting takes work-groups of " + std::to_string(sort_group) + " and " +
                std::to_string(sort_local_bytes) + " bytes of local memory, but the device has " +
                std::to_string(limits_.work_group) + " and " + std::to_string(limits_.local_memory_bytes) +
                "; let the host put rows in order",
            0};
  return {{}, step.out.cols == 0 ? 0 : SortMemory({}, step.out).bytes()};
}

/// Writes the places of all rows along the curve, and their numbers.
void Device::place_rows(const spi::OrderStep& step, const Places& to) {
  std::uint32_t first = 0;
  for (const spi::RowBlocks& part : step.rows) {
    if (part.rows == 0) continue;
    launch("boxes/order.cl", defines_of(part), "kith_order", Range{{part.rows, 1, 1}, {64, 1, 1}},
           buffer_of(part.memory), part.first, part.rows, part.dims, buffer_of(step.frame.memory),
           cl_ulong{step.frame.first}, buffer_of(to.places.memory), cl_ulong{to.places.first + first},
           buffer_of(to.numbers.memory), cl_ulong{to.numbers.first + first}, first);
    first += part.rows;
  }
}

/// Sorts by the digit at `shift`, which is one pass.
void Device::sort_places(const Places& from, std::uint32_t shift, const spi::Grid<std::uint32_t>& counts,
                         const Places& to) {
  const auto n = static_cast<std::uint32_t>(from.places.cols), part = tiles_each(n) * sort_tile;
  const Range whole{{sort_group * counts.cols, 1, 1}, {sort_group, 1, 1}},
      one{{sort_group, 1, 1}, {sort_group, 1, 1}};
  const auto launch_one = [&](const char* name, const Range& range, const auto&... arguments) {
    launch("boxes/sort_places.cl", "", name, range, arguments...);
  };
  const cl::Buffer &places = buffer_of(from.places.memory), &count = buffer_of(counts.memory);
  const cl_ulong places_first = from.places.first, counts_first = counts.first;
  launch_one("kith_count_digits", whole, places, places_first, n, part, shift, count, counts_first);
  launch_one("kith_sum_counts", one, count, counts_first, static_cast<cl_uint>(counts.rows * counts.cols));
  launch_one("kith_scatter_places", whole, places, places_first, buffer_of(from.numbers.memory),
             cl_ulong{from.numbers.first}, n, part, shift, count, counts_first, buffer_of(to.places.memory),
             cl_ulong{to.places.first}, buffer_of(to.numbers.memory), cl_ulong{to.numbers.first});
}

/// Writes the places of all rows in a cut, and their numbers.
void Device::place_in_cut(const spi::OrderStep& step, std::size_t cut, const Places& to) {
  const std::uint32_t before = spi::bits_before(step.cuts, cut),
                      part_bits = static_cast<std::uint32_t>(std::bit_width(spi::part_rows) - 1) +
                                  spi::bits_before(step.cuts, step.cuts.size()) - before;
  const auto n = static_cast<std::uint32_t>(step.out.cols);
  std::uint32_t first = 0;
  for (const spi::RowBlocks& part : step.rows) {
    if (part.rows == 0) continue;
    launch("boxes/order.cl", defines_of(part), "kith_place_in_cut", Range{{n, 1, 1}, {64, 1, 1}},
           buffer_of(part.memory), part.first, part.rows, first, part.dims, step.cuts[cut].column, part_bits,
           static_cast<cl_uint>(cut > 0), n, buffer_of(to.places.memory), cl_ulong{to.places.first},
           buffer_of(to.numbers.memory), cl_ulong{to.numbers.first});
    first += part.rows;
  }
}

void Device::enqueue(const spi::OrderStep& step) {
  if (step.out.cols == 0) return;
  const SortMemory memory(step.scratch, step.out);
  const std::vector<Sort> sorts = sorts_of(step);
  std::uint32_t passes = 0;
  for (const Sort& sort : sorts) passes += sort.passes;
  // The last pass must end in `out`.
  const Places *now = &memory.turns[passes % 2], *next = &memory.turns[1 - passes % 2];
  for (std::size_t i = 0; i < sorts.size(); ++i) {
    if (step.cuts.empty())
      place_rows(step, *now);
    else
      place_in_cut(step, i, *now);
    for (std::uint32_t pass = 0; pass < sorts[i].passes; ++pass) {
      sort_places(*now, sorts[i].first_bit + pass * digit_bits, memory.counts, *next);
      std::swap(now, next);
    }
  }
}

}  // namespace kith::opencl
