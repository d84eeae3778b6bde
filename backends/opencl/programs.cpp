#include "programs.hpp"

#include <sstream>

namespace kith::opencl {
namespace {

/// Returns the text without its pragmas to unroll loops; lines keep their numbers.
std::string rolled(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line); out += '\n')
    if (!line.starts_with("#pragma unroll")) out += line;
  return out;
}

}  // namespace

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
  // No option here may relax the arithmetic, because the contract is equal bits.
  const bool names_language = defines.find("-cl-std=") != std::string::npos;
  // -w: PoCL's compiler counts its warnings aloud. Of vectors that the processor splits it has many.
  const std::string options = (names_language ? "-w " : "-w -cl-std=CL1.2 ") + defines;
  const std::string read = sources_.read(source), text = unrolls_ ? read : rolled(read);
  const std::lock_guard lock(context_->mutex);
  cl::Program& shared = context_->programs[options + "\n" + text];
  if (!shared()) shared = made(text, options);
  return programs_.emplace(key, shared).first->second;
}

cl::Program Programs::made(const std::string& text, const std::string& options) {
  cl::Program found = kept_.find(text, options);
  if (found()) {
    ++counts_.kept;
    return found;
  }
  cl::Program compiled(context_->context, text);
  compiled.build({device_}, options.c_str());
  ++counts_.compiled;
  kept_.keep(compiled, text, options);
  return compiled;
}

}  // namespace kith::opencl
