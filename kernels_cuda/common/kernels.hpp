// The launchers of the kernels, for each step and each selector.
//
// A launcher takes a step that check() has accepted, enqueues it and returns. It returns the error of the
// launch, not of the kernel. backends/cuda/steps chooses the launcher of a step. A function `..._scratch`
// returns how many bytes of scratch a launcher can use. With less, but at least what a single row needs, the
// launcher works in more rounds. Selectors are declared in select/selectors.hpp; what single proposers need
// as well is in prepare/ and propose/.
// No twin in kernels_cl: kernels of OpenCL are launched by their names.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>

#include "kith/spi.hpp"

namespace kith::cuda {

/// The number of rows in a block of packed queries or training rows (kith/spi/memory.hpp, RowBlocks).
using spi::rows_a_block;

/// The most neighbours of `nearest`, and the longest list in shared memory; above the latter, selector
/// `threshold` uses scratch.
inline constexpr std::uint32_t nearest_max_k = 256;
using spi::threshold_max_k;

/// Where kernels are launched, and the limits of the device.
struct Queue {
  cudaStream_t stream = nullptr;
  std::uint32_t multiprocessors = 1;
  std::uint32_t capability = 0;            ///< 90 is compute capability 9.0
  std::uint32_t shared_bytes = 48 * 1024;  ///< most shared memory of a block
  bool overlaps = false;                   ///< a kernel may start before the one before it ends
  std::function<bool()> make_room;         ///< frees device memory; returns false if there was none to free
};

/// Returns the result of `call`, which is repeated once if memory ran out and some could be freed.
template <class Call>
cudaError_t with_room(const Queue& queue, const Call& call) {
  const cudaError_t error = call();
  if (error != cudaErrorMemoryAllocation || !queue.make_room || !queue.make_room()) return error;
  cudaGetLastError();  // clears the error of the first call
  return call();
}

/// Returns whether the kernels that run on this device were compiled so that queues may overlap.
bool may_overlap(std::uint32_t capability);

/// The first is for few queries, the second for many.
cudaError_t distance_of_small_batch(const Queue& queue, const spi::DistanceStep& step);
cudaError_t distance_of_many(const Queue& queue, const spi::DistanceStep& step);
/// Is for rows in a periodic box.
cudaError_t distance_by_terms(const Queue& queue, const spi::DistanceStep& step);
/// Is for metrics of two sums.
cudaError_t distance_of_sums(const Queue& queue, const spi::DistanceStep& step);

/// The kernels for few queries, for many, and for many with few dimensions and neighbours.
inline constexpr std::uint32_t low_dim_max_dims = 8, low_dim_max_k = 32;
cudaError_t nearest_rows(const Queue& queue, const spi::NearestStep& step);
std::size_t nearest_tiles_scratch(const Queue& queue, const spi::NearestStep& step);
cudaError_t nearest_tiles(const Queue& queue, const spi::NearestStep& step);
std::size_t nearest_low_dim_scratch(const Queue& queue, const spi::NearestStep& step);
cudaError_t nearest_low_dim(const Queue& queue, const spi::NearestStep& step);

/// Lists in registers have at most this many keys.
inline constexpr std::uint32_t groups_max_k = 64;
cudaError_t search_groups(const Queue& queue, const spi::GroupsStep& step);
/// Returns the scratch with which groups are searched by products; 0: they are not.
std::size_t groups_scratch(const Queue& queue, const spi::GroupsStep& step);

/// The first takes up to threshold_max_k neighbours of fewer than 2^31 keys; the second has no limit.
cudaError_t merge_at_once(const Queue& queue, const spi::MergeStep& step);
cudaError_t merge_by_rank(const Queue& queue, const spi::MergeStep& step);

cudaError_t prepare(const Queue& queue, const spi::PrepareStep& step);
cudaError_t prepare_fp16(const Queue& queue, const spi::PrepareStep& step);
cudaError_t prepare_bytes(const Queue& queue, const spi::PrepareStep& step);
cudaError_t recover(const Queue& queue, const spi::RecoverStep& step);

cudaError_t prune(const Queue& queue, const spi::PruneStep& step);

/// The first takes training rows in blocks; the second takes contiguous rows from the beginning of the
/// memory. The third also requires that rows begin at multiples of 16 bytes, that eight queries begin at a
/// multiple of eight, and that lists have at most 2^28 places.
cudaError_t rerank(const Queue& queue, const spi::RerankStep& step);
cudaError_t rerank_in_order(const Queue& queue, const spi::RerankStep& step);
cudaError_t rerank_lines(const Queue& queue, const spi::RerankStep& step);
cudaError_t rerank_products(const Queue& queue, const spi::RerankStep& step);
cudaError_t double_chains(const Queue& queue, const spi::DoubleChainsStep& step);

/// The first takes up to threshold_max_k neighbours; the second has no limit.
cudaError_t tighten_at_once(const Queue& queue, const spi::TightenStep& step);
std::size_t tighten_by_sorting_scratch(const spi::TightenStep& step);
cudaError_t tighten_by_sorting(const Queue& queue, const spi::TightenStep& step);

cudaError_t tighten_by_bounds(const Queue& queue, const spi::TightenByBoundsStep& step);
/// The second launcher is for few queries and k up to this.
inline constexpr std::uint32_t sample_small_batch_max_k = 128;
cudaError_t tighten_by_sample(const Queue& queue, const spi::TightenBySampleStep& step);
cudaError_t tighten_by_small_batch(const Queue& queue, const spi::TightenBySampleStep& step);

/// The three methods of spi::VoteMethod.
cudaError_t vote(const Queue& queue, const spi::VoteStep& step);
cudaError_t vote_atomic(const Queue& queue, const spi::VoteStep& step);
cudaError_t vote_branch_free(const Queue& queue, const spi::VoteStep& step);

/// Returns how many blocks handle one row of `mask`.
std::uint64_t mask_pieces(const spi::MaskStep& step);
cudaError_t mask(const Queue& queue, const spi::MaskStep& step);

cudaError_t score(const Queue& queue, const spi::ScoreStep& step);

cudaError_t accumulate(const Queue& queue, const spi::AccumulateStep& step);

cudaError_t boxes(const Queue& queue, const spi::BoxesStep& step);
cudaError_t count(const Queue& queue, const spi::CountStep& step);
std::size_t order_scratch(const spi::OrderStep& step);
cudaError_t order(const Queue& queue, const spi::OrderStep& step);
cudaError_t pack_boxes(const Queue& queue, const spi::PackBoxesStep& step);

cudaError_t land(const Queue& queue, const spi::LandStep& step);
cudaError_t unit(const Queue& queue, const spi::UnitStep& step);
cudaError_t finish(const Queue& queue, const spi::FinishStep& step);

}  // namespace kith::cuda
