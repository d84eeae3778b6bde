// Answers the queries of `kith classify`.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "command/classify/classify.hpp"
#include "command/results/distances.hpp"
#include "command/rows/training_index.hpp"
#include "files/columns/dictionary.hpp"

namespace kith::command {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// Refuses options that work for only one label column.
void check_one_output(const CLI::App& app, std::size_t outputs) {
  if (outputs == 1) return;
  for (const char* option : {"--radius", "--k-sweep", "--report", "--proba", "--votes priors",
                             "--votes costs", "--expect", "--write class-names"})
    if (is_given(app, option))
      refuse("classify", std::string(option) + " works for one label column, but there are " +
                             std::to_string(outputs) + "; run it once for each");
}

/// Refuses at once what files::write_labels() would refuse after the search.
void check_out(const ClassifyFlags& flags, const std::vector<files::Labels>& known) {
  const bool text = std::any_of(known.begin(), known.end(), [](const files::Labels& l) {
    return !l.names.empty() && !files::are_numbers(l.names);
  });
  if (text && flags.out.ends_with(".npy"))
    refuse("classify", "--out " + flags.out +
                           ": the labels are text, which .npy does not hold here; choose .csv, .tsv or .txt");
}

void check_truth(const ClassifyFlags& flags, bool known) {
  if (known) return;
  const char* asking = flags.expect >= 0 ? "--expect" : !flags.shown.report.empty() ? "--report" : nullptr;
  if (!asking && !flags.k_sweep.empty()) asking = "--k-sweep";
  if (asking)
    refuse("classify",
           std::string(asking) +
               " needs the true labels of the queries; give --truth FILE, or queries with the label column");
}

/// Returns every k asked for, ascending, once each.
std::vector<std::int64_t> all_ks(const ClassifyFlags& flags) {
  std::vector<std::int64_t> ks = flags.k_sweep;
  ks.push_back(flags.query_flags.k);
  return classes_of(ks);
}

/// Votes as the model does, unless the command line says otherwise.
void follow_model(const CLI::App& app, const Model& model, VotingOptions& voting) {
  if (!is_given(app, "--votes weights")) {
    voting.weights = model.voting.weights;
    voting.rank_weights = model.voting.rank_weights;
  }
  if (!is_given(app, "--votes tie")) voting.tie = model.voting.tie;
  if (!is_given(app, "--votes priors")) voting.priors = model.voting.priors;
  if (!is_given(app, "--votes costs")) voting.costs = model.voting.costs;
}

/// Sets classes, truth and names of each label column.
void describe_outputs(const ClassifyFlags& flags, Classified& done) {
  std::vector<files::Labels> truth =
      true_labels("classify", flags.training.tables, flags.query_flags, done.training, done.queries().table);
  for (std::size_t i = 0; i < done.training.labels.size(); ++i) {
    const files::Labels& known = done.training.labels[i];
    Output output;
    output.classes = classes_of(known.code);
    output.truth = std::move(truth[i]);
    const bool more = output.truth.names.size() > known.names.size();  // the truth has other labels, too
    output.names = AnswerNames("classify", more ? output.truth : known, flags.no_label, flags.outlier);
    done.outputs.push_back(std::move(output));
  }
  check_truth(flags, !done.outputs[0].truth.code.empty());
}

/// Takes the votes of any kind of result.
template <class Result>
void take(Result&& from, Output& output) {
  output.votes = std::move(from.votes);
  output.scores = std::move(from.scores);
  output.scores64 = std::move(from.scores64);
}

void ask_k(const ClassifyFlags& flags, const TrainingClassifier& classifier, const VotingOptions& voting,
           const SearchOptions& options, Trace* trace, Classified& done) {
  const RowsView queries = done.queries().searched();
  if (flags.k_sweep.empty()) {
    auto results = classifier.classify_outputs(queries, flags.query_flags.k, voting, options, trace);
    done.found = lists_of_rows(std::move(results[0].neighbors));
    for (std::size_t i = 0; i < results.size(); ++i) {
      done.outputs[i].answer = std::move(results[i].label);
      take(std::move(results[i]), done.outputs[i]);
    }
    return;
  }
  done.ks = all_ks(flags);
  Sweep sweep = classifier.sweep(queries, done.ks, voting, options, trace,
                                 flags.proba.empty() ? 0 : flags.query_flags.k);
  const auto at = std::find(done.ks.begin(), done.ks.end(), flags.query_flags.k) - done.ks.begin();
  done.outputs[0].answer = sweep.label[static_cast<std::size_t>(at)];
  done.swept = std::move(sweep.label);
  done.found = lists_of_rows(std::move(sweep.neighbors));
  take(std::move(sweep), done.outputs[0]);
}

void ask_radius(const ClassifyFlags& flags, const TrainingClassifier& classifier, const VotingOptions& voting,
                const SearchOptions& options, Trace* trace, Classified& done) {
  RadiusClassification result = classifier.classify_within(
      done.queries().searched(),
      radius_of("classify", flags.query_flags, flags.metric, done.training.arithmetic), voting, options,
      trace);
  Output& output = done.outputs[0];
  output.answer = std::move(result.label);
  take(std::move(result), output);
  done.found = std::move(result.neighbors);
  for (std::size_t q = 0; q < output.answer.size(); ++q)
    if (done.found.count(static_cast<std::int64_t>(q)) == 0) output.answer[q] = output.names.outlier();
}

/// Gives queries with a missing value, which were not searched, answers that say so.
void spread(Classified& done) {
  const Rows& queries = done.queries();
  if (!queries.kept) return;
  for (Output& output : done.outputs) {
    queries.spread(output.answer, 1, default_no_label);
    queries.spread(output.votes, output.classes.size(), 0U);
    if (output.scores64.empty())
      queries.spread(output.scores, output.classes.size(), 0.0f);
    else
      queries.spread(output.scores64, output.classes.size(), 0.0);
  }
  for (std::vector<std::int64_t>& answers : done.swept) queries.spread(answers, 1, default_no_label);
  queries.spread(done.found);
}

/// Replaces the library's number for no answer by that of each label column.
void name_missing(Classified& done) {
  const auto replace = [&](std::vector<std::int64_t>& answers, const AnswerNames& names) {
    std::replace(answers.begin(), answers.end(), default_no_label, names.no_label());
  };
  for (Output& output : done.outputs) replace(output.answer, output.names);
  for (std::vector<std::int64_t>& answers : done.swept) replace(answers, done.outputs[0].names);
}

/// Reads all files. Returns the voting options.
VotingOptions read_all(const CLI::App& app, ClassifyFlags& flags, Classified& done) {
  Model model;
  done.training = read_learned(app, flags, model);
  done.leave_one_out = flags.query_flags.leave_one_out;
  for (std::int64_t k : flags.k_sweep) check_k("classify", k, done.training, done.leave_one_out);
  check_one_output(app, done.training.labels.size());
  check_out(flags, done.training.labels);
  const std::vector<std::int64_t> classes = classes_of(done.training.labels[0].code);
  flags.voting.reading = file_options(flags.training.tables);
  VotingOptions voting = voting_options("classify", flags.voting, &done.training.labels[0], classes,
                                        flags.by_k() ? all_ks(flags).back() : 0);
  if (!flags.model.empty()) follow_model(app, model, voting);
  done.own_queries = read_asked(flags.training, flags.query_flags, done.training);
  describe_outputs(flags, done);
  return voting;
}

}  // namespace

Classified classify(const CLI::App& app, ClassifyFlags& flags) {
  Classified done;
  flags.training.raw = !flags.shown.report.empty();
  auto start = SteadyClock::now();
  done.voting = read_all(app, flags, done);
  done.seconds.emplace_back("read the files", lap(start));

  SearchOptions options = question_options(flags, done.training, done.queries());
  const Device device = open_my_device(flags.device);
  done.device = device.info();
  done.seconds.emplace_back("open and test the device", lap(start));
  const bool keep = done.leave_one_out || !flags.save_model.empty() || !flags.shown.report.empty();
  const TrainingClassifier classifier(done.training, device, flags.metric, keep);
  done.seconds.emplace_back("copy the training rows", lap(start));

  if (done.queries().table.rows == 0) return done;
  ProgressBar bar("classifying");
  options.progress = [&bar](const Progress& progress) { bar.update(progress.fraction); };
  Trace* trace = flags.diagnostics.any() || !flags.shown.report.empty() ? &done.trace : nullptr;
  if (flags.query_flags.radius.empty())
    ask_k(flags, classifier, done.voting, options, trace, done);
  else
    ask_radius(flags, classifier, done.voting, options, trace, done);
  spread(done);
  note_overflow(done.found, asked_name(flags.training, flags.query_flags));
  name_missing(done);
  done.seconds.emplace_back("search and vote", lap(start));
  return done;
}

}  // namespace kith::command
