// collect, int8, for up to 64 queries: uses collect_small_batch.cuh with exact sums of products of bytes.
// No twin in kernels_cl: collect_small_batch.cl is compiled for both number formats.
#include "propose/collect_small_batch.cuh"
#include "propose/int8.hpp"

namespace kith::cuda {

cudaError_t collect_int8(const Queue& queue, const spi::CollectStep& step) {
  return launch_few<int>(queue, collection_of(step), bound_of(step),
                         byte_shape(count_of(step.train.rows.cols)));
}

}  // namespace kith::cuda
