// Memory of a caller that the system holds in place, so that kernels read it where it lies, over the bus.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

namespace kith::cuda {

/// Whole pages around some bytes of the host, for all devices of the process. Those that several of these
/// have in common, as neighbouring shares of an array do, are locked once, and let go with the last of them.
class LockedInPlace {
 public:
  /// Locks nothing where the memory is locked already. Throws unsupported, as a clause: it cannot be locked,
  /// or is a mapped file, whose pages would all stay in memory.
  LockedInPlace(const void* begin, std::size_t bytes);
  ~LockedInPlace();
  LockedInPlace(const LockedInPlace&) = delete;
  LockedInPlace& operator=(const LockedInPlace&) = delete;

 private:
  void give_up() noexcept;

  std::vector<const unsigned char*> pieces_;  ///< by where they begin
};

}  // namespace kith::cuda
