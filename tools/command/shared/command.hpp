// The functions that the subcommands of `kith` and `kith-lab` share.
//
// A subcommand is one function, add_NAME(parent): it registers its options and returns what to do
// when it is asked for. command_line.cpp calls all of them, parses, and runs the one that was named:
//
//   Subcommand add_compare(CLI::App& parent) {
//     auto flags = std::make_shared<CompareFlags>();
//     CLI::App* app = parent.add_subcommand("compare", "Every stage on every device: same bits?");
//     add_device_option(*app, flags->device);
//     add_examples(*app, {"kith compare --device cpu,opencl:pocl"});
//     return {app, [flags] { return run_compare(*flags); }};  // an exit code; errors are thrown
//   }
//
// Results go to stdout by print(); everything else (notes, progress, errors) to stderr.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kith/choices.hpp"
#include "kith/error.hpp"
#include "kith/metric.hpp"
#include "kith/trace.hpp"
#include "kith/unstable/plan.hpp"
#include "report/plain.hpp"

namespace CLI {  // declared, not included: half of these files parse nothing
class App;
class Option;
}  // namespace CLI

namespace kith::command {

using report::columns, report::csv_cell, report::format_bytes, report::format_digits, report::format_double;
using report::format_float, report::format_number, report::format_seconds, report::TextTable;

/// Exit codes that no Errc has; exit_code() gives those that one has.
inline constexpr int exit_ok = 0;
inline constexpr int exit_failed_check =
    1;  ///< `compare` or `verify` found a difference, or `--expect` another number
inline constexpr int exit_interrupted = 130;  ///< stopped, but not by a signal; see interrupted_code()
inline constexpr int exit_closed_pipe = 141;  ///< the reader of stdout closed it, as `head` does

/// Returns the exit code: 2 invalid_argument ... 7 device_failure, 128 plus the signal (docs/contract.md, 8).
int exit_code(Errc code);

struct Subcommand {
  CLI::App* app;
  std::function<int()> run;  ///< returns an exit code; throws kith::Error
};

Subcommand add_devices(CLI::App& parent);
Subcommand add_search(CLI::App& parent);
Subcommand add_index(CLI::App& parent);
Subcommand add_groundtruth(CLI::App& parent);
Subcommand add_recall(CLI::App& parent);
Subcommand add_count(CLI::App& parent);
Subcommand add_graph(CLI::App& parent);
Subcommand add_classify(CLI::App& parent);
Subcommand add_regress(CLI::App& parent);
Subcommand add_evaluate(CLI::App& parent);
Subcommand add_structure(CLI::App& parent);
Subcommand add_select_features(CLI::App& parent);
Subcommand add_compare(CLI::App& parent);
Subcommand add_verify(CLI::App& parent);
Subcommand add_tune(CLI::App& parent);
Subcommand add_doctor(CLI::App& parent);
Subcommand add_manual(CLI::App& parent);

/// Returns all subcommands, in the order of `kith --help`.
std::vector<Subcommand> all_subcommands(CLI::App& parent);

/// Adds `--device SPEC`, default `auto`. If `several` is set, it takes several specs separated by commas;
/// split them with split_commas().
void add_device_option(CLI::App& app, std::string& device, bool several = false);

/// Adds `--metric NAME`, checked while parsing; the error message lists the valid names.
///   prepared  whether prepared metrics are taken, too
void add_metric_option(CLI::App& app, Metric& metric, bool prepared = true);

/// Run `parse` on each value an option is given, while parsing: what it throws is refused with the name of
/// the subcommand and the option in place of its own "where: ".
void check_by(CLI::App& app, CLI::Option* option, const std::string& option_name,
              std::function<void(const std::string&)> parse);

/// A whole number: `name` is as in CLI11, "-k" or "--k-max".
/// Text that is none, or a value outside [smallest, largest], is invalid_argument, in words.
CLI::Option* add_number(CLI::App& app, const std::string& name, std::int64_t& value, const std::string& help,
                        std::int64_t smallest, std::int64_t largest = INT64_MAX);

/// Adds an option of several whole numbers, separated by commas.
CLI::Option* add_numbers(CLI::App& app, const std::string& name, std::vector<std::int64_t>& values,
                         const std::string& help, std::int64_t smallest);

/// Adds an option of several texts, separated by commas or given one by one.
CLI::Option* add_texts(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                       const std::string& help, const std::string& type);

/// Adds an option whose value is one of `choices`, spelled as in the library; it is checked while parsing.
/// Case does not matter, nor whether words have - or _ between them. Messages spell them with -.
CLI::Option* add_choice(CLI::App& app, const std::string& name, std::string& value, const std::string& help,
                        const std::vector<std::string>& choices);

/// Parses a size: a number of bytes, or one such as 512M or 4G. Throws invalid_argument: it is no size.
std::size_t parse_bytes(const std::string& text);

/// How a search is done: --how, and two keys of --place: memory-limit (bytes, or with K, M, G) and
/// threads.
struct PlanFlags {
  SearchOptions how;              ///< only the tuning options of options.def
  std::vector<std::string> keys;  ///< the keys of --how that were given
  std::string memory_limit;
  std::int64_t threads = 0;
};
void add_plan_options(CLI::App& app, PlanFlags& flags);

/// Returns the options that these flags stand for, with interrupt_token() as their stop token.
/// Throws invalid_argument: the size is invalid.
SearchOptions plan_options(const PlanFlags& flags);

/// Parses a text such as `selector=radix,boxes=no` into `flags`.
/// Throws invalid_argument: the key or the value is unknown.
void take_how(const std::string& text, PlanFlags& flags);

/// Returns what `kith help how` prints: the keys of --how, and their values.
std::string how_help();

/// Adds the lines under "Examples" at the end of `--help`, and the meaning of the exit codes.
void add_examples(CLI::App& app, const std::vector<std::string_view>& lines);

std::vector<std::string> split_commas(std::string_view text);

/// Returns `kith 0.1.0`, if `program` is kith.
std::string version_text(const std::string& program);

/// Returns the command line, quoted for a shell.
std::string command_line();

/// Writes results to stdout at once. Text for a terminal goes through files::shown(); a file or a pipe gets
/// every byte unchanged. Throws ClosedPipe, or bad_file (disk full).
void print(std::string_view text);
struct ClosedPipe {};

/// Makes print() write to stderr from now on, or nothing if quiet() is set: stdout is for an output's data.
void print_to_stderr();

/// Writes a line to stderr that is no error: `kith: note: TEXT`, by files::shown_in_line(). Writes nothing if
/// quiet() is set.
void note(std::string_view text);

/// Writes a fault that does not end the command: `kith: TEXT`, even if quiet() is set.
void complain(std::string_view text);

/// Returns whether --quiet is set: no notes, no progress. Errors and results are still written.
void add_quiet_option(CLI::App& app);
bool quiet();

/// Throws invalid_argument, `WHERE: WHAT`: these options exclude each other.
[[noreturn]] void refuse(std::string_view where, const std::string& what);

/// The token is set when Ctrl-C (SIGINT), SIGTERM or SIGHUP comes. Before the first call of this function a
/// signal ends the process at once; afterwards, at most 1.5 s later.
std::stop_token interrupt_token();

/// Throws interrupted if a signal has come. Call it in loops between searches.
void throw_if_interrupted(std::string_view where);

/// A progress bar on stderr: only on a terminal, only after a second; its destructor removes it.
class ProgressBar {
 public:
  explicit ProgressBar(std::string what);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void update(double fraction);  ///< 0 ... 1

 private:
  std::string what_;
  std::chrono::steady_clock::time_point start_, drawn_;
  bool terminal_, shown_ = false;
};

/// Progress of work that tells its share late or never: `reading train.csv  3 s`, under the same conditions;
/// once update() has been given a share, `reading train.csv  42 %`.
class ActivityLine {
 public:
  explicit ActivityLine(std::string what);
  ~ActivityLine();
  ActivityLine(const ActivityLine&) = delete;
  ActivityLine& operator=(const ActivityLine&) = delete;

  void update(double fraction) { percent_ = static_cast<int>(100 * fraction); }  ///< 0 ... 1

 private:
  std::atomic<int> percent_ = -1;  ///< -1: no share was given
  std::jthread thread_;
};

/// Returns the steps of a search in the order in which they first run. With a proposer the chain comes last,
/// for the queries that are left to it.
std::vector<std::string_view> steps_in_order(const Plan& plan);

/// Returns a table of the seconds of each step of a search, in that order, one step per line.
std::string stage_times(const Trace& trace);

/// Formats the candidates of one query, divided by its k: `3.14`.
std::string candidates_per_k(std::int64_t candidates, const Plan& plan);

/// Returns a text that explains why the answer of a search is the one that computing every distance would
/// give. Each line states one fact.
///   trace  of a search whose steps were timed
std::string certificate(const Trace& trace, Arithmetic arithmetic = Arithmetic::f32);

/// The descriptions of a search that stdout gets before its results: --explain, --certify.
struct DiagnosticFlags {
  bool explain = false, certify = false;
  bool any() const { return explain || certify; }
};
void add_diagnostic_options(CLI::App& app, DiagnosticFlags& flags);

/// Prints each part with an empty line behind it; nothing if no part was asked for.
std::string diagnostics(const DiagnosticFlags& flags, const Trace& trace, Arithmetic arithmetic);

/// Says how doubles were ranked: a line with its line feed. Nothing for searches in single precision.
std::string ranked_doubles(const Trace& trace, Arithmetic arithmetic);

}  // namespace kith::command
