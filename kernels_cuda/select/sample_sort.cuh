// Sorts all values of lists by one partition, for select_radix.cu.
#pragma once

#include "common/part.cuh"

namespace kith::cuda {

/// The longest list that sample_sort() takes, and the shortest that it is for. In a first form, of four
/// launches, a list of 8,192 values took 24 us on an H200, by CUB 59; of 65,536 35 and 70; of 262,144 58 and
/// 79; of 300,001 76 and 75.
inline constexpr std::uint32_t sample_sort_most = std::uint32_t{1} << 18;
inline constexpr std::uint32_t sample_sort_least = std::uint32_t{1} << 13;

/// Returns the scratch for `lists` lists of up to `width` values.
std::size_t sample_sort_bytes(std::uint32_t lists, std::uint32_t width);

/// Writes the k smallest keys of `lists` lists from first_list on, ascending, padded with no_key.
///   memory  has sample_sort_bytes(lists, width_of(selection)) bytes
cudaError_t sample_sort(const Queue& queue, const Selection& selection, std::uint32_t first_list,
                        std::uint32_t lists, void* memory);

}  // namespace kith::cuda
