#include "command/words/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "command/words/keys.hpp"
#include "command/words/option_groups.hpp"
#include "command/words/usage.hpp"
#include "report/plain.hpp"

namespace kith::command {
namespace {

/// Rewrites the words: `kith help X` becomes `kith X --help`, and `kith version` becomes `kith --version`.
std::vector<std::string> plain_words(std::vector<std::string> words, const CLI::App& app) {
  if (!words.empty() && words[0] == "version") words[0] = "--version";
  if (words.empty() || words[0] != "help") return words;
  words.erase(words.begin());
  // A word that is no subcommand is passed on alone, and refused as such.
  const std::vector<const CLI::App*> known = app.get_subcommands([](const CLI::App*) { return true; });
  const auto named = [&](const CLI::App* one) { return one->get_name() == words[0]; };
  if (words.empty() || std::any_of(known.begin(), known.end(), named)) words.emplace_back("--help");
  return words;
}

/// Returns the topic of `kith help csv`; null if the words ask for none.
const Topic* topic_asked_for(const std::vector<std::string>& words) {
  if (words.size() != 2 || words[0] != "help") return nullptr;
  const std::vector<Topic>& all = known_topics();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Topic& one) { return one.word() == words[1]; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace

std::string version_text(const std::string& program) {
  return program + " " + report::version_number();
}

Program kith_program() {
  return {"kith",
          "Exact k-nearest-neighbour search and classification. Every device returns the same bits.",
          {"kith devices", "kith search --train train.npy --queries queries.npy -k 5",
           "kith classify --train iris.csv --label-column species --query 5.1,3.5,1.4,0.2", "kith doctor"},
          all_subcommands};
}

CommandLine::CommandLine(const Program& program)
    : app_(std::make_unique<CLI::App>(program.about, program.name)) {
  app_->formatter(grouped_help());
  app_->get_formatter()->column_width(help_column);
  app_->set_version_flag("--version,-V", version_text(program.name));
  app_->set_help_all_flag("--help-all", "Print help with all options");
  add_examples(*app_, program.examples);
  subcommands_ = program.subcommands(*app_);
  for (const Subcommand& subcommand : subcommands_) add_quiet_option(*subcommand.app);
  app_->require_subcommand(0, 1);
  app_->allow_extras();
  for (const Subcommand& subcommand : subcommands_) subcommand.app->allow_extras();
}

CommandLine::~CommandLine() = default;

int CommandLine::run(std::vector<std::string> words, const std::function<int(const Subcommand&)>& run) {
  if (const Topic* topic = topic_asked_for(words)) {
    print(wrapped_help(topic_text(*topic)));
    return exit_ok;
  }
  try {
    if (words == std::vector<std::string>{"help", "how"}) {
      print(wrapped_help(how_help()));
      return exit_ok;
    }
    words = plain_words(std::move(words), *app_);
    std::reverse(words.begin(), words.end());  // CLI11 takes words in this order
    app_->parse(std::move(words));
  } catch (const CLI::CallForVersion&) {
    print(version_text(app_->get_name()) + "\n");
    return exit_ok;
  } catch (const CLI::CallForHelp&) {
    print(wrapped_help(app_->help()));
    return exit_ok;
  } catch (const CLI::CallForAllHelp&) {
    print(wrapped_help(app_->help("", CLI::AppFormatMode::All)));
    return exit_ok;
  } catch (const CLI::ParseError& error) {
    throw Error(Errc::invalid_argument, usage_message(*app_, subcommands_, &error));
  }
  for (const Subcommand& subcommand : subcommands_)
    if (subcommand.app->parsed() && app_->remaining(true).empty()) return run(subcommand);
  if (app_->get_subcommands().empty() && app_->remaining().empty()) {  // the words are `kith` alone
    print(wrapped_help(app_->help()));
    return exit_code(Errc::invalid_argument);
  }
  throw Error(Errc::invalid_argument, usage_message(*app_, subcommands_, nullptr));
}

}  // namespace kith::command
