// Writes pages to read: for man(1) and for the documentation.
#include <set>
#include <string_view>

#include "command/manual/manual.hpp"

namespace kith::command {
namespace {

/// Escapes text for man(7): dashes can be copied as dashes, and no line is read as a request.
std::string roff(std::string_view text) {
  std::string escaped;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else
      escaped += c;
    begins = c == '\n';
  }
  return escaped;
}

std::string roff_option(const ManualOption& option) {
  std::string text = ".TP\n";
  for (std::size_t i = 0; i < option.names.size(); ++i)
    text += (i > 0 ? ", " : "") + ("\\fB" + roff(option.names[i]) + "\\fR");
  if (!option.value.empty()) text += " \\fI" + roff(option.value) + "\\fR";
  if (!option.otherwise.empty()) text += " (default " + roff(option.otherwise) + ")";
  text += "\n" + roff(option.text) + "\n";
  for (const auto& [key, what] : option.keys) text += ".br\n\\fB" + roff(key) + "\\fR: " + roff(what) + "\n";
  return text;
}

std::string roff_options(const ManualCommand& command) {
  std::string text, group = "Options";
  if (!command.arguments.empty()) text += ".SH ARGUMENTS\n";
  for (const ManualOption& argument : command.arguments) text += roff_option(argument);
  text += ".SH OPTIONS\n";
  for (const ManualOption& option : command.options) {
    if (option.group != group) text += ".SS " + roff(group = option.group) + "\n";
    text += roff_option(option);
  }
  return text;
}

std::string roff_lines(const std::vector<std::string>& lines) {
  std::string text = ".nf\n";
  for (const std::string& line : lines) text += roff(line) + "\n";
  return text + ".fi\n";
}

std::string see_also(const Manual& manual, const ManualCommand& command) {
  std::string list;
  const auto add = [&](const ManualCommand& other) {
    if (other.name == command.name) return;
    list += (list.empty() ? "" : ",\n") + (".BR " + roff(other.page()) + " (1)");
  };
  add(manual.program);
  for (const ManualCommand& other : manual.commands) add(other);
  std::string text = ".SH SEE ALSO\n";
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(",\n", begin), list.size());
    text += list.substr(begin, end - begin) + (end < list.size() ? " ,\n" : "\n");
    begin = end + 2;
  }
  return text;
}

/// Writes a cell of a table, or text between other marks.
std::string markdown(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|' || c == '*' || c == '_' || c == '<' || c == '>' || c == '[' || c == ']') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string markdown_options(const ManualCommand& command) {
  std::string text, group;
  for (const ManualOption& option : command.options) {
    if (option.group != group) {
      group = option.group;
      text += "\n### " + markdown(group) + "\n\n| option | value | default | |\n|---|---|---|---|\n";
    }
    text += "| ";
    for (std::size_t i = 0; i < option.names.size(); ++i)
      text += (i > 0 ? ", `" : "`") + option.names[i] + "`";
    text += " | " + (option.value.empty() ? "" : "`" + option.value + "`") + " | " +
            (option.otherwise.empty() ? "" : "`" + option.otherwise + "`") + " | " + markdown(option.text) +
            " |\n";
  }
  return text;
}

/// Writes the keys of an option once, for all subcommands that have it.
std::string markdown_keys(const ManualOption& option) {
  std::string text =
      "\n## `" + option.names[0] + "`\n\n" + markdown(option.text) + ".\n\n| key | |\n|---|---|\n";
  for (const auto& [key, what] : option.keys) text += "| `" + key + "` | " + markdown(what) + " |\n";
  return text;
}

std::string markdown_section(const ManualCommand& command) {
  const bool ends = command.text.ends_with("?") || command.text.ends_with(".");
  std::string text =
      "\n## `" + command.name + "`\n\n" + markdown(command.text) + (ends ? "" : ".") + "\n\n```sh\n";
  for (const std::string& line : command.examples) text += line + "\n";
  text += "```\n";
  for (const ManualOption& argument : command.arguments)
    text += "\n`" + argument.names[0] + "`: " + markdown(argument.text) + "\n";
  return text + markdown_options(command);
}

}  // namespace

std::string man_page(const Manual& manual, const ManualCommand& command) {
  std::string title = command.page();
  for (char& c : title) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  std::string text = ".TH \"" + roff(title) + "\" 1 \"\" \"" + roff(manual.version) +
                     "\" \"kith\"\n.SH NAME\n" + roff(command.page()) + " \\- " + roff(command.text) +
                     "\n.SH SYNOPSIS\n.B " + roff(command.name) + "\n";
  text += command.word().empty() ? "[\\fIOPTION\\fR...] [\\fISUBCOMMAND\\fR]" : "[\\fIOPTION\\fR...]";
  for (const ManualOption& argument : command.arguments) text += " [\\fI" + roff(argument.names[0]) + "\\fR]";
  text += "\n";
  if (command.word().empty()) {
    text += ".SH SUBCOMMANDS\n";
    for (const ManualCommand& one : manual.commands)
      text += ".TP\n\\fB" + roff(one.word()) + "\\fR\n" + roff(one.text) + "\n";
  }
  text += roff_options(command) + ".SH EXAMPLES\n" + roff_lines(command.examples) + ".SH EXIT STATUS\n" +
          roff(command.exit_codes) + "\n" + see_also(manual, command);
  return text;
}

std::string manual_markdown(const Manual& manual) {
  std::string text = "# Commands of " + manual.program.name + "\n\n" + markdown(manual.program.text) +
                     "\n\n| subcommand | |\n|---|---|\n";
  for (const ManualCommand& command : manual.commands)
    text += "| [`" + command.name + "`](#" + command.page() + ") | " + markdown(command.text) + " |\n";
  text += "\nExit codes: " + markdown(manual.program.exit_codes) + ".\n";
  for (const ManualCommand& command : manual.commands) text += markdown_section(command);
  std::set<std::string> told;
  for (const ManualCommand& command : manual.commands)
    for (const ManualOption& option : command.options)
      if (!option.keys.empty() && told.insert(option.names[0]).second) text += markdown_keys(option);
  return text;
}

}  // namespace kith::command
