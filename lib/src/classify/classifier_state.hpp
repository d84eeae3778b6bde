// What a Classifier keeps, and how its queries are answered.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/classifier.hpp"
#include "search/pipeline.hpp"

namespace kith {

/// One label column of the training rows.
struct LabelColumn {
  std::vector<std::int64_t> classes;  ///< distinct labels, ascending
  std::vector<std::uint32_t> codes;   ///< [n], places in `classes`
  DeviceMemory memory;                ///< [1, n], the codes

  spi::Grid<std::uint32_t> grid() const { return {memory.get(), 0, 1, codes.size(), codes.size()}; }
  std::uint32_t class_count() const { return static_cast<std::uint32_t>(classes.size()); }
};

struct Classifier::State {
  Index index;
  std::vector<LabelColumn> outputs;
  std::vector<float> sample_weights;  ///< [n], or empty
};

/// One vote of each query: by how many neighbours, for which output, and what came out.
struct Ballot {
  std::int64_t k = 0;
  std::size_t output = 0;
  bool keep = false;  ///< votes and scores, not only labels
  std::vector<std::int64_t> label = {};
  std::vector<std::uint32_t> votes = {};
  std::vector<float> scores = {};  ///< empty where every vote weighs 1
};

/// Fill all ballots from one search for `largest_k`: every k is a prefix of the longest lists. The options of
/// the vote are checked already.
void count_votes(const Classifier::State& state, const VotingOptions& voting, MatrixView<const float> queries,
                 std::int64_t largest_k, const PlanOptions& options, Trace* trace, Neighbors& found,
                 std::vector<Ballot>& ballots);

}  // namespace kith
