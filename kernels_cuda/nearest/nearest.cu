// nearest: which of its two ways.
#include "common/common.cuh"

namespace kith::cuda {
namespace {

// Below this a tile of 128 queries would fold more padding than queries.
constexpr std::uint32_t few_queries = 64;

}  // namespace

std::size_t nearest_scratch(const Queue& queue, const Search& search) {
  return search.queries.rows <= few_queries ? 0 : nearest_tiles_scratch(queue, search);
}

cudaError_t nearest(const Queue& queue, const Search& search, const Scratch& scratch) {
  return search.queries.rows <= few_queries ? nearest_rows(queue, search)
                                            : nearest_tiles(queue, search, scratch);
}

}  // namespace kith::cuda
