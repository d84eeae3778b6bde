// Compares answers with the truth, for every k from one search.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kith/evaluation.hpp"
#include "vote/votes.hpp"

namespace kith {

class Answers {
 public:
  /// `classifier` and `voting` must outlive it.
  ///   truth  true answers of all rows that will be added
  /// Throws what check_voting() throws, and out_of_memory if the confusion takes more
  /// than most_confusion_bytes.
  Answers(const std::string& where, const Classifier& classifier, std::span<const std::int64_t> truth,
          std::int64_t k_max, const VotingOptions& voting, std::uint32_t threads);

  /// Counts the answers of m queries for every k.
  ///   found  [m, k_max]
  ///   truth  [m]
  void add(const Neighbors& found, std::span<const std::int64_t> truth);

  Evaluation take() { return std::move(result_); }

 private:
  void answer(const Neighbors& found, std::int64_t first, std::int64_t count);
  void count(std::int64_t queries, std::span<const std::uint32_t> truth);
  std::uint32_t place(std::int64_t label) const;

  std::uint32_t threads_;
  Evaluation result_;
  std::vector<std::uint32_t> place_of_;  ///< [classes of the classifier]  places in result_.classes
  std::vector<Scorer> scorers_;          ///< one per thread
  std::vector<std::uint32_t> answers_;   ///< [queries, k_max]  columns of the confusion
};

}  // namespace kith
