#include "command/words/usage.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <sstream>

#include "files/named.hpp"

namespace kith::command {
namespace {

using files::joined;

constexpr std::size_t help_width = 100;

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::string see(const CLI::App& app, const CLI::App& parent) {
  return "see `" + parent.get_name() + " " + (&app == &parent ? "" : app.get_name() + " ") + "--help`";
}

/// Names of options in other programs, and the options here: the first that a subcommand has is suggested.
struct Habit {
  std::vector<std::string> elsewhere, here;
};

const std::vector<Habit>& habits() {
  static const std::vector<Habit> all = {
      {{"-k", "--k", "--n-neighbors", "--num-neighbors", "--neighbors", "--neighbours", "--knn", "--top-k",
        "--topk"},
       {"-k", "--k-max"}},
      {{"--base", "--database", "--data", "--input", "--fit", "--file", "-i", "-f"}, {"--train"}},
      {{"--test", "--predict", "--query-file", "-q"}, {"--queries"}},
      {{"--output", "--output-file", "--outfile", "--out", "--predictions", "-o"},
       {"--out", "--out-index", "--table"}},
      {{"--target", "--class", "--class-column", "--y", "--label"}, {"--label-column", "--target"}},
      {{"--distance", "--dist", "--distance-metric", "--norm"}, {"--metric"}},
      {{"--algorithm", "--method"}, {"--how"}},
      {{"--n-jobs", "--jobs", "--num-threads", "--threads", "-j", "-t"}, {"--threads", "--place"}},
      {{"--missing", "--impute", "--categories", "--one-hot", "--unseen", "--centre", "--center"},
       {"--prepare"}},
      {{"--format", "--array", "--query-array", "--limits", "--element", "--dtype"}, {"--read"}},
      {{"--tie", "--tie-break", "--weights", "--rank-weights", "--sample-weights", "--priors", "--costs",
        "--no-label", "--outlier", "--outlier-label"},
       {"--votes"}},
      {{"--out-format", "--out-header", "--output-format", "--class-names"}, {"--write"}},
      {{"--residence", "--placement", "--memory-limit"}, {"--place"}},
      {{"--normalize", "--normalise", "--standardize", "--scaler", "--preprocess"}, {"--scale"}},
      {{"--cv", "--n-splits", "--k-fold", "--kfold"}, {"--folds"}},
      {{"--gpu", "--cuda", "--opencl", "--cpu", "-d"}, {"--device"}},
      {{"--verbose", "-v"}, {"--explain"}},
      {{"--eps", "--epsilon", "-r"}, {"--radius"}},
      {{"--sep", "--separator", "--delimiter", "--decimal", "--header", "--encoding"}, {"--csv"}},
      {{"--ground-truth", "--y-true"}, {"--truth"}},
      {{"--columns", "--cols"}, {"--features"}},
      {{"--loo", "--loocv"}, {"--leave-one-out"}},
      {{"--save", "--dump"}, {"--save-model"}},
      {{"--load", "--load-model"}, {"--model"}},
      {{"--html"}, {"--report"}},
      {{"--random-state"}, {"--seed"}},
  };
  return all;
}

/// Returns `word` in lower case and with - for _, except for options of one letter, where case matters.
std::string as_option(const std::string& word) {
  if (!word.starts_with("--")) return word;
  std::string plain = plain_name(word);
  std::replace(plain.begin(), plain.end(), '_', '-');
  return plain;
}

/// Returns the option of `app` that other programs call `word`, or of which `word` is a typo; empty if none.
std::string option_meant(const CLI::App& app, const std::string& word) {
  const std::string plain = as_option(word);
  for (const Habit& habit : habits()) {
    if (std::find(habit.elsewhere.begin(), habit.elsewhere.end(), plain) == habit.elsewhere.end()) continue;
    for (const std::string& option : habit.here)
      if (option != word && app.get_option_no_throw(option)) return option;
  }
  // For a single letter every other letter is one edit away: that is no typo.
  return word.starts_with("--") ? closest_name(plain, option_names(app)) : std::string();
}

/// Lists the subcommands that have an option of this name: `classify, evaluate`.
std::string who_has(const std::string& option, const std::vector<Subcommand>& subcommands) {
  std::vector<std::string> names;
  for (const Subcommand& subcommand : subcommands)
    if (subcommand.app->get_option_no_throw(option)) names.push_back(subcommand.app->get_name());
  return joined(names);
}

/// Returns the option in a word of the command line: without `=VALUE`, and only the first letter of `-k5`.
std::string option_in(const std::string& word) {
  const bool is_short =
      word.size() > 2 && word[1] != '-' && std::isalpha(static_cast<unsigned char>(word[1])) != 0;
  return is_short ? word.substr(0, 2) : word.substr(0, word.find('='));
}

std::string unknown_word(const CLI::App& app, const CLI::App& parent,
                         const std::vector<Subcommand>& subcommands, const std::string& word) {
  if (word.size() > 1 && word[0] == '-') {
    const std::string bare = option_in(word), where = app.get_name() + ": unknown option " + bare;
    if (const std::string one = option_meant(app, bare); !one.empty())
      return where + "; did you mean " + one + "?";
    const std::string others = who_has(bare, subcommands);
    return where +
           (others.empty()
                ? ""
                : " (" + others + (others.find(',') == std::string::npos ? " has it)" : " have it)")) +
           "; " + see(app, parent);
  }
  return app.get_name() + ": \"" + word +
         "\" follows no option that takes it; every value needs its option before it, as in " +
         (app.get_option_no_throw("--train") ? "--train " : "--device ") + word;
}

/// Breaks one line of help into lines of `help_width` columns; all but the first begin in help_column.
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

/// Translates `--train: 1 required TEXT missing` and similar messages into kith's own words.
std::string parse_problem(const CLI::ParseError& error) {
  const std::string text = error.what(), kind = error.get_name();
  const std::string option = text.substr(0, text.find_first_of(": "));
  if (kind == "RequiredError") return option + " is missing";
  if (kind == "ArgumentMismatch" && text.find("missing") != std::string::npos)
    return option + " has no value after it";
  if (kind == "ArgumentMismatch" && text.find("At Most") != std::string::npos)
    return option + " is given more than once";
  const std::string other = text.substr(text.rfind(' ') + 1);
  if (kind == "ExcludesError") return option + " does not go with " + other + "; leave one of them out";
  if (kind == "RequiresError") return option + " goes with " + other + "; give " + other + ", too";
  return text;
}

/// Returns the subcommand that does what `word` says, or of which it is a typo; empty if none.
std::string subcommand_meant(const std::string& word, const std::vector<std::string>& names) {
  static const std::vector<std::pair<std::string, std::string>> said = {
      {"predict", "classify"},
      {"classifier", "classify"},
      {"regressor", "regress"},
      {"knn", "search"},
      {"kneighbors", "search"},
      {"query", "search"},
      {"find", "search"},
      {"cv", "evaluate"},
      {"cross_validate", "evaluate"},
      {"score", "evaluate"},
      {"benchmark", "bench"},
      {"info", "devices"},
      {"list", "devices"},
      {"check", "doctor"},
      {"validate", "verify"},
      {"experiments", "reproduce"},
      {"feature_selection", "select-features"}};
  const std::string plain = plain_name(word);
  for (const auto& [other, name] : said)
    if (other == plain && std::find(names.begin(), names.end(), name) != names.end()) return name;
  return closest_name(word, names);
}

}  // namespace

std::string wrapped_help(const std::string& help) {
  std::istringstream lines(help);
  std::string result;
  bool after_empty = false;
  for (std::string line; std::getline(lines, line); after_empty = line.empty()) {
    if (line.empty() && after_empty) continue;
    const bool has_column = line.size() > help_column && line.substr(help_column - 2, 2) == "  ";
    result += has_column || line.starts_with("  -") ? wrapped_line(line) : line + "\n";
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
      return parent.get_name() + ": " + (error ? parse_problem(*error) + "; " : "") + see(parent, parent);
    const std::string what =
        words[0].starts_with("-") ? "unknown option " + words[0] : "unknown subcommand \"" + words[0] + "\"";
    const std::string one = subcommand_meant(words[0], names);
    return parent.get_name() + ": " + what + "; " +
           (one.empty() ? "choose one of " + joined(names) : "did you mean " + one + "?");
  }
  if (const std::vector<std::string> before = parent.remaining(); !before.empty())
    return parent.get_name() + ": unknown option " + before[0] + " before " + chosen->get_name() +
           "; options come after the subcommand";
  const std::vector<std::string> words = chosen->remaining();
  if (!words.empty()) return unknown_word(*chosen, parent, subcommands, words[0]);
  const std::string problem = error ? parse_problem(*error) : "nothing to do";
  const bool advises = problem.find("; ") != std::string::npos;
  return chosen->get_name() + ": " + problem + (advises ? "" : "; " + see(*chosen, parent));
}

}  // namespace kith::command
