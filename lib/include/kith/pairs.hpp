// Finds all pairs of training rows within a radius.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kith/choices.hpp"
#include "kith/export.hpp"
#include "kith/options.hpp"

namespace kith {

class Index;

/// Holds pairs of training rows, by their numbers.
struct Pairs {
  std::vector<std::int64_t> first, second;  ///< first[p] < second[p]
  std::vector<float> distance;
  Arithmetic arithmetic = Arithmetic::f32;  ///< f32, or f64: then distances are in `distance64`
  std::vector<double> distance64 = {};      ///< as `distance`

  bool operator==(const Pairs&) const = default;
};

/// Finds the pairs of an Index block by block: Index::pairs(). One thread at a time calls it.
class KITH_API PairSearch {
 public:
  /// Takes an Index, which it shares. Rows with groups are paired in these. Throws invalid_argument: a radius
  /// that is NaN; `options` with self, a radius, a checkpoint, groups or a filter for each query.
  PairSearch(const Index& index, double radius, const SearchOptions& options = {});
  PairSearch(PairSearch&&) noexcept;
  PairSearch& operator=(PairSearch&&) noexcept;
  ~PairSearch();

  /// Finds the next pairs. Returns false, and no pairs, if there are no more.
  ///   block  out; at most most_pairs, or all pairs of one row if these are more; of one group
  /// Throws as Index::within() does.
  bool next(Pairs& block);

  /// About how many pairs a block has at most.
  static constexpr std::int64_t most_pairs = std::int64_t{1} << 20;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace kith
