// The pages that `kith classify --report` and `kith evaluate --report` write.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "files/table.hpp"
#include "kith/device.hpp"
#include "kith/neighbors.hpp"
#include "kith/trace.hpp"
#include "report/confusion.hpp"

namespace kith::report {

/// One k of a sweep.
struct SweepPoint {
  std::int64_t k = 0;
  std::int64_t correct = 0;
};

/// A query that was misclassified. Classes are positions in Report::classes.
struct Sample {
  std::int64_t query = 0;
  std::size_t truth = 0;
  std::size_t predicted = 0;
  std::uint32_t votes_truth = 0;
  std::uint32_t votes_predicted = 0;
  std::vector<std::int64_t> neighbors;        ///< [k] training rows, nearest first
  std::vector<float> distances;               ///< [k]
  std::vector<std::size_t> neighbor_classes;  ///< [k]
};

/// How something was done.
struct How {
  DeviceInfo device;
  Trace trace;
  std::vector<std::pair<std::string, double>> seconds;  ///< of each stage of the run, in order
  std::string command;                                  ///< what was typed
};

/// All the page of a classification says.
struct Report : How {
  const files::Table* train = nullptr;
  const files::Table* queries = nullptr;
  std::string metric;
  std::int64_t k = 0;                ///< 0: all within the radius vote
  std::string radius;                ///< as it was typed
  bool leave_one_out = false;        ///< the queries are the training rows, each asked of the others
  std::vector<std::string> classes;  ///< names, in the order of the labels
  bool no_answer = false;            ///< the last of them stands for queries without an answer
  Confusion confusion;
  std::vector<std::pair<std::string, std::string>> settings;  ///< what else was decided, and how
  std::vector<SweepPoint> sweep;                              ///< ascending by k; empty: none was asked for
  std::vector<Sample> samples;                                ///< some of the misclassified
};

/// All the page of an evaluation says.
struct EvaluationReport : How {
  std::string path;  ///< of the training rows
  std::int64_t n = 0, dims = 0;
  std::string asked;  ///< who was asked: `each row in turn, of all others`
  std::string metric;
  std::int64_t best_k = 0;
  std::vector<std::string> classes;
  bool no_answer = false;
  Confusion confusion;  ///< for best_k
  std::vector<std::pair<std::string, std::string>> settings;
  std::vector<SweepPoint> sweep;  ///< k = 1, 2, ...
};

/// A page: one self-contained UTF-8 HTML document, light and dark, without scripts.
std::string html(const Report& report);
std::string html(const EvaluationReport& report);

}  // namespace kith::report
