// The kernels as the back end sees them: launchers for each step or selector.
//
// A launcher takes a step that check() has let pass, enqueues and returns; what it returns is the error of a
// launch, not of what was launched. Which launcher a step takes is chosen in backends/cuda/steps.
// `..._scratch` tells how many bytes of scratch a launcher wants; with less, but never less than it wants for
// a single row, it works in more rounds. Selectors are in select/selectors.hpp; what single proposers need
// beside these is in prepare/ and propose/.
// No twin in kernels_cl: kernels of OpenCL are launched by their names.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>

#include "kith/spi.hpp"

namespace kith::cuda {

/// Rows a block of packed rows (kith/spi/memory.hpp, RowBlocks): of queries and of training rows alike.
using spi::rows_a_block;

/// Most neighbours of `nearest`; and of a list in shared memory, above which selector `threshold` uses
/// scratch.
inline constexpr std::uint32_t nearest_max_k = 256;
using spi::threshold_max_k;

/// Where work goes.
struct Queue {
  cudaStream_t stream = nullptr;
  std::uint32_t multiprocessors = 1;
  std::uint32_t capability = 0;            ///< 90 is compute capability 9.0
  std::uint32_t shared_bytes = 48 * 1024;  ///< most shared memory of a block
  bool overlaps = false;                   ///< kernels are launched while those before them end (common.cuh)
  std::function<bool()> make_room;         ///< frees memory of the device; false: there was none to free
};

/// What `call` returns; it is called once more where memory ran out and there was some to free.
template <class Call>
cudaError_t with_room(const Queue& queue, const Call& call) {
  const cudaError_t error = call();
  if (error != cudaErrorMemoryAllocation || !queue.make_room || !queue.make_room()) return error;
  cudaGetLastError();  // the first call is forgotten
  return call();
}

/// Whether the kernels that this device runs were compiled so that queues may overlap.
bool may_overlap(std::uint32_t capability);

/// Of few queries and of many.
cudaError_t distance_of_small_batch(const Queue& queue, const spi::DistanceStep& step);
cudaError_t distance_of_many(const Queue& queue, const spi::DistanceStep& step);

/// Of few queries; of many; and of many up to some dimensions and neighbours.
inline constexpr std::uint32_t low_dim_max_dims = 8, low_dim_max_k = 32;
cudaError_t nearest_rows(const Queue& queue, const spi::NearestStep& step);
std::size_t nearest_tiles_scratch(const Queue& queue, const spi::NearestStep& step);
cudaError_t nearest_tiles(const Queue& queue, const spi::NearestStep& step);
std::size_t nearest_low_dim_scratch(const Queue& queue, const spi::NearestStep& step);
cudaError_t nearest_low_dim(const Queue& queue, const spi::NearestStep& step);

/// Up to threshold_max_k neighbours of fewer than 2^31 keys; and any.
cudaError_t merge_at_once(const Queue& queue, const spi::MergeStep& step);
cudaError_t merge_by_rank(const Queue& queue, const spi::MergeStep& step);

cudaError_t prepare(const Queue& queue, const spi::PrepareStep& step);
cudaError_t prepare_fp16(const Queue& queue, const spi::PrepareStep& step);
cudaError_t prepare_int8(const Queue& queue, const spi::PrepareStep& step);
cudaError_t recover(const Queue& queue, const spi::RecoverStep& step);

cudaError_t prune(const Queue& queue, const spi::PruneStep& step);

/// Training rows in blocks; one behind the other, from the first of the memory on; and the same where each
/// begins at 16 bytes, eight queries at a multiple of eight, and lists have up to 2^28 places.
cudaError_t rerank(const Queue& queue, const spi::RerankStep& step);
cudaError_t rerank_in_order(const Queue& queue, const spi::RerankStep& step);
cudaError_t rerank_lines(const Queue& queue, const spi::RerankStep& step);
cudaError_t rerank_products(const Queue& queue, const spi::RerankStep& step);

/// Up to threshold_max_k neighbours; and any.
cudaError_t tighten_at_once(const Queue& queue, const spi::TightenStep& step);
std::size_t tighten_by_sorting_scratch(const spi::TightenStep& step);
cudaError_t tighten_by_sorting(const Queue& queue, const spi::TightenStep& step);

cudaError_t tighten_by_bounds(const Queue& queue, const spi::TightenByBoundsStep& step);
/// The second: of few queries, up to a small k.
inline constexpr std::uint32_t sample_small_batch_max_k = 128;
cudaError_t tighten_by_sample(const Queue& queue, const spi::TightenBySampleStep& step);
cudaError_t tighten_by_small_batch(const Queue& queue, const spi::TightenBySampleStep& step);

/// Three ways to count, for spi::VoteMethod.
cudaError_t vote(const Queue& queue, const spi::VoteStep& step);
cudaError_t vote_atomic(const Queue& queue, const spi::VoteStep& step);
cudaError_t vote_branch_free(const Queue& queue, const spi::VoteStep& step);

/// Blocks that a row of `mask` takes.
std::uint64_t mask_pieces(const spi::MaskStep& step);
cudaError_t mask(const Queue& queue, const spi::MaskStep& step);

cudaError_t score(const Queue& queue, const spi::ScoreStep& step);

cudaError_t accumulate(const Queue& queue, const spi::AccumulateStep& step);

cudaError_t boxes(const Queue& queue, const spi::BoxesStep& step);
std::size_t order_scratch(const spi::OrderStep& step);
cudaError_t order(const Queue& queue, const spi::OrderStep& step);
cudaError_t pack_boxes(const Queue& queue, const spi::PackBoxesStep& step);

cudaError_t land(const Queue& queue, const spi::LandStep& step);
cudaError_t unit(const Queue& queue, const spi::UnitStep& step);
cudaError_t finish(const Queue& queue, const spi::FinishStep& step);

}  // namespace kith::cuda
