// collect, int8, of up to 64 queries: collect_few.cuh with sums of products of bytes, which are exact.
// No twin in kernels_cl: collect_few.cl is compiled for either kind of numbers.
#include "propose/collect_few.cuh"
#include "propose/int8.hpp"

namespace kith::cuda {

cudaError_t collect_int8(const Queue& queue, const HalfCollection& collection, const ProductBound& bound) {
  return launch_few<int>(queue, collection, bound, byte_shape(collection.dims));
}

}  // namespace kith::cuda
