// Queries searched by boxes, and what they leave by the chain. docs/boxes.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "boxes/index_boxes.hpp"
#include "device/watcher.hpp"
#include "kith/trace.hpp"
#include "rows/landed/query_rows.hpp"
#include "rows/row_filter.hpp"
#include "tiles/workspace.hpp"

namespace kith {

/// Queries from which on it pays to put them in order: fewer share next to nothing.
inline constexpr std::int64_t worth_sorting = 256;

class BoxedSearch {
 public:
  /// A plan by boxes. All of these live longer. Throws out_of_memory, interrupted.
  BoxedSearch(const ResidentRows& index, const Plan& plan, const SearchOptions& options,
              const DeviceFilter& filter, Trace* trace);

  /// The k nearest of a tile of queries, which are in `workspace`, into its result. Locks the device.
  ///   first      of the search, query 0 of the tile
  ///   overlap  see pipeline.hpp; empty afterwards
  void find_nearest(const QueryRows& queries, std::int64_t first, const Workspace& workspace,
                    Watcher& watcher, Trace* trace, std::function<void()>& overlap) const;

  /// The same without what is left: the leaves that each query read, which is left where these are more than
  /// the plan has.
  ///   within  as in spi::BoxesStep
  std::vector<std::uint32_t> walk(const QueryRows& queries, const Workspace& workspace, Trace* trace,
                                  std::function<void()>& overlap, const spi::Grid<float>& within = {}) const;

 private:
  const ResidentRows& index_;
  const Plan& plan_;
  const SearchOptions& options_;
  const DeviceFilter& filter_;
  const std::shared_ptr<const IndexBoxes> boxes_;
  const DeviceMemory order_, leaves_;  ///< [query_tile] each
};

/// The step of such a search, with memory or for checking with null memory.
///   order, leaves  [count]; a null order is none
spi::Step boxes_step(const Plan& plan, const spi::Boxes& boxes, const spi::RowBlocks& queries,
                     spi::Allocation* order, spi::Allocation* leaves, const spi::Grid<std::uint32_t>& filter,
                     const spi::Grid<float>& within, const spi::Grid<Key>& out, const spi::Scratch& scratch);

/// The rows of `matrix` with these numbers, `first` added to each, one behind the other.
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

/// Search a sample of the queries by boxes, as `plan` has it. Returns whether the others should follow, and
/// says why in its reason, or in `why_not`.
///   trace  is told what boxes took, if they were not there
bool boxes_pay(const ResidentRows& index, const QueryRows& queries, const SearchOptions& options, Plan& plan,
               std::string& why_not, Trace& trace);

}  // namespace kith
