#include "host/host_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include "host/control_groups.hpp"

namespace kith {
namespace {

/// Returns what the machine has or its groups allow. Reads it once, since groups of a running process
/// seldom change.
HostMemory memory_of_machine() {
  static const HostMemory known = [] {
    const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
    std::uint64_t bytes = UINT64_MAX;
    if (pages > 0 && page > 0) bytes = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
    return host_memory(bytes, UINT64_MAX, group_folders("memory"));
  }();
  return known;
}

}  // namespace

HostMemory host_memory(std::uint64_t machine, std::uint64_t address_space,
                       std::span<const std::filesystem::path> groups) {
  HostMemory least{machine, "this machine has"};
  const auto take = [&](std::uint64_t bytes, std::string_view whose) {
    if (bytes < least.bytes) least = {bytes, whose};
  };
  for (const std::filesystem::path& group : groups)
    for (const char* file : {"memory.max", "memory.limit_in_bytes"})
      for (const std::string& word : words_in(group / file))
        if (const std::int64_t bytes = bound_in(word))
          take(static_cast<std::uint64_t>(bytes), "its control group (container) may take");
  take(address_space, "this process (ulimit -v) may take");
  return least;
}

HostMemory host_memory() {
  const HostMemory machine = memory_of_machine();
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return machine;
  const HostMemory own = host_memory(UINT64_MAX, limit.rlim_cur, {});
  return own.bytes < machine.bytes ? own : machine;
}

}  // namespace kith
