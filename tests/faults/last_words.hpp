// What was being done when a signal ends the program.
#pragma once

#include <string>

namespace kith::tests::faults {

/// What this program does from here on.
void doing(const std::string& what);

/// A signal that ends the program first prints what was being done, and the frames of that thread.
void install_last_words();

}  // namespace kith::tests::faults
