// Counts the rows of one device that are within radii, without listing them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "kith/matrix_view.hpp"
#include "kith/trace.hpp"
#include "rows/resident_rows.hpp"
#include "search/resident/search_request.hpp"

namespace kith {

/// Receives the counts of queries first, first + 1, ... of a request.
///   counts  [count, r]
using TakeCounts = std::function<void(std::int64_t first, MatrixView<const std::uint32_t> counts)>;

/// Says how many rows to count, and who gets the counts. It refers to memory of others.
struct CountRequest {
  const std::string& where;        ///< the function that is called, for messages
  const SearchRequest& search;     ///< whose queries are prepared; it has no `self`
  MatrixView<const float> bounds;  ///< [1 or m, r]  the largest raw values that count, ascending
  const TakeCounts& take;

  /// Returns the bounds of queries first ... first + count - 1, or those of all queries.
  MatrixView<const float> bounds_of(std::int64_t first, std::int64_t count) const {
    return bounds.rows() > 1 ? bounds.slice(first, count) : bounds;
  }
};

/// Counts by boxes, or else by distances. Throws as Index::count() does.
void count_resident(const ResidentRows& index, const CountRequest& request, Trace* trace);

/// Counts by boxes (docs/boxes.md, section 3). Returns false, and has counted nothing, if the device has no
/// such step, or if boxes do not pay.
bool count_by_boxes(const ResidentRows& index, const CountRequest& request, Trace* trace);

/// Counts by distances: all of them are written.
void count_by_distances(const ResidentRows& index, const CountRequest& request, Trace* trace);

}  // namespace kith
