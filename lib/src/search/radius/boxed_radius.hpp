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

/// All rows within the bounds of these queries of the search, by another way; own rows among them.
using OtherWay = std::function<RadiusNeighbors(const std::vector<std::int64_t>& queries)>;

/// All training rows whose value is at most bounds[q], as within() returns them, by boxes; nothing where
/// these do not pay. A query that reads too many leaves, or has more rows than a list holds, is answered
/// without boxes.
///   queries  [m, dims], prepared
///   bounds   [m]
std::optional<RadiusNeighbors> within_by_boxes(const ResidentRows& index, MatrixView<const float> queries,
                                               std::span<const float> bounds, const SearchOptions& options,
                                               Trace* trace, const OtherWay& other_way);

}  // namespace kith
