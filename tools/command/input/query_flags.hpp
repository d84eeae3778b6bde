// Options that classify, regress and evaluate share besides the training rows: the queries, the number of
// neighbours, and the format of the answers.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command/input/training.hpp"
#include "command/shared/command.hpp"
#include "command/shared/output_file.hpp"
#include "files/table.hpp"
#include "kith/voting.hpp"

namespace kith::command {

/// The queries, and the number of neighbours.
struct QueryFlags {
  std::vector<std::string> query;
  std::string truth;
  bool leave_one_out = false;
  std::int64_t k = 5;
  std::string radius;        ///< a number; empty: none
  bool k_in_radius = false;  ///< the k nearest within the radius are searched

  /// Returns whether k neighbours are searched, else all within the radius.
  bool by_k() const { return radius.empty() || k_in_radius; }
};

/// Adds --query and --leave-one-out.
void add_asked_options(CLI::App& app, QueryFlags& flags);

/// Adds --query, --truth, --leave-one-out, -k and --radius.
void add_query_options(CLI::App& app, QueryFlags& flags, const std::string& truth_help);

/// Returns whether there are no queries. Throws invalid_argument: two of --queries, --query, --leave-one-out;
/// none of them, if `needed`; -k with --radius, unless it is for the search of both.
bool check_query_flags(const CLI::App& app, const TrainingFlags& training, const QueryFlags& flags,
                       bool needed);

/// Returns the queries that these flags name: no rows if there are none, or the training rows.
Rows read_asked(const TrainingFlags& training_flags, const QueryFlags& flags, const Training& training);

/// Returns a value of --radius, a float unless `arithmetic` is f64.
/// Throws invalid_argument: it is not a number; it is below 0, for a metric without negative distances.
double radius_of(const std::string& where, const std::string& text, Metric metric, Arithmetic arithmetic);
/// Returns one radius for all queries.
std::vector<double> radius_of(const std::string& where, const QueryFlags& flags, Metric metric,
                              Arithmetic arithmetic);

/// Names the queries in messages: the name of a file, or `--query`.
std::string asked_name(const TrainingFlags& training, const QueryFlags& flags);

/// How answers are written: the known labels, and one or two words for a missing answer.
class AnswerNames {
 public:
  AnswerNames() = default;
  ///   no_label, outlier  as the caller writes them; empty: `?` if labels have names, else -1
  /// Throws invalid_argument: labels are numbers, and one of these words is not a number.
  AnswerNames(const std::string& where, const files::Labels& known, const std::string& no_label,
              const std::string& outlier);

  std::int64_t no_label() const { return no_label_; }  ///< a code
  std::int64_t outlier() const { return outlier_; }
  std::string text(std::int64_t code) const;
  const std::vector<std::string>& names() const { return names_; }  ///< of codes 0, 1, ...; empty if numbers

 private:
  std::int64_t code_of(const std::string& where, const std::string& option, const std::string& text);

  std::vector<std::string> names_;
  std::int64_t no_label_ = -1, outlier_ = -1;
};

/// The true labels of the queries, one entry per output; codes are empty if unknown. Codes are those of the
/// training rows; labels that no training row has come after these, and a note names them.
std::vector<files::Labels> true_labels(const std::string& where, const TableFlags& tables,
                                       const QueryFlags& flags, const Training& training,
                                       const files::Table& queries);

/// Returns the names of classes for a report: `given` for labels 0, 1, ..., or the labels themselves.
/// Throws invalid_argument: --write class-names has too few names.
std::vector<std::string> class_names(const std::string& where, const std::vector<std::string>& given,
                                     const std::vector<std::int64_t>& classes, const files::Labels& known);

/// Returns the settings other than k and metric, as names and values, for a report.
std::vector<std::pair<std::string, std::string>> settings(const Training& training,
                                                          const VotingOptions& voting);

/// Counts right answers: a label of the training rows (`classes`) that equals the truth. Marks for no answer
/// never count as right, whatever the truth is.
std::int64_t count_right(const std::vector<std::int64_t>& answer, const std::vector<std::int64_t>& truth,
                         const std::vector<std::int64_t>& classes);

/// `accuracy 0.8554 (8554 of 10000)`
std::string accuracy_text(std::int64_t correct, std::int64_t total);

}  // namespace kith::command
