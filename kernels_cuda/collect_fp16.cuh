// What the kernels of collect, fp16, share.
#pragma once

#include "kernels.hpp"

namespace kith::cuda {

/// How the work of a step is cut: a block takes some queries and some tiles of training rows.
struct HalfWork {
  std::uint32_t slabs;         // of a tile
  std::uint32_t used_pieces;   // of a row, in whole steps of 16 dimensions; those behind them are zeros
  std::uint32_t query_blocks;  // of all queries
  std::uint32_t tiles;         // of all training rows of the step
  std::uint32_t a_part;        // tiles of a block
};

/// For compute capability 9.0 alone, compiled where the build is for it (collect_fp16_hopper.cu).
#ifdef KITH_CUDA_HOPPER
inline constexpr bool has_collect_fp16_hopper = true;
cudaError_t collect_fp16_hopper(const Queue& queue, const HalfCollection& collection);
#else
inline constexpr bool has_collect_fp16_hopper = false;
inline cudaError_t collect_fp16_hopper(const Queue&, const HalfCollection&) {
  return cudaErrorNotSupported;
}
#endif

}  // namespace kith::cuda
