// What documents about classes have in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "files/table.hpp"
#include "kith/evaluation.hpp"
#include "report/confusion.hpp"
#include "report/document.hpp"

namespace kith::report {

/// One k of a sweep.
struct SweepPoint {
  std::int64_t k = 0;
  std::int64_t correct = 0;
};

/// A query that was misclassified. Classes are positions in Samples::classes.
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

/// Some misclassified rows beside their neighbours.
struct Samples {
  const files::Table* train = nullptr;
  const files::Table* queries = nullptr;
  std::vector<std::string> classes;
  std::int64_t k = 0;      ///< 0: all within the radius vote
  std::int64_t wrong = 0;  ///< how many are misclassified in all
  std::vector<Sample> list;
};

/// What a metric is called, beside its name in the command.
Fact metric_fact(const std::string& name);

/// The device, and what it is.
Fact device_fact(const DeviceInfo& device);

/// The first pairs of different classes, the most frequent first.
Pairs mistakes_of(const Confusion& confusion, const std::vector<std::string>& classes);

/// The confusion matrix as a picture, beside the most frequent mistakes.
void add_confusion(Document& document, const Confusion& confusion, const std::vector<std::string>& classes);

/// Precision, recall and F1 of each class, with the means of the classes below them.
///   no_answer  the last class stands for queries without an answer: the page alone has it, and means do not
///   scores     of the other classes, as the terminal and JSON have them; empty: they have no such table
void add_classes(Document& document, const Confusion& confusion, const std::vector<std::string>& classes,
                 bool no_answer, const std::vector<ClassScore>& scores);

/// Accuracy over k as a picture with the first best k and that of the page, and below it its numbers, folded
/// where they are many.
///   numbers  as sweep_table() makes them
void add_sweep(Document& document, const std::vector<SweepPoint>& sweep, std::int64_t total, std::int64_t k,
               Table numbers);

/// The numbers of a sweep: k, accuracy, right answers.
Table sweep_table(const std::vector<SweepPoint>& sweep, std::int64_t total, bool in_text);

/// Misclassified rows beside their neighbours: pictures where rows are images, else tables.
std::string samples(const Samples& shown);

}  // namespace kith::report
