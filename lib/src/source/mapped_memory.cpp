#include "source/mapped_memory.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

namespace kith {
namespace {

/// A line of /proc/self/maps (proc(5)): `begin-end perms offset device inode path`.
struct Mapping {
  std::uint64_t begin = 0, end = 0, inode = 0;
  std::string path;

  bool is_file() const {
    const bool is_device = path.starts_with("/dev/") && !path.starts_with("/dev/shm/");
    return inode != 0 && !is_device;
  }
};

Mapping mapping_of(const std::string& line) {
  unsigned long begin = 0, end = 0, inode = 0;
  int path = 0;
  if (std::sscanf(line.c_str(), "%lx-%lx %*s %*s %*s %lu %n", &begin, &end, &inode, &path) < 3) return {};
  return {begin, end, inode, line.substr(static_cast<std::size_t>(path))};
}

}  // namespace

bool maps_file(const void* first, std::size_t bytes) {
  if (bytes == 0) return false;
  const auto begin = reinterpret_cast<std::uintptr_t>(first), end = begin + bytes;
  std::ifstream lines("/proc/self/maps");
  for (std::string line; std::getline(lines, line);) {
    const Mapping mapping = mapping_of(line);
    if (mapping.begin >= end) break;  // lines ascend
    if (mapping.end <= begin || !mapping.is_file()) continue;
    char byte = 0;  // a sandbox may forbid the call of copy_mapped()
    return copy_mapped(&mapping, 1, &byte) == 1;
  }
  return false;
}

std::size_t copy_mapped(const void* from, std::size_t bytes, void* to) {
  std::size_t done = 0;
  while (done < bytes) {
    const iovec here{static_cast<char*>(to) + done, bytes - done};
    const iovec there{const_cast<char*>(static_cast<const char*>(from)) + done, bytes - done};
    const ssize_t got = ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0);
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace kith
