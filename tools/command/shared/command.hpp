// What the subcommands of `kith` and `kith-lab` share.
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
    1;  ///< `compare` or `verify` found a difference, `--expect` another number
inline constexpr int exit_interrupted = 130;  ///< stopped, but by no signal; see interrupted_code()
inline constexpr int exit_closed_pipe = 141;  ///< stdout was closed by its reader, as `head` does

/// docs/contract.md, section 8: 2 invalid_argument ... 7 device_failure; 128 and the signal, interrupted.
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

/// All of them, in the order of `kith --help`.
std::vector<Subcommand> all_subcommands(CLI::App& parent);

/// `--device SPEC`, default `auto`. Takes several separated by commas where `several` is set;
/// split them with split_commas().
void add_device_option(CLI::App& app, std::string& device, bool several = false);

/// `--metric NAME`, checked while parsing; the message lists those there are.
void add_metric_option(CLI::App& app, Metric& metric);

/// Run `parse` on each value an option is given, while parsing: what it throws is refused with the name of
/// the subcommand and the option in place of its own "where: ".
void check_by(CLI::App& app, CLI::Option* option, const std::string& option_name,
              std::function<void(const std::string&)> parse);

/// A whole number: `name` is as in CLI11, "-k" or "--k-max".
/// Text that is none, or a value outside [smallest, largest], is invalid_argument, in words.
CLI::Option* add_number(CLI::App& app, const std::string& name, std::int64_t& value, const std::string& help,
                        std::int64_t smallest, std::int64_t largest = INT64_MAX);

/// The same for several, with commas between them.
CLI::Option* add_numbers(CLI::App& app, const std::string& name, std::vector<std::int64_t>& values,
                         const std::string& help, std::int64_t smallest);

/// An option of several texts, with commas between them or given several times.
CLI::Option* add_texts(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                       const std::string& help, const std::string& type);

/// One of `choices`, which are spelled as the library does, checked while parsing: in any case, with - or _.
/// Messages spell them with -.
CLI::Option* add_choice(CLI::App& app, const std::string& name, std::string& value, const std::string& help,
                        const std::vector<std::string>& choices);

/// A size: bytes, or as 512M, 4G. Throws invalid_argument: it is none.
std::size_t parse_bytes(const std::string& text);

/// How a search is done, from the command line: --how, and the keys memory-limit (bytes, or with K, M, G) and
/// threads of --place.
struct PlanFlags {
  SearchOptions how;              ///< the tuning options of options.def alone
  std::vector<std::string> keys;  ///< those of --how that were given
  std::string memory_limit;
  std::int64_t threads = 0;
};
void add_plan_options(CLI::App& app, PlanFlags& flags);

/// The options these flags stand for, with interrupt_token() as their stop token.
/// Throws invalid_argument: no such size.
SearchOptions plan_options(const PlanFlags& flags);

/// Take a text such as `selector=radix,boxes=no` into `flags`.
/// Throws invalid_argument: no such key or value.
void take_how(const std::string& text, PlanFlags& flags);

/// What `kith help how` prints: the keys of --how, and their values.
std::string how_help();

/// Lines shown under "Examples" at the end of `--help`, and what the exit codes mean.
void add_examples(CLI::App& app, const std::vector<std::string_view>& lines);

std::vector<std::string> split_commas(std::string_view text);

/// `kith 0.1.0`, where `program` is kith.
std::string version_text(const std::string& program);

/// The command line as a shell would take it.
std::string command_line();

/// Write results to stdout, at once. A terminal gets them as files::shown() has them; a file or a pipe gets
/// every byte as it is. Throws ClosedPipe, or bad_file (disk full).
void print(std::string_view text);
struct ClosedPipe {};

/// From now on print() writes to stderr, and nothing where quiet() is: stdout is for the data of an output.
void print_to_stderr();

/// A line on stderr that is no error: `kith: note: TEXT`, as files::shown_in_line() has it. Nothing where
/// quiet() is.
void note(std::string_view text);

/// The same for what went wrong without ending the command: `kith: TEXT`, where quiet() is, too.
void complain(std::string_view text);

/// --quiet: no notes, no progress. Errors and results stay.
void add_quiet_option(CLI::App& app);
bool quiet();

/// Throw invalid_argument, `WHERE: WHAT`: options that do not go together.
[[noreturn]] void refuse(std::string_view where, const std::string& what);

/// Asked to stop when Ctrl-C (SIGINT), SIGTERM or SIGHUP comes. Before anybody has called this, a
/// signal ends the process at once; after that, at the latest 1.5 s later.
std::stop_token interrupt_token();

/// Throw interrupted if that has happened. For loops between searches.
void throw_if_interrupted(std::string_view where);

/// A bar on stderr: only on a terminal, only after a second, gone when it is destroyed.
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

/// For work that says late or never how far it is: `reading train.csv  3 s`, under the same conditions; once
/// update() has told a share, `reading train.csv  42 %`.
class ActivityLine {
 public:
  explicit ActivityLine(std::string what);
  ~ActivityLine();
  ActivityLine(const ActivityLine&) = delete;
  ActivityLine& operator=(const ActivityLine&) = delete;

  void update(double fraction) { percent_ = static_cast<int>(100 * fraction); }  ///< 0 ... 1

 private:
  std::atomic<int> percent_ = -1;  ///< -1: not told
  std::jthread thread_;
};

/// The steps of a search in the order in which they first run. With a proposer the chain comes last, for the
/// queries that are left to it.
std::vector<std::string_view> steps_in_order(const Plan& plan);

/// The seconds of each step of a search, in that order, a line each, as a table.
std::string stage_times(const Trace& trace);

/// `3.14`: candidates of one query over its k.
std::string candidates_per_k(std::int64_t candidates, const Plan& plan);

/// Returns a text that explains why the answer of a search is the one that computing every distance would
/// give. Each line states one fact.
///   trace  of a search whose steps were timed
std::string certificate(const Trace& trace);

/// What is told of a search, on stdout, before its results: --explain, --certify.
struct DiagnosticFlags {
  bool explain = false, certify = false;
  bool any() const { return explain || certify; }
};
void add_diagnostic_options(CLI::App& app, DiagnosticFlags& flags);

/// Each part with an empty line behind it; nothing where nothing was asked.
std::string diagnostics(const DiagnosticFlags& flags, const Trace& trace);

}  // namespace kith::command
