// nearest: which of its two ways. Of few queries a tile of 128 would fold more padding than queries.
// No twin in kernels_cl: there backends/opencl/steps/nearest.cpp chooses.
#include "common/common.cuh"

namespace kith::cuda {

std::size_t nearest_scratch(const Queue& queue, const Search& search) {
  return search.queries.rows <= spi::small_batch ? 0 : nearest_tiles_scratch(queue, search);
}

cudaError_t nearest(const Queue& queue, const Search& search, const Scratch& scratch) {
  return search.queries.rows <= spi::small_batch ? nearest_rows(queue, search)
                                                 : nearest_tiles(queue, search, scratch);
}

}  // namespace kith::cuda
