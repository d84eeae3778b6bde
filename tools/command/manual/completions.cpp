// Completions for bash, zsh and fish: subcommands, their options, and the values that options list.
#include <string_view>

#include "command/manual/manual.hpp"
#include "files/named.hpp"

namespace kith::command {
namespace {

using files::joined;

std::vector<std::string> words_of(const Manual& manual) {
  std::vector<std::string> words;
  for (const ManualCommand& command : manual.commands) words.push_back(command.word());
  return words;
}

std::vector<std::string> option_names(const ManualCommand& command) {
  std::vector<std::string> names;
  for (const ManualOption& option : command.options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

/// Returns the first sentence, or a part of it: a text short enough to stand beside a name.
std::string brief(const std::string& text) {
  constexpr std::size_t most = 70;
  const std::size_t end = text.find_first_of(":;(");
  std::string part = text.substr(0, end);
  while (!part.empty() && part.back() == ' ') part.pop_back();
  if (part.size() <= most) return part;
  return part.substr(0, part.rfind(' ', most)) + " ...";
}

/// Returns `text` with a backslash before each of `marks`.
std::string with_backslashes(std::string_view text, std::string_view marks) {
  std::string result;
  for (const char c : text) {
    if (marks.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

/// Puts a text in single quotes, as a POSIX shell reads them.
std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// Writes the branches of one subcommand: completions of the value of an option, else the options.
std::string bash_branch(const ManualCommand& command) {
  std::string text = "    " + command.word() + ")\n      case \"$before\" in\n";
  std::vector<std::string> paths, others;
  for (const ManualOption& option : command.options) {
    if (option.value.empty()) continue;
    if (!option.choices.empty())
      text +=
          "        " + joined(option.names, "|") + ") values=\"" + joined(option.choices, " ") + "\" ;;\n";
    else
      (option.takes_path ? paths : others).push_back(joined(option.names, "|"));
  }
  if (!paths.empty()) text += "        " + joined(paths, "|") + ") files=yes ;;\n";
  if (!others.empty()) text += "        " + joined(others, "|") + ") return ;;\n";
  return text + "        *) values=\"" + joined(option_names(command), " ") + "\" ;;\n      esac\n      ;;\n";
}

std::string zsh_option(const ManualOption& option) {
  std::string value;
  if (!option.value.empty()) {
    value = ":" + option.value + ":";
    if (!option.choices.empty()) value += "(" + joined(option.choices, " ") + ")";
    if (option.takes_path) value += "_files";
  }
  std::string text;
  for (const std::string& name : option.names)
    text += "        " +
            in_quotes("*" + name + "[" + with_backslashes(brief(option.text), "[]:\\") + "]" + value) +
            " \\\n";
  return text;
}

std::string fish_option(const std::string& program, const ManualCommand& command,
                        const ManualOption& option) {
  std::string text = "complete -c " + program + " -n '__fish_seen_subcommand_from " + command.word() + "'";
  for (const std::string& name : option.names)
    text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.choices.empty())
    text += " -x -a " + in_quotes(joined(option.choices, " "));
  else if (option.takes_path)
    text += " -r -F";
  else if (!option.value.empty())
    text += " -x";
  return text + " -d " + in_quotes(brief(option.text)) + "\n";
}

}  // namespace

std::string bash_completion(const Manual& manual) {
  const std::string &program = manual.program.name, function = manual.function();
  std::string text =
      "# Completion of " + program + " for bash.\n" + function +
      "() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} values= files=\n"
      "  # --option=value arrives as three words.\n"
      "  if [ \"$word\" = = ]; then word=\n"
      "  elif [ \"$before\" = = ]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    mapfile -t COMPREPLY < <(compgen -W \"" +
      joined(words_of(manual), " ") + " " + joined(option_names(manual.program), " ") +
      "\" -- \"$word\")\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n";
  for (const ManualCommand& command : manual.commands) text += bash_branch(command);
  return text +
         "  esac\n"
         "  if [ -n \"$files\" ]; then mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
         "  else mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$word\"); fi\n}\n"
         "complete -o filenames -F " +
         function + " " + program + "\n";
}

std::string zsh_completion(const Manual& manual) {
  const std::string &program = manual.program.name, function = manual.function();
  std::string text = "#compdef " + program + "\n# Completion of " + program + " for zsh.\n" + function +
                     "() {\n  local -a commands\n  commands=(\n";
  for (const ManualCommand& command : manual.commands)
    text += "    " + in_quotes(command.word() + ":" + with_backslashes(brief(command.text), ":\\")) + "\n";
  text +=
      "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
      "  local word=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $word in\n";
  for (const ManualCommand& command : manual.commands) {
    text += "    " + command.word() + ")\n      _arguments \\\n";
    for (const ManualOption& option : command.options) text += zsh_option(option);
    text += "        && return\n      ;;\n";
  }
  return text + "  esac\n}\n" + function + " \"$@\"\n";
}

std::string fish_completion(const Manual& manual) {
  const std::string& program = manual.program.name;
  std::string text = "# Completion of " + program + " for fish.\ncomplete -c " + program + " -f\n";
  for (const ManualCommand& command : manual.commands)
    text += "complete -c " + program + " -n __fish_use_subcommand -a " + command.word() + " -d " +
            in_quotes(brief(command.text)) + "\n";
  for (const ManualCommand& command : manual.commands)
    for (const ManualOption& option : command.options) text += fish_option(program, command, option);
  return text;
}

}  // namespace kith::command
