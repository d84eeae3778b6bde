// Reads rows of an Index back from its device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rows/resident_rows.hpp"

namespace kith {

/// Converts RowBlocks to row-major rows.
///   packed  whole blocks of `block` rows
///   to      [count, dims]  out
void unpack_rows(std::span<const float> packed, std::int64_t block, std::int64_t count, std::size_t dims,
                 float* to, std::uint32_t threads);

/// Reads rows as they are on the device, row-major. Locks the device.
///   chunk   of `index`
///   first   a row of the chunk, a multiple of the device's block
///   to      [count, index.dims]  out
///   packed  memory that is reused from call to call
void read_rows(const ResidentRows& index, const Chunk& chunk, std::int64_t first, std::int64_t count,
               float* to, std::vector<float>& packed, std::uint32_t threads);

/// Reads the rows at places first ... first + count - 1, from all chunks, to [count, index.dims]. Locks the
/// device now and then.
void read_places(const ResidentRows& index, std::int64_t first, std::int64_t count, float* to,
                 std::uint32_t threads);

}  // namespace kith
