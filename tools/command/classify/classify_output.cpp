// What `kith classify` prints.
#include "command/classify/classify.hpp"
#include "files/shown.hpp"

namespace kith::command {
std::string shown_answers(const ClassifyFlags& flags, const Classified& done) {
  std::string text;
  std::vector<std::string> titles = done.training.label_names;
  if (titles.size() == 1) titles[0] = "label";
  for (std::size_t q = 0; q < flags.asking.query.size(); ++q) {
    std::string answer = flags.asking.query[q] + ": ";
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

std::vector<double> shares(const Output& output, const std::vector<double>& priors) {
  const std::size_t classes = output.classes.size();
  std::vector<double> result(output.answer.size() * classes);
  for (std::size_t q = 0; q < output.answer.size(); ++q) {
    double* row = result.data() + q * classes;
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      const std::size_t at = q * classes + c;
      const double score =
          output.scores.empty() ? static_cast<double>(output.votes[at]) : double{output.scores[at]};
      row[c] = priors.empty() ? score : score * priors[c];
      sum += row[c];
    }
    for (std::size_t c = 0; c < classes && sum > 0; ++c) row[c] /= sum;
  }
  return result;
}

std::string sweep_table(const Classified& done) {
  TextTable table({"k", "accuracy", "correct"});
  for (std::size_t i = 0; i < done.ks.size(); ++i) {
    const std::int64_t correct =
        count_right(done.swept[i], done.outputs[0].truth.code, done.outputs[0].classes);
    table.add(
        {std::to_string(done.ks[i]),
         format_number(static_cast<double>(correct) / static_cast<double>(done.queries().table.rows), 4),
         std::to_string(correct)});
  }
  return table.text() + "\n";
}

}  // namespace kith::command
