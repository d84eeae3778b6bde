// Searches by boxes, and by the chain for queries that boxes leave open: docs/boxes.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "boxes/index_boxes.hpp"
#include "device/watcher.hpp"
#include "kith/trace.hpp"
#include "rows/queries/query_rows.hpp"
#include "rows/row_filter.hpp"
#include "tiles/workspace.hpp"

namespace kith {

/// From this many queries on it pays to sort them; fewer hardly share any leaves.
inline constexpr std::int64_t worth_sorting = 256;

class BoxedSearch {
 public:
  /// Takes a plan by boxes. All arguments must outlive this. Throws out_of_memory, interrupted.
  BoxedSearch(const ResidentRows& index, const Plan& plan, const SearchOptions& options,
              const DeviceFilter& filter, Trace* trace);

  /// Finds the k nearest of a tile of queries, which are in `workspace`, and writes them to its result. Locks
  /// the device.
  ///   first    number of the tile's first query in the search
  ///   overlap  see pipeline.hpp; empty afterwards
  void find_nearest(const QueryRows& queries, std::int64_t first, Workspace& workspace, Watcher& watcher,
                    Trace* trace, std::function<void()>& overlap) const;

  /// Searches by boxes alone. Returns how many leaves each query read; a query with more than the plan allows
  /// is left open.
  ///   within  as in spi::BoxesStep
  std::vector<std::uint32_t> walk(const QueryRows& queries, Workspace& workspace, Trace* trace,
                                  std::function<void()>& overlap, const spi::Grid<float>& within = {}) const;

 private:
  const ResidentRows& index_;
  const Plan& plan_;
  const SearchOptions& options_;
  const DeviceFilter& filter_;
  const std::shared_ptr<const IndexBoxes> boxes_;
  const DeviceMemory order_, leaves_;  ///< [query_tile] each
  const DeviceMemory within_;          ///< [query_tile]  the bound of SearchOptions::radius; null without one
};

/// Makes the step of a search by boxes, with memory, or with null memory for checking.
///   order, leaves  [count]; a null order means none
spi::Step boxes_step(const Plan& plan, const spi::Boxes& boxes, const spi::RowBlocks& queries,
                     spi::Allocation* order, spi::Allocation* leaves, const spi::Grid<std::uint32_t>& filter,
                     const spi::Grid<float>& within, const spi::Grid<Key>& out, const spi::Scratch& scratch);

/// Copies rows of `matrix`: those with these numbers, after `first` is added to each.
template <class T>
std::vector<T> gathered(MatrixView<const T> matrix, const std::vector<std::int64_t>& numbers,
                        std::int64_t first) {
  std::vector<T> rows;
  rows.reserve(numbers.size() * static_cast<std::size_t>(matrix.cols()));
  for (const std::int64_t number : numbers) {
    const T* const row = matrix.row(first + number);
    rows.insert(rows.end(), row, row + matrix.cols());
  }
  return rows;
}

/// Searches the sample of queries that `plan` names by boxes. Returns whether the other queries should use
/// boxes, and says why in the plan's reason or in `why_not`.
///   trace  gets the seconds and bytes of making boxes, if they were not there
bool boxes_pay(const ResidentRows& index, const QueryRows& queries, const SearchOptions& options, Plan& plan,
               std::string& why_not, Trace& trace);

}  // namespace kith
