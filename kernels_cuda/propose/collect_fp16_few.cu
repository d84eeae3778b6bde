// collect, fp16, of up to 64 queries: collect_few.cuh with sums of products of 16-bit floats.
// No twin in kernels_cl: collect_few.cl is compiled for either kind of numbers.
#include "propose/collect_few.cuh"

namespace kith::cuda {

cudaError_t collect_fp16_few(const Queue& queue, const spi::CollectStep& step) {
  return launch_few<float>(queue, collection_of(step), bound_of(step),
                           half_shape(count_of(step.train.rows.cols)));
}

}  // namespace kith::cuda
