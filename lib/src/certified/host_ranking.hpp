// The chains of candidates, by the host: where the device has quantized rows alone.
#pragma once

#include <cstdint>
#include <vector>

#include "certified/quantized_rows.hpp"
#include "kith/key.hpp"
#include "kith/matrix_view.hpp"
#include "kith/metric.hpp"

namespace kith {

class HostRanking {
 public:
  /// All of these live longer.
  ///   queries  prepared
  HostRanking(Metric metric, MatrixView<const float> queries, const RowsElsewhere& rows,
              std::uint32_t threads)
      : metric_(metric), queries_(queries), rows_(rows), threads_(threads) {}

  /// The key of each candidate.
  ///   candidates  a list of places for each of the first queries
  /// Throws what RowsElsewhere::read() throws.
  std::vector<std::vector<Key>> keys(const std::vector<std::vector<std::uint32_t>>& candidates) const;

 private:
  const Metric metric_;
  const MatrixView<const float> queries_;
  const RowsElsewhere& rows_;
  const std::uint32_t threads_;
};

}  // namespace kith
