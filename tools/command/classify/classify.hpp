// The options of `kith classify`, and its results.
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

/// The results for one label column.
struct Output {
  std::vector<std::int64_t> classes;  ///< codes, ascending
  files::Labels truth;                ///< of the queries; empty if unknown
  std::vector<std::int64_t> answer;   ///< [m]
  std::vector<std::uint32_t> votes;   ///< [m, classes]; empty if a sweep does not need them
  std::vector<float> scores;          ///< [m, classes]; empty if every vote weighs 1
  std::vector<double> scores64;       ///< [m, classes], in place of `scores` in double precision
  AnswerNames names;                  ///< how answers are written
};

struct Classified {
  Training training;
  Rows own_queries;  ///< empty if the training rows are the queries
  bool leave_one_out = false;
  VotingOptions voting;
  std::vector<Output> outputs;
  std::vector<std::int64_t> ks;                  ///< of a sweep, ascending
  std::vector<std::vector<std::int64_t>> swept;  ///< [ks.size()][m], of the first output
  RadiusNeighbors found;  ///< the neighbours that voted; for k, lists of k rows, or of all there are
  DeviceInfo device;
  Trace trace;
  std::vector<std::pair<std::string, double>> seconds;

  const Rows& queries() const { return leave_one_out ? training.rows : own_queries; }
  bool has_truth() const { return queries().table.rows > 0 && !outputs[0].truth.code.empty(); }
};

/// Reads, searches and votes. Sets in `flags` what a model decides unless the command line does.
Classified classify(const CLI::App& app, ClassifyFlags& flags);

/// Returns everything that is printed and written, except for the queries in JSON. Refers to `flags` and
/// `done`. Throws invalid_argument: there are too few class names.
report::Document classified_document(const ClassifyFlags& flags, const Classified& done);

/// Adds the parts that only the page has.
void add_report(report::Document& document, const ClassifyFlags& flags, const Classified& done);

/// Prints --json: the document, and the answers with their neighbours.
void print_classified_json(const report::Document& document, const Classified& done);

/// Returns the shares of the classes in the score, [m, classes], of the first output.
std::vector<double> shares_of(const Classified& done);

/// Returns whether as many answers are right as expected, or no number is expected.
bool is_expected(const ClassifyFlags& flags, const Classified& done);

/// Writes a label as in the file: a text, or a number. Labels also have names if one is below 0.
///   names  of the codes; may have more than those of `known`: the mark for no answer, an unknown truth
report::Value label_json(const files::Labels& known, const std::vector<std::string>& names,
                         std::int64_t code);

}  // namespace kith::command
