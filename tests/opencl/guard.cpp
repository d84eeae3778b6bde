// Tests which OpenCL errors make a device unusable. Needs no device.
#include "../../backends/opencl/guard.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "common/device.hpp"

namespace kith::tests {
namespace {

/// Returns the messages for an error, and for a successful call after it. `answers` says whether the device
/// still works then.
std::pair<std::string, std::string> said_of(cl_int error, bool answers) {
  opencl::Guard guard([answers] { return answers; });
  const auto run = [&](cl_int code) {
    return error_of([&] {
      guard.run("write", [&] {
        if (code != CL_SUCCESS) throw cl::Error(code, "clEnqueueWriteBuffer");
      });
    });
  };
  const std::string first = run(error);
  return {first, run(CL_SUCCESS)};
}

TEST_SUITE_BEGIN("guard");

TEST_CASE("guard: an error that a whole context may return is passing where the device still answers") {
  for (const cl_int error :
       {CL_OUT_OF_RESOURCES, CL_DEVICE_NOT_AVAILABLE, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST}) {
    CAPTURE(error);
    CHECK(said_of(error, true).second == "nothing was thrown");
    const auto said = said_of(error, false);
    const std::string& first = said.first;
    CHECK(first.starts_with("device_failure: opencl write: clEnqueueWriteBuffer returned "));
    CHECK(first.ends_with("; the device is lost to this process: start it again"));
    CHECK(said.second == first);
  }
}

TEST_CASE("guard: a context or queue that is gone is lost, whatever it answers") {
  constexpr cl_int of_nvidia = -9999;  // NVIDIA: a kernel accessed invalid memory
  for (const cl_int error : {CL_INVALID_COMMAND_QUEUE, CL_INVALID_CONTEXT, of_nvidia}) {
    const auto said = said_of(error, true);
    const std::string& first = said.first;
    CHECK(first.ends_with("; the device is lost to this process: start it again"));
    CHECK(said.second == first);
  }
}

TEST_CASE("guard: memory that runs out is told as that, and passes") {
  for (const cl_int error : {CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_RESOURCES}) {
    const auto said = said_of(error, true);
    const std::string& first = said.first;
    CHECK(first.starts_with("out_of_memory: opencl write: clEnqueueWriteBuffer returned CL_"));
    CHECK(first.ends_with("; use smaller tiles or fewer rows, or free memory of the device"));
    CHECK(said.second == "nothing was thrown");
    CHECK(opencl::may_lack_memory(error));
  }
  CHECK_FALSE(opencl::may_lack_memory(CL_INVALID_VALUE));
  CHECK(said_of(CL_INVALID_VALUE, false).second == "nothing was thrown");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
