// When a search goes by boxes, and how far. docs/boxes.md, section 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kith/plan.hpp"

namespace kith {

/// Whether the chain of gaps is at most the chain of a row, for this metric: docs/boxes.md, section 1.
bool follows_from_gaps(Metric metric);

/// Device bytes that boxes of n rows take beside the rows themselves.
std::size_t boxes_bytes(std::int64_t n, std::int64_t dims);

/// How a search goes by boxes, as Plan has it.
struct BoxesChoice {
  std::int64_t most_leaves = 0, tried_queries = 0, query_tile = 0;
};

/// A way by boxes, where they were asked for or may pay; none otherwise. Options were checked, and `self` is
/// heard already.
///   room  bytes that an index may keep beside its rows
/// Throws unsupported: they were asked for and cannot be had.
std::optional<BoxesChoice> choose_boxes(const DeviceInfo& device, const Problem& problem,
                                        const PlanOptions& options, const Feedback& feedback,
                                        std::size_t room);

/// Leaves that take a query by boxes as long as all rows take it by the chain.
double leaves_worth(const DeviceInfo& device, const Problem& problem);

}  // namespace kith
