// Drivers whose N-th call fails: OpenCL by hooks in the driver's table, CUDA by a plug-in whose calls of the
// runtime pass through plugin_cuda.cpp.
#include <cstdio>

#include "faults.hpp"
#if defined(KITH_TEST_OPENCL)
#include "opencl_calls.hpp"
#endif

namespace kith::tests::faults {
namespace {

std::vector<Kind> opencl_kinds() {
  const std::vector<Errc> full = {Errc::out_of_memory, Errc::unavailable},
                          failure = {Errc::device_failure, Errc::unavailable},
                          either = {Errc::out_of_memory, Errc::device_failure, Errc::unavailable};
  // After -5 the back end tests whether the queue still works. If it does, memory was short; otherwise the
  // device is lost. While a device is being opened there is no queue to test.
  return {{-4, false, "CL_MEM_OBJECT_ALLOCATION_FAILURE", full},
          {-4, true, "CL_MEM_OBJECT_ALLOCATION_FAILURE", full},
          {-6, false, "CL_OUT_OF_HOST_MEMORY", full},
          {-5, false, "CL_OUT_OF_RESOURCES", full},
          {-5, true, "CL_OUT_OF_RESOURCES", either, true},
          {-36, false, "CL_INVALID_COMMAND_QUEUE", failure, true}};
}

std::vector<Kind> cuda_kinds() {
  const std::vector<Errc> full = {Errc::out_of_memory, Errc::unavailable},
                          failure = {Errc::device_failure, Errc::unavailable};
  return {{2, false, "cudaErrorMemoryAllocation", full},
          {2, true, "cudaErrorMemoryAllocation", full},
          {1, false, "cudaErrorInvalidValue", failure},
          {701, false, "cudaErrorLaunchOutOfResources", failure},
          {700, false, "cudaErrorIllegalAddress", failure, true}};
}

std::string backend_of(const std::string& spec) {
  return spec.substr(0, spec.find(':'));
}

}  // namespace

void watch_driver(const std::string& spec) {
#if defined(KITH_TEST_OPENCL)
  if (backend_of(spec) != "opencl") return;
  const std::string platform = open_device(spec).info().platform;
  if (!hook_opencl(platform)) complain("the OpenCL driver of " + platform + " cannot be hooked");
#else
  static_cast<void>(spec);
#endif
}

void fail_driver_calls(const Asked& asked, Scene& scene) {
  const std::string backend = backend_of(asked.spec);
  std::vector<Kind> kinds;
  if (backend == "cuda") kinds = cuda_kinds();
  if (backend == "opencl") kinds = opencl_kinds();
  if (kinds.empty()) {
    std::printf("  %s has no driver\n", asked.spec.c_str());
    return;
  }
  fail_each(asked, Site::driver_call, scene.operations(false), kinds, [&] { scene.renew(); });
}

}  // namespace kith::tests::faults
