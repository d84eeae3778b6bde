// Runs the program kith-lab as its users do.
#pragma once

#include "common/shell.hpp"

namespace command_tests {

/// Runs kith-lab, which lies beside kith.
inline Result lab(const string& arguments) {
  return shell("\"$kith-lab\" " + arguments);
}

inline void check_lab_refused(const string& arguments, int code, const string& message) {
  CAPTURE(arguments);
  check_refusal(lab(arguments), code, message);
}

}  // namespace command_tests
