// Declares the only exception type of kith.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "kith/export.hpp"

namespace kith {

/// Says who must act on an error. docs/contract.md, section 8, gives the exit code of each.
enum class Errc {
  invalid_argument,  ///< the caller: an argument is outside its documented range
  bad_file,          ///< the owner of a file: missing, truncated, or not what it claims to be
  unsupported,       ///< the caller: this device cannot do it; another may
  unavailable,       ///< the administrator: no such device, driver or plug-in here
  out_of_memory,     ///< the caller: ask for less, or give more
  device_failure,    ///< the vendor: a driver or device failed while it worked
  interrupted,       ///< no fault: the caller's stop token asked for it
};

/// Returns the name of the enumerator: `invalid_argument`, `bad_file`, ...
KITH_API std::string_view name(Errc code);

/// Is the type of all exceptions of kith. `what()` reads "where: what is wrong, with the values; what to do".
class KITH_API Error : public std::runtime_error {
 public:
  Error(Errc code, const std::string& message) : std::runtime_error(message), code_(code) {}
  Errc code() const noexcept { return code_; }

 private:
  Errc code_;
};

}  // namespace kith
