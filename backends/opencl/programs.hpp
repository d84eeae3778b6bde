// Kernels, made when they are first asked for: compiled, or as an earlier process has compiled them.
#pragma once

#include <CL/opencl.hpp>
#include <map>
#include <string>
#include <utility>

#include "kept_programs.hpp"
#include "kith/spi.hpp"
#include "sources.hpp"

namespace kith::opencl {

/// The kernels of one device.
class Programs {
 public:
  /// `unrolls`: whether loops are unrolled as the kernels ask for. PoCL takes four times as long to compile
  /// what is unrolled for GPUs, and has nothing of it.
  Programs(cl::Context context, cl::Device device, bool unrolls)
      : context_(std::move(context)),
        device_(std::move(device)),
        unrolls_(unrolls),
        kept_(context_, device_) {}

  /// Kernel `name` of file `source`, compiled with `defines` (`-D A=1 -D B=2`).
  /// Throws cl::Error, cl::BuildError; kith::Error when a file is missing.
  cl::Kernel& kernel(const std::string& source, const std::string& defines, const std::string& name);

  spi::ProgramCounts counts() const { return counts_; }

 private:
  cl::Program& program(const std::string& source, const std::string& defines);

  cl::Context context_;
  cl::Device device_;
  bool unrolls_;
  Sources sources_;
  KeptPrograms kept_;
  spi::ProgramCounts counts_;
  std::map<std::pair<std::string, std::string>, cl::Program> programs_;  // by source and defines
  std::map<std::pair<std::string, std::string>, cl::Kernel> kernels_;    // by name and defines
};

}  // namespace kith::opencl
