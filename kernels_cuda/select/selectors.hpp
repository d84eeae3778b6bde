// The selectors, one per file, as the back end calls them.
// No twin in kernels_cl: kernels of OpenCL are launched by their names.
#pragma once

#include "common/kernels.hpp"

namespace kith::cuda {

/// The most neighbours of `threshold`, and of local_sort, which sorts this many values at a time.
inline constexpr std::uint32_t threshold_most_k = std::uint32_t{1} << 30;
inline constexpr std::uint32_t local_sort_max_k = 256;

/// A selector: a function that returns the scratch it needs for a step, and its launcher.
struct SelectorKernels {
  Selector selector;
  std::size_t (*scratch)(const spi::SelectStep&);
  cudaError_t (*select)(const Queue&, const spi::SelectStep&);
};

extern const SelectorKernels threshold_selector, radix_selector, insertion_selector;

/// Selectors from publications, in published/; no plan chooses them by itself.
extern const SelectorKernels bubble_selector, local_sort_selector, k_min_selector, bitonic_selector,
    odd_even_selector, rank_sort_selector, merge_sort_selector;

}  // namespace kith::cuda
