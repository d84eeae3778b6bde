// The shape of the kernels for CPU devices (lanes.cl).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "device.hpp"

namespace kith::opencl {

struct Lanes {
  std::uint32_t pass;    // queries that a work-item takes at once
  std::uint32_t passes;  // number of passes of the step
  std::uint32_t chunk;   // number of blocks of training rows that stay in the second-level cache
  std::string defines;

  Lanes(std::uint32_t vector_width, const spi::RowBlocks& queries, const spi::RowBlocks& train) {
    // A pass needs `pass` vectors of 16 floats for its chains. A processor has 32 registers of 16 floats
    // (AVX-512) or 16 of 8 (AVX2).
    pass = vector_width >= 16 ? 8 : 4;
    passes = (queries.first + queries.rows - 1) / pass - queries.first / pass + 1;
    constexpr std::size_t cache_bytes = 1 << 18;  // a part of every second-level cache since 2017
    const std::size_t block_bytes = std::size_t{train.dims} * train.block * sizeof(float);
    chunk = static_cast<std::uint32_t>(std::max<std::size_t>(1, cache_bytes / block_bytes));
    defines =
        define("PASS", pass) + define("QUERY_BLOCK", queries.block) + define("TRAIN_BLOCK", train.block);
  }
};

}  // namespace kith::opencl
