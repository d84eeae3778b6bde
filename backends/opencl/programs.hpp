// The kernels of a device, made when they are first needed: compiled, read from files of an earlier process,
// or those of another device of this process on the same processor.
#pragma once

#include <CL/opencl.hpp>
#include <map>
#include <string>
#include <utility>

#include "kept_programs.hpp"
#include "kith/spi.hpp"
#include "shared_context.hpp"
#include "sources.hpp"

namespace kith::opencl {

/// The kernels of one device.
class Programs {
 public:
  /// `unrolls`: loops are unrolled as the kernels ask. PoCL needs four times as long to compile GPU kernels
  /// with unrolled loops, and these are not faster there.
  Programs(std::shared_ptr<SharedContext> context, cl::Device device, bool unrolls)
      : context_(std::move(context)),
        device_(std::move(device)),
        unrolls_(unrolls),
        kept_(context_->context, device_) {}

  /// Returns kernel `name` of file `source`, compiled with `defines` (`-D A=1 -D B=2`). Throws cl::Error,
  /// cl::BuildError; kith::Error if a file is missing.
  cl::Kernel& kernel(const std::string& source, const std::string& defines, const std::string& name);

  spi::ProgramCounts counts() const { return counts_; }

 private:
  cl::Program& program(const std::string& source, const std::string& defines);
  /// Reads a program from files, or compiles it.
  cl::Program made(const std::string& text, const std::string& options);

  std::shared_ptr<SharedContext> context_;
  cl::Device device_;
  bool unrolls_;
  Sources sources_;
  KeptPrograms kept_;
  spi::ProgramCounts counts_;
  std::map<std::pair<std::string, std::string>, cl::Program> programs_;  // the key is source and defines
  std::map<std::pair<std::string, std::string>, cl::Kernel> kernels_;    // the key is name and defines
};

}  // namespace kith::opencl
