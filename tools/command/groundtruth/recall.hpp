// kith recall: compares an approximate answer with the truth.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command/input/tables.hpp"
#include "command/shared/document_output.hpp"
#include "files/ground_truth.hpp"

namespace kith::command {

struct RecallFlags {
  std::string truth, found;  ///< files
  std::int64_t k = 0;        ///< 0: as many as both files have
  double at_least = -1;      ///< below 0: no recall is required
  TableFlags tables;         ///< how files are read
  DocumentFlags shown;
};

/// How many of the k nearest rows were found for each query.
struct Recall {
  std::int64_t k = 0;
  std::vector<std::int64_t> found;  ///< [queries] number found, of k
  std::int64_t all = 0;             ///< their sum
  std::int64_t by_tie = 0;          ///< of these, rows after the k-th at the same distance
  std::int64_t tied = 0;            ///< queries with such rows, found or not
  std::int64_t open = 0;            ///< queries whose truth may end amid such rows

  std::int64_t queries() const { return static_cast<std::int64_t>(found.size()); }
  double share() const { return static_cast<double>(all) / static_cast<double>(k * queries()); }
  double share(std::int64_t query) const {
    return static_cast<double>(found[static_cast<std::size_t>(query)]) / static_cast<double>(k);
  }
};

/// Compares the first k rows that were found with the first k of the truth and, if it has distances, those
/// after them at exactly the distance of the k-th. A row counts once, however often it was found.
/// Throws invalid_argument: files of different queries, a k larger than one of them has.
///        bad_file:         the truth has no row, or one twice, among the k.
Recall score_recall(const files::NeighborLists& truth, const files::NeighborLists& found, std::int64_t k);

report::Document recall_document(const files::NeighborLists& truth, const files::NeighborLists& found,
                                 const Recall& recall);

}  // namespace kith::command
