// kith groundtruth: writes exact neighbours to a file by which approximate searches are measured.
#include <CLI/CLI.hpp>
#include <memory>

#include "command/input/index_input.hpp"
#include "command/input/learned.hpp"
#include "command/input/source_input.hpp"
#include "command/results/distances.hpp"
#include "command/rows/training_index.hpp"
#include "command/shared/command.hpp"
#include "command/words/place.hpp"
#include "files/ground_truth.hpp"
#include "files/output.hpp"
#include "kith/index.hpp"

namespace kith::command {
namespace {

struct GroundTruthFlags : RowFlags {
  std::int64_t k = 100;
  std::string out;
  bool no_distances = false;
  DiagnosticFlags diagnostics;
};

/// Returns the metric of the file: its Euclidean distances are squared; the neighbours are the same.
Metric metric_in_file(Metric metric) {
  return metric == Metric::l2 ? Metric::squared_l2 : metric;
}

Neighbors find_truth(const GroundTruthFlags& flags, Training& training, const Rows& queries, Trace* trace) {
  SearchOptions options = plan_options(flags.plan);
  options.filter = training.filter_words();
  const TrainingIndex index(training, open_my_device(flags.device), metric_in_file(flags.metric), false);
  ProgressBar bar("searching");
  options.progress = [&bar](const Progress& progress) { bar.update(progress.fraction); };
  const Metric metric = metric_in_file(index.shown().metric);
  if (index.shown().metric == metric) return index.search(queries.searched(), flags.k, options, trace);
  // An index file of l2, or minkowski with p = 2: the keys hold the squared distances.
  return finish(metric, index.keys(queries.searched(), flags.k, options, trace));
}

int run_groundtruth(const CLI::App& app, GroundTruthFlags flags) {
  take_index(app, flags, false);
  admit_metric("groundtruth", flags.training, flags.metric);
  flags.training.tables.in_parts = ranks() != nullptr;
  files::check_ground_truth_name(flags.out);
  OutputFile out(flags.out, "ibin");
  Training training = read_training("groundtruth", flags.training);
  take_metric_of_file(app, training.rows.table, flags.metric);
  check_k("groundtruth", flags.k, training, false);
  const Rows queries = read_prepared_queries(flags.training, training);
  Trace trace;
  const Neighbors found = find_truth(flags, training, queries, flags.diagnostics.any() ? &trace : nullptr);
  std::vector<float> floats;  // all that the file holds
  if (!flags.no_distances)
    floats =
        with_distances(found, [](const auto& all) { return std::vector<float>(all.begin(), all.end()); });
  const MatrixView<const float> distances = {floats.data(), flags.no_distances ? 0 : found.queries, found.k};
  if (out) files::write_ground_truth(*out, {found.row.data(), found.queries, found.k}, distances);
  out.commit();
  print(diagnostics(flags.diagnostics, trace, training.arithmetic));
  return exit_ok;
}

}  // namespace

Subcommand add_groundtruth(CLI::App& parent) {
  auto flags = std::make_shared<GroundTruthFlags>();
  CLI::App* app = parent.add_subcommand(
      "groundtruth", "Write the exact neighbours of queries, to score approximate searches");
  add_table_options(*app, flags->training.tables,
                    "Column of text files to leave out, because it holds labels: a name, or a number from 1; "
                    "-1 is the last");
  add_index_option(*app, flags->training);
  app->get_option("--queries")->required();
  add_number(*app, "-k", flags->k, "How many neighbours to find", 1)->capture_default_str();
  writes_file(
      app->add_option("--out", flags->out,
                      "Write them as big-ann-benchmarks reads them: uint32 queries, k; int32 rows; float32 "
                      "distances, squared for Euclid. The name ends in .ibin or .bin; - is stdout"))
      ->required();
  app->add_flag("--no-distances", flags->no_distances, "Write the rows only");
  add_metric_options(*app, flags->metric, flags->training);
  add_device_option(*app, flags->device);
  add_filter_option(*app, flags->training);
  add_diagnostic_options(*app, flags->diagnostics);
  std::vector<Key> keys = category_keys(flags->training.tables);
  keys.push_back(arithmetic_key(flags->training));
  add_prepare_option(*app, std::move(keys));
  add_plan_options(*app, flags->plan, rows_keys(flags->training));
  add_examples(*app, {"kith groundtruth --train base.u8bin --queries query.u8bin -k 100 --out gt.ibin",
                      "kith groundtruth --train base.fvecs --queries query.fvecs --out gt.ibin --certify",
                      "kith recall --truth gt.ibin --found ann.ibin -k 10"});
  return {app, [app, flags] { return run_groundtruth(*app, *flags); }};
}

}  // namespace kith::command
