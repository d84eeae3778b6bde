// Finds how much memory this process may use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace kith {

struct HostMemory {
  std::uint64_t bytes = UINT64_MAX;
  std::string_view whose;  ///< begins a message about the bytes: `this machine has`
};

/// Returns the least of the memory of the machine, the limits of this process's control groups, and its limit
/// of address space (ulimit -v). Memory in use is not subtracted.
HostMemory host_memory();

/// Returns it for a machine of `machine` bytes, and a process with at most `address_space` bytes and these
/// group_folders(). UINT64_MAX: no limit.
HostMemory host_memory(std::uint64_t machine, std::uint64_t address_space,
                       std::span<const std::filesystem::path> groups);

}  // namespace kith
