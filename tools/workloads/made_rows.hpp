// Makes rows of bytes where they are needed, so there may be more of them than memory holds.
#pragma once

#include <cstdint>
#include <span>

namespace kith::workloads {

/// Makes rows first, first + 1, ... of an endless set of uniform bytes, the same on every machine. Uses
/// all cores.
///   to  [count, dims]  out
void make_bytes(std::uint64_t seed, std::int64_t first, std::int64_t dims, std::span<unsigned char> to);

}  // namespace kith::workloads
