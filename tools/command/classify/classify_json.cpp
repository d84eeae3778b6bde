// What `kith classify --json` prints.
#include "command/classify/classify.hpp"
#include "command/input/results_json.hpp"
#include "files/text/dictionary.hpp"
#include "files/text/number.hpp"

namespace kith::command {
namespace {

using Json = nlohmann::ordered_json;

/// A label as the file wrote it: a text, or a number. Labels have names, too, where one is below 0.
///   names  of the codes, where there are more than those of `known`: a mark for no answer, an unknown truth
Json label_json(const files::Labels& known, const std::vector<std::string>& names, std::int64_t code) {
  if (names.empty()) return code;
  const std::string& text = names.at(static_cast<std::size_t>(code));
  std::int64_t number = 0;
  if (files::are_numbers(known.names) && files::parse_whole(text, number)) return number;
  return text;
}

/// Of one label column the thing itself, of several a list.
Json one_or_all(Json list) {
  return list.size() == 1 ? list[0] : list;
}

Json head_json(const ClassifyFlags& flags, const Classified& done) {
  Json json =
      asked_json(done.training, done.queries().table.rows, flags.metric, done.device.spec, flags.asking);
  json["label_columns"] = done.training.label_names;
  Json all_classes = Json::array(), correct = Json::array(), accuracy = Json::array();
  for (std::size_t i = 0; i < done.outputs.size(); ++i) {
    Json classes = Json::array();
    for (const std::int64_t code : done.outputs[i].classes)
      classes.push_back(label_json(done.training.labels[i], done.training.labels[i].names, code));
    all_classes.push_back(std::move(classes));
  }
  json["classes"] = one_or_all(std::move(all_classes));
  if (done.queries().table.rows == 0 || done.outputs[0].truth.code.empty()) return json;
  const auto rows = static_cast<double>(done.queries().table.rows);
  for (const Output& output : done.outputs) {
    correct.push_back(count_right(output.answer, output.truth.code, output.classes));
    accuracy.push_back(static_cast<double>(correct.back().get<std::int64_t>()) / rows);
  }
  json["correct"] = one_or_all(std::move(correct));
  json["accuracy"] = one_or_all(std::move(accuracy));
  if (flags.k_sweep.empty()) return json;
  json["sweep"] = Json::array();
  for (std::size_t i = 0; i < done.ks.size(); ++i) {
    const std::int64_t right =
        count_right(done.swept[i], done.outputs[0].truth.code, done.outputs[0].classes);
    json["sweep"].push_back(
        {{"k", done.ks[i]}, {"accuracy", static_cast<double>(right) / rows}, {"correct", right}});
  }
  return json;
}

/// One number a class; nothing where a sweep has none.
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

void print_classified_json(const ClassifyFlags& flags, const Classified& done) {
  const std::int64_t m = done.queries().table.rows;
  const Output& first = done.outputs[0];
  const bool scored = m > 0 && (!first.votes.empty() || !first.scores.empty());
  const std::vector<double> proba = scored ? shares(first, done.voting.priors) : std::vector<double>();
  print_results(head_json(flags, done), m, [&](std::int64_t query) {
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
