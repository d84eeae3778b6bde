// kith classify: a label for each query, by a vote of its nearest neighbours.
#include <algorithm>
#include <memory>
#include <optional>

#include "classify.hpp"
#include "command.hpp"
#include "files/output.hpp"

namespace kith::command {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(Errc::invalid_argument, "classify: " + what);
}

/// What must hold whatever is in the files.
void check_flags(const ClassifyFlags& flags) {
  const TableFlags& tables = flags.tables;
  if (flags.labels.empty() == tables.label_column.empty())
    refuse(flags.labels.empty()
               ? "there are no labels; give --labels FILE, or --label-column COLUMN of the training file"
               : "--labels and --label-column are both given; choose one");
  if (tables.queries.empty() == flags.query.empty())
    refuse(flags.query.empty() ? "there is nothing to classify; give --queries FILE or --query VALUES"
                               : "--queries and --query are both given; choose one");
  if (!flags.out.empty() && flags.out == flags.report)
    refuse("--out and --report are the same file; give two names");
  if (!flags.out.empty()) files::check_output_name(flags.out, files::Content::labels);
}

/// Labels of the training rows, from their own file or a column of it.
files::Labels train_labels(const ClassifyFlags& flags, files::Table& train) {
  if (flags.labels.empty()) return train.labels;
  files::Labels labels = files::read_labels(flags.labels);
  if (static_cast<std::int64_t>(labels.code.size()) != train.rows)
    refuse(flags.labels + " holds " + std::to_string(labels.code.size()) + " labels but " + train.path + " " +
           std::to_string(train.rows) + " rows; give one a row");
  return labels;
}

/// True labels of the queries, where they are known; else empty.
files::Labels true_labels(const ClassifyFlags& flags, const files::Table& queries,
                          const files::Labels& known) {
  if (flags.truth.empty()) return queries.labels;
  files::LabelOptions options;
  options.known = &known;
  files::Labels truth = files::read_labels(flags.truth, options);
  if (static_cast<std::int64_t>(truth.code.size()) != queries.rows)
    refuse(flags.truth + " holds " + std::to_string(truth.code.size()) + " labels but " + queries.path + " " +
           std::to_string(queries.rows) + " rows; give one a row");
  return truth;
}

/// Refuse now what files::write_labels() would refuse after the search.
void check_out(const ClassifyFlags& flags, const files::Labels& known) {
  if (!known.names.empty() && flags.out.ends_with(".npy"))
    refuse("--out " + flags.out +
           ": the labels are text, which .npy does not hold here; choose .csv, .tsv or .txt");
}

void check_truth(const ClassifyFlags& flags, bool known) {
  if (known) return;
  const char* asking = flags.expect >= 0 ? "--expect" : !flags.report.empty() ? "--report" : nullptr;
  if (!asking && !flags.k_sweep.empty()) asking = "--k-sweep";
  if (asking)
    refuse(std::string(asking) +
           " needs the true labels of the queries; give --truth FILE, or queries with the label column");
}

/// Every k asked for, ascending, once each.
std::vector<std::int64_t> all_ks(const ClassifyFlags& flags) {
  std::vector<std::int64_t> ks = flags.k_sweep;
  ks.push_back(flags.k);
  std::sort(ks.begin(), ks.end());
  ks.erase(std::unique(ks.begin(), ks.end()), ks.end());
  return ks;
}

std::int64_t count_equal(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  std::int64_t count = 0;
  for (std::size_t q = 0; q < a.size(); ++q) count += a[q] == b[q];
  return count;
}

std::string accuracy_text(std::int64_t correct, std::int64_t total) {
  return "accuracy " + format_number(static_cast<double>(correct) / static_cast<double>(total), 4) + " (" +
         std::to_string(correct) + " of " + std::to_string(total) + ")";
}

void print_sweep(const Classified& done) {
  TextTable table({"k", "accuracy", "correct"});
  for (std::size_t i = 0; i < done.ks.size(); ++i) {
    const std::int64_t correct = count_equal(done.sweep.label[i], done.truth.code);
    table.add({std::to_string(done.ks[i]),
               format_number(static_cast<double>(correct) / static_cast<double>(done.queries.rows), 4),
               std::to_string(correct)});
  }
  print(table.text() + "\n");
}

/// The last line: how many are right, and whether that is the number expected.
int print_accuracy(const ClassifyFlags& flags, const Classified& done) {
  const std::int64_t correct = count_equal(done.labels(), done.truth.code);
  const std::string text = accuracy_text(correct, done.queries.rows);
  if (flags.expect < 0) return print(text + "\n"), exit_ok;
  const bool same = correct == flags.expect;
  print(text + ", expected " + std::to_string(flags.expect) + (same ? ": OK\n" : ": DIFFERENT\n"));
  return same ? exit_ok : exit_failed_check;
}

void print_labels(const Classified& done) {
  std::string text;
  for (std::int64_t code : done.labels()) text += done.known.text(code) + "\n";
  print(text);
}

Classified classify(const ClassifyFlags& flags) {
  Classified done;
  auto start = Clock::now();
  done.train = read_train(flags.tables);
  check_k("classify", flags.k, done.train);
  for (std::int64_t k : flags.k_sweep) check_k("classify", k, done.train);
  done.known = train_labels(flags, done.train);
  check_out(flags, done.known);
  done.queries = flags.query.empty() ? read_queries(flags.tables, done.train)
                                     : parse_queries(flags.tables, flags.query, done.train);
  done.truth = true_labels(flags, done.queries, done.known);
  check_truth(flags, !done.truth.code.empty());
  done.seconds.emplace_back("read the files", lap(start));

  PlanOptions options = plan_options(flags.plan);
  const Device device = open_device(flags.device);
  done.device = device.info();
  done.seconds.emplace_back("open and test the device", lap(start));
  const Classifier classifier(device, view(done.train), done.known.code, flags.metric);
  done.seconds.emplace_back("copy the training rows", lap(start));

  done.ks = all_ks(flags);
  done.classes = classifier.classes();
  done.k_at = static_cast<std::size_t>(std::find(done.ks.begin(), done.ks.end(), flags.k) - done.ks.begin());
  ProgressBar bar("classifying");
  options.progress = [&bar](const Progress& progress) { bar.update(progress.fraction); };
  const bool traced = flags.explain || !flags.report.empty();
  done.sweep = classifier.sweep(view(done.queries), done.ks, options, traced ? &done.trace : nullptr);
  done.seconds.emplace_back("search and vote", lap(start));
  return done;
}

int run_classify(const ClassifyFlags& flags) {
  check_flags(flags);
  std::optional<files::AtomicFile> out, report;
  if (!flags.out.empty()) out.emplace(flags.out);
  if (!flags.report.empty()) report.emplace(flags.report);
  const Classified done = classify(flags);
  if (out) files::write_labels(*out, done.labels(), done.known.names);
  if (report) report->write(report_page(flags, done));
  if (out) out->commit();
  if (report) report->commit();
  if (flags.explain) print(explain(done.trace.plan) + "\n" + stage_times(done.trace) + "\n");
  if (done.truth.code.empty()) {
    if (!out) print_labels(done);
    return exit_ok;
  }
  if (!flags.k_sweep.empty()) print_sweep(done);
  return print_accuracy(flags, done);
}

void add_labels_and_queries(CLI::App& app, ClassifyFlags& flags) {
  add_table_options(app, flags.tables,
                    "The column of text files (or .svm) that holds the labels: a name, or a number "
                    "from 1; -1 is the last. Where the queries have it too, it is the truth");
  app.add_option("--labels", flags.labels,
                 "Labels of the training rows, one a row, where they have their own file")
      ->type_name("FILE");
  app.add_option("--query", flags.query, "One query as its values, 5.1,3.5,1.4; may be repeated")
      ->type_name("VALUES")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--truth", flags.truth, "True labels of the queries, one a row")->type_name("FILE");
}

}  // namespace

Subcommand add_classify(CLI::App& parent) {
  auto flags = std::make_shared<ClassifyFlags>();
  CLI::App* app =
      parent.add_subcommand("classify", "Give each query the class that most of its k nearest rows have");
  add_labels_and_queries(*app, *flags);
  add_number(*app, "-k", flags->k, "Neighbours that vote", 1)->capture_default_str();
  add_numbers(*app, "--k-sweep", flags->k_sweep, "Accuracy for each of these k, by one search: 1,3,5,9", 1);
  add_metric_option(*app, flags->metric);
  add_device_option(*app, flags->device);
  app->add_option("--out", flags->out, "Write the labels, [queries]: .npy (int64), .csv, .tsv, .txt")
      ->type_name("FILE");
  app->add_option("--report", flags->report, "Write a page about the result, for a browser")
      ->type_name("FILE");
  app->add_option("--class-names", flags->class_names,
                  "Names of the labels 0, 1, 2, ... for the report, with commas between them")
      ->type_name("NAMES")
      ->expected(1)
      ->delimiter(',')
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_number(*app, "--expect", flags->expect, "How many must be right; exit 1 where it is another number", 0);
  app->add_flag("--explain", flags->explain, "Print how it was done, and the seconds of each stage");
  add_plan_options(*app, flags->plan);
  add_examples(*app,
               {"kith classify --train iris.csv --label-column species --query 5.1,3.5,1.4,0.2",
                "kith classify --train train.csv --queries test.csv --label-column -1 -k 9 \\",
                "              --k-sweep 1,3,5,9,15 --report report.html",
                "kith classify --train train-images-idx3-ubyte.gz --labels train-labels-idx1-ubyte.gz \\",
                "              --queries t10k-images-idx3-ubyte.gz --truth t10k-labels-idx1-ubyte.gz"});
  return {app, [flags] { return run_classify(*flags); }};
}

}  // namespace kith::command
