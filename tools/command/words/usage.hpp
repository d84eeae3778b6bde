// Describes wrong command lines, in one line each.
#pragma once

#include <string>
#include <vector>

#include "command/shared/command.hpp"

namespace CLI {
class ParseError;
}

namespace kith::command {

/// Says what is wrong with the command line: `search: unknown option --trian; did you mean --train?`
///   parent  the parser after its parse() threw `error`, or parsed nothing that can be run
///   error   the error that parse() threw, or null
std::string usage_message(const CLI::App& parent, const std::vector<Subcommand>& subcommands,
                          const CLI::ParseError* error);

/// Returns `help` with long descriptions of options broken into lines, one under the other, and no two empty
/// lines in a row.
std::string wrapped_help(const std::string& help);

/// Returns the column in which descriptions of options begin.
inline constexpr std::size_t help_column = 28;

}  // namespace kith::command
