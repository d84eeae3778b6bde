// Memory of a caller that the system keeps in place, so that kernels can read it over the bus.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

namespace kith::cuda {

/// Locks the whole pages around some bytes of the host, for all devices of the process. Pages that several
/// such objects share, as neighbouring parts of an array do, are locked once, and unlocked with the last
/// of them.
class LockedInPlace {
 public:
  /// Locks nothing if the memory is already locked. Throws unsupported, with a clause as message: the memory
  /// cannot be locked, or is a mapped file, whose pages would all stay in memory.
  LockedInPlace(const void* begin, std::size_t bytes);
  ~LockedInPlace();
  LockedInPlace(const LockedInPlace&) = delete;
  LockedInPlace& operator=(const LockedInPlace&) = delete;

 private:
  void give_up() noexcept;

  std::vector<const unsigned char*> pieces_;  ///< beginnings of the ranges
};

}  // namespace kith::cuda
