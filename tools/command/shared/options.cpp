// Options that several subcommands take, and their texts.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <limits>

#include "command/shared/command.hpp"
#include "command/shared/interrupt.hpp"
#include "files/named.hpp"
#include "kith/parse.hpp"

namespace kith::command {
namespace {

/// Describes the exit codes of docs/contract.md, section 8.
constexpr const char* exit_code_help =
    "\nExit codes: 0 success, 1 a check failed, 2 wrong arguments, 3 a bad file, 4 no such device,\n"
    "  5 out of memory, 6 unsupported, 7 a device failed, 128 + N stopped by signal N (130 Ctrl-C,\n"
    "  143 SIGTERM, 129 SIGHUP), 141 stdout was closed";

/// Describes a range: "a value of at least 1", "a value from 1 to 9"
std::string range_text(std::int64_t smallest, std::int64_t largest) {
  if (largest == std::numeric_limits<std::int64_t>::max())
    return "a whole number of at least " + std::to_string(smallest);
  return "a whole number from " + std::to_string(smallest) + " to " + std::to_string(largest);
}

/// Lists each name with its other names: `l2 (euclidean)`.
std::string metric_names(bool prepared) {
  std::vector<Metric> metrics(all_metrics.begin(), all_metrics.end());
  if (prepared) {
    metrics.insert(metrics.end(), prepared_metrics.begin(), prepared_metrics.end());
    metrics.insert(metrics.end(), sum_metrics.begin(), sum_metrics.end());
  }
  std::vector<std::string> names;
  for (const Metric metric : metrics) {
    std::string others = files::joined(other_names(metric));
    if (metric == Metric::negative_dot) others += "; the negated product, so that smaller is nearer";
    names.push_back(std::string(name(metric)) + (others.empty() ? "" : " (" + others + ")"));
  }
  return files::joined(names);
}

/// Refuses a metric that a subcommand does not take.
void check_metric(Metric metric, bool prepared) {
  const std::string named(name(metric));
  if (is_prepared(metric) && !prepared)
    refuse("metric",
           named + " is a prepared metric, for which an index changes rows; choose one with a chain, as l2");
  if (is_of_sums(metric) && !prepared)
    refuse("metric", named + " is a quotient of two sums; choose one with a chain, as l2");
}

void check_number(CLI::App& app, CLI::Option* option, std::int64_t smallest, std::int64_t largest) {
  const std::string shown = option->get_name();
  option->check(CLI::Validator(
      [&app, shown, smallest, largest](std::string& text) -> std::string {
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error == std::errc::invalid_argument || end != text.data() + text.size())
          refuse(app.get_name(),
                 shown + " = \"" + text + "\" is no whole number; give " + range_text(smallest, largest));
        if (error != std::errc() || number < smallest || number > largest)
          refuse(app.get_name(),
                 shown + " = " + text + " is out of range; give " + range_text(smallest, largest));
        return {};
      },
      ""));
}

}  // namespace

int exit_code(Errc code) {
  switch (code) {
    case Errc::invalid_argument:
      return 2;
    case Errc::bad_file:
      return 3;
    case Errc::unavailable:
      return 4;
    case Errc::out_of_memory:
      return 5;
    case Errc::unsupported:
      return 6;
    case Errc::device_failure:
      return 7;
    case Errc::interrupted:
      return interrupted_code();
  }
  return 7;
}

void check_by(CLI::App& app, CLI::Option* option, const std::string& option_name,
              std::function<void(const std::string&)> parse) {
  option->check(CLI::Validator(
      [&app, option_name, parse = std::move(parse)](std::string& text) -> std::string {
        try {
          parse(text);
        } catch (const Error& error) {
          const std::string message = error.what();  // "metric: ..."
          const std::size_t colon = message.find(": ");
          const std::string rest = colon == std::string::npos ? message : message.substr(colon + 2);
          throw Error(error.code(), app.get_name() + ": " + option_name + ": " + rest);
        }
        return {};
      },
      ""));
}

void add_device_option(CLI::App& app, std::string& device, bool several) {
  app.add_option("--device", device,
                 several ? "auto, cpu, cuda:0, opencl:0, opencl:NAME, or several separated by commas; `kith "
                           "devices` lists those of this machine"
                         : "auto (the first GPU by CUDA, else by OpenCL, else the CPU), gpu (never the CPU), "
                           "cpu, cuda:0, opencl:0, opencl:NAME (part of a device's name), or several joined "
                           "by +; `kith devices` lists those of this machine")
      ->type_name(several ? "SPECS" : "SPEC")
      ->capture_default_str();
}

void add_metric_option(CLI::App& app, Metric& metric, bool prepared) {
  CLI::Option* option = app.add_option_function<std::string>(
      "--metric", [&metric](const std::string& text) { metric = parse<Metric>(text); },
      "How distance is measured: " + metric_names(prepared));
  option->type_name("NAME")->default_str(std::string(name(metric)));
  check_by(app, option, "--metric",
           [prepared](const std::string& text) { check_metric(parse<Metric>(text), prepared); });
}

CLI::Option* add_number(CLI::App& app, const std::string& name, std::int64_t& value, const std::string& help,
                        std::int64_t smallest, std::int64_t largest) {
  CLI::Option* option = app.add_option(name, value, help)->type_name("N");
  check_number(app, option, smallest, largest);
  return option;
}

CLI::Option* add_numbers(CLI::App& app, const std::string& name, std::vector<std::int64_t>& values,
                         const std::string& help, std::int64_t smallest) {
  CLI::Option* option = app.add_option(name, values, help)->type_name("N,N,...")->delimiter(',');
  option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  check_number(app, option, smallest, std::numeric_limits<std::int64_t>::max());
  return option;
}

CLI::Option* add_choice(CLI::App& app, const std::string& name, std::string& value, const std::string& help,
                        const std::vector<std::string>& choices) {
  CLI::Option* option = app.add_option(name, value, help)->type_name("WHAT");
  std::string shown = value;
  std::replace(shown.begin(), shown.end(), '_', '-');
  option->default_str(shown);
  return option->transform(CLI::Validator(
      [&app, name, choices](std::string& text) -> std::string {
        const std::string given = text;
        text = plain_name(text);
        if (std::find(choices.begin(), choices.end(), text) != choices.end()) return {};
        std::vector<std::string> spelled = choices;
        for (std::string& choice : spelled) std::replace(choice.begin(), choice.end(), '_', '-');
        throw Error(Errc::invalid_argument, app.get_name() + ": " + name + ": there is no \"" + given +
                                                "\"; " + advice_on_name(given, spelled));
      },
      ""));
}

CLI::Option* add_texts(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                       const std::string& help, const std::string& type) {
  CLI::Option* option = app.add_option(name, values, help)->type_name(type)->expected(1)->delimiter(',');
  return option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

std::size_t parse_bytes(const std::string& text) {
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string unit(end, text.data() + text.size());
  unsigned shift = 0;
  if (unit == "K" || unit == "k" || unit == "KiB")
    shift = 10;
  else if (unit == "M" || unit == "MiB")
    shift = 20;
  else if (unit == "G" || unit == "GiB")
    shift = 30;
  else if (!unit.empty())
    shift = 64;
  if (error != std::errc() || shift == 64 || count == 0 || count > (UINT64_MAX >> shift))
    throw Error(Errc::invalid_argument, "size: \"" + text + "\" is no size in bytes; write it as 512M or 4G");
  return static_cast<std::size_t>(count << shift);
}

SearchOptions plan_options(const PlanFlags& flags) {
  SearchOptions options = flags.how;
  if (!flags.memory_limit.empty()) options.memory_limit = parse_bytes(flags.memory_limit);
  options.threads = static_cast<std::uint32_t>(flags.threads);
  options.stop = interrupt_token();
  return options;
}

void add_examples(CLI::App& app, const std::vector<std::string_view>& lines) {
  std::string text = "Examples:\n";
  for (std::string_view line : lines) text += "  " + std::string(line) + "\n";
  app.footer(text + exit_code_help);
}

std::vector<std::string> split_commas(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    parts.emplace_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return parts;
}

}  // namespace kith::command
