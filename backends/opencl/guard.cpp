#include "guard.hpp"

namespace kith::opencl {
namespace {

Errc code_of(cl_int error) {
  switch (error) {
    case CL_INVALID_BUFFER_SIZE:
      return Errc::out_of_memory;
    case CL_DEVICE_NOT_FOUND:
    case CL_DEVICE_NOT_AVAILABLE:
    case CL_COMPILER_NOT_AVAILABLE:
      return Errc::unavailable;
    default:
      return may_lack_memory(error) ? Errc::out_of_memory : Errc::device_failure;
  }
}

const char* advice_on(Errc code) {
  switch (code) {
    case Errc::out_of_memory:
      return "; use smaller tiles or fewer rows, or free memory of the device";
    case Errc::unavailable:
      return "; install its driver again, or use another device";
    default:
      return "; report it with the sizes that led to it";
  }
}

/// Returns whether a kernel crashed, hung or was reset, so that its context or queue is gone. Errors below
/// -1000 are those of vendors.
bool is_final(cl_int error) {
  return error == CL_INVALID_COMMAND_QUEUE || error == CL_INVALID_CONTEXT || error <= -1000;
}

/// Returns whether the error may mean this; drivers also return these errors if a single command was
/// too much.
bool may_be_final(cl_int error) {
  return error == CL_OUT_OF_RESOURCES || error == CL_DEVICE_NOT_AVAILABLE ||
         error == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
}

}  // namespace

bool may_lack_memory(cl_int error) {
  return error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_HOST_MEMORY ||
         error == CL_OUT_OF_RESOURCES;
}

void Guard::refuse_after_failure() const {
  if (!failure_.empty()) throw Error(Errc::device_failure, failure_);
}

Error Guard::translated(const std::string& stage, const cl::BuildError& error) {
  // The driver has failed, not the kernel.
  if (error.err() != CL_BUILD_PROGRAM_FAILURE) return translated(stage, static_cast<const cl::Error&>(error));
  std::string log;
  for (const auto& [device, text] : error.getBuildLog()) log += text;
  return Error(Errc::device_failure, "opencl " + stage + ": a kernel did not compile (" +
                                         error_name(error.err()) +
                                         "); report it with the compiler's words:\n" + log);
}

Error Guard::translated(const std::string& stage, const cl::Error& error) {
  const std::string message =
      "opencl " + stage + ": " + error.what() + " returned " + error_name(error.err());
  if (!is_final(error.err()) && (!may_be_final(error.err()) || answers_())) {
    const Errc code = code_of(error.err());
    return Error(code, message + advice_on(code));
  }
  failure_ = message + "; the device is lost to this process: start it again";
  return Error(Errc::device_failure, failure_);
}

}  // namespace kith::opencl
