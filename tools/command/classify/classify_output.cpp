// Makes the document that `kith classify` prints and writes.
#include <algorithm>

#include "command/classify/classify.hpp"
#include "command/results/distances.hpp"
#include "command/results/results_json.hpp"
#include "files/columns/dictionary.hpp"
#include "files/shown.hpp"
#include "files/text/number.hpp"
#include "report/class_parts.hpp"
#include "report/text.hpp"

namespace kith::command {
namespace {

using report::Document, report::Fact, report::Value, report::Words;

/// Returns the single element for one label column, or a list for several.
Value value_or_all(Value list) {
  return list.size() == 1 ? list[0] : list;
}

/// Writes the answer of each query of the command line, with its neighbours.
std::string shown_answers(const ClassifyFlags& flags, const Classified& done) {
  std::string text;
  std::vector<std::string> titles = done.training.label_names;
  if (titles.size() == 1) titles[0] = "label";
  for (std::size_t q = 0; q < flags.query_flags.query.size(); ++q) {
    std::string answer = flags.query_flags.query[q] + ": ";
    for (std::size_t i = 0; i < done.outputs.size(); ++i)
      answer += (i ? "," : "") + done.outputs[i].names.text(done.outputs[i].answer[q]);
    text += (q ? "\n" : "") + files::shown_in_line(answer) + "\n";
    text += neighbor_table(done.found, static_cast<std::int64_t>(q), done.training, titles,
                           [&](std::size_t row, std::size_t column) {
                             const files::Labels& labels = done.training.labels[column];
                             return labels.text(labels.code[row]);
                           });
  }
  return text;
}

std::string answer_lines(const Classified& done) {
  std::string text;
  for (std::size_t q = 0; q < done.outputs[0].answer.size(); ++q) {
    for (std::size_t i = 0; i < done.outputs.size(); ++i)
      text += (i ? "," : "") + done.outputs[i].names.text(done.outputs[i].answer[q]);
    text += "\n";
  }
  return text;
}

std::int64_t right_answers(const Output& output, const std::vector<std::int64_t>& answer) {
  return count_right(answer, output.truth.code, output.classes);
}

/// Writes the last lines: how many answers are right, and whether that is the number expected.
std::string accuracies(const ClassifyFlags& flags, const Classified& done) {
  std::string text;
  for (std::size_t i = 0; i < done.outputs.size(); ++i) {
    const std::int64_t correct = right_answers(done.outputs[i], done.outputs[i].answer);
    text += (done.outputs.size() > 1 ? done.training.label_names[i] + ": " : "") +
            accuracy_text(correct, done.queries().table.rows);
    if (flags.expect >= 0)
      text +=
          ", expected " + std::to_string(flags.expect) + (correct == flags.expect ? ": OK" : ": DIFFERENT");
    text += "\n";
  }
  return text;
}

void add_facts(Document& document, const ClassifyFlags& flags, const Classified& done) {
  const std::int64_t rows = done.queries().table.rows;
  add_asked(document, done.training, done.queries().table, flags.metric, done.device, flags.query_flags);
  add_members(document, done.trace);
  const double seconds = done.trace.total_seconds;
  document.add(Fact{"", "Search", 0,
                    report::grouped(std::llround(static_cast<double>(rows) / std::max(seconds, 1e-9))) +
                        " queries a second",
                    report::seconds_text(seconds)});
  document.add(Fact{"label_columns", "", done.training.label_names});
  Value classes = Value::array(), correct = Value::array(), accuracy = Value::array();
  for (std::size_t i = 0; i < done.outputs.size(); ++i) {
    const files::Labels& known = done.training.labels[i];
    Value& list = classes.emplace_back(Value::array());
    for (const std::int64_t code : done.outputs[i].classes)
      list.push_back(label_json(known, known.names, code));
  }
  document.add(Fact{"classes", "", value_or_all(std::move(classes))});
  if (!done.has_truth()) return;
  for (const Output& output : done.outputs) {
    correct.push_back(right_answers(output, output.answer));
    accuracy.push_back(correct.back().get<double>() / static_cast<double>(rows));
  }
  document.add(Fact{"correct", "", value_or_all(std::move(correct))});
  document.add(Fact{"accuracy", "", value_or_all(std::move(accuracy))});
}

void add_sweep(Document& document, const ClassifyFlags& flags, const Classified& done) {
  std::vector<report::SweepPoint> sweep;
  for (std::size_t i = 0; i < done.ks.size(); ++i)
    sweep.push_back({done.ks[i], right_answers(done.outputs[0], done.swept[i])});
  const std::int64_t rows = done.queries().table.rows;
  report::Table numbers = report::sweep_table(sweep, rows, true);
  numbers.key = "sweep";
  document.add(report::Section{"Other numbers of neighbours",
                               "Accuracy for each k that was asked for, all from one search for the largest. "
                               "The height does not begin at 0."});
  report::add_sweep(document, sweep, rows, flags.query_flags.k, std::move(numbers));
  document.add(Words{"\n"});
}

}  // namespace

Value label_json(const files::Labels& known, const std::vector<std::string>& names, std::int64_t code) {
  if (names.empty()) return code;
  const std::string& text = names.at(static_cast<std::size_t>(code));
  std::int64_t number = 0;
  if (files::are_numbers(known.names) && files::parse_whole(text, number)) return number;
  return text;
}

std::vector<double> shares_of(const Classified& done) {
  const Output& output = done.outputs[0];
  return class_shares(done.voting, {{}, output.votes, output.scores, {}, output.scores64},
                      output.classes.size());
}

bool is_expected(const ClassifyFlags& flags, const Classified& done) {
  return std::all_of(done.outputs.begin(), done.outputs.end(), [&](const Output& output) {
    return flags.expect < 0 || right_answers(output, output.answer) == flags.expect;
  });
}

Document classified_document(const ClassifyFlags& flags, const Classified& done) {
  Document document{{}, {done.device, done.trace, done.seconds, command_line()}, {}};
  add_facts(document, flags, done);
  if (done.queries().table.rows == 0) return document;
  document.add(Words{diagnostics(flags.diagnostics, done.trace, done.training.arithmetic)});
  if (!flags.shown.report.empty()) add_report(document, flags, done);
  if (!flags.k_sweep.empty()) add_sweep(document, flags, done);
  if (done.has_truth())
    document.add(Words{accuracies(flags, done)});
  else if (flags.out.empty() && flags.proba.empty())
    document.add(Words{flags.query_flags.query.empty() ? answer_lines(done) : shown_answers(flags, done)});
  return document;
}

}  // namespace kith::command
