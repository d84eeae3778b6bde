// Turns errors of CUDA into errors of kith.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "kith/error.hpp"

namespace kith::cuda {

/// Advice for calls that CUDA refuses because the host program is capturing a graph.
inline constexpr const char* during_capture =
    "the host program captures a CUDA graph: search once before the capture begins, or try again when it has "
    "ended";

/// Checks the results of CUDA calls, for one device. After an error from which a context does not recover,
/// every later call throws the first message again.
class Guard {
 public:
  explicit Guard(std::string device) : device_(std::move(device)) {}

  /// Throws device_failure with the first message, if there was one.
  void refuse_after_failure() const;

  /// Throws if `error` is an error; the message has the device, stage, call and symbolic name.
  ///   stage  what was being done: `distance`, `write`, ...
  ///   call   the function that returned it
  void check(cudaError_t error, const char* stage, const char* call);

 private:
  std::string device_;
  std::string failure_;  // the first message of an error from which the context cannot recover
};

}  // namespace kith::cuda
