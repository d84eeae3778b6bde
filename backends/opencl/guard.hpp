// Turns errors of OpenCL into errors of kith.
#pragma once

#include <CL/opencl.hpp>
#include <functional>
#include <string>
#include <utility>

#include "kith/error.hpp"

namespace kith::opencl {

/// Returns `CL_OUT_OF_RESOURCES` for -5; the number itself if it is unknown.
std::string error_name(cl_int code);

/// Returns whether an error may mean that memory of the device or of the host ran out.
bool may_lack_memory(cl_int error);

/// All calls of OpenCL are made inside run(), which turns errors of OpenCL into kith::Error. The message
/// has the stage, the call, the symbolic name of the error and, if a kernel does not compile, the
/// compiler's message. After an error from which a driver does not recover, every later run() throws the
/// first message again.
class Guard {
 public:
  /// `answers` returns whether the device still executes commands. It is called after errors that drivers
  /// return for a lost context, but also in other cases.
  explicit Guard(std::function<bool()> answers) : answers_(std::move(answers)) {}

  template <class Body>
  auto run(const std::string& stage, Body&& body) {
    refuse_after_failure();
    try {
      return std::forward<Body>(body)();
    } catch (const cl::BuildError& error) {  // before its base cl::Error, because it has the log
      throw translated(stage, error);
    } catch (const cl::Error& error) {
      throw translated(stage, error);
    }
  }

 private:
  void refuse_after_failure() const;
  Error translated(const std::string& stage, const cl::BuildError& error);
  Error translated(const std::string& stage, const cl::Error& error);

  const std::function<bool()> answers_;
  std::string failure_;  // the first message of an error from which the driver cannot recover
};

}  // namespace kith::opencl
