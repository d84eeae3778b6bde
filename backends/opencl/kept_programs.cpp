#include "kept_programs.hpp"

#include <stdlib.h>  // secure_getenv

#include <cstddef>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace kith::opencl {
namespace {

/// A program has 10 to 300 KB, and a process needs a few dozen of several thousand possible ones.
constexpr spi::KeptFolder folder = {"KITH_CL_CACHE", "programs", std::size_t{128} << 20};

/// Returns whether programs of this platform are kept. PoCL keeps them itself (POCL_CACHE_DIR), and before it
/// returns a binary, it compiles each kernel of a program again, which takes longer than the self-test. So
/// programs of PoCL are kept only if a folder is named.
bool are_kept(const cl::Platform& platform) {
  const char* const named = secure_getenv(folder.variable);
  return (named && *named) || platform.getInfo<CL_PLATFORM_NAME>() != "Portable Computing Language";
}

/// Returns which instructions this processor has, as the system lists them: a compiler for CPUs may use all
/// of them, and machines that share a home folder may report the same device.
std::string processor() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  std::string text, line;
  while (std::getline(cpuinfo, line) && !line.empty())  // the lines of the first core
    for (const std::string_view field : {"model name", "flags", "Features", "CPU part"})
      if (line.starts_with(field)) text += line + "\n";
  return text;
}

std::string describe(const cl::Device& device) {
  const cl::Platform platform(device.getInfo<CL_DEVICE_PLATFORM>());
  std::string text =
      "platform: " + platform.getInfo<CL_PLATFORM_NAME>() + ", " + platform.getInfo<CL_PLATFORM_VERSION>() +
      "\ndevice: " + device.getInfo<CL_DEVICE_NAME>() + ", " + device.getInfo<CL_DEVICE_VENDOR>() + ", " +
      device.getInfo<CL_DEVICE_VERSION>() + ", " + std::to_string(device.getInfo<CL_DEVICE_ADDRESS_BITS>()) +
      " bits, vectors of " + std::to_string(device.getInfo<CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT>()) +
      " floats\ndriver: " + device.getInfo<CL_DRIVER_VERSION>() +
      "\nextensions: " + device.getInfo<CL_DEVICE_EXTENSIONS>() + "\n";
  if (device.getInfo<CL_DEVICE_TYPE>() & CL_DEVICE_TYPE_CPU) text += processor();
  return text;
}

/// Returns the driver's binary of a program for this device; empty if the driver provides none.
std::vector<unsigned char> binary_of(const cl::Program& program, const cl::Device& device) {
  const auto devices = program.getInfo<CL_PROGRAM_DEVICES>();  // a caller's context may have several
  const auto binaries = program.getInfo<CL_PROGRAM_BINARIES>();
  for (std::size_t i = 0; i < devices.size() && i < binaries.size(); ++i)
    if (devices[i]() == device()) return binaries[i];
  return {};
}

}  // namespace

KeptPrograms::KeptPrograms(cl::Context context, cl::Device device)
    : context_(std::move(context)), device_(std::move(device)) {
  spi::KeptFiles files(folder);
  if (!files.are_kept() || !are_kept(cl::Platform(device_.getInfo<CL_DEVICE_PLATFORM>()))) return;
  device_text_ = describe(device_);
  files_.emplace(std::move(files));
}

std::string KeptPrograms::key_of(const std::string& source, const std::string& options) const {
  return device_text_ + "options: " + options + "\n" + source;
}

cl::Program KeptPrograms::find(const std::string& source, const std::string& options) const {
  if (!files_) return {};
  const std::optional<std::string> content = files_->find(key_of(source, options));
  if (!content || content->empty()) return {};
  try {
    cl::Program program(context_, {device_}, {{content->begin(), content->end()}});
    program.build({device_}, options.c_str());
    return program;
  } catch (const cl::Error&) {
    return {};  // the source can be compiled instead
  }
}

void KeptPrograms::keep(const cl::Program& program, const std::string& source,
                        const std::string& options) const {
  if (!files_) return;  // the driver may need long for a binary
  try {
    const std::vector<unsigned char> binary = binary_of(program, device_);
    if (binary.empty()) return;
    files_->keep(key_of(source, options), {reinterpret_cast<const char*>(binary.data()), binary.size()});
  } catch (const cl::Error&) {
    // The program itself exists; without a binary it is just not kept.
  }
}

}  // namespace kith::opencl
