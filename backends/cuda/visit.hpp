// The calling thread while it works for kith, and afterwards as the host program left it.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>

namespace kith::cuda {

/// The context of a device that the runtime uses, too. Made where there is none, and kept until the process
/// ends, as the runtime keeps it. What is current in the calling thread stays so.
///   ordinal  as CUDA counts
cudaError_t primary_context(int ordinal, CUcontext& context);

/// The context that memory of a device was made in; null: the driver does not say, as of memory in a pool.
CUcontext context_of(const void* memory);

/// Whether all of these bytes, of which there is one, are in one piece of page-locked memory of the host: a
/// copy that goes on in another piece is refused.
bool are_locked_in_one(const void* begin, std::size_t bytes);

/// While it lives, what this thread asks of CUDA goes to a context of kith's, and is allowed while the host
/// program captures a graph, in whatever mode: kith's streams are never captured. Afterwards the thread has
/// the current context that it had, perhaps none, and its mode of capture.
class Visit {
 public:
  explicit Visit(CUcontext context) noexcept;
  ~Visit();
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  /// Why the context cannot be used.
  cudaError_t error() const { return error_; }

 private:
  CUcontext before_ = nullptr;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
  bool moved_ = false, relaxed_ = false;
  cudaError_t error_;
};

}  // namespace kith::cuda
