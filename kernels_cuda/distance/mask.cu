// mask: strike out the pairs of a tile that do not count.
//
//   filter     [1 or q, words]  bit t % 32 of word t / 32 is 1 where training row t counts
//   distances  [q, t]           row-major, stride in elements; written as bits, only where the filter says 0
//
// Column j is training row first_row + j. Block b has piece b % pieces of row b / pieces: 256 words, which
// need not begin with column 0, staged in shared memory for 8192 columns, so that a word is read once and
// neighbouring threads write neighbours.
// Work: a bit a pair, and a store for each that does not count. One barrier. Shared memory: 1 KiB.
#include "common/common.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t threads = 256;

__global__ __launch_bounds__(threads) void mask_rows(const Masking masking, const std::uint64_t pieces) {
  __shared__ std::uint32_t words[threads];
  const std::uint64_t q = blockIdx.x / pieces;
  const std::uint64_t begin = masking.first_row, end = begin + masking.columns;  // training rows
  const std::uint64_t w0 = begin / 32 + blockIdx.x % pieces * threads, w = w0 + threadIdx.x;
  words[threadIdx.x] = w * 32 < end ? masking.filter.data[q * masking.filter.stride + w] : 0xFFFFFFFFu;
  __syncthreads();
  std::uint32_t* const row = masking.distances.data + q * masking.distances.stride;
  for (std::uint32_t i = threadIdx.x; i < 32 * threads; i += threads) {
    const std::uint64_t t = w0 * 32 + i;
    if (t >= begin && t < end && (words[i / 32] >> i % 32 & 1) == 0) row[t - begin] = masking.masked;
  }
}

}  // namespace

std::uint64_t mask_pieces(std::uint32_t first_row, std::uint64_t columns) {
  if (columns == 0) return 0;
  const std::uint64_t words = (first_row + columns - 1) / 32 - first_row / 32 + 1;
  return divide_up<std::uint64_t>(words, threads);
}

cudaError_t mask(const Queue& queue, const Masking& masking) {
  const std::uint64_t pieces = mask_pieces(masking.first_row, masking.columns);
  return launch(queue, mask_rows, masking.rows * pieces, threads, 0, masking, pieces);
}

}  // namespace kith::cuda
