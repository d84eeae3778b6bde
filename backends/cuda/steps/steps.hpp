// The refusals of operands that several steps share.
#pragma once

#include <cstdint>
#include <string>

#include "device.hpp"
#include "kith/spi/refusals.hpp"

namespace kith::cuda {

/// Returns why proposers cannot use the tensor cores of a device; empty if they can.
inline std::string refusal_of_tensor_cores(std::uint32_t capability, std::size_t shared_bytes) {
  constexpr std::uint32_t least_capability = 80, least_shared_kib = 99;
  if (capability < least_capability)
    return "needs the tensor cores of compute capability 8.0 or newer, and this device has " +
           std::to_string(capability / 10) + "." + std::to_string(capability % 10);
  if (shared_bytes < std::size_t{least_shared_kib} * 1024)
    return "needs " + std::to_string(least_shared_kib) + " KiB of shared memory a block, and " +
           std::to_string(shared_bytes / 1024) + " are allowed";
  return "";
}

/// Returns why a matrix product with so many columns has no bound; empty if it has one.
std::string refusal_of_gemm(Proposer proposer, std::size_t dims);

/// Returns why rows cannot be read, as a sentence; empty if they can.
std::string refusal_of_rows(const char* what, const spi::RowBlocks& rows);

/// Returns why one step cannot make so many lists; empty if it can.
std::string refusal_of_lists(std::uint64_t rows, std::uint64_t lists);

}  // namespace kith::cuda
