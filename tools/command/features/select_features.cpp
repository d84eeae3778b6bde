// kith select-features: finds the columns that tell classes apart.
#include "command/features/select_features.hpp"
#include "command/how/choices.hpp"
#include "command/shared/ranks.hpp"
#include "kith/parse.hpp"

#include <CLI/CLI.hpp>
#include <cstring>
#include <memory>
#include <numeric>

#include "files/output.hpp"

namespace kith::command {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// Refuses options that have no effect with the method or the criterion, instead of ignoring them.
void check_options(const CLI::App& app, const SelectFeaturesFlags& flags) {
  if (flags.metric == Metric::minkowski)
    refuse("select-features", "--metric minkowski takes a power p, which is not read here; choose another");
  const auto refuse_given = [&](const char* name, const std::string& with, const std::string& advice) {
    if (app.get_option(name)->count() > 0)
      refuse("select-features", name + (" does not go with " + with) + "; " + advice);
  };
  if (flags.judged_by() == Criterion::informativeness)
    for (const char* name : {"-k", "--votes"})
      refuse_given(name, "--criterion q",
                   "there are no votes; give --criterion leave-one-out, or leave it out");
  if (flags.method == "backward")
    refuse_given("--most", "--method backward", "it begins with all; give --least, or leave it out");
  else
    refuse_given("--least", "--method " + flags.method, "it begins with none; give --most, or leave it out");
}

/// Copies only the candidates, [n, columns], of rows that are Number.
template <class Number>
std::vector<Number> gathered(const RowsView& rows, const std::vector<std::int64_t>& columns) {
  std::vector<Number> values(static_cast<std::size_t>(rows.rows) * columns.size());
  auto to = values.begin();
  for (std::int64_t r = 0; r < rows.rows; ++r)
    for (const std::int64_t c : columns)
      std::memcpy(&*to++, rows.row(r) + c * static_cast<std::int64_t>(sizeof(Number)), sizeof(Number));
  return values;
}

FeatureSelection select_among(const Device& device, const Training& training,
                              const std::vector<std::int64_t>& columns, Metric metric,
                              const FeatureSelectionOptions& options) {
  const RowsView rows = training.rows.searched();
  const auto select_from = [&](const auto& values) {
    const MatrixView all(values.data(), rows.rows, static_cast<std::int64_t>(columns.size()));
    return select_features(device, RowsView(all), training.labels[0].code, metric, options);
  };
  return rows.element == Element::f64 ? select_from(gathered<double>(rows, columns))
                                      : select_from(gathered<float>(rows, columns));
}

void choose_candidates(Selected& done) {
  done.columns = done.training.features;
  if (done.columns.empty()) {
    done.columns.resize(static_cast<std::size_t>(done.training.rows.width));
    std::iota(done.columns.begin(), done.columns.end(), 0);
  }
  const std::vector<std::string> all = column_names(done.training);
  for (const std::int64_t c : done.columns) done.names.push_back(all[static_cast<std::size_t>(c)]);
}

FeatureSelectionOptions selection_options(const SelectFeaturesFlags& flags, const Selected& done) {
  const auto columns = static_cast<std::int64_t>(done.columns.size());
  for (const auto& [name, value] : {std::pair{"--most", flags.most}, {"--least", flags.least}})
    if (value > columns)
      refuse("select-features", std::string(name) + " = " + std::to_string(value) + " but there are " +
                                    std::to_string(columns) + " columns to choose from; give " +
                                    std::to_string(columns) + " or fewer");
  FeatureSelectionOptions options;
  options.criterion = flags.judged_by();
  options.method = parse<SelectionMethod>(flags.method);
  options.most = flags.most;
  options.least = flags.least;
  options.k = flags.k;
  const files::Labels& labels = done.training.labels[0];
  if (options.criterion == Criterion::leave_one_out) {
    check_k("select-features", flags.k, done.training, true);
    VotingFlags voting = flags.voting;
    voting.reading = file_options(flags.training.tables);
    options.voting = voting_options("select-features", voting, &labels, classes_of(labels.code), flags.k);
  }
  options.plan = plan_options(flags.plan);
  options.arithmetic = done.training.arithmetic;
  return options;
}

Selected select(const SelectFeaturesFlags& flags) {
  Selected done;
  auto start = SteadyClock::now();
  done.training = read_classes("select-features", flags.training);
  const Training& training = done.training;
  choose_candidates(done);
  done.classes = static_cast<std::int64_t>(classes_of(training.labels[0].code).size());
  FeatureSelectionOptions options = selection_options(flags, done);
  done.seconds.emplace_back("read the files", lap(start));

  const Device device = open_my_device(flags.device);
  done.device = device.info();
  done.seconds.emplace_back("open and test the device", lap(start));
  ProgressBar bar("selecting columns");
  options.progress = [&bar](std::int64_t tried, std::int64_t expected) {
    throw_if_interrupted("select-features");
    bar.update(static_cast<double>(tried) / static_cast<double>(std::max(tried, expected)));
  };
  done.selection = select_among(device, training, done.columns, flags.metric, options);
  done.seconds.emplace_back("select", lap(start));
  return done;
}

int run_select_features(const CLI::App& app, SelectFeaturesFlags flags) {
  check_options(app, flags);
  require_answers("select-features", flags.training);
  admit_metric("select-features", flags.training, flags.metric);
  DocumentOutput output("select-features", flags.shown);
  const Selected done = select(flags);
  const report::Document document = selection_document(flags, done);
  output.write(document);
  output.commit();
  print_document(document, flags.shown);
  return exit_ok;
}

void add_selection_options(CLI::App& app, SelectFeaturesFlags& flags) {
  add_choice(app, "--criterion", flags.criterion,
             "How to judge a set of columns: q (distance between classes over distance within them), "
             "leave-one-out (share of the rows that their k nearest others classify right)",
             {"q", "leave_one_out"});
  add_choice(app, "--method", flags.method,
             "How to try sets of columns: forward (add the best column), backward (drop the one that is "
             "missed least), floating (forward, and drop columns where that beats the best set of that size)",
             names_of<SelectionMethod>());
  add_number(app, "--most", flags.most, "Columns of the largest set (forward, floating); 0: all", 0);
  add_number(app, "--least", flags.least, "Columns of the smallest set (backward)", 1)->capture_default_str();
  add_number(app, "-k", flags.k, "Neighbours that vote (leave-one-out)", 1)->capture_default_str();
}

}  // namespace

Subcommand add_select_features(CLI::App& parent) {
  auto flags = std::make_shared<SelectFeaturesFlags>();
  CLI::App* app = parent.add_subcommand("select-features", "Find the columns that tell classes apart");
  add_class_rows(*app, flags->training);
  app->get_option("--features")->description("Columns to choose from: names, numbers, ranges");
  add_selection_options(*app, *flags);
  add_voting_options(*app, flags->voting);
  add_metric_option(*app, flags->metric);
  add_device_option(*app, flags->device);
  add_document_options(*app, flags->shown, "Write the steps, one per line",
                       "Write a page with a chart for a browser");
  add_plan_options(*app, flags->plan);
  add_examples(*app, {"kith select-features --train iris.csv --label-column species",
                      "kith select-features --train wine.csv --label-column 1 --scale standardize \\",
                      "                     --criterion leave-one-out -k 5 --method floating --most 8 \\",
                      "                     --report columns.html"});
  return {app, [app, flags] { return run_select_features(*app, *flags); }};
}

}  // namespace kith::command
