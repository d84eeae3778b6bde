// Decides whether a search uses boxes, and how many leaves a query may read. docs/boxes.md, section 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "kith/unstable/plan.hpp"

namespace kith {

/// Returns whether the chain of gaps to a box is at most the chain of any row inside it. docs/boxes.md,
/// section 1.
bool follows_from_gaps(Metric metric);

/// Returns how many bytes of device memory boxes of n rows take beside the rows themselves.
std::size_t boxes_bytes(std::int64_t n, std::int64_t dims);

/// The fields of a Plan for a search by boxes.
struct BoxesChoice {
  std::int64_t most_leaves = 0, tried_queries = 0, query_tile = 0;
};

/// Chooses boxes if they were demanded or may be faster, else none. The caller has checked the options and
/// counted `self` into k.
///   room  number of bytes that an index may keep beside its rows
/// Throws unsupported if boxes were demanded but cannot be had.
std::optional<BoxesChoice> choose_boxes(const DeviceInfo& device, const Problem& problem,
                                        const SearchOptions& options, const Feedback& feedback,
                                        std::size_t room);

/// Returns for how many queries a search without boxes counts in Feedback::queries.
std::int64_t queries_to_count(const DeviceInfo& device, const Problem& problem);

/// Returns from how many queries on some read the same leaves, if rows and queries are uniform.
std::int64_t queries_that_share(const Problem& problem);

/// Returns the break-even: reading this many leaves costs a query as much as an exact scan of all rows.
double leaves_worth(const DeviceInfo& device, const Problem& problem);

}  // namespace kith
