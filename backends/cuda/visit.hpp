// Sets the CUDA context of the calling thread while kith works, and then restores what the host program had.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>

namespace kith::cuda {

/// Returns the primary context of a device, which the runtime also uses. It is made if there is none, and
/// kept until the process ends, as the runtime keeps it. The current context of the calling thread does
/// not change.
///   ordinal  CUDA's number
cudaError_t primary_context(int ordinal, CUcontext& context);

/// Returns the context that memory of a device belongs to; null if the driver does not know it, as with
/// memory of a pool.
CUcontext context_of(const void* memory);

/// Returns whether all of these bytes, at least one, are in a single range of page-locked host memory: CUDA
/// refuses a copy that crosses into another range.
bool are_locked_in_one(const void* begin, std::size_t bytes);

/// During its lifetime, CUDA calls of this thread go to a context of kith, and are allowed while the host
/// program captures a graph, in whatever mode, because kith's streams are never captured. Then the thread
/// gets back its current context, which may be none, and its capture mode.
class Visit {
 public:
  explicit Visit(CUcontext context) noexcept;
  ~Visit();
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  /// Returns why the context cannot be used.
  cudaError_t error() const { return error_; }

 private:
  CUcontext before_ = nullptr;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
  bool moved_ = false, relaxed_ = false;
  cudaError_t error_;
};

}  // namespace kith::cuda
