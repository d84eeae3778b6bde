// Makes the document that `kith evaluate` prints and writes.
#include <algorithm>

#include "command/evaluate/evaluate.hpp"
#include "report/class_parts.hpp"
#include "report/parts.hpp"
#include "report/text.hpp"

namespace kith::command {
namespace {

using report::Document, report::Fact, report::Kind, report::Section, report::Table, report::Value;
using report::Words;

constexpr std::int64_t listed_ks = 12;       ///< one a line; if there are more, ten a line
constexpr std::size_t printed_classes = 12;  ///< with more classes, a confusion matrix is too wide to read

/// Writes the accuracies of many k for the terminal.
std::string wide_accuracies(const Evaluation& evaluation) {
  std::vector<std::string> head = {"k"};
  for (int i = 0; i < 10; ++i) head.push_back("+" + std::to_string(i));
  TextTable table(head);
  for (std::int64_t first = 1; first <= evaluation.k_max; first += 10) {
    std::vector<std::string> cells = {std::to_string(first)};
    for (std::int64_t k = first; k <= std::min(first + 9, evaluation.k_max); ++k)
      cells.push_back(format_number(evaluation.accuracy(k), 4));
    table.add(std::move(cells));
  }
  return "accuracy for k, k + 1, ...\n" + table.text();
}

/// Returns whether some row got no answer.
bool has_unanswered(const Evaluation& evaluation, std::int64_t k) {
  const auto confusion = evaluation.confusion_of(k);
  const std::size_t width = evaluation.classes.size() + 1;
  for (std::size_t at = width - 1; at < confusion.size(); at += width)
    if (confusion[at] > 0) return true;
  return false;
}

/// Returns the confusion matrix for the best k; it has one more class if some row got no answer.
report::Confusion best_confusion(const Evaluation& evaluation) {
  const std::int64_t k = evaluation.best_k();
  const auto from = evaluation.confusion_of(k);
  const std::size_t classes = evaluation.classes.size(), shown = classes + has_unanswered(evaluation, k);
  std::vector<std::int64_t> counts(shown * shown);
  for (std::size_t t = 0; t < classes; ++t)
    for (std::size_t p = 0; p < shown; ++p) counts[t * shown + p] = from[t * (classes + 1) + p];
  return {shown, std::move(counts)};
}

report::Head head_of(const Evaluated& done, const report::Confusion& confusion) {
  const std::int64_t best = done.evaluation.best_k();
  return {"k = " + report::grouped(best) + " for " + report::file_title(done.training.rows.table.path),
          "Exact k-nearest-neighbour classification: how many neighbours?",
          report::percent(confusion.accuracy(), 2),
          "accuracy",
          "With k = " + report::grouped(best) + ", the best of 1 to " +
              report::grouped(done.evaluation.k_max) + ", " + report::grouped(confusion.correct()) + " of " +
              report::grouped(confusion.total()) + " rows were given their true class; " +
              report::escape(done.asked) + ".",
          confusion.accuracy()};
}

void add_facts(Document& document, const EvaluateFlags& flags, const Evaluated& done) {
  const Evaluation& evaluation = done.evaluation;
  const std::int64_t best = evaluation.best_k();
  const std::string& path = done.training.rows.table.path;
  document.add(Fact{"train", "", path});
  document.add(Fact{"", "Training rows", done.training.n(), report::file_name(path)});
  document.add(Fact{"", "Dimensions", done.training.rows.width, "columns as they are searched"});
  document.add(Fact{"asked", "", done.asked});
  document.add(Fact{"rows", "", evaluation.rows});
  document.add(report::metric_fact(std::string(name(flags.metric))));
  document.add(Fact{"arithmetic", "", name(done.training.arithmetic)});
  document.add(report::device_fact(done.device));
  document.add(Fact{"k_max", "", evaluation.k_max});
  document.add(Fact{"best_k", "Best k", best, "of several as good the smallest"});
  document.add(Fact{"accuracy", "", evaluation.accuracy(best)});
  document.add(Fact{"classes", "Classes", done.classes, "", std::to_string(done.classes.size())});
  document.add(Fact{"correct_for_k", "", evaluation.correct});
  for (const auto& [name, value] : settings(done.training, done.voting)) document.add(Fact{"", name, value});
  document.add(Fact{"", "Search", 0, "one, for every k", report::seconds_text(done.trace.total_seconds)});
}

void add_accuracies(Document& document, const Evaluation& evaluation, const report::Confusion& confusion) {
  std::vector<report::SweepPoint> sweep;
  for (std::int64_t k = 1; k <= evaluation.k_max; ++k)
    sweep.push_back({k, evaluation.correct[static_cast<std::size_t>(k - 1)]});
  const bool wide = evaluation.k_max > listed_ks;
  Table numbers = report::sweep_table(sweep, evaluation.rows, !wide);
  numbers.line_end = "\n";
  if (wide) document.add(Words{wide_accuracies(evaluation)});
  document.add(Section{"Accuracy against k",
                       "Of one search for the largest k. The rest of this page is about the best one, of "
                       "several as good the smallest. The height does not begin at 0."});
  report::add_sweep(document, sweep, confusion.total(), evaluation.best_k(), std::move(numbers));
}

/// Adds the counts of true class and answer; in the terminal with a column for rows without an answer, if
/// there are any.
void add_matrix(Document& document, const Evaluated& done, std::size_t shown) {
  const auto counts = done.evaluation.confusion_of(done.evaluation.best_k());
  const std::size_t classes = done.classes.size(), width = classes + 1;
  const auto row = [counts, width](std::size_t truth, std::size_t from, std::size_t count) {
    const auto cells = counts.subspan(truth * width + from, count);
    return std::vector<Value>(cells.begin(), cells.end());
  };
  Table table{"", "", {{Kind::name, "true \\ predicted"}}, classes, {}};
  for (const std::string& name : done.classes) table.fields.push_back({Kind::whole, name});
  if (shown > classes) table.fields.push_back({Kind::whole, "no answer"});
  table.row = [&done, row, shown](std::size_t truth) {
    std::vector<Value> cells = row(truth, 0, shown);
    cells.insert(cells.begin(), done.classes[truth]);
    return cells;
  };
  if (classes <= printed_classes)
    document.add(std::move(table));
  else
    document.add(
        Words{"(" + std::to_string(classes) + " classes; --json and --report have the confusion matrix)\n"});
  document.add(Words{"\n"});
  const auto rows_of = [row, classes](std::size_t from, std::size_t count, bool flat) {
    Value all = Value::array();
    for (std::size_t truth = 0; truth < classes; ++truth) {
      const std::vector<Value> cells = row(truth, from, count);
      all.push_back(flat ? cells[0] : Value(cells));
    }
    return all;
  };
  document.add(report::Data{"confusion", [=] { return rows_of(0, classes, false); }});
  document.add(report::Data{"unanswered", [=] { return rows_of(classes, 1, true); }});
}

}  // namespace

Document evaluation_document(const EvaluateFlags& flags, const Evaluated& done) {
  const Evaluation& evaluation = done.evaluation;
  const std::int64_t best = evaluation.best_k();
  const report::Confusion confusion = best_confusion(evaluation);
  const bool no_answer = confusion.classes() > done.classes.size();
  std::vector<std::string> classes = done.classes;
  if (no_answer) classes.emplace_back("no answer");
  Document document{head_of(done, confusion), {done.device, done.trace, done.seconds, command_line()}, {}};
  if (flags.explain)
    document.add(Words{ranked_doubles(done.trace, done.training.arithmetic) + explain(done.trace.plan) +
                       "\n" + stage_times(done.trace) + "\n"});
  document.add(Words{done.asked + " (" + std::to_string(evaluation.rows) + " rows)\n"});
  add_facts(document, flags, done);
  add_accuracies(document, evaluation, confusion);
  document.add(Words{"\nbest k = " + std::to_string(best) + ": " +
                     accuracy_text(evaluation.correct[static_cast<std::size_t>(best - 1)], evaluation.rows) +
                     "\n\n"});
  report::add_confusion(document, confusion, classes);
  add_matrix(document, done, confusion.classes());
  report::add_classes(document, confusion, classes, no_answer, evaluation.scores(best));
  return document;
}

}  // namespace kith::command
