// collect, fp16, for up to 64 queries: uses collect_small_batch.cuh with sums of products of 16-bit floats.
// No twin in kernels_cl: collect_small_batch.cl is compiled for all number formats.
#include "propose/collect_small_batch.cuh"

namespace kith::cuda {

cudaError_t collect_fp16_small_batch(const Queue& queue, const spi::CollectStep& step) {
  const HalfShape shape = half_shape(count_of(step.train.rows.cols));
  return launch_few<OfHalves>(queue, collection_of(step), bound_of(step), shape, shape);
}

}  // namespace kith::cuda
