// What a program does around its subcommands.
#pragma once

#include <functional>

#include "command/shared/command.hpp"

namespace kith::command {

/// The exit code of `body`, or of what it throws, which is told on stderr in a line; of several ranks one
/// tells it.
int reported(const std::function<int()>& body);

/// Run the subcommand. Afterwards, or when it fails, say once which files of `kith tune` were not believed.
int run_and_warn(const Subcommand& subcommand);

}  // namespace kith::command
