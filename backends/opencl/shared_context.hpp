// The context of a processor's own memory, with the programs that were compiled in it. All devices that a
// process opens on that processor share it, so that the second compiles nothing. A GPU is opened with a
// context of its own: a fault ends a context, and to open the device again must help then.
#pragma once

#include <CL/opencl.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace kith::opencl {

struct SharedContext {
  explicit SharedContext(cl::Context made) : context(std::move(made)) {}

  const cl::Context context;
  std::mutex mutex;                             ///< of `programs`
  std::map<std::string, cl::Program> programs;  ///< by options and source
};

/// Returns the context in which to open a device: for a CPU that of devices which are open already, if there
/// are any.
std::shared_ptr<SharedContext> context_of(const cl::Device& device);

}  // namespace kith::opencl
