// The parser's own tables of the command, as pages to read and as completions for shells.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace kith::command {

struct ManualOption {
  std::vector<std::string> names;    ///< with their dashes, long ones first
  std::string value;                 ///< FILE, N, ...; empty if it takes no value
  std::string otherwise;             ///< the default value; empty if there is none
  std::string text;                  ///< what it does
  std::string group;                 ///< the heading in --help
  std::vector<std::string> choices;  ///< the words that its text lists; empty: any value
  bool takes_path = false;           ///< a file or a folder

  /// `sep=SIGN` and what it does, where the value is such settings.
  std::vector<std::pair<std::string, std::string>> keys;
};

struct ManualCommand {
  std::string name;  ///< as it is typed: `kith`, `kith search`
  std::string text;
  std::vector<ManualOption> arguments;  ///< the positional argument: ACTION
  std::vector<ManualOption> options;
  std::vector<std::string> examples;  ///< lines; all lines of a command line but the last end in a backslash
  std::string exit_codes;

  std::string word() const;  ///< `search`; empty: the command itself
  std::string page() const;  ///< `kith-search`
};

struct Manual {
  std::string version;                  ///< `kith 0.1.0`
  ManualCommand program;                ///< what is typed before a subcommand
  std::vector<ManualCommand> commands;  ///< in the order of --help

  std::string function() const;  ///< the name of the function for completions: `_kith`
};

Manual manual_of(const CLI::App& parent);

/// Writes a page for man(1), in the macros of man(7).
std::string man_page(const Manual& manual, const ManualCommand& command);

/// Writes one page for the documentation, with a section for each subcommand.
std::string manual_markdown(const Manual& manual);

std::string bash_completion(const Manual& manual);
std::string zsh_completion(const Manual& manual);
std::string fish_completion(const Manual& manual);

}  // namespace kith::command
