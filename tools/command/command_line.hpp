// The words of a command line, and what they ask for.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "command.hpp"

namespace kith::command {

/// Parse the words after the program's name, and `run` the subcommand that they name, or print help or the
/// version. Returns an exit code.
/// Throws invalid_argument: what is wrong with the words; and what `run` throws.
int run_command_line(std::vector<std::string> words, const std::function<int(const Subcommand&)>& run);

}  // namespace kith::command
