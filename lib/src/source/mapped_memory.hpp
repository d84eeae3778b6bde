// Memory that maps a file. Whoever reads it where the file has been cut is killed by SIGBUS; the kernel,
// which copies it for us, says EFAULT instead.
#pragma once

#include <cstddef>

namespace kith {

/// Whether a byte of [first, first + bytes) maps a file, and copy_mapped() can read it: what the system says
/// of this process in /proc/self/maps. Devices are no files.
bool maps_file(const void* first, std::size_t bytes);

/// Copy from memory that may map a file; how many bytes there were.
std::size_t copy_mapped(const void* from, std::size_t bytes, void* to);

}  // namespace kith
