// Prints what the program was doing when a signal ends it.
#pragma once

#include <string>

namespace kith::tests::faults {

/// Sets what the program does from now on.
void doing(const std::string& what);

/// Installs handlers: a signal that ends the program first prints what was being done, and the stack
/// of that thread.
void install_last_words();

}  // namespace kith::tests::faults
