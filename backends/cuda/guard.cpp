#include "guard.hpp"

namespace kith::cuda {
namespace {

/// Errors after which a context answers all that it is asked with an error: of a kernel, of the hardware, or
/// since the context is gone. After any other what was asked for was not done, and that is all.
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

/// Something was asked for that may not be done while a stream is captured.
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
  cudaGetLastError();  // so that the next call does not report this error again
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
