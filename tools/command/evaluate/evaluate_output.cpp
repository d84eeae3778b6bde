// An evaluation as text, JSON, lines of numbers, and a page.
#include <algorithm>

#include "command/evaluate/evaluate.hpp"
#include "report/report.hpp"

namespace kith::command {
namespace {

constexpr std::int64_t listed_ks = 12;       ///< one a line; more come ten a line
constexpr std::size_t printed_classes = 12;  ///< more, and a confusion matrix is too wide to read

std::string accuracy_table(const Evaluation& evaluation) {
  if (evaluation.k_max <= listed_ks) {
    TextTable table({"k", "accuracy", "correct"});
    for (std::int64_t k = 1; k <= evaluation.k_max; ++k)
      table.add({std::to_string(k), format_number(evaluation.accuracy(k), 4),
                 std::to_string(evaluation.correct[static_cast<std::size_t>(k - 1)])});
    return table.text();
  }
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

/// Whether some row got no answer.
bool has_unanswered(const Evaluation& evaluation, std::int64_t k) {
  const auto confusion = evaluation.confusion_of(k);
  const std::size_t width = evaluation.classes.size() + 1;
  for (std::size_t at = width - 1; at < confusion.size(); at += width)
    if (confusion[at] > 0) return true;
  return false;
}

std::string confusion_table(const Evaluated& done, std::int64_t k) {
  const auto confusion = done.evaluation.confusion_of(k);
  const std::size_t classes = done.classes.size(), width = classes + 1;
  const std::size_t shown = classes + has_unanswered(done.evaluation, k);
  std::vector<std::string> head = {"is \\ taken for"};
  head.insert(head.end(), done.classes.begin(), done.classes.end());
  if (shown > classes) head.emplace_back("no answer");
  TextTable table(head);
  for (std::size_t t = 0; t < classes; ++t) {
    std::vector<std::string> cells = {done.classes[t]};
    for (std::size_t p = 0; p < shown; ++p) cells.push_back(std::to_string(confusion[t * width + p]));
    table.add(std::move(cells));
  }
  return table.text();
}

std::string score_table(const Evaluated& done, std::int64_t k) {
  TextTable table({"class", "rows", "precision", "recall", "F1"});
  const std::vector<ClassScore> scores = done.evaluation.scores(k);
  for (std::size_t c = 0; c < scores.size(); ++c)
    table.add({done.classes[c], std::to_string(scores[c].support), format_number(scores[c].precision, 4),
               format_number(scores[c].recall, 4), format_number(scores[c].f1, 4)});
  return table.text();
}

/// The confusion matrix for the best k; a class more where some row got no answer.
report::Confusion best_confusion(const Evaluation& evaluation) {
  const std::int64_t k = evaluation.best_k();
  const auto from = evaluation.confusion_of(k);
  const std::size_t classes = evaluation.classes.size(), shown = classes + has_unanswered(evaluation, k);
  std::vector<std::int64_t> counts(shown * shown);
  for (std::size_t t = 0; t < classes; ++t)
    for (std::size_t p = 0; p < shown; ++p) counts[t * shown + p] = from[t * (classes + 1) + p];
  return {shown, std::move(counts)};
}

}  // namespace

std::string evaluation_text(const Evaluated& done) {
  const Evaluation& evaluation = done.evaluation;
  const std::int64_t best = evaluation.best_k();
  std::string text = "asked: " + done.asked + " (" + std::to_string(evaluation.rows) + " rows)\n" +
                     accuracy_table(evaluation) + "\nbest k = " + std::to_string(best) + ": " +
                     accuracy_text(evaluation.correct[static_cast<std::size_t>(best - 1)], evaluation.rows) +
                     "\n\n";
  if (done.classes.size() <= printed_classes)
    text += confusion_table(done, best) + "\n";
  else
    text += "(" + std::to_string(done.classes.size()) +
            " classes; --json and --report have the confusion matrix)\n\n";
  return text + score_table(done, best);
}

nlohmann::ordered_json evaluation_json(const EvaluateFlags& flags, const Evaluated& done) {
  const Evaluation& evaluation = done.evaluation;
  const std::int64_t best = evaluation.best_k();
  nlohmann::ordered_json json = {{"train", done.training.rows.table.path},
                                 {"asked", done.asked},
                                 {"rows", evaluation.rows},
                                 {"metric", name(flags.metric)},
                                 {"device", done.device.spec},
                                 {"k_max", evaluation.k_max},
                                 {"best_k", best},
                                 {"accuracy", evaluation.accuracy(best)},
                                 {"classes", done.classes},
                                 {"correct_for_k", evaluation.correct}};
  json["confusion"] = nlohmann::ordered_json::array();
  const std::size_t width = evaluation.classes.size() + 1;
  const auto confusion = evaluation.confusion_of(best);
  for (std::size_t t = 0; t + 1 < width; ++t)
    json["confusion"].push_back(
        std::vector<std::uint32_t>(confusion.begin() + static_cast<std::ptrdiff_t>(t * width),
                                   confusion.begin() + static_cast<std::ptrdiff_t>((t + 1) * width - 1)));
  json["unanswered"] = nlohmann::ordered_json::array();
  for (std::size_t t = 0; t + 1 < width; ++t) json["unanswered"].push_back(confusion[t * width + width - 1]);
  json["scores"] = nlohmann::ordered_json::array();
  const std::vector<ClassScore> scores = evaluation.scores(best);
  for (std::size_t c = 0; c < scores.size(); ++c)
    json["scores"].push_back({{"class", done.classes[c]},
                              {"rows", scores[c].support},
                              {"precision", scores[c].precision},
                              {"recall", scores[c].recall},
                              {"f1", scores[c].f1}});
  return json;
}

std::string evaluation_csv(const Evaluated& done) {
  std::string text = "k,accuracy,correct\n";
  for (std::int64_t k = 1; k <= done.evaluation.k_max; ++k)
    text += std::to_string(k) + "," + format_double(done.evaluation.accuracy(k)) + "," +
            std::to_string(done.evaluation.correct[static_cast<std::size_t>(k - 1)]) + "\n";
  return text;
}

std::string evaluation_page(const EvaluateFlags& flags, const Evaluated& done) {
  const Evaluation& evaluation = done.evaluation;
  report::EvaluationReport page;
  page.path = done.training.rows.table.path;
  page.n = done.training.n();
  page.dims = done.training.rows.width;
  page.asked = done.asked;
  page.metric = name(flags.metric);
  page.best_k = evaluation.best_k();
  page.classes = done.classes;
  page.confusion = best_confusion(evaluation);
  page.no_answer = page.confusion.classes() > page.classes.size();
  if (page.no_answer) page.classes.emplace_back("no answer");
  page.settings = settings(done.training, done.voting);
  for (std::int64_t k = 1; k <= evaluation.k_max; ++k)
    page.sweep.push_back({k, evaluation.correct[static_cast<std::size_t>(k - 1)]});
  page.device = done.device;
  page.trace = done.trace;
  page.seconds = done.seconds;
  page.command = command_line();
  return report::html(page);
}

}  // namespace kith::command
