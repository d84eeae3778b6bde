// Searches a radius by distances: all of them are written, and rows within the radius are listed.
#pragma once

#include <vector>

#include "kith/keys.hpp"
#include "kith/neighbors.hpp"
#include "kith/trace.hpp"
#include "kith/unstable/plan.hpp"
#include "search/resident/pipeline.hpp"

namespace kith {

/// Returns the result as users see it.
///   queries  [m, dims], prepared
///   bounds   [m], the largest raw value of each query
/// Throws as Index::within() does.
RadiusNeighbors within_by_distances(const ResidentRows& index, MatrixView<const float> queries,
                                    const std::vector<float>& bounds, const SearchOptions& options,
                                    Trace* trace);

/// Returns the result as keys that shards exchange.
RadiusKeys within_keys_by_distances(const ResidentRows& index, MatrixView<const float> queries,
                                    const std::vector<float>& bounds, const SearchOptions& options,
                                    Trace* trace);

}  // namespace kith
