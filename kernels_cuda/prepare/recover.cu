// recover: computes rows from the bytes of quantized rows on a grid, which represent them exactly.
//
//   quantized  [n, dims]   as prepare_int8.cu writes them
//   centre     [1, dims]
//   rows       [blocks, dims, 32]  transposed: c + byte / scale, computed without rounding; the last block is
//                                  padded with 0
//
// A warp handles a piece of 16 dimensions of 32 rows, one row per lane. Each lane reads 16 bytes; the next
// warps read the rest of these lines. The warp writes whole lines.
// Work: n * dims bytes are read, and four times as many written. No barrier, no shared memory. Source:
// docs/certificate.md, section 4.
#include "prepare/prepare_quantized.cuh"
#include "propose/int8.hpp"

namespace kith::cuda {
namespace {

constexpr std::uint32_t recover_threads = 256, piece_dims = sizeof(uint4);

struct Recovery {
  const uint4* quantized;
  const float* centre;  ///< [dims]
  float unscale;
  std::uint32_t rows, dims;
  float* out;  ///< block 0 of the step
};

__device__ __forceinline__ float byte_at(const uint4& piece, std::uint32_t i) {
  const std::uint32_t words[] = {piece.x, piece.y, piece.z, piece.w};
  return static_cast<float>(static_cast<signed char>(words[i / 4] >> 8 * (i % 4) & 0xFFu));
}

/// Warp w of the grid handles piece w % pieces of the 32 rows from 32 (w / pieces) on.
__global__ __launch_bounds__(recover_threads) void recover_rows(const Recovery recovery,
                                                                const HalfShape shape,
                                                                const std::uint32_t pieces,
                                                                const std::uint32_t row_blocks) {
  const std::uint64_t warp = std::uint64_t{blockIdx.x} * (recover_threads / 32) + threadIdx.x / 32;
  const std::uint32_t block = static_cast<std::uint32_t>(warp / pieces), lane = threadIdx.x % 32;
  if (block >= row_blocks) return;
  const std::uint32_t p = static_cast<std::uint32_t>(warp % pieces), row = block * rows_a_block + lane;
  const bool there = row < recovery.rows;
  const uint4 piece = there ? __ldcs(recovery.quantized + place_of(shape, row, p)) : uint4{};
  float* const to = recovery.out + std::size_t{block} * recovery.dims * rows_a_block + lane;
#pragma unroll
  for (std::uint32_t i = 0; i < piece_dims; ++i) {
    const std::uint32_t d = p * piece_dims + i;
    if (d >= recovery.dims) return;
    to[std::size_t{d} * rows_a_block] =
        there ? __fmaf_rn(byte_at(piece, i), recovery.unscale, __ldg(recovery.centre + d)) : 0.0f;
  }
}

}  // namespace

cudaError_t recover(const Queue& queue, const spi::RecoverStep& step) {
  const Rows out = rows_of(step.out);
  const Recovery recovery{static_cast<const uint4*>(quantized_of(Proposer::int8, step.rows.rows)),
                          input_of(step.centre).data,
                          1.0f / step.scale,
                          out.rows,
                          out.dims,
                          const_cast<float*>(out.data) + std::size_t{out.first} * out.dims};
  const std::uint32_t blocks = divide_up(out.rows, rows_a_block), pieces = divide_up(out.dims, piece_dims);
  return launch(queue, recover_rows,
                divide_up(std::uint64_t{blocks} * pieces, std::uint64_t{recover_threads / 32}),
                recover_threads, 0, recovery, byte_shape(out.dims), pieces, blocks);
}

}  // namespace kith::cuda
