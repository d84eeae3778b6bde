// Declares the launcher of nearest_at_once.cu, and what it takes.
// No twin in kernels_cl: OpenCL has no barrier for all work-groups.
#pragma once

#include "common/kernels.hpp"

namespace kith::cuda {

/// The most neighbours that one launch finds at once: those of 32 parts of the rows give the threshold.
inline constexpr std::uint32_t at_once_max_k = 32;

/// Returns how many pairs of queries, in whole batches, and rows fit into a step, whatever the number of
/// batches is.
std::uint32_t pairs_at_once(std::uint32_t multiprocessors, std::size_t shared_bytes);

/// Returns whether a step may go this way: it makes one list a query, and all its chains fit into registers.
bool fits_at_once(const Queue& queue, const spi::NearestStep& step);
std::size_t nearest_at_once_scratch(const Queue& queue, const spi::NearestStep& step);
cudaError_t nearest_at_once(const Queue& queue, const spi::NearestStep& step);

}  // namespace kith::cuda
