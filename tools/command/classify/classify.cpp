// kith classify: gives each query a label, by a vote of its nearest neighbours.
#include "command/classify/classify.hpp"
#include "command/input/elements.hpp"
#include "command/input/index_input.hpp"
#include "command/input/source_input.hpp"
#include "command/rows/group_column.hpp"
#include "command/words/place.hpp"
#include "command/words/write.hpp"

#include <CLI/CLI.hpp>
#include <memory>

#include "files/output.hpp"

namespace kith::command {
namespace {

/// Checks what must hold whatever the files contain.
void check_flags(const CLI::App& app, ClassifyFlags& flags) {
  check_learned(app, flags);
  if (!flags.training.tables.element.empty() && !flags.shown.report.empty())
    refuse("classify",
           "--read element and --report are both given, which shows rows of float32; leave one out");
  refuse_both(app, "--radius", "--k-sweep", "choose one");
  if (!flags.outlier.empty() && flags.query_flags.radius.empty())
    refuse("classify", "--votes outlier is for queries with no row within --radius; give both, or no-label");
  if (!flags.out.empty()) files::check_output_name(flags.out, files::Content::labels, flags.output.format);
  if (!flags.proba.empty())
    files::check_output_name(flags.proba, files::Content::values, flags.output.format);
}

/// Names the column `label`, or several columns as in the file.
void write_answers(files::AtomicFile& file, const ClassifyFlags& flags, const Classified& done) {
  std::vector<files::LabelColumn> columns;
  for (const Output& output : done.outputs) columns.push_back({output.answer, output.names.names()});
  const std::vector<std::string>& names = done.training.label_names;
  files::write_labels(file, columns,
                      header_of(flags.output, names.size() == 1 ? std::vector<std::string>{"label"} : names));
}

/// Names the columns by their classes.
void write_shares(files::AtomicFile& file, const ClassifyFlags& flags, const Classified& done) {
  const std::vector<double> values = shares_of(done);
  std::vector<std::string> names;
  for (const std::int64_t code : done.outputs[0].classes) names.push_back(done.training.labels[0].text(code));
  files::write_rows(file, {values.data(), done.queries().table.rows, static_cast<std::int64_t>(names.size())},
                    header_of(flags.output, names));
}

int run_classify(const CLI::App& app, ClassifyFlags flags) {
  take_index(app, flags, flags.query_flags.leave_one_out);
  check_flags(app, flags);
  DocumentOutput shown("classify", flags.shown, {{"--out", flags.out}, {"--proba", flags.proba}});
  OutputFile out(flags.out, flags.output.format), proba(flags.proba, flags.output.format);
  Classified done = classify(app, flags);
  const report::Document document = classified_document(flags, done);
  if (out) write_answers(*out, flags, done);
  if (proba) write_shares(*proba, flags, done);
  shown.write(document);
  save_learned(app, flags, done.training, done.voting);
  for (OutputFile* file : {&out, &proba}) file->commit();
  shown.commit();
  if (flags.shown.json)
    print_classified_json(document, done);
  else
    print(report::text(document));
  return done.queries().table.rows == 0 || is_expected(flags, done) ? exit_ok : exit_failed_check;
}

void add_rows_and_questions(CLI::App& app, ClassifyFlags& flags) {
  add_table_options(
      app, flags.training.tables,
      "Column of text files (or .svm) that holds the labels: a name, or a number from 1; -1 is the last. "
      "Several, separated by commas, are predicted one by one. If the queries have them, they are the truth",
      true, {element_key(flags.training.tables)});
  add_index_option(app, flags.training);
  add_answer_options(app, flags.training);
  add_query_options(app, flags.query_flags, "True labels of the queries, one per row");
  add_numbers(app, "--k-sweep", flags.k_sweep,
              "Print the accuracy for each of these k, by one search, such as 1,3,5,9", 1);
  add_metric_options(app, flags.metric, flags.training);
  add_device_option(app, flags.device);
}

void add_how(CLI::App& app, ClassifyFlags& flags) {
  add_voting_options(app, flags.voting,
                     {sample_weight_key(flags.training),
                      {"no-label", "LABEL",
                       "answer if no class wins (tie=abstain) or a value is missing (--prepare "
                       "missing=drop); else -1, or ? if labels are text or one is below 0",
                       [&flags](const std::string& text) { flags.no_label = text; }},
                      {"outlier", "LABEL", "answer if no row is within --radius; else as no-label says",
                       [&flags](const std::string& text) { flags.outlier = text; }}});
  add_filter_option(app, flags.training);
  add_group_option(app, flags.training);
  add_feature_option(app, flags.training);
  add_preparation_options(app, flags.training, {arithmetic_key(flags.training)});
}

void add_outputs(CLI::App& app, ClassifyFlags& flags) {
  const auto add_file = [&](const char* name, std::string& path, const char* help) {
    writes_file(app.add_option(name, path, help));
  };
  add_file("--out", flags.out,
           "Write the labels, [queries] or [queries, label columns]: .npy (int64), .csv, .tsv, .txt");
  add_file("--proba", flags.proba,
           "Write the share of each class in the votes, [queries, classes], in the order of the labels: .npy "
           "(float64), .csv, .tsv, .txt");
  add_file("--save-model", flags.save_model,
           "Write training rows, labels, scaling, metric, -k and voting rules as one file");
  reads_file(app.add_option("--model", flags.model,
                            "Use a file by --save-model instead of --train and its options"));
  add_output_options(app, flags.output, {class_names_key(flags.class_names)});
  add_document_options(app, flags.shown, "", "Write a page about the result for a browser",
                       "Print all answers, votes and neighbours as JSON");
  add_number(app, "--expect", flags.expect,
             "How many answers must be right; exit with 1 if another number is", 0);
  add_diagnostic_options(app, flags.diagnostics);
}

}  // namespace

Subcommand add_classify(CLI::App& parent) {
  auto flags = std::make_shared<ClassifyFlags>();
  CLI::App* app =
      parent.add_subcommand("classify", "Give each query the class that most of its k nearest rows have");
  add_rows_and_questions(*app, *flags);
  add_how(*app, *flags);
  add_outputs(*app, *flags);
  add_plan_options(*app, flags->plan, rows_keys(flags->training));
  add_examples(*app,
               {"kith classify --train iris.csv --label-column species --query 5.1,3.5,1.4,0.2",
                "kith classify --train points.csv --label kind -k 15 --query 2.5,7",
                "kith classify --train train.csv --queries test.csv --label-column -1 -k 9 \\",
                "              --k-sweep 1,3,5,9,15 --report report.html",
                "kith classify --train wine.csv --label kind --scale standardize \\",
                "              --votes weights=distance --leave-one-out --save-model wine.kith",
                "kith classify --model wine.kith --queries new.csv --out kinds.csv --proba shares.csv",
                "kith classify --train train-images-idx3-ubyte.gz --labels train-labels-idx1-ubyte.gz \\",
                "              --queries t10k-images-idx3-ubyte.gz --truth t10k-labels-idx1-ubyte.gz"});
  return {app, [app, flags] { return run_classify(*app, *flags); }};
}

}  // namespace kith::command
