#include "guard.hpp"

namespace kith::cuda {
namespace {

/// Errors that leave the context usable: what was asked for was not done, and that is all.
bool is_passing(cudaError_t error) {
  return error == cudaErrorMemoryAllocation || error == cudaErrorInvalidValue ||
         error == cudaErrorInvalidConfiguration || error == cudaErrorLaunchOutOfResources ||
         error == cudaErrorNotReady;
}

}  // namespace

void Guard::refuse_after_failure() const {
  if (!failure_.empty()) throw Error(Errc::device_failure, failure_);
}

void Guard::check(cudaError_t error, const char* stage, const char* call) {
  if (error == cudaSuccess) return;
  refuse_after_failure();
  cudaGetLastError();  // so that the next call does not report this error again
  const std::string message = device_ + " " + stage + ": " + call + " returned " + cudaGetErrorName(error) +
                              " (" + cudaGetErrorString(error) + ")";
  if (error == cudaErrorMemoryAllocation)
    throw Error(Errc::out_of_memory, message + "; ask for less, or free memory of the device");
  if (is_passing(error))
    throw Error(Errc::device_failure, message + "; report it with the sizes that led to it");
  failure_ = message + "; the device is lost to this process: start it again";
  throw Error(Errc::device_failure, failure_);
}

}  // namespace kith::cuda
