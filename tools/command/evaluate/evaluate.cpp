// kith evaluate: measures the accuracy of every k, from one search.
#include "command/evaluate/evaluate.hpp"
#include "command/input/elements.hpp"
#include "command/rows/group_column.hpp"
#include "command/rows/pieces.hpp"
#include "command/shared/ranks.hpp"
#include "command/words/place.hpp"
#include "command/words/write.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

namespace kith::command {
namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr std::int64_t usual_k_max = 20;

void check_flags(const CLI::App& app, EvaluateFlags& flags) {
  check_element_flags(app, flags.training.tables, flags.metric);
  admit_metric("evaluate", flags.training, flags.metric);
  require_answers("evaluate", flags.training);
  refuse_both(app, "--queries", "--folds", "held-out queries need no folds: choose one");
  if (!flags.truth.empty() && flags.training.tables.queries.empty())
    refuse("evaluate", "--truth is for --queries; give both, or neither for leave-one-out");
  if (app.count("--seed") > 0 && flags.folds == 0) refuse("evaluate", "--seed is for --folds; give both");
}

/// Returns how many rows can be neighbours of every query: all, all but one, or all but the largest fold.
std::int64_t most_neighbors(const Training& training, const std::vector<std::int64_t>& folds, bool held_out) {
  if (folds.empty()) {
    const std::int64_t rows = training.filter ? training.filter->count() : training.n();
    return held_out ? rows : rows - 1;
  }
  std::vector<std::int64_t> counting(
      static_cast<std::size_t>(*std::max_element(folds.begin(), folds.end()) + 1));
  std::int64_t all = 0;
  for (std::size_t t = 0; t < folds.size(); ++t) {
    if (training.filter && !training.filter->counts(static_cast<std::int64_t>(t))) continue;
    ++counting[static_cast<std::size_t>(folds[t])];
    ++all;
  }
  return all - *std::max_element(counting.begin(), counting.end());
}

std::int64_t chosen_k_max(const EvaluateFlags& flags, std::int64_t most) {
  if (most < 1) refuse("evaluate", "no training row has another to ask; give more rows, or let more count");
  if (flags.k_max > most)
    refuse("evaluate", "--k-max = " + std::to_string(flags.k_max) + " but only " + std::to_string(most) +
                           (most == 1 ? " row" : " rows") + " can be asked; choose k from 1 to " +
                           std::to_string(most));
  return flags.k_max > 0 ? flags.k_max : std::min(most, usual_k_max);
}

/// Returns the true labels of held-out queries.
files::Labels held_out_truth(const EvaluateFlags& flags, const Training& training,
                             const files::Table& queries) {
  QueryFlags query_flags;
  query_flags.truth = flags.truth;
  std::vector<files::Labels> truth =
      true_labels("evaluate", flags.training.tables, query_flags, training, queries);
  if (truth[0].code.empty())
    refuse("evaluate", "the true labels of " + queries.path +
                           " are not known; give --truth FILE, or queries with the label column");
  return std::move(truth[0]);
}

/// Counts queries with a missing value, which are not searched, as unanswered for every k.
void count_unanswered(const Rows& queries, const std::vector<std::int64_t>& truth, Evaluation& evaluation) {
  if (!queries.kept) return;
  std::vector<std::int64_t> classes = evaluation.classes, without;
  for (std::size_t q = 0; q < truth.size(); ++q)
    if (!std::binary_search(queries.kept->begin(), queries.kept->end(), static_cast<std::int64_t>(q)))
      without.push_back(truth[q]);
  classes.insert(classes.end(), without.begin(), without.end());
  classes = classes_of(classes);
  const auto place = [&](std::int64_t label) {
    return static_cast<std::size_t>(std::lower_bound(classes.begin(), classes.end(), label) -
                                    classes.begin());
  };
  const std::size_t old = evaluation.classes.size(), width = classes.size() + 1;
  std::vector<std::uint32_t> confusion(static_cast<std::size_t>(evaluation.k_max) * classes.size() * width);
  for (std::size_t k = 0; k < static_cast<std::size_t>(evaluation.k_max); ++k) {
    std::uint32_t* to = confusion.data() + k * classes.size() * width;
    const std::uint32_t* from = evaluation.confusion.data() + k * old * (old + 1);
    for (std::size_t a = 0; a < old; ++a)
      for (std::size_t b = 0; b <= old; ++b)
        to[place(evaluation.classes[a]) * width + (b < old ? place(evaluation.classes[b]) : width - 1)] +=
            from[a * (old + 1) + b];
    for (const std::int64_t label : without) ++to[place(label) * width + width - 1];
  }
  evaluation.classes = std::move(classes);
  evaluation.confusion = std::move(confusion);
  evaluation.rows += static_cast<std::int64_t>(without.size());
}

std::string asked_text(const EvaluateFlags& flags, bool held_out) {
  const std::string whose = flags.training.tables.group_column.empty() ? "" : " of its group";
  if (held_out)
    return "the rows of " + flags.training.tables.queries + " were classified by the training rows" +
           (whose.empty() ? "" : " of their groups");
  if (flags.folds == 0) return "each row was classified by all the others" + whose;
  return "each of " + std::to_string(flags.folds) + " folds was classified by the others (stratified, seed " +
         std::to_string(flags.seed) + (whose.empty() ? ")" : "), each row by those of its group");
}

Evaluated evaluate_rows(const EvaluateFlags& flags) {
  Evaluated done;
  auto start = SteadyClock::now();
  done.training = read_training("evaluate", flags.training);
  const Training& training = done.training;
  if (training.labels.size() > 1)
    refuse("evaluate", "there are " + std::to_string(training.labels.size()) +
                           " label columns; evaluate one after the other");
  const files::Labels& labels = training.labels[0];
  const bool held_out = !flags.training.tables.queries.empty();
  std::vector<std::int64_t> folds;
  if (flags.folds > 0) {
    if (flags.folds > training.n())
      refuse("evaluate", "--folds = " + std::to_string(flags.folds) + " but " + training.rows.table.path +
                             " holds " + std::to_string(training.n()) + " rows; choose folds from 2 to " +
                             std::to_string(training.n()));
    folds = stratified_folds(labels.code, flags.folds, static_cast<std::uint64_t>(flags.seed));
  }
  const std::int64_t k_max = chosen_k_max(flags, most_neighbors(training, folds, held_out));
  const std::vector<std::int64_t> classes = classes_of(labels.code);
  VotingFlags voting = flags.voting;
  voting.reading = file_options(flags.training.tables);
  done.voting = voting_options("evaluate", voting, &labels, classes, k_max);
  Rows queries;
  files::Labels truth{{}, labels.names};
  if (held_out) {
    queries = read_prepared_queries(flags.training, training);
    truth = held_out_truth(flags, training, queries.table);
    if (queries.count() == 0)
      refuse("evaluate", "every row of " + queries.table.path +
                             " misses a value; fill them in by --prepare missing=mean");
  }
  std::vector<std::int64_t> all_classes = classes;
  all_classes.insert(all_classes.end(), truth.code.begin(), truth.code.end());
  done.classes = class_names("evaluate", flags.class_names, classes_of(all_classes), truth);
  done.asked = asked_text(flags, held_out);
  done.seconds.emplace_back("read the files", lap(start));

  SearchOptions options = plan_options(flags.plan);
  options.filter = training.filter_words();
  if (held_out) options.groups = groups_of(queries, flags.training.tables, training);
  const Device device = open_my_device(flags.device);
  done.device = device.info();
  done.seconds.emplace_back("open and test the device", lap(start));
  const Classifier classifier = classifier_of(done.training, device, flags.metric, !held_out);
  const RowsView rows = training.rows.searched();
  done.seconds.emplace_back("copy the training rows", lap(start));
  ProgressBar bar("evaluating");
  options.progress = [&bar](const Progress& progress) { bar.update(progress.fraction); };
  if (held_out) {
    std::vector<std::int64_t> asked;
    for (std::size_t q = 0; q < truth.code.size(); ++q)
      if (!queries.kept ||
          std::binary_search(queries.kept->begin(), queries.kept->end(), static_cast<std::int64_t>(q)))
        asked.push_back(truth.code[q]);
    done.evaluation =
        evaluate(classifier, queries.searched(), asked, k_max, done.voting, options, &done.trace);
    count_unanswered(queries, truth.code, done.evaluation);
  } else if (folds.empty())
    done.evaluation = leave_one_out(classifier, rows, k_max, done.voting, options, &done.trace);
  else
    done.evaluation = cross_validate(classifier, rows, folds, k_max, done.voting, options, &done.trace);
  done.seconds.emplace_back("search and vote", lap(start));
  return done;
}

int run_evaluate(const CLI::App& app, EvaluateFlags flags) {
  check_flags(app, flags);
  DocumentOutput output("evaluate", flags.shown);
  const Evaluated done = evaluate_rows(flags);
  const report::Document document = evaluation_document(flags, done);
  output.write(document);
  output.commit();
  print_document(document, flags.shown);
  return exit_ok;
}

}  // namespace

Subcommand add_evaluate(CLI::App& parent) {
  auto flags = std::make_shared<EvaluateFlags>();
  CLI::App* app =
      parent.add_subcommand("evaluate", "Measure the accuracy of every k by one search: which k is best?");
  add_table_options(*app, flags->training.tables,
                    "Column of text files (or .svm) that holds the labels: a name, or a number from 1; -1 is "
                    "the last. If the queries have it, it is the truth",
                    true, {element_key(flags->training.tables)});
  app->get_option("--queries")
      ->description(
          "Held-out rows with known labels. Without these and --folds, each training row is classified by "
          "all others (leave-one-out)");
  add_answer_options(*app, flags->training);
  reads_file(app->add_option("--truth", flags->truth, "True labels of the queries, one per row"));
  add_number(*app, "--k-max", flags->k_max, "Try k = 1, 2, ... up to this (default 20)", 1);
  add_number(*app, "--folds", flags->folds,
             "Divide the rows into this many folds, and classify each by the others; every fold has nearly "
             "the same share of each class. --scale is fitted once, on all training rows",
             2);
  add_number(*app, "--seed", flags->seed,
             "Seed of the shuffle before the rows are dealt into folds (default 0)", 0);
  add_metric_options(*app, flags->metric, flags->training);
  add_device_option(*app, flags->device);
  add_voting_options(*app, flags->voting, {sample_weight_key(flags->training)});
  add_filter_option(*app, flags->training);
  add_group_option(*app, flags->training);
  add_feature_option(*app, flags->training);
  add_preparation_options(*app, flags->training, {arithmetic_key(flags->training)});
  add_document_options(*app, flags->shown, "Write k, accuracy and right answers, one line per k",
                       "Write a page with charts for a browser");
  add_write_option(*app, {class_names_key(flags->class_names)});
  app->add_flag("--explain", flags->explain, "Print how the search was done, and the seconds of each step");
  add_plan_options(*app, flags->plan, placement_keys(flags->training));
  add_examples(
      *app,
      {"kith evaluate --train iris.csv --label species --k-max 30 --report k.html",
       "kith evaluate --train wine.csv --label kind --scale standardize --folds 10 --seed 1",
       "kith evaluate --train train.csv --queries test.csv --label -1 --votes weights=distance --json"});
  return {app, [app, flags] { return run_evaluate(*app, *flags); }};
}

}  // namespace kith::command
