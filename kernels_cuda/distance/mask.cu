// mask: excludes the pairs of a tile that do not count, by writing a value that means "masked".
//
//   filter     [1 or q, words]  bit t % 32 of word t / 32 is 1 if training row t counts
//   distances  [q, t]           row-major, stride in elements; written as bits, only where the filter has 0
//   from       [q, t]           or none: values that are copied to `distances` where the filter has 1
//
// Column j is training row first_row + j. Block b handles piece b % pieces of row b / pieces, which is 256
// words. They need not begin with column 0, and pass through shared memory for 8192 columns, so that each
// word is read once and neighbouring threads write neighbouring values.
// Work: one bit per pair, and one store for each pair that does not count, or for each pair if `from` exists.
// One barrier. Shared memory: 1 KiB.
#include "common/common.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t mask_threads = 256;

struct Masking {
  Matrix<const std::uint32_t> filter;  ///< [rows, words]; stride 0: one row of bits for all queries
  Matrix<std::uint32_t> distances;     ///< [rows, columns], as bits
  Matrix<const std::uint32_t> from;    ///< [rows, columns]; data is null if it is the same as `distances`
  std::uint64_t rows;
  std::uint64_t columns;
  std::uint32_t first_row;  ///< training row of column 0
  std::uint32_t masked;     ///< what is written if a bit is 0
};

Masking masking_of(const spi::MaskStep& step) {
  Matrix<const std::uint32_t> filter = input_of(step.filter);
  if (step.filter.rows == 1) filter.stride = 0;
  const Matrix<float> distances = matrix_of(step.distances);
  Matrix<const float> from{};
  if (step.from.cols > 0) from = input_of(step.from);
  return {filter,
          {reinterpret_cast<std::uint32_t*>(distances.data), distances.stride},
          {reinterpret_cast<const std::uint32_t*>(from.data), from.stride},
          step.distances.rows,
          step.distances.cols,
          step.first_row,
          spi::masked_bits};
}

__global__ __launch_bounds__(mask_threads) void mask_rows(const Masking masking, const std::uint64_t pieces) {
  __shared__ std::uint32_t words[mask_threads];
  const std::uint64_t q = blockIdx.x / pieces;
  // in training rows
  const std::uint64_t begin = masking.first_row, end = begin + masking.columns;
  const std::uint64_t w0 = begin / 32 + blockIdx.x % pieces * mask_threads, w = w0 + threadIdx.x;
  words[threadIdx.x] = w * 32 < end ? masking.filter.data[q * masking.filter.stride + w] : 0xFFFFFFFFu;
  __syncthreads();
  std::uint32_t* const row = masking.distances.data + q * masking.distances.stride;
  const std::uint32_t* const from =
      masking.from.data == nullptr ? nullptr : masking.from.data + q * masking.from.stride;
  for (std::uint32_t i = threadIdx.x; i < 32 * mask_threads; i += mask_threads) {
    const std::uint64_t t = w0 * 32 + i;
    if (t < begin || t >= end) continue;
    if ((words[i / 32] >> i % 32 & 1) == 0)
      row[t - begin] = masking.masked;
    else if (from != nullptr)
      row[t - begin] = __ldg(from + (t - begin));
  }
}

}  // namespace

std::uint64_t mask_pieces(const spi::MaskStep& step) {
  const std::uint64_t columns = step.distances.cols;
  if (columns == 0) return 0;
  const std::uint64_t words = (step.first_row + columns - 1) / 32 - step.first_row / 32 + 1;
  return divide_up<std::uint64_t>(words, mask_threads);
}

cudaError_t mask(const Queue& queue, const spi::MaskStep& step) {
  const std::uint64_t pieces = mask_pieces(step);
  return launch(queue, mask_rows, step.distances.rows * pieces, mask_threads, 0, masking_of(step), pieces);
}

}  // namespace kith::cuda
