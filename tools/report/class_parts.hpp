// Makes the common parts of documents about classes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "files/table.hpp"
#include "kith/evaluation.hpp"
#include "report/confusion.hpp"
#include "report/document.hpp"

namespace kith::report {

/// Holds the result for one k of a sweep.
struct SweepPoint {
  std::int64_t k = 0;
  std::int64_t correct = 0;
};

/// Describes a misclassified query. Classes are indices into Samples::classes.
struct Sample {
  std::int64_t query = 0;
  std::size_t truth = 0;
  std::size_t predicted = 0;
  std::uint32_t votes_truth = 0;
  std::uint32_t votes_predicted = 0;
  std::vector<std::int64_t> neighbors;        ///< [k] training rows, nearest first
  std::vector<double> distances;              ///< [k]
  std::vector<std::size_t> neighbor_classes;  ///< [k]
};

/// Holds some misclassified rows and their neighbours.
struct Samples {
  const files::Table* train = nullptr;
  const files::Table* queries = nullptr;
  std::vector<std::string> classes;
  std::int64_t k = 0;      ///< 0: all rows within the radius vote
  std::int64_t wrong = 0;  ///< number of misclassified rows in all
  std::vector<Sample> list;
};

/// Names a metric for people, and by its name in the command.
Fact metric_fact(const std::string& name);

/// Describes the device.
Fact device_fact(const DeviceInfo& device);

/// Returns the first pairs of different classes, the most frequent first.
Pairs mistakes_of(const Confusion& confusion, const std::vector<std::string>& classes);

/// Adds the confusion matrix as a picture, beside the most frequent mistakes.
void add_confusion(Document& document, const Confusion& confusion, const std::vector<std::string>& classes);

/// Adds precision, recall and F1 of each class, and below them the means over the classes.
///   no_answer  the last class stands for queries without an answer: only the page shows it, and means leave
///              it out
///   scores     scores of the other classes, for the terminal and JSON; empty: they have no such table
void add_classes(Document& document, const Confusion& confusion, const std::vector<std::string>& classes,
                 bool no_answer, const std::vector<ClassScore>& scores);

/// Adds accuracy over k as a picture, with the first best k and that of the page, and below it the numbers,
/// folded if they are many.
///   numbers  from sweep_table()
void add_sweep(Document& document, const std::vector<SweepPoint>& sweep, std::int64_t total, std::int64_t k,
               Table numbers);

/// Makes the table of a sweep: k, accuracy, right answers.
Table sweep_table(const std::vector<SweepPoint>& sweep, std::int64_t total, bool in_text);

/// Shows misclassified rows beside their neighbours: pictures if rows are images, else tables.
std::string samples(const Samples& shown);

}  // namespace kith::report
