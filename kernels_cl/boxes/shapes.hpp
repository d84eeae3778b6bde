// Divides places among the work-groups of sort_places.cl.
// No twin in kernels_cuda: radix_sort.cu sorts by CUB.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/shapes.hpp"

namespace kith::opencl {

// These are the constants of sort_places.cl.
constexpr std::uint32_t digits = 16, digit_bits = 4, sort_group = 256, sort_tile = 2048;
constexpr std::size_t sort_local_bytes = (digits * sort_group + digits * digits) * sizeof(std::uint32_t);
constexpr std::uint32_t most_groups = 1024;  // these fill any device, and one group can sum up their counts

/// Returns how many tiles a work-group takes, one after another, of n places.
inline std::uint32_t tiles_each(std::uint32_t n) {
  return divide_up(divide_up(n, sort_tile), most_groups);
}
inline std::uint32_t groups_of(std::uint32_t n) {
  return divide_up(divide_up(n, sort_tile), tiles_each(n));
}

}  // namespace kith::opencl
