// Groups the options of a subcommand by headings, in the order in which --help and the manual show them.
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

/// Returns all options but hidden and positional ones. A subcommand without --train has one group, and those
/// that its options name.
///   all  false: if there are many options, only those that users need
std::vector<OptionGroup> option_groups(const CLI::App& app, bool all);

/// Writes --help by option_groups(). Subcommands that are added later inherit it from their parent.
std::shared_ptr<CLI::FormatterBase> grouped_help();

}  // namespace kith::command
