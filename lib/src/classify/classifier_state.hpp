// Holds the state of a Classifier and declares how its queries are answered.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kith/classifier.hpp"
#include "rows/numbers/row_numbers.hpp"
#include "search/resident/pipeline.hpp"

namespace kith {

/// Holds one label column of the training rows.
struct LabelColumn {
  std::vector<std::int64_t> classes;  ///< distinct labels, ascending
  std::vector<std::uint32_t> codes;   ///< [n]  indices into `classes`
  DeviceMemory memory;                ///< [1, n]  the codes

  spi::Grid<std::uint32_t> grid() const { return {memory.get(), 0, 1, codes.size(), codes.size()}; }
  std::uint32_t class_count() const { return static_cast<std::uint32_t>(classes.size()); }
};

/// Holds labels and weights of all rows on the device, also of removed ones. Snapshots share it.
struct LabelledRows {
  std::vector<LabelColumn> outputs;
  std::vector<float> sample_weights;  ///< [rows], or empty
};

struct Classifier::State {
  Index index;
  std::shared_ptr<const LabelledRows> rows;
  const std::vector<LabelColumn>& outputs = rows->outputs;
  const std::vector<float>& sample_weights = rows->sample_weights;
};

/// Returns the rows of `values`, [rows, columns], at these places.
template <class T>
std::vector<T> values_at(const std::vector<T>& values, std::size_t columns,
                         std::span<const std::int64_t> places) {
  std::vector<T> some;
  some.reserve(places.size() * columns);
  for (const std::int64_t place : places) {
    const auto from = values.begin() + place * static_cast<std::ptrdiff_t>(columns);
    some.insert(some.end(), from, from + static_cast<std::ptrdiff_t>(columns));
  }
  return some;
}

/// Sorts `values`, [rows, columns], from the order in which rows were given to that of their ids.
///   ids  ids of the rows, checked by the caller, or empty
template <class T>
std::vector<T> by_ids(std::vector<T> values, std::size_t columns, std::span<const std::int64_t> ids) {
  const auto rows = static_cast<std::int64_t>(ids.size());
  const std::vector<std::int64_t> order = order_of_ids("index", ids, rows, 0);
  return order.empty() || values.empty() ? std::move(values) : values_at(values, columns, order);
}

/// Joins the sample weights of rows on the device with those of `count` more. Empty if all are 1.
std::vector<float> joined_weights(const std::vector<float>& before, std::int64_t rows,
                                  std::span<const float> more, std::int64_t count);

/// Holds one vote of each query: the number of neighbours, the output, and the results.
struct Ballot {
  std::int64_t k = 0;
  std::size_t output = 0;
  bool keep = false;  ///< keeps votes and scores, not only labels
  std::vector<std::int64_t> label = {};
  std::vector<std::uint32_t> votes = {};
  std::vector<double> scores = {};  ///< empty if every vote weighs 1
};

/// Fills all ballots from one search for `largest_k`: the lists of each k are prefixes of the longest. The
/// caller has checked the voting options.
void count_votes(const Classifier::State& state, const VotingOptions& voting, const RowsView& queries,
                 std::int64_t largest_k, const SearchOptions& options, Trace* trace, Neighbors& found,
                 std::vector<Ballot>& ballots);

}  // namespace kith
