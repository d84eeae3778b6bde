// unit: divides rows in blocks by their norms, in place.
//
//   rows   [blocks, dims, 32]  transposed; the padding of the last block does not change
//   found  [2]                 the largest |value| of a unit row as bits, and the first row that is all zeros
//
// Sum, root and quotients are doubles, each rounded once to nearest; squares of floats are exact in double.
// One thread handles one row, so that neighbouring threads read neighbouring values.
// Work: each value is read twice and written once. Two barriers. Shared memory: 8 bytes.
#include "common/common.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t unit_threads = 128;

struct Units {
  float* data;  ///< block 0
  std::uint32_t rows, dims;
  std::uint32_t* found;
  std::uint32_t first_row;
};

__global__ __launch_bounds__(unit_threads) void unit_rows(const Units units) {
  __shared__ std::uint32_t largest_of_block, zero_of_block;
  if (threadIdx.x == 0) {
    largest_of_block = 0;
    zero_of_block = no_row;
  }
  __syncthreads();
  const std::uint64_t r = std::uint64_t{blockIdx.x} * unit_threads + threadIdx.x;
  if (r < units.rows) {
    float* const row = units.data + r / rows_a_block * rows_a_block * units.dims + r % rows_a_block;
    double sum = 0;
    for (std::uint32_t d = 0; d < units.dims; ++d) {
      const double value = row[std::size_t{d} * rows_a_block];
      sum = __dadd_rn(sum, __dmul_rn(value, value));
    }
    const double norm = __dsqrt_rn(sum);
    std::uint32_t largest = 0;
    for (std::uint32_t d = 0; d < units.dims; ++d) {
      float& value = row[std::size_t{d} * rows_a_block];
      value = __double2float_rn(__ddiv_rn(static_cast<double>(value), norm));
      largest = max(largest, __float_as_uint(value) & 0x7FFFFFFFu);
    }
    if (norm > 0)
      atomicMax(&largest_of_block, largest);
    else
      atomicMin(&zero_of_block, units.first_row + static_cast<std::uint32_t>(r));
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (largest_of_block > 0) atomicMax(units.found + spi::largest_unit_bits, largest_of_block);
  if (zero_of_block != no_row) atomicMin(units.found + spi::zero_row, zero_of_block);
}

}  // namespace

cudaError_t unit(const Queue& queue, const spi::UnitStep& step) {
  const Units units{
      static_cast<float*>(address_of(step.rows.memory)) + std::size_t{step.rows.first} * step.rows.dims,
      step.rows.rows, step.rows.dims, matrix_of(step.found).data, step.first_row};
  return launch(queue, unit_rows, divide_up<std::uint64_t>(step.rows.rows, unit_threads), unit_threads, 0,
                units);
}

}  // namespace kith::cuda
