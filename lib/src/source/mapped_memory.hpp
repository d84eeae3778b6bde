// Reads memory that maps a file. If the file was truncated, a direct read kills the process by SIGBUS; the
// kernel, which copies here, returns EFAULT instead.
#pragma once

#include <cstddef>

namespace kith {

/// Returns whether a byte of [first, first + bytes) maps a file that copy_mapped() can read, by
/// /proc/self/maps. Devices do not count as files.
bool maps_file(const void* first, std::size_t bytes);

/// Copies from memory that may map a file; returns how many bytes could be read.
std::size_t copy_mapped(const void* from, std::size_t bytes, void* to);

}  // namespace kith
