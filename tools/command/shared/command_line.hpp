// The words of a command line, and what they ask for.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"

namespace kith::command {

/// All subcommands and their options.
class CommandLine {
 public:
  CommandLine();
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// Parse the words after the program's name, and `run` the subcommand that they name, or print help or the
  /// version. Returns an exit code.
  /// Throws invalid_argument: what is wrong with the words; and what `run` throws.
  int run(std::vector<std::string> words, const std::function<int(const Subcommand&)>& run);

 private:
  std::unique_ptr<CLI::App> app_;
  std::vector<Subcommand> subcommands_;
};

}  // namespace kith::command
