// kith graph: finds the nearest rows of every row, and writes them as matrices or edges.
#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <vector>

#include "command/input/index_input.hpp"
#include "command/input/learned.hpp"
#include "command/input/source_input.hpp"
#include "command/results/distances.hpp"
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

struct GraphFlags : QuestionFlags {
  std::string out, out_distance, edges;
};

/// Finds neighbours by the rows of the file instead of those searched; rows that miss a value and are dropped
/// have none.
Neighbors find_graph(const GraphFlags& flags, Training& training, Trace* trace) {
  check_k("graph", flags.query_flags.k, training, true);
  SearchOptions options = question_options(flags, training, training.rows);
  const Index index = index_of(training, open_my_device(flags.device), flags.metric, true);
  ProgressBar bar("finding neighbours");
  options.progress = [&bar](const Progress& progress) { bar.update(progress.fraction); };
  Neighbors found = index.search(training.rows.searched(), flags.query_flags.k, options, trace);
  spread(training.rows, training, found);
  return found;
}

/// Writes a line for each edge: from, to, distance, with tabs between them.
void write_edges(files::AtomicFile& file, const RadiusNeighbors& found, bool header) {
  if (header) file.write("from\tto\tdistance\n");
  const std::int64_t k = found.count(0);
  for (std::size_t i = 0; i < found.row.size(); ++i) {
    if (found.row[i] == no_neighbor) continue;
    file.write(std::to_string(static_cast<std::int64_t>(i) / k) + "\t" + std::to_string(found.row[i]) + "\t" +
               distance_text(found, i) + "\n");
  }
}

void check_graph_flags(const GraphFlags& flags) {
  if (flags.out.empty() && flags.out_distance.empty() && flags.edges.empty())
    throw Error(Errc::invalid_argument,
                "graph: nothing is to be written; give --out, --out-distance or --out-edges");
  if (!flags.out.empty()) files::check_output_name(flags.out, files::Content::indices, flags.output.format);
  if (!flags.out_distance.empty())
    files::check_output_name(flags.out_distance, files::Content::distances, flags.output.format);
}

int run_graph(const CLI::App& app, GraphFlags flags) {
  take_index(app, flags, true);
  check_graph_flags(flags);
  admit_metric("graph", flags.training, flags.metric);
  OutputFile rows(flags.out, flags.output.format), distances(flags.out_distance, flags.output.format),
      edges(flags.edges, "tsv");
  flags.training.single = why_single("--out-distance", flags.out_distance, flags.output);
  Training training = read_training("graph", flags.training);
  check_distance_file("graph", flags.out_distance, flags.output, training);
  take_metric_of_file(app, training.rows.table, flags.metric);
  Trace trace;
  Neighbors found = find_graph(flags, training, flags.diagnostics.any() ? &trace : nullptr);
  const auto names = [&](const char* what) { return header_of(flags.output, numbered(what, found.k)); };
  const auto matrix = [&](const auto& values) { return MatrixView(values.data(), found.queries, found.k); };
  if (rows) files::write_rows(*rows, matrix(found.row), names("neighbor"));
  if (distances)
    with_distances(found,
                   [&](const auto& all) { files::write_rows(*distances, matrix(all), names("distance")); });
  if (edges) write_edges(*edges, as_lists(std::move(found)), !names("neighbor").empty());
  rows.commit();
  distances.commit();
  edges.commit();
  print(diagnostics(flags.diagnostics, trace, training.arithmetic));
  return exit_ok;
}

}  // namespace

Subcommand add_graph(CLI::App& parent) {
  auto flags = std::make_shared<GraphFlags>();
  flags->query_flags.leave_one_out = true;
  CLI::App* app = parent.add_subcommand("graph", "Find the k nearest other rows of every row");
  add_table_options(*app, flags->training.tables,
                    "Column of text files to leave out, because it holds labels: a name, or a number from 1; "
                    "-1 is the last",
                    false);
  add_index_option(*app, flags->training);
  add_number(*app, "-k", flags->query_flags.k, "How many neighbours to find for each row", 1)
      ->capture_default_str();
  add_filter_option(*app, flags->training);
  add_group_option(*app, flags->training);
  add_feature_option(*app, flags->training);
  add_box_option(*app, flags->training);
  add_preparation_options(*app, flags->training, {arithmetic_key(flags->training)});
  add_metric_options(*app, flags->metric, flags->training);
  add_device_option(*app, flags->device);
  writes_file(app->add_option(
      "--out", flags->out,
      "Write the row numbers found, from 0, [rows, k]: .npy (int64), .ivecs, .csv, .tsv, .txt"));
  writes_file(
      app->add_option("--out-distance", flags->out_distance,
                      "Write the distances in the same way: .npy (float32 or float64), .csv, .tsv, .txt; "
                      ".fvecs (float32 alone)"));
  writes_file(app->add_option("--out-edges", flags->edges,
                              "Write one edge per line: from, to and distance, separated by tabs"));
  add_output_options(*app, flags->output);
  add_diagnostic_options(*app, flags->diagnostics);
  add_plan_options(*app, flags->plan, rows_keys(flags->training));
  add_examples(*app, {"kith graph --train points.npy -k 16 --out nearest.npy --out-distance far.npy",
                      "kith graph --train a.csv --label-column -1 -k 5 --out-edges edges.tsv --explain"});
  return {app, [app, flags] { return run_graph(*app, *flags); }};
}

}  // namespace kith::command
