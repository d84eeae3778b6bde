// What classify, regress and evaluate share beside training rows: what is asked of how many neighbours, and
// how answers are written.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command/input/training.hpp"
#include "command/shared/command.hpp"
#include "command/shared/output_file.hpp"
#include "files/table.hpp"
#include "kith/neighbors.hpp"
#include "kith/voting.hpp"

namespace kith::command {

/// Of whom, and how many neighbours.
struct QueryFlags {
  std::vector<std::string> query;
  std::string truth;
  bool leave_one_out = false;
  std::int64_t k = 5;
  std::string radius;  ///< a number; empty: k neighbours are asked
};

/// --query, --truth, --leave-one-out, -k, --radius.
void add_query_options(CLI::App& app, QueryFlags& flags, const std::string& truth_help);

/// Whether there is no query. Throws invalid_argument: two of --queries, --query and --leave-one-out; none of
/// them, where `needed`; -k with --radius.
bool check_query_flags(const CLI::App& app, const TrainingFlags& training, const QueryFlags& flags,
                       bool needed);

/// The queries these flags ask for; no rows where none are, or the training rows.
Rows read_asked(const TrainingFlags& training_flags, const QueryFlags& flags, const Training& training);

/// The radius, as one for all queries.
/// Throws invalid_argument: no number; one below 0 where no distance is.
std::vector<float> radius_of(const std::string& where, const QueryFlags& flags, Metric metric);

/// Who is asked, for messages: the name of a file, or `--query`.
std::string asked_name(const TrainingFlags& training, const QueryFlags& flags);

/// Note queries with neighbours at an infinite distance: these are in order of row, since none of them is
/// nearer than another.
///   asked  "--query" or the name of a file, for the message
void note_overflow(const RadiusNeighbors& found, const std::string& asked);

/// Rank, training row (its number in its file), distance and answers of those that were asked; a sentence
/// where there are none.
///   titles  of the answers
///   answer  (training row, place in titles) as text
std::string neighbor_table(const RadiusNeighbors& found, std::int64_t q, const Training& training,
                           const std::vector<std::string>& titles,
                           const std::function<std::string(std::size_t row, std::size_t column)>& answer);

/// Lists of one length as lists of any length.
RadiusNeighbors as_lists(Neighbors&& found);

/// How answers are written: known labels, and one or two words for none.
class AnswerNames {
 public:
  AnswerNames() = default;
  ///   no_label, outlier  as the caller writes them; empty: `?` where labels have names, else -1
  /// Throws invalid_argument: labels are numbers, and one of these is none.
  AnswerNames(const std::string& where, const files::Labels& known, const std::string& no_label,
              const std::string& outlier);

  std::int64_t no_label() const { return no_label_; }  ///< a code
  std::int64_t outlier() const { return outlier_; }
  std::string text(std::int64_t code) const;
  const std::vector<std::string>& names() const { return names_; }  ///< of codes 0, 1, ...; empty: numbers

 private:
  std::int64_t code_of(const std::string& where, const std::string& option, const std::string& text);

  std::vector<std::string> names_;
  std::int64_t no_label_ = -1, outlier_ = -1;
};

/// True labels of the queries, one entry an output; codes empty where they are not known. Codes are those of
/// the training rows; labels that none of these has come after, and are told.
std::vector<files::Labels> true_labels(const std::string& where, const TableFlags& tables,
                                       const QueryFlags& flags, const Training& training,
                                       const files::Table& queries);

/// Names of classes for a report: `given` for labels 0, 1, ..., or the labels themselves.
/// Throws invalid_argument: --write class-names has too few.
std::vector<std::string> class_names(const std::string& where, const std::vector<std::string>& given,
                                     const std::vector<std::int64_t>& classes, const files::Labels& known);

/// What was decided beside k and metric, as name and value, for a report.
std::vector<std::pair<std::string, std::string>> settings(const Training& training,
                                                          const VotingOptions& voting);

/// Answers that are right: a label of the training rows, `classes`, and the truth. Marks for no answer never
/// are, whatever the truth is.
std::int64_t count_right(const std::vector<std::int64_t>& answer, const std::vector<std::int64_t>& truth,
                         const std::vector<std::int64_t>& classes);

/// `accuracy 0.8554 (8554 of 10000)`
std::string accuracy_text(std::int64_t correct, std::int64_t total);

}  // namespace kith::command
