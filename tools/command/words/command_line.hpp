// The words of a command line, and the subcommand that they name.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "command/shared/command.hpp"

namespace kith::command {

/// A program that has subcommands: kith, or kith-lab.
struct Program {
  std::string name, about;                 ///< as `--help` shows them
  std::vector<std::string_view> examples;  ///< lines of `--help`
  std::vector<Subcommand> (*subcommands)(CLI::App& parent);
};

Program kith_program();

/// Adds all subcommands of a program and their options.
class CommandLine {
 public:
  explicit CommandLine(const Program& program = kith_program());
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// Parses the words after the program's name, and calls `run` for the subcommand they name, or prints help
  /// or the version. Returns an exit code.
  /// Throws invalid_argument, which says what is wrong with the words; and what `run` throws.
  int run(std::vector<std::string> words, const std::function<int(const Subcommand&)>& run);

 private:
  std::unique_ptr<CLI::App> app_;
  std::vector<Subcommand> subcommands_;
};

}  // namespace kith::command
