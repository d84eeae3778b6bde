// Prints `kith classify --json`.
#include "command/classify/classify.hpp"
#include "command/results/results_json.hpp"
#include "files/columns/dictionary.hpp"
#include "files/text/number.hpp"

namespace kith::command {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the single element for one label column, or a list for several.
Json one_or_all(Json list) {
  return list.size() == 1 ? list[0] : list;
}

/// Adds one number a class; nothing if a sweep has none.
void add_votes(const Classified& done, const Output& output, const std::vector<double>& proba, std::size_t q,
               Json& answer) {
  const std::size_t classes = output.classes.size();
  if (!output.votes.empty()) {
    answer["votes"] = Json::array();
    for (std::size_t c = 0; c < classes; ++c) answer["votes"].push_back(output.votes[q * classes + c]);
  }
  if (proba.empty() || &output != done.outputs.data()) return;
  answer["proba"] = Json::array();
  for (std::size_t c = 0; c < classes; ++c) answer["proba"].push_back(number_json(proba[q * classes + c]));
}

}  // namespace

void print_classified_json(const report::Document& document, const Classified& done) {
  const std::int64_t m = done.queries().table.rows;
  const Output& first = done.outputs[0];
  const bool scored = m > 0 && (!first.votes.empty() || !first.scores.empty() || !first.scores64.empty());
  const std::vector<double> proba = scored ? shares_of(done) : std::vector<double>();
  print_results(document, m, [&](std::int64_t query) {
    const auto q = static_cast<std::size_t>(query);
    Json result = {{"query", query}}, answers = Json::array();
    for (std::size_t i = 0; i < done.outputs.size(); ++i) {
      const Output& output = done.outputs[i];
      const files::Labels& known = done.training.labels[i];
      Json answer = {{"label", label_json(known, output.names.names(), output.answer[q])}};
      if (!output.truth.code.empty())
        answer["truth"] = label_json(known, output.truth.names, output.truth.code[q]);
      add_votes(done, output, proba, q, answer);
      answers.push_back(std::move(answer));
    }
    if (answers.size() == 1)
      result.update(answers[0]);
    else
      result["answers"] = std::move(answers);
    result["neighbors"] = neighbors_json(done.found, query, [&](std::size_t row, Json& neighbor) {
      Json labels = Json::array();
      for (const files::Labels& column : done.training.labels)
        labels.push_back(label_json(column, column.names, column.code[row]));
      neighbor["row"] = done.training.file_row(static_cast<std::int64_t>(row));
      neighbor["label"] = one_or_all(std::move(labels));
    });
    return result;
  });
}

}  // namespace kith::command
