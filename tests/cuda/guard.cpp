// Tests which CUDA errors make a device unusable. Needs no card.
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "../../backends/cuda/guard.hpp"
#include "common/device.hpp"

namespace kith::tests {
namespace {

/// Returns the messages for an error, and for a successful call after it.
std::pair<std::string, std::string> said_of(cudaError_t error) {
  cuda::Guard guard("cuda:0");
  const std::string first = error_of([&] { guard.check(error, "write", "cudaMemcpyAsync"); });
  return {first, error_of([&] { guard.refuse_after_failure(); })};
}

TEST_SUITE_BEGIN("guard");

TEST_CASE("guard: an error after which the context is whole does not lose the device") {
  for (const cudaError_t error :
       {cudaErrorInvalidValue, cudaErrorMemoryAllocation, cudaErrorInvalidConfiguration,
        cudaErrorInvalidDeviceFunction, cudaErrorNoKernelImageForDevice, cudaErrorInvalidResourceHandle,
        cudaErrorNotReady, cudaErrorLaunchOutOfResources, cudaErrorNotPermitted, cudaErrorNotSupported,
        cudaErrorStreamCaptureUnsupported, cudaErrorStreamCaptureImplicit,
        cudaErrorStreamCaptureWrongThread}) {
    const auto said = said_of(error);
    const std::string& first = said.first;
    CAPTURE(first);
    CHECK(first.find("cuda:0 write: cudaMemcpyAsync returned " + std::string(cudaGetErrorName(error))) !=
          std::string::npos);
    CHECK(first.find("lost") == std::string::npos);
    CHECK(first.find("; ") != std::string::npos);
    CHECK(said.second == "nothing was thrown");
  }
}

TEST_CASE("guard: one after which it is not does, and every later call says so") {
  for (const cudaError_t error :
       {cudaErrorDevicesUnavailable, cudaErrorECCUncorrectable, cudaErrorNvlinkUncorrectable,
        cudaErrorIllegalAddress, cudaErrorLaunchTimeout, cudaErrorContextIsDestroyed, cudaErrorAssert,
        cudaErrorHardwareStackError, cudaErrorIllegalInstruction, cudaErrorMisalignedAddress,
        cudaErrorInvalidAddressSpace, cudaErrorInvalidPc, cudaErrorLaunchFailure, cudaErrorUnknown}) {
    const auto said = said_of(error);
    const std::string& first = said.first;
    CHECK(first.starts_with("device_failure: cuda:0 write: cudaMemcpyAsync returned "));
    CHECK(first.ends_with("; the device is lost to this process: start it again"));
    CHECK(said.second == first);
  }
}

TEST_CASE("guard: what is out of memory, and what is refused during a capture, is told as that") {
  CHECK(said_of(cudaErrorMemoryAllocation).first.starts_with("out_of_memory: cuda:0 write: "));
  CHECK(said_of(cudaErrorStreamCaptureUnsupported).first.find("captures a CUDA graph") != std::string::npos);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
