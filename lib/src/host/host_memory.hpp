// How much memory this process may have.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace kith {

struct HostMemory {
  std::uint64_t bytes = UINT64_MAX;
  std::string_view whose;  ///< `this machine has`: what goes before the bytes in a message
};

/// The least of what the machine has, what the control groups of this process may take, and its own limit of
/// address space (ulimit -v). What is in use already is not looked at.
HostMemory host_memory();

/// The same of a machine of `machine` bytes, for a process with an address space of at most `address_space`
/// and in the groups of these folders, as group_folders() gives them. UINT64_MAX: no limit.
HostMemory host_memory(std::uint64_t machine, std::uint64_t address_space,
                       std::span<const std::filesystem::path> groups);

}  // namespace kith
