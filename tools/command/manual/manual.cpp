#include "command/manual/manual.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "command/shared/command.hpp"
#include "command/words/keys.hpp"
#include "command/words/option_groups.hpp"

namespace kith::command {
namespace {

bool is_word(const std::string& text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), fits);
}

/// Removes parts in brackets: `l2 (euclidean), l1` becomes `l2, l1`.
std::string without_brackets(const std::string& text) {
  std::string plain;
  int depth = 0;
  for (const char c : text) {
    if (c == '(') {
      if (!plain.empty() && plain.back() == ' ') plain.pop_back();
      ++depth;
    } else if (c == ')') {
      --depth;
    } else if (depth == 0) {
      plain += c;
    }
  }
  return plain;
}

/// Returns the words behind the last colon, which commas separate: `Who wins: nearest, abstain`.
std::vector<std::string> choices_of(const std::string& text) {
  const std::string plain = without_brackets(text);
  const std::size_t colon = plain.rfind(": ");
  if (colon == std::string::npos) return {};
  std::vector<std::string> words;
  for (std::string word : split_commas(plain.substr(colon + 2))) {
    word.erase(0, word.find_first_not_of(' '));
    words.push_back(word);
  }
  return words.size() > 1 && std::all_of(words.begin(), words.end(), is_word) ? words
                                                                              : std::vector<std::string>{};
}

ManualOption option_of(const CLI::Option& from, const std::string& group) {
  ManualOption option;
  for (const std::string& name : from.get_lnames()) option.names.push_back("--" + name);
  for (const std::string& name : from.get_snames()) option.names.push_back("-" + name);
  const bool takes_value = from.get_items_expected_max() > 0;
  if (takes_value) option.value = from.get_type_name();
  option.otherwise = from.get_default_str();
  option.text = from.get_description();
  option.group = group;
  option.takes_path = option.value == "FILE" || option.value == "DIR" || option.value == "FILES";
  if (takes_value && (option.value == "NAME" || option.value == "WHAT" || option.value == "WHEN"))
    option.choices = choices_of(option.text);
  if (const Topic* topic = topic_of(from))
    for (const Key& key : topic->keys) {
      option.choices.push_back(key.name + "=");
      option.keys.emplace_back(key.name + "=" + key.value, key.text);
    }
  return option;
}

/// Splits a footer that add_examples() made into its parts.
void read_footer(const std::string& footer, ManualCommand& command) {
  constexpr const char* head = "Exit codes: ";
  std::istringstream lines(footer);
  bool in_codes = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(head)) {
      in_codes = true;
      command.exit_codes = line.substr(std::string(head).size());
    } else if (in_codes && !line.empty()) {
      command.exit_codes += " " + line.substr(line.find_first_not_of(' '));
    } else if (line.starts_with("  ")) {
      command.examples.push_back(line.substr(2));
    }
  }
}

ManualCommand command_of(const CLI::App& app, const std::string& name) {
  ManualCommand command;
  command.name = name;
  command.text = app.get_description();
  for (const CLI::Option* option :
       app.get_options([](const CLI::Option* one) { return one->get_positional(); })) {
    command.arguments.push_back(option_of(*option, ""));
    command.arguments.back().names = {option->get_name(true)};
  }
  for (const OptionGroup& group : option_groups(app, true))
    for (const CLI::Option* option : group.options)
      command.options.push_back(option_of(*option, group.title));
  read_footer(app.get_footer(), command);
  return command;
}

}  // namespace

std::string ManualCommand::word() const {
  const std::size_t space = name.find(' ');
  return space == std::string::npos ? "" : name.substr(space + 1);
}

std::string ManualCommand::page() const {
  std::string text = name;
  std::replace(text.begin(), text.end(), ' ', '-');
  return text;
}

std::string Manual::function() const {
  std::string text = "_" + program.name;
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

Manual manual_of(const CLI::App& parent) {
  Manual manual;
  manual.version = version_text(parent.get_name());
  manual.program = command_of(parent, parent.get_name());
  for (const CLI::App* app : parent.get_subcommands([](const CLI::App*) { return true; }))
    if (!app->get_group().empty())
      manual.commands.push_back(command_of(*app, parent.get_name() + " " + app->get_name()));
  return manual;
}

}  // namespace kith::command
