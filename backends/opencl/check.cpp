#include "check.hpp"

#include <algorithm>
#include <bit>

#include "kith/spi/refusals.hpp"

namespace kith::opencl {

std::string refuse_rows(const DeviceInfo& info, const spi::RowBlocks& queries, const spi::RowBlocks& train) {
  std::string refusal = spi::refusal_of_block("queries", queries, info.query_block);
  return refusal.empty() ? spi::refusal_of_block("training rows", train, info.train_block) : refusal;
}

std::uint32_t tiles_of(const spi::RowBlocks& rows, std::uint32_t tile) {
  const std::uint32_t begin = rows.first / rows.block, end = (rows.first + rows.rows - 1) / rows.block + 1;
  return (end - begin + tile - 1) / tile;
}

Shortlist::Shortlist(std::uint32_t k, std::uint32_t step, std::uint32_t most)
    : list_size(std::bit_ceil(k)),
      merge_at(std::clamp(list_size, 128u, most)),
      capacity(std::bit_ceil(merge_at + step)) {}

std::string Shortlist::refuse(std::uint32_t k, std::size_t local_memory_bytes) const {
  const std::size_t needed = list_bytes() + buffer_bytes() + 64;
  if (needed <= local_memory_bytes) return "";
  return "k = " + std::to_string(k) + " takes " + std::to_string(needed) +
         " bytes of local memory, but the device has " + std::to_string(local_memory_bytes) +
         "; use selector radix";
}

std::uint32_t parts_for(std::uint32_t k, std::uint32_t most) {
  return std::min(most, std::bit_ceil(std::max(k + k / 4, 32u)));
}

}  // namespace kith::opencl
