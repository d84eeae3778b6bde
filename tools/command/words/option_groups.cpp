#include "command/words/option_groups.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

namespace kith::command {
namespace {

struct Heading {
  std::string title;
  std::vector<std::string> options;  ///< in the order in which they are shown
};

/// The options that everybody needs come first. An option that is in none of these lists is shown under its
/// own heading, or after the options of the first one.
const std::vector<Heading>& headings() {
  static const std::vector<Heading> all = {
      {"What to search",
       {"-k",       "--k-max",         "--k-sweep", "--metric", "--query", "--queries",      "--train",
        "--radius", "--strict",        "--total",   "--index",  "--model", "--label-column", "--labels",
        "--target", "--leave-one-out", "--values",  "--truth",  "--folds", "--seed"}},
      {"Columns and rows",
       {"--features", "--drop", "--scale", "--prepare", "--filter", "--groups-column", "--metric-params"}},
      {"Votes", {"--votes"}},
      {"How files are read", {"--csv", "--read"}},
      {"Output",
       {"--out",    "--out-index",  "--out-distance",  "--out-edges",  "--no-distances", "--proba",
        "--table",  "--save-model", "--report",        "--json",       "--explain",      "--certify",
        "--expect", "--write",      "--quiet",         "--checkpoint", "--errors",       "--distances",
        "--help",   "--help-all",   "--sample-classes"}},
      {"Devices", {"--device", "--place"}},
      {"How it is done (the result is the same)", {}}};
  return all;
}

/// Returns whether users need the option, for subcommands that have more options than fit on a screen.
bool is_needed(const CLI::Option& option) {
  static const std::vector<std::string> needed = {
      "-k",          "--radius",    "--k-max",    "--metric",   "--query",        "--queries",
      "--train",     "--index",     "--model",    "--target",   "--label-column", "--scale",
      "--csv",       "--out",       "--stage",    "--device",   "--save-model",   "--help",
      "--criterion", "--out-index", "--help-all", "--workload", "--stages",       "-n",
      "-m",          "--dims"};
  return std::any_of(needed.begin(), needed.end(),
                     [&](const std::string& name) { return option.check_name(name); });
}

/// Returns the options of a subcommand without positional and hidden ones.
std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  std::vector<const CLI::Option*> shown;
  for (const CLI::Option* option : app.get_options())
    if (option->nonpositional() && !option->get_group().empty()) shown.push_back(option);
  return shown;
}

/// Returns the place of an option in the list of a heading; the end of the list if it is not there.
std::size_t place_in(const Heading& heading, const CLI::Option& option) {
  const auto at = std::find_if(heading.options.begin(), heading.options.end(),
                               [&](const std::string& name) { return option.check_name(name); });
  return static_cast<std::size_t>(at - heading.options.begin());
}

/// Returns the heading of an option, one of headings().
std::size_t heading_of(const CLI::Option& option) {
  for (std::size_t h = 0; h < headings().size(); ++h)
    if (place_in(headings()[h], option) < headings()[h].options.size() ||
        headings()[h].title == option.get_group())
      return h;
  return 0;
}

std::vector<OptionGroup> by_heading(const std::vector<const CLI::Option*>& options) {
  std::vector<OptionGroup> groups;
  for (const Heading& heading : headings()) groups.push_back({heading.title, {}});
  for (const CLI::Option* option : options) groups[heading_of(*option)].options.push_back(option);
  for (std::size_t h = 0; h < groups.size(); ++h)
    std::stable_sort(groups[h].options.begin(), groups[h].options.end(),
                     [&](const CLI::Option* a, const CLI::Option* b) {
                       return place_in(headings()[h], *a) < place_in(headings()[h], *b);
                     });
  std::erase_if(groups, [](const OptionGroup& group) { return group.options.empty(); });
  return groups;
}

std::vector<OptionGroup> as_given(const std::vector<const CLI::Option*>& options) {
  std::vector<OptionGroup> groups;
  for (const CLI::Option* option : options) {
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const OptionGroup& one) { return one.title == option->get_group(); });
    if (group == groups.end()) group = groups.insert(group, {option->get_group(), {}});
    group->options.push_back(option);
  }
  return groups;
}

class GroupedHelp : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    const bool all = mode == CLI::AppFormatMode::All;
    std::string text = make_description(app) + make_usage(app, std::move(name)) + make_positionals(app);
    for (const OptionGroup& group : option_groups(*app, all))
      text += make_group(group.title, false, group.options);
    return text + make_subcommands(app, CLI::AppFormatMode::Normal) + "\n" + make_footer(app);
  }
};

}  // namespace

std::vector<OptionGroup> option_groups(const CLI::App& app, bool all) {
  constexpr std::size_t on_a_screen = 16;
  std::vector<const CLI::Option*> shown = options_of(app);
  if (!all && shown.size() > on_a_screen)
    std::erase_if(shown, [](const CLI::Option* option) { return !is_needed(*option); });
  return app.get_option_no_throw("--train") ? by_heading(shown) : as_given(shown);
}

std::shared_ptr<CLI::FormatterBase> grouped_help() {
  return std::make_shared<GroupedHelp>();
}

}  // namespace kith::command
