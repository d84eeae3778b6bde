// Lists the coarse rows that are near queries: products propose them, in one step for each chunk.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "certified/list_reader.hpp"
#include "certified/proposal.hpp"
#include "certified/quantized_rows.hpp"
#include "kith/matrix_view.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/resident_rows.hpp"
#include "tiles/workspace.hpp"

namespace kith {

class CoarseLists {
 public:
  /// Throws out_of_memory.
  ///   plan  of a search of these rows by proposer dot, with the tile and the lists that are wanted
  CoarseLists(const ResidentRows& coarse, const Plan& plan);

  std::int64_t capacity() const { return plan_.candidates; }
  /// Returns what Bounds::low of a row of at most this value is not above.
  float threshold(std::span<const float> query, float value) const;
  /// Lists each row whose chain is at most the value of a query, and others that are hardly farther. Results
  /// are valid until the next call. Lists longer than capacity() lack rows.
  ///   queries  [count, coarse_columns], at most a tile
  ListedPlaces list(MatrixView<const float> queries, std::span<const float> values);
  /// Returns Bounds::low of what list() returned.
  std::span<const float> lows();

 private:
  const ResidentRows& coarse_;
  const Plan plan_;
  const std::shared_ptr<const IndexQuantizedRows> quantized_;
  const std::vector<float> centre_;
  Workspace workspace_;
  Proposal proposal_;
  ListReader reader_;
};

}  // namespace kith
