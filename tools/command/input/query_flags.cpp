#include "command/input/query_flags.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>

#include "command/input/training_parts.hpp"
#include "command/input/voting_flags.hpp"
#include "files/source.hpp"
#include "files/text/number.hpp"

namespace kith::command {
namespace {

files::WideNumber widened(const files::Number& number) {
  return {number.kind, static_cast<double>(number.value)};
}

}  // namespace

void add_asked_options(CLI::App& app, QueryFlags& flags) {
  app.add_option("--query", flags.query, "One query as its values, such as 5.1,3.5,1.4; may be repeated")
      ->type_name("VALUES")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--leave-one-out", flags.leave_one_out, "Use each training row as a query, excluding itself");
}

void add_query_options(CLI::App& app, QueryFlags& flags, const std::string& truth_help) {
  add_asked_options(app, flags);
  if (!truth_help.empty()) reads_file(app.add_option("--truth", flags.truth, truth_help));
  add_number(app, "-k", flags.k, "How many neighbours to find", 1)->capture_default_str();
  app.add_option("--radius", flags.radius, "Find all rows within this distance instead of the k nearest")
      ->type_name("R");
}

bool check_query_flags(const CLI::App& app, const TrainingFlags& training, const QueryFlags& flags,
                       bool needed) {
  const std::string where = app.get_name();
  refuse_both(app, "--queries", "--query", "choose one");
  refuse_both(app, "--queries", "--leave-one-out", "choose one");
  refuse_both(app, "--query", "--leave-one-out", "choose one");
  if (app.get_option_no_throw("--truth"))
    refuse_both(app, "--truth", "--leave-one-out",
                "the training rows have their own answers: leave --truth out");
  if (!flags.k_in_radius) refuse_both(app, "-k", "--radius", "choose one");
  const bool no_queries = training.tables.queries.empty() && flags.query.empty() && !flags.leave_one_out;
  if (!training.drop.empty() && training.tables.train.empty() && training.tables.queries.empty())
    refuse(where, "--drop names columns of --queries here, which are not given; leave it out");
  if (needed && no_queries)
    refuse(where,
           "there is nothing to " + where + "; give --queries FILE, --query VALUES or --leave-one-out");
  return no_queries;
}

Rows read_asked(const TrainingFlags& training_flags, const QueryFlags& flags, const Training& training) {
  if (!flags.query.empty()) return parse_prepared_queries(training_flags, flags.query, training);
  if (!training_flags.tables.queries.empty()) return read_prepared_queries(training_flags, training);
  if (flags.leave_one_out) tell_unanswered(training.rows);
  Rows none;
  none.table.cols = training.rows.table.cols;
  none.width = training.rows.width;
  return none;
}

double radius_of(const std::string& where, const std::string& text, Metric metric, Arithmetic arithmetic) {
  const files::WideNumber number =
      arithmetic == Arithmetic::f64 ? files::parse_wide(text) : widened(files::parse_number(text));
  if (number.kind != files::Number::finite)
    refuse(where, "--radius: " + files::in_quotes(text) + " is no finite number; give a distance");
  if (number.value < 0 && !may_be_negative(metric))
    refuse(where, "--radius: " + text + " is below 0, and no distance is; give a radius of 0 or more for " +
                      std::string(name(metric)));
  return number.value;
}

std::vector<double> radius_of(const std::string& where, const QueryFlags& flags, Metric metric,
                              Arithmetic arithmetic) {
  return {radius_of(where, flags.radius, metric, arithmetic)};
}

std::string asked_name(const TrainingFlags& training, const QueryFlags& flags) {
  if (!flags.query.empty()) return "--query";
  if (!flags.leave_one_out) return training.tables.queries;
  return training.tables.train.empty() ? "the training rows" : training.tables.train;
}

AnswerNames::AnswerNames(const std::string& where, const files::Labels& known, const std::string& no_label,
                         const std::string& outlier)
    : names_(known.names) {
  const std::string none = names_.empty() ? "-1" : "?";
  no_label_ = code_of(where, "--votes no-label", no_label.empty() ? none : no_label);
  outlier_ =
      code_of(where, "--votes outlier", outlier.empty() ? (no_label.empty() ? none : no_label) : outlier);
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

namespace {

/// Notes which true labels no training row has: no answer can equal them.
void tell_unknown(const std::string& path, const files::Labels& known, const files::Labels& truth) {
  constexpr std::size_t most_listed = 8;
  const std::vector<std::int64_t> classes = classes_of(known.code);
  std::vector<std::int64_t> unknown;
  for (const std::int64_t code : truth.code)
    if (!std::binary_search(classes.begin(), classes.end(), code)) unknown.push_back(code);
  if (unknown.empty()) return;
  const std::vector<std::int64_t> different = classes_of(unknown);
  std::string list;
  for (std::size_t i = 0; i < std::min(different.size(), most_listed); ++i)
    list += (i ? ", " : "") + files::printable(truth.text(different[i]));
  note(path + ": " + files::count_of(unknown.size(), "row") + (unknown.size() == 1 ? " has" : " have") +
       " a label that no training row has (" + list + (different.size() > most_listed ? ", ..." : "") +
       "), which counts as wrong");
}

files::Labels read_truth(const std::string& where, const TableFlags& tables, const std::string& path,
                         const Training& training, const files::Table& queries) {
  files::LabelOptions options(file_options(tables));
  options.known = &training.labels[0];
  options.rows = queries.rows;
  options.column_optional = true;
  if (files::is_text(path, tables.format) && !tables.label_columns.empty())
    options.column = tables.label_columns[0];
  files::Labels truth = files::read_labels(path, options);
  if (static_cast<std::int64_t>(truth.code.size()) != queries.rows)
    refuse(where, path + " holds " + std::to_string(truth.code.size()) + " labels but " + queries.path + " " +
                      std::to_string(queries.rows) + " rows; give one a row");
  return truth;
}

}  // namespace

std::vector<files::Labels> true_labels(const std::string& where, const TableFlags& tables,
                                       const QueryFlags& flags, const Training& training,
                                       const files::Table& queries) {
  std::vector<files::Labels> truth(training.labels.size());
  if (flags.leave_one_out && !training.rows.kept) return training.labels;
  if (!flags.truth.empty()) {
    if (truth.size() > 1)
      refuse(where, "--truth holds one label a row, but there are " + std::to_string(truth.size()) +
                        " label columns; give queries with these columns");
    truth[0] = read_truth(where, tables, flags.truth, training, queries);
    tell_unknown(flags.truth, training.labels[0], truth[0]);
    return truth;
  }
  if (queries.labels.code.empty()) return truth;
  truth[0] = queries.labels;
  for (std::size_t i = 1; i < truth.size(); ++i) truth[i] = queries.more_labels[i - 1];
  for (std::size_t i = 0; i < truth.size() && !flags.leave_one_out; ++i)
    tell_unknown(queries.path, training.labels[i], truth[i]);
  return truth;
}

std::vector<std::string> class_names(const std::string& where, const std::vector<std::string>& given,
                                     const std::vector<std::int64_t>& classes, const files::Labels& known) {
  std::vector<std::string> names;
  for (std::int64_t code : classes) {
    const auto at = static_cast<std::size_t>(code);
    if (!given.empty() && at >= given.size())
      throw Error(Errc::invalid_argument, where + ": --write class-names gives " +
                                              std::to_string(given.size()) + " names but label " +
                                              std::to_string(code) +
                                              " occurs; give a name to each of 0, 1, 2, ...");
    names.push_back(given.empty() ? known.text(code) : given[at]);
  }
  return names;
}

namespace {

/// Spells a name of the library as options and their help do, such as one-hot.
std::string with_dashes(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> settings(const Training& training,
                                                          const VotingOptions& voting) {
  std::vector<std::pair<std::string, std::string>> list;
  if (voting.weights != Weights::uniform)
    list.emplace_back("Votes weigh by", with_dashes(name(voting.weights)));
  if (voting.tie != TieRule::smallest_label) list.emplace_back("Ties go to", with_dashes(name(voting.tie)));
  if (!voting.priors.empty()) list.emplace_back("Priors", "given");
  if (!voting.costs.empty()) list.emplace_back("Costs", "given");
  if (!training.sample_weights.empty()) list.emplace_back("Sample weights", "given");
  std::string scale;
  for (Scaling scaling : training.preparation.options().scalings)
    scale += (scale.empty() ? "" : ", ") + with_dashes(name(scaling));
  if (!scale.empty()) list.emplace_back("Scale", scale);
  if (const Missing missing = training.preparation.options().missing; missing != Missing::refuse)
    list.emplace_back("Missing values", with_dashes(name(missing)));
  if (!training.preparation.options().categorical.empty())
    list.emplace_back("Text columns", with_dashes(name(training.preparation.options().categories)));
  const files::Table& table = training.rows.table;
  if (!training.features.empty())
    list.emplace_back(
        "Features", std::to_string(training.features.size()) + " of " + std::to_string(training.rows.width));
  else if (!table.unread.empty())
    list.emplace_back("Features",
                      std::to_string(table.cols) + " of " +
                          std::to_string(table.cols + static_cast<std::int64_t>(table.unread.size())));
  if (training.filter)
    list.emplace_back("Training rows that count", std::to_string(training.filter->count()));
  return list;
}

std::int64_t count_right(const std::vector<std::int64_t>& answer, const std::vector<std::int64_t>& truth,
                         const std::vector<std::int64_t>& classes) {
  std::int64_t count = 0;
  for (std::size_t q = 0; q < answer.size(); ++q)
    count += answer[q] == truth[q] && std::binary_search(classes.begin(), classes.end(), answer[q]);
  return count;
}

std::string accuracy_text(std::int64_t correct, std::int64_t total) {
  return "accuracy " + format_number(static_cast<double>(correct) / static_cast<double>(total), 4) + " (" +
         std::to_string(correct) + " of " + std::to_string(total) + ")";
}

}  // namespace kith::command
