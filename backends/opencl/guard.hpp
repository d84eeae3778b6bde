// Where errors of OpenCL become errors of kith.
#pragma once

#include <CL/opencl.hpp>
#include <functional>
#include <string>
#include <utility>

#include "kith/error.hpp"

namespace kith::opencl {

/// `CL_OUT_OF_RESOURCES` for -5; the number itself for one that is not known.
std::string error_name(cl_int code);

/// Whether an error may mean that memory ran out, of the device or of the host.
bool may_lack_memory(cl_int error);

/// Everything that calls OpenCL runs in run(): what OpenCL throws leaves as kith::Error with the
/// stage, the call, the symbolic name of the error and, for a kernel that does not compile, the
/// compiler's own words. After an error from which a driver does not recover, every later run()
/// throws the first message again.
class Guard {
 public:
  /// `answers` is asked after an error that drivers return for a lost context and for less: whether the
  /// device still does what it is asked.
  explicit Guard(std::function<bool()> answers) : answers_(std::move(answers)) {}

  template <class Body>
  auto run(const std::string& stage, Body&& body) {
    refuse_after_failure();
    try {
      return std::forward<Body>(body)();
    } catch (const cl::BuildError& error) {  // before cl::Error, its base: it has the log
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
  std::string failure_;  // the first message of an error that cannot be recovered from
};

}  // namespace kith::opencl
