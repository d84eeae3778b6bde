// Says how large launches are, as far as kernels of several rooms share it. Each shapes.hpp has pure
// functions of a step and of what the device has, by which backends/opencl/steps chooses kernels.
// No twin in kernels_cuda: launchers there compute their shapes where they launch.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "kith/key.hpp"
#include "kith/spi.hpp"
#include "kith/spi/candidates.hpp"

namespace kith::opencl {

/// How kernels are written for a device. With `lanes`, a work-item loops over vectors of 16 training rows,
/// without barriers (CPUs). With `groups`, work-groups of 256 items share local memory (GPUs).
enum class Family { lanes, groups };

/// What a kernel may use, as the driver has answered once.
struct Limits {
  std::size_t local_memory_bytes = 0;
  std::size_t work_group = 1;      ///< the most work-items per group
  std::uint32_t vector_width = 1;  ///< floats per vector register
  std::size_t part_alignment = 4;  ///< the alignment in bytes that a sub-buffer must have
  bool double_precision = false;
  bool tensor_cores = false;  ///< whether the PTX of tensor.cl runs
  bool dot_products = false;  ///< whether OpenCL C 3.0 has dot products of four bytes
};

/// A range of work-items, with `local` per group. global need not be a multiple of local.
struct Range {
  std::array<std::size_t, 3> global;
  std::array<std::size_t, 3> local;
};

/// Returns `-D name=value`, with a space before it.
template <class T>
std::string define(const char* name, const T& value) {
  if constexpr (std::is_arithmetic_v<T>)
    return " -D " + std::string(name) + "=" + std::to_string(value);
  else
    return " -D " + std::string(name) + "=" + std::string(value);
}

inline std::uint32_t divide_up(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint32_t>((a + b - 1) / b);
}

/// Returns the number of columns of the widest of `lists` parts of a row.
inline std::uint32_t widest_part(std::size_t columns, std::uint32_t lists) {
  return divide_up(columns, lists);
}

/// Returns how many tiles of `tile` blocks contain rows first ... first + rows - 1.
inline std::uint32_t tiles_of(const spi::RowBlocks& rows, std::uint32_t tile) {
  const std::uint32_t begin = rows.first / rows.block, end = (rows.first + rows.rows - 1) / rows.block + 1;
  return (end - begin + tile - 1) / tile;
}

/// The sizes of a shortlist as an argument: Shortlist of shortlist.cl.
struct ShortlistSizes {
  std::uint32_t list_size, capacity, merge_at;
  std::uint32_t parts;  // number of parts for the first bound
};

/// The sizes of a shortlist (shortlist.cl) for lists of k. Up to `step` candidates join at a time; they are
/// merged when they are as many as the list has places, or `most`.
struct Shortlist {
  std::uint32_t list_size;  // a power of two >= k
  std::uint32_t merge_at;   // number of candidates that makes a merge worthwhile
  std::uint32_t capacity;   // a power of two >= merge_at + step

  Shortlist(std::uint32_t k, std::uint32_t step, std::uint32_t most = 1024)
      : list_size(std::bit_ceil(k)),
        merge_at(std::clamp(list_size, 128u, most)),
        capacity(std::bit_ceil(merge_at + step)) {}
  ShortlistSizes sizes(std::uint32_t parts) const { return {list_size, capacity, merge_at, parts}; }
  std::size_t list_bytes() const { return list_size * sizeof(Key); }
  std::size_t buffer_bytes() const { return capacity * sizeof(Key); }
  /// Returns why it needs too much local memory; empty if it fits. A few counters are needed as well.
  std::string refuse(std::uint32_t k, std::size_t local_memory_bytes) const {
    const std::size_t needed = list_bytes() + buffer_bytes() + 64;
    if (needed <= local_memory_bytes) return "";
    return "k = " + std::to_string(k) + " takes " + std::to_string(needed) +
           " bytes of local memory, but the device has " + std::to_string(local_memory_bytes) +
           "; use selector radix";
  }
};

/// Returns into how many parts the first candidates are divided for the first bound (shortlist.cl): a power
/// of two, at least 32 and about 1.25 k, so that the bound refuses much, but at most `most`.
inline std::uint32_t parts_for(std::uint32_t k, std::uint32_t most) {
  return std::min(most, std::bit_ceil(std::max(k + k / 4, 32u)));
}

/// How queries and rows are divided for CPU devices (lanes.cl).
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

/// Returns the number of columns of quantized rows for fp16, and how many of a row are contiguous.
inline std::uint32_t half_columns(std::size_t dims) {
  return static_cast<std::uint32_t>(spi::quantized_columns(Proposer::fp16, dims));
}
inline std::uint32_t half_line(std::size_t dims) {
  return std::min(half_columns(dims), 64u);
}

/// The layout of quantized rows for tensor cores: each 128 rows consist of slabs, in which a row is a line
/// of pieces.
struct Lines {
  static constexpr std::uint32_t piece_bytes = 16, most_pieces = 8;
  std::uint32_t pieces;  ///< number of pieces of a line
  std::uint32_t slabs;

  Lines(Proposer proposer, std::size_t dims) {
    const std::uint32_t all = divide_up(spi::quantized_bytes_a_row(proposer, dims), piece_bytes);
    pieces = std::min(all, most_pieces);
    slabs = all / pieces;
  }
  std::uint32_t row_pieces() const { return pieces * slabs; }
};

}  // namespace kith::opencl
