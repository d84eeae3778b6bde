// Compiled programs in files, so that the next process need not compile them.
#pragma once

#include <CL/opencl.hpp>
#include <optional>
#include <string>

#include "kith/spi/kept_files.hpp"

namespace kith::opencl {

/// The kept programs of one device. A file is asked for by all that its content depends on: the source, the
/// options and the device with its driver, word for word. The checks of spi::KeptFiles find what is damaged,
/// and the driver refuses what it did not write.
class KeptPrograms {
 public:
  KeptPrograms(cl::Context context, cl::Device device);

  /// The program that an earlier process compiled with these options, ready for kernels; a null program where
  /// there is none that this driver takes.
  cl::Program find(const std::string& source, const std::string& options) const;

  /// Keep what was compiled of `source` with these options; where the driver does not give it away, nothing.
  void keep(const cl::Program& program, const std::string& source, const std::string& options) const;

  /// What a program is kept under.
  std::string key_of(const std::string& source, const std::string& options) const;

 private:
  cl::Context context_;
  cl::Device device_;
  std::optional<spi::KeptFiles> files_;  // none: nothing is kept
  std::string device_text_;              // the part of a key that is the device's
};

}  // namespace kith::opencl
