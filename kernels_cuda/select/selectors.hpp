// The selectors as the back end sees them: one of these a file, and how much scratch each wants.
// No twin in kernels_cl: kernels of OpenCL are launched by their names.
#pragma once

#include "common/kernels.hpp"

namespace kith::cuda {

/// Most neighbours of `threshold`; and of local_sort, which sorts that many values at a time.
inline constexpr std::uint32_t threshold_most_k = std::uint32_t{1} << 30;
inline constexpr std::uint32_t local_sort_max_k = 256;

/// A selector: the scratch it wants for a step, and its launcher.
struct SelectorKernels {
  Selector selector;
  std::size_t (*scratch)(const spi::SelectStep&);
  cudaError_t (*select)(const Queue&, const spi::SelectStep&);
};

extern const SelectorKernels threshold_selector, radix_selector, insertion_selector;

/// In published/: the selectors of papers, which no plan chooses by itself.
extern const SelectorKernels bubble_selector, local_sort_selector, k_min_selector, bitonic_selector,
    odd_even_selector, rank_sort_selector, merge_sort_selector;

}  // namespace kith::cuda
