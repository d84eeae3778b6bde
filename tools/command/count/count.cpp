// kith count: counts the training rows within radii of each query.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <vector>

#include "command/input/elements.hpp"
#include "command/input/index_input.hpp"
#include "command/input/learned.hpp"
#include "command/input/source_input.hpp"
#include "command/results/results_json.hpp"
#include "command/rows/group_column.hpp"
#include "command/rows/pieces.hpp"
#include "command/shared/command.hpp"
#include "command/shared/ranks.hpp"
#include "command/words/place.hpp"
#include "command/words/write.hpp"
#include "files/output.hpp"
#include "kith/index.hpp"

namespace kith::command {
namespace {

constexpr std::int64_t shown_lines = 10, shown_radii = 8;
constexpr std::int64_t not_counted = -1;  ///< of a query that was not asked

struct CountFlags : QuestionFlags {
  std::vector<std::string> radii;  ///< numbers
  bool strict = false, total = false;
  std::string out;
};

/// Holds the counts: a line for each query, or one of all.
struct Counts {
  std::int64_t lines = 0, queries = 0;
  std::vector<double> radii;
  std::vector<std::int64_t> numbers;  ///< [lines, radii]

  std::int64_t columns() const { return static_cast<std::int64_t>(radii.size()); }
  MatrixView<const std::int64_t> view() const { return {numbers.data(), lines, columns()}; }
};

std::string title_of(const CountFlags& flags, std::size_t radius) {
  return (flags.strict ? "below " : "within ") + flags.radii[radius];
}

/// Shows the first counts as a table for readers.
std::string first_counts(const CountFlags& flags, const Counts& counts) {
  const std::int64_t columns = std::min(counts.columns(), shown_radii);
  std::vector<std::string> titles = {flags.total ? "queries" : "query"};
  for (std::int64_t r = 0; r < columns; ++r) titles.push_back(title_of(flags, static_cast<std::size_t>(r)));
  TextTable table(titles);
  for (std::int64_t q = 0; q < std::min(counts.lines, shown_lines); ++q) {
    std::vector<std::string> cells = {std::to_string(flags.total ? counts.queries : q)};
    for (std::int64_t r = 0; r < columns; ++r)
      cells.push_back(counts.view()(q, r) == not_counted ? "-" : std::to_string(counts.view()(q, r)));
    table.add(std::move(cells));
  }
  std::string text = flags.total ? "pairs of a query and a training row, by distance\n"
                                 : "number of training rows near each query, from 0\n";
  text += table.text();
  if (counts.lines > shown_lines || counts.columns() > shown_radii)
    text += "(" + std::to_string(counts.lines) + " queries, " + std::to_string(counts.columns()) +
            " radii; --out writes all, --json prints all)\n";
  return text;
}

void check_count_flags(const CLI::App& app, CountFlags& flags) {
  check_element_flags(app, flags.training.tables, flags.metric);
  admit_metric("count", flags.training, flags.metric);
  if (flags.radii.empty()) refuse("count", "--radius is missing; give distances, such as --radius 0.5,1,2");
  if (flags.shown.json) check_json_alone("count", {{"--out", flags.out}});
  if (!flags.out.empty()) files::check_output_name(flags.out, files::Content::indices, flags.output.format);
  if (check_query_flags(app, flags.training, flags.query_flags, false))
    refuse("count", "--queries is missing; see `kith count --help`");
}

Counts count_rows(const CountFlags& flags, Training& training, DeviceInfo& device, Trace* trace) {
  Counts counts;
  for (const std::string& radius : flags.radii)
    counts.radii.push_back(radius_of("count", radius, flags.metric, training.arithmetic));
  const bool leave_one_out = flags.query_flags.leave_one_out;
  const Rows own = read_asked(flags.training, flags.query_flags, training);
  const Rows& asked = leave_one_out ? training.rows : own;
  const RowsView queries = asked.searched();
  SearchOptions options = question_options(flags, training, asked);
  const Device opened = open_my_device(flags.device);
  const Index index = index_of(training, opened, flags.metric, leave_one_out);
  device = opened.info();
  ProgressBar bar("counting");
  options.progress = [&bar](const Progress& progress) { bar.update(progress.fraction); };
  const CountRadii radii{{counts.radii.data(), 1, counts.columns()}, flags.strict};
  counts.queries = flags.total ? asked.count() : asked.table.rows;
  if (flags.total) {
    counts.lines = 1;
    counts.numbers = index.two_point(queries, radii, options, trace);
    return counts;
  }
  counts.numbers = index.count(queries, radii, options, trace);
  asked.spread(counts.numbers, counts.radii.size(), not_counted);
  counts.lines = asked.table.rows;
  return counts;
}

nlohmann::ordered_json counts_json(const Counts& counts, std::int64_t line) {
  if (counts.view()(line, 0) == not_counted) return nullptr;
  const std::int64_t* const first = counts.view().row(line);
  return std::vector<std::int64_t>(first, first + counts.columns());
}

void print_json(const CountFlags& flags, const Training& training, const Counts& counts,
                const DeviceInfo& device, const Trace& trace) {
  report::Document document;
  add_rows_asked(document, training, counts.queries, flags.metric, device);
  document.add(report::Fact{"radii", "", radii_json(flags.radii, training.arithmetic)});
  document.add(report::Fact{"strict", "", flags.strict});
  if (flags.total) document.add(report::Fact{"total", "", counts_json(counts, 0)});
  add_members(document, trace);
  print_results(document, flags.total ? 0 : counts.lines, [&](std::int64_t q) {
    return nlohmann::ordered_json{{"query", q}, {"counts", counts_json(counts, q)}};
  });
}

int run_count(const CLI::App& app, CountFlags flags) {
  flags.query_flags.k_in_radius = true;  // there is no -k beside which --radius would be too much
  take_index(app, flags, flags.query_flags.leave_one_out);
  check_count_flags(app, flags);
  OutputFile file(flags.out, flags.output.format);
  Training training = read_training("count", flags.training);
  take_metric_of_file(app, training.rows.table, flags.metric);
  DeviceInfo device;
  Trace trace;
  trace.time_steps = flags.diagnostics.any();
  const bool traced = flags.diagnostics.any() || flags.shown.json;
  const Counts counts = count_rows(flags, training, device, traced ? &trace : nullptr);
  if (file) {
    std::vector<std::string> names;
    for (const std::string& radius : flags.radii)
      names.push_back((flags.strict ? "below_" : "within_") + radius);
    files::write_rows(*file, counts.view(), header_of(flags.output, std::move(names)));
    file.commit();
  }
  if (flags.shown.json) {
    print_json(flags, training, counts, device, trace);
  } else {
    print(diagnostics(flags.diagnostics, trace, training.arithmetic));
    if (!file) print(first_counts(flags, counts));
  }
  return exit_ok;
}

}  // namespace

Subcommand add_count(CLI::App& parent) {
  auto flags = std::make_shared<CountFlags>();
  CLI::App* app =
      parent.add_subcommand("count", "Count the training rows within distances of each query, exactly");
  add_table_options(*app, flags->training.tables,
                    "Column of text files to leave out, because it holds labels: a name, or a number from 1; "
                    "-1 is the last",
                    true, {element_key(flags->training.tables)});
  add_index_option(*app, flags->training);
  add_asked_options(*app, flags->query_flags);
  add_texts(*app, "--radius", flags->radii, "Count the rows within each of these distances, which ascend",
            "R,...");
  app->add_flag("--strict", flags->strict, "Count rows nearer than a radius, and not those at it");
  app->add_flag("--total", flags->total,
                "Add up the counts of all queries, as two-point correlations need it");
  add_filter_option(*app, flags->training);
  add_group_option(*app, flags->training);
  add_feature_option(*app, flags->training);
  add_box_option(*app, flags->training);
  add_preparation_options(*app, flags->training, {arithmetic_key(flags->training)});
  writes_file(app->add_option("--out", flags->out,
                              "Write the counts, [queries, radii], or with --total [1, radii]: .npy (int64), "
                              ".ivecs, .ibin, .csv, .tsv, .txt; -1 for a query that misses a value"));
  add_output_options(*app, flags->output);
  app->add_flag("--json", flags->shown.json, "Print all counts as JSON");
  add_metric_options(*app, flags->metric, flags->training);
  add_device_option(*app, flags->device);
  add_diagnostic_options(*app, flags->diagnostics);
  add_plan_options(*app, flags->plan, rows_keys(flags->training));
  add_examples(*app, {"kith count --train train.npy --queries queries.npy --radius 0.5,1,2 --out counts.csv",
                      "kith count --train stars.csv --leave-one-out --radius 0.1,0.2,0.4 --strict --total",
                      "kith count --train points.npy --query 2.5,7 --radius 1.5 --metric l1 --explain"});
  return {app, [app, flags] { return run_count(*app, *flags); }};
}

}  // namespace kith::command
