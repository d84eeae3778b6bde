#include "guard.hpp"

namespace kith::cuda {
namespace {

/// Returns whether, after this error, a context answers every call with an error: errors of a kernel, of the
/// hardware, or a destroyed context. After other errors only the call itself has failed.
bool is_lost(cudaError_t error) {
  switch (error) {
    case cudaErrorDevicesUnavailable:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorContextIsDestroyed:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorMpsClientTerminated:
    case cudaErrorUnknown:
#if CUDART_VERSION >= 13000
    case cudaErrorContained:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorExternalDevice:
#endif
      return true;
    default:
      return false;
  }
}

/// Returns whether a call failed because a stream is being captured.
bool is_of_capture(cudaError_t error) {
  return error >= cudaErrorStreamCaptureUnsupported && error <= cudaErrorStreamCaptureWrongThread;
}

}  // namespace

void Guard::refuse_after_failure() const {
  if (!failure_.empty()) throw Error(Errc::device_failure, failure_);
}

void Guard::check(cudaError_t error, const char* stage, const char* call) {
  if (error == cudaSuccess) return;
  refuse_after_failure();
  cudaGetLastError();  // the next call must not report this error again
  const std::string message = device_ + " " + stage + ": " + call + " returned " + cudaGetErrorName(error) +
                              " (" + cudaGetErrorString(error) + ")";
  if (error == cudaErrorMemoryAllocation)
    throw Error(Errc::out_of_memory, message + "; ask for less, or free memory of the device");
  if (is_of_capture(error)) throw Error(Errc::device_failure, message + "; " + during_capture);
  if (!is_lost(error))
    throw Error(Errc::device_failure, message + "; report it with the sizes that led to it");
  failure_ = message + "; the device is lost to this process: start it again";
  throw Error(Errc::device_failure, failure_);
}

}  // namespace kith::cuda
