// Wrong command lines, in one line each.
#pragma once

#include <string>
#include <vector>

#include "command/shared/command.hpp"

namespace CLI {
class ParseError;
}

namespace kith::command {

/// What is wrong with the command line: `search: unknown option --trian; did you mean --train?`
///   parent  after its parse() threw `error`, or parsed nothing that can be run
///   error   what it threw, or null
std::string usage_message(const CLI::App& parent, const std::vector<Subcommand>& subcommands,
                          const CLI::ParseError* error);

/// `help` with long descriptions of options cut into lines, one under the other, and no two empty
/// lines in a row.
std::string wrapped_help(const std::string& help);

/// Where the descriptions of options begin.
inline constexpr std::size_t help_column = 28;

}  // namespace kith::command
