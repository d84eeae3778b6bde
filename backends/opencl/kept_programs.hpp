// Keeps compiled programs in files, so that later processes need not compile them.
#pragma once

#include <CL/opencl.hpp>
#include <optional>
#include <string>

#include "kith/spi/kept_files.hpp"

namespace kith::opencl {

/// The kept programs of one device. The key of a file contains everything that its content depends on: the
/// full text of the source, the options, and the device with its driver. spi::KeptFiles detects damage, and
/// the driver refuses binaries that it did not write.
class KeptPrograms {
 public:
  KeptPrograms(cl::Context context, cl::Device device);

  /// Returns the program that an earlier process compiled with these options, ready for kernels; a null
  /// program if there is none that this driver accepts.
  cl::Program find(const std::string& source, const std::string& options) const;

  /// Keeps a program that was compiled from `source` with these options; does nothing if the driver provides
  /// no binary.
  void keep(const cl::Program& program, const std::string& source, const std::string& options) const;

  /// Returns the key of a program.
  std::string key_of(const std::string& source, const std::string& options) const;

 private:
  cl::Context context_;
  cl::Device device_;
  std::optional<spi::KeptFiles> files_;  // none: nothing is kept
  std::string device_text_;              // the part of a key that describes the device
};

}  // namespace kith::opencl
