// Declares the subcommands of kith-lab. tools/command/shared/command.hpp says what a subcommand is.
#pragma once

#include "command/words/command_line.hpp"

namespace kith::command {

Subcommand add_bench(CLI::App& parent);
Subcommand add_reproduce(CLI::App& parent);
Subcommand add_placements(CLI::App& parent);

Program lab_program();

}  // namespace kith::command
