#include "usage.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <numeric>
#include <sstream>

namespace kith::command {
namespace {

constexpr std::size_t help_width = 100;

/// Levenshtein distance, with a swap of two neighbours counted as one step.
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  std::iota(d[0].begin(), d[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::string joined(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

std::string see(const CLI::App& app, const CLI::App& parent) {
  return "see `kith " + (&app == &parent ? "" : app.get_name() + " ") + "--help`";
}

/// What is meant by a word that nothing is called: the closest, or all of them.
std::string meant(const std::string& word, const std::vector<std::string>& known) {
  const std::string one = closest(word, known);
  return one.empty() ? "there are " + joined(known) : "did you mean " + one + "?";
}

std::string unknown_word(const CLI::App& app, const std::string& word) {
  const std::string bare = word.substr(0, word.find('='));
  if (bare.size() > 1 && bare[0] == '-')
    return app.get_name() + ": unknown option " + bare + "; " + meant(bare, option_names(app));
  return app.get_name() + ": \"" + word +
         "\" follows no option that takes it; every value needs its option before it, as in " +
         (app.get_option_no_throw("--train") ? "--train " : "--device ") + word;
}

/// One line of help in lines of `help_width` columns; those after the first begin in help_column.
std::string wrapped_line(std::string line) {
  std::string result;
  while (line.size() > help_width) {
    std::size_t space = line.rfind(' ', help_width);
    if (space == std::string::npos || space <= help_column) break;
    result += line.substr(0, space) + "\n";
    line = std::string(help_column, ' ') + line.substr(space + 1);
  }
  return result + line + "\n";
}

/// `--train: 1 required TEXT missing` and the like, in our words.
std::string parse_problem(const CLI::ParseError& error) {
  const std::string text = error.what(), kind = error.get_name();
  const std::string option = text.substr(0, text.find_first_of(": "));
  if (kind == "RequiredError") return option + " is missing";
  if (kind == "ArgumentMismatch" && text.find("missing") != std::string::npos)
    return option + " has no value after it";
  if (kind == "ArgumentMismatch" && text.find("At Most") != std::string::npos)
    return option + " is given more than once";
  return text;
}

}  // namespace

std::string closest(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const bool shortened = word.size() > 3 && candidate.starts_with(word);
    const std::size_t distance = shortened ? 1 : edit_distance(word, candidate);
    if (distance < best_distance) best = candidate, best_distance = distance;
  }
  return best;
}

std::string wrapped_help(const std::string& help) {
  std::istringstream lines(help);
  std::string result;
  bool after_empty = false;
  for (std::string line; std::getline(lines, line); after_empty = line.empty()) {
    if (line.empty() && after_empty) continue;
    const bool described = line.starts_with("  -") || line.starts_with(std::string(help_column, ' '));
    result += described ? wrapped_line(line) : line + "\n";
  }
  return result;
}

std::string usage_message(const CLI::App& parent, const std::vector<Subcommand>& subcommands,
                          const CLI::ParseError* error) {
  std::vector<std::string> names;
  const CLI::App* chosen = nullptr;
  for (const Subcommand& subcommand : subcommands) {
    names.push_back(subcommand.app->get_name());
    if (subcommand.app->parsed()) chosen = subcommand.app;
  }
  if (!chosen) {
    const std::vector<std::string> words = parent.remaining();
    if (words.empty())
      return "kith: no subcommand is given; choose one of " + joined(names) + ", and " + see(parent, parent);
    const std::string what =
        words[0].starts_with("-") ? "unknown option " + words[0] : "unknown subcommand \"" + words[0] + "\"";
    const std::string one = closest(words[0], names);
    return "kith: " + what + "; " +
           (one.empty() ? "choose one of " + joined(names) : "did you mean " + one + "?");
  }
  if (const std::vector<std::string> before = parent.remaining(); !before.empty())
    return "kith: unknown option " + before[0] + " before " + chosen->get_name() +
           "; options come after the subcommand";
  const std::vector<std::string> words = chosen->remaining();
  if (!words.empty()) return unknown_word(*chosen, words[0]);
  return chosen->get_name() + ": " + (error ? parse_problem(*error) : "nothing to do") + "; " +
         see(*chosen, parent);
}

}  // namespace kith::command
