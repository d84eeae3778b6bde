// kith: the command.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "command/shared/command.hpp"
#include "command/shared/interrupt.hpp"
#include "command/shared/named_files.hpp"
#include "command/shared/usage.hpp"
#include "files/output.hpp"
#include "files/shown.hpp"
#include "kith/tuning.hpp"
#include "kith/version.hpp"

namespace {

using namespace kith::command;

constexpr const char* description =
    "Exact k-nearest-neighbour search and classification. Every device returns the same bits.";

int fail(kith::Errc code, const std::string& message) {
  const std::string told = code == kith::Errc::interrupted ? for_whom_it_was_stopped(message) : message;
  const std::string line =
      "kith: " + std::string(kith::name(code)) + ": " + kith::files::shown_in_line(told) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  return exit_code(code);
}

std::string version() {
  return "kith " + std::to_string(KITH_VERSION_MAJOR) + "." + std::to_string(KITH_VERSION_MINOR) + "." +
         std::to_string(KITH_VERSION_PATCH);
}

/// Afterwards, or when it fails, say once which files of `kith tune` were not believed.
int run_and_warn(const Subcommand& subcommand) {
  struct Warn {
    ~Warn() {
      for (const std::string& warning : kith::tuning_warnings()) note(warning);
    }
  } warn;
  if (!can_make_threads())
    note(
        "no thread can be made here, so kith works on one, and a stop leaves unfinished files behind; a "
        "limit of "
        "processes may be the reason (ulimit -u, or the pids of a container)");
  check_named_files(*subcommand.app);
  return subcommand.run();
}

/// The words of the command line, with `kith help X` as `kith X --help`, and `kith version` as `kith
/// --version`.
std::vector<std::string> words_of(int argc, char** argv, const CLI::App& app) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words[0] == "version") words[0] = "--version";
  if (words.empty() || words[0] != "help") return words;
  words.erase(words.begin());
  // What is no subcommand stands alone, and is refused as such.
  const std::vector<const CLI::App*> known = app.get_subcommands([](const CLI::App*) { return true; });
  const auto named = [&](const CLI::App* one) { return one->get_name() == words[0]; };
  if (words.empty() || std::any_of(known.begin(), known.end(), named)) words.emplace_back("--help");
  return words;
}

/// Parse the command line and run what it names.
int parse_and_run(int argc, char** argv) {
  CLI::App app(description, "kith");
  app.get_formatter()->column_width(help_column);
  app.set_version_flag("--version,-V", version());
  add_examples(
      app, {"kith devices", "kith search --train train.npy --queries queries.npy -k 5",
            "kith classify --train iris.csv --label-column species --query 5.1,3.5,1.4,0.2", "kith doctor"});
  const std::vector<Subcommand> subcommands = all_subcommands(app);
  app.require_subcommand(0, 1);  // `structure` is also the name of an experiment
  app.allow_extras();
  for (const Subcommand& subcommand : subcommands) subcommand.app->allow_extras();
  try {
    std::vector<std::string> words = words_of(argc, argv, app);
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    app.parse(std::move(words));
  } catch (const CLI::CallForVersion&) {
    print(version() + "\n");
    return exit_ok;
  } catch (const CLI::CallForHelp&) {
    print(wrapped_help(app.help()));
    return exit_ok;
  } catch (const CLI::ParseError& error) {
    return fail(kith::Errc::invalid_argument, usage_message(app, subcommands, &error));
  }
  for (const Subcommand& subcommand : subcommands)
    if (subcommand.app->parsed() && app.remaining(true).empty()) return run_and_warn(subcommand);
  return fail(kith::Errc::invalid_argument, usage_message(app, subcommands, nullptr));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    watch_for_interrupts();
    return parse_and_run(argc, argv);
  } catch (const kith::Error& error) {
    return fail(error.code(), error.what());
  } catch (const ClosedPipe&) {
    return exit_closed_pipe;
  } catch (const kith::files::ClosedPipe&) {
    return exit_closed_pipe;
  } catch (const std::bad_alloc&) {
    return fail(kith::Errc::out_of_memory,
                "kith: the host has no memory left for this; use fewer rows, or a smaller --memory-limit");
  } catch (const std::exception& error) {
    return fail(kith::Errc::device_failure,
                std::string("kith: unexpected: ") + error.what() + "; run `kith doctor` and report it");
  }
}
