// collect, int8 and int4, for up to 64 queries: uses collect_small_batch.cuh with exact sums of products.
// No twin in kernels_cl: collect_small_batch.cl is compiled for all number formats.
#include "propose/collect_small_batch.cuh"
#include "propose/int8.hpp"

namespace kith::cuda {

cudaError_t collect_bytes(const Queue& queue, const spi::CollectStep& step) {
  const std::uint32_t dims = count_of(step.train.rows.cols);
  const HalfShape bytes = byte_shape(dims);
  return step.proposer == Proposer::int4
             ? launch_few<OfHalfBytes>(queue, collection_of(step), bound_of(step), half_byte_shape(dims),
                                       bytes)
             : launch_few<OfBytes>(queue, collection_of(step), bound_of(step), bytes, bytes);
}

}  // namespace kith::cuda
