#include "programs.hpp"

namespace kith::opencl {

cl::Kernel& Programs::kernel(const std::string& source, const std::string& defines, const std::string& name) {
  const std::pair key(name, defines);
  auto found = kernels_.find(key);
  if (found == kernels_.end())
    found = kernels_.emplace(key, cl::Kernel(program(source, defines), name.c_str())).first;
  return found->second;
}

cl::Program& Programs::program(const std::string& source, const std::string& defines) {
  const std::pair key(source, defines);
  const auto found = programs_.find(key);
  if (found != programs_.end()) return found->second;
  // Nothing here may relax the arithmetic: the contract is equal bits.
  const std::string options = "-cl-std=CL1.2 " + defines;
  cl::Program made(context_, sources_.read(source));
  made.build({device_}, options.c_str());
  return programs_.emplace(key, std::move(made)).first->second;
}

}  // namespace kith::opencl
