// The parts of a program that run around its subcommands.
#pragma once

#include <functional>

#include "command/shared/command.hpp"

namespace kith::command {

/// Returns the exit code of `body`, or of the error that it throws, which is written to stderr as one line;
/// only one of several ranks writes it.
int reported(const std::function<int()>& body);

/// Runs the subcommand. Afterwards, or when it fails, one note names files of `kith tune` that were ignored.
int run_and_warn(const Subcommand& subcommand);

}  // namespace kith::command
