// The options of a subcommand by headings, in the order in which --help and the manual show them.
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
class FormatterBase;
class Option;
}  // namespace CLI

namespace kith::command {

struct OptionGroup {
  std::string title;
  std::vector<const CLI::Option*> options;
};

/// All but hidden ones and positionals. A subcommand without --train has one group besides those that its
/// options name.
///   all  else, where there are many, those alone that one needs
std::vector<OptionGroup> option_groups(const CLI::App& app, bool all);

/// Writes --help by option_groups(). Subcommands that are added later take it from their parent.
std::shared_ptr<CLI::FormatterBase> grouped_help();

}  // namespace kith::command
