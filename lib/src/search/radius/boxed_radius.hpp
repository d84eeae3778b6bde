// Radius searches by boxes: docs/boxes.md, section 3.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "kith/neighbors.hpp"
#include "kith/trace.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/resident_rows.hpp"

namespace kith {

/// Returns all rows within the bounds of some queries, found without boxes; the queries' own rows are
/// among them.
using OtherWay = std::function<RadiusNeighbors(const std::vector<std::int64_t>& queries)>;

/// Finds all training rows whose value is at most bounds[q] by boxes, as within() returns them. Returns
/// nothing if boxes do not pay. A query that reads too many leaves, or has more rows than a list holds, is
/// answered without boxes.
///   queries  [m, dims], prepared
///   bounds   [m]
std::optional<RadiusNeighbors> within_by_boxes(const ResidentRows& index, MatrixView<const float> queries,
                                               std::span<const float> bounds, const SearchOptions& options,
                                               Trace* trace, const OtherWay& other_way);

}  // namespace kith
