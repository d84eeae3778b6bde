#include "answers.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "files/number.hpp"
#include "files/source.hpp"

namespace kith::command {

void add_asking_options(CLI::App& app, AskingFlags& flags, const std::string& truth_help) {
  app.add_option("--query", flags.query, "One query as its values, 5.1,3.5,1.4; may be repeated")
      ->type_name("VALUES")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--leave-one-out", flags.leave_one_out, "Ask every training row, of all others");
  if (!truth_help.empty()) reads_file(app.add_option("--truth", flags.truth, truth_help));
  add_number(app, "-k", flags.k, "Neighbours that are asked", 1)->capture_default_str();
  app.add_option("--radius", flags.radius, "Ask all rows within this distance, instead of k")->type_name("R");
}

bool check_asking(const CLI::App& app, const TrainingFlags& training, const AskingFlags& flags, bool needed) {
  const std::string where = app.get_name();
  refuse_both(app, "--queries", "--query", "choose one");
  refuse_both(app, "--queries", "--leave-one-out", "choose one");
  refuse_both(app, "--query", "--leave-one-out", "choose one");
  if (app.get_option_no_throw("--truth"))
    refuse_both(app, "--truth", "--leave-one-out",
                "the training rows have their own answers: leave --truth out");
  refuse_both(app, "-k", "--radius", "choose one");
  const bool nobody = training.tables.queries.empty() && flags.query.empty() && !flags.leave_one_out;
  if (needed && nobody)
    refuse(where,
           "there is nothing to " + where + "; give --queries FILE, --query VALUES or --leave-one-out");
  return nobody;
}

Rows read_asked(const TrainingFlags& training_flags, const AskingFlags& flags, const Training& training) {
  if (!flags.query.empty()) return parse_prepared_queries(training_flags, flags.query, training);
  if (!training_flags.tables.queries.empty()) return read_prepared_queries(training_flags, training);
  Rows none;
  none.table.cols = training.rows.table.cols;
  none.width = training.rows.width;
  return none;
}

std::vector<float> radius_of(const std::string& where, const AskingFlags& flags) {
  const files::Number number = files::parse_number(flags.radius);
  if (number.kind != files::Number::finite)
    refuse(where, "--radius: " + files::in_quotes(flags.radius) + " is no finite number; give a distance");
  return {number.value};
}

std::string neighbor_table(const RadiusNeighbors& found, std::int64_t q,
                           const std::vector<std::string>& titles,
                           const std::function<std::string(std::size_t row, std::size_t column)>& answer) {
  if (found.count(q) == 0) return "no row within the radius\n";
  std::vector<std::string> head = {"rank", "row", "distance"};
  head.insert(head.end(), titles.begin(), titles.end());
  TextTable table(head);
  const auto begin = static_cast<std::size_t>(found.first[static_cast<std::size_t>(q)]);
  for (std::size_t i = 0; i < static_cast<std::size_t>(found.count(q)); ++i) {
    const std::int64_t row = found.index[begin + i];
    std::vector<std::string> cells = {std::to_string(i + 1), std::to_string(row),
                                      format_float(found.distance[begin + i])};
    for (std::size_t c = 0; c < titles.size(); ++c) cells.push_back(answer(static_cast<std::size_t>(row), c));
    table.add(std::move(cells));
  }
  return table.text();
}

RadiusNeighbors as_lists(Neighbors&& found) {
  RadiusNeighbors lists;
  lists.queries = found.queries;
  for (std::int64_t q = 0; q <= found.queries; ++q) lists.first.push_back(q * found.k);
  lists.distance = std::move(found.distance);
  lists.index = std::move(found.index);
  return lists;
}

AnswerNames::AnswerNames(const std::string& where, const files::Labels& known, const std::string& no_label,
                         const std::string& outlier)
    : names_(known.names) {
  const std::string none = names_.empty() ? "-1" : "?";
  no_label_ = code_of(where, "--no-label", no_label.empty() ? none : no_label);
  outlier_ = code_of(where, "--outlier", outlier.empty() ? (no_label.empty() ? none : no_label) : outlier);
}

std::int64_t AnswerNames::code_of(const std::string& where, const std::string& option,
                                  const std::string& text) {
  if (!names_.empty()) {
    const auto found = std::find(names_.begin(), names_.end(), text);
    if (found == names_.end()) return names_.push_back(text), static_cast<std::int64_t>(names_.size()) - 1;
    return found - names_.begin();
  }
  std::int64_t number = 0;
  if (!files::parse_whole(text, number))
    refuse(where, option + ": " + files::in_quotes(text) +
                      " is no whole number, but the labels are; give one, as -1");
  return number;
}

std::string AnswerNames::text(std::int64_t code) const {
  return names_.empty() ? std::to_string(code) : names_.at(static_cast<std::size_t>(code));
}

std::vector<files::Labels> true_labels(const std::string& where, const TableFlags& tables,
                                       const AskingFlags& flags, const Training& training,
                                       const files::Table& queries) {
  if (flags.leave_one_out) return training.labels;
  std::vector<files::Labels> truth(training.labels.size());
  if (!flags.truth.empty()) {
    if (truth.size() > 1)
      refuse(where, "--truth holds one label a row, but there are " + std::to_string(truth.size()) +
                        " label columns; give queries with these columns");
    files::LabelOptions options(number_options(tables.format));
    options.known = &training.labels[0];
    truth[0] = files::read_labels(flags.truth, options);
    if (static_cast<std::int64_t>(truth[0].code.size()) != queries.rows)
      refuse(where, flags.truth + " holds " + std::to_string(truth[0].code.size()) + " labels but " +
                        queries.path + " " + std::to_string(queries.rows) + " rows; give one a row");
    return truth;
  }
  if (queries.labels.code.empty()) return truth;
  truth[0] = queries.labels;
  for (std::size_t i = 1; i < truth.size(); ++i) truth[i] = queries.more_labels[i - 1];
  return truth;
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

}  // namespace kith::command
