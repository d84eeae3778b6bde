// What `kith classify` was asked, and what came out.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "command/input/learned.hpp"
#include "files/table.hpp"
#include "kith/classifier.hpp"
#include "kith/model.hpp"

namespace kith::command {

struct ClassifyFlags : LearnedFlags {
  std::string no_label;
  std::string outlier;
  std::vector<std::int64_t> k_sweep;
  std::string proba;
  std::vector<std::string> class_names;
  std::int64_t expect = -1;  ///< -1: nothing is expected
};

/// What was found for one label column.
struct Output {
  std::vector<std::int64_t> classes;  ///< codes, ascending
  files::Labels truth;                ///< of the queries; empty where they are not known
  std::vector<std::int64_t> answer;   ///< [m]
  std::vector<std::uint32_t> votes;   ///< [m, classes]; empty where a sweep has no use for them
  std::vector<float> scores;          ///< [m, classes]; empty where every vote weighs 1
  AnswerNames names;                  ///< how answers are written
};

struct Classified {
  Training training;
  Rows own_queries;  ///< empty where the training rows are asked
  bool leave_one_out = false;
  VotingOptions voting;
  std::vector<Output> outputs;
  std::vector<std::int64_t> ks;                  ///< of a sweep, ascending
  std::vector<std::vector<std::int64_t>> swept;  ///< [ks.size()][m], of the first output
  RadiusNeighbors found;                         ///< what voted; of k neighbours lists of one length
  DeviceInfo device;
  Trace trace;
  std::vector<std::pair<std::string, double>> seconds;

  const Rows& queries() const { return leave_one_out ? training.rows : own_queries; }
  bool has_truth() const { return queries().table.rows > 0 && !outputs[0].truth.code.empty(); }
};

/// Read, search and vote. `flags` take from a model what the command line leaves to it.
Classified classify(const CLI::App& app, ClassifyFlags& flags);

/// All that is printed and written of it, but for what JSON says of each query. Refers to `flags` and `done`.
/// Throws invalid_argument: --class-names has too few names.
report::Document classified_document(const ClassifyFlags& flags, const Classified& done);

/// The parts of it that the page alone has.
void add_report(report::Document& document, const ClassifyFlags& flags, const Classified& done);

/// --json: the document, and the answers with their neighbours.
void print_classified_json(const report::Document& document, const Classified& done);

/// Shares of the classes in the score, [m, classes], of the first output.
std::vector<double> shares_of(const Classified& done);

/// Whether as many are right as are expected, if a number is.
bool is_expected(const ClassifyFlags& flags, const Classified& done);

/// A label as the file wrote it: a text, or a number. Labels have names, too, where one is below 0.
///   names  of the codes, where there are more than those of `known`: a mark for no answer, an unknown truth
report::Value label_json(const files::Labels& known, const std::vector<std::string>& names,
                         std::int64_t code);

}  // namespace kith::command
