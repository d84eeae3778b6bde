// Some rows of an Index as an Index of their own: for compact(), and for filters that keep few rows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kith/plan.hpp"
#include "rows/index_state.hpp"

namespace kith {

/// Places of the rows that are not removed, ascending.
std::vector<std::int64_t> live_places(const Index::State& index);

/// A State of these rows, which are read from the device and put there once more, in one part where it fits.
/// They are numbered 0, 1, ...
///   places  ascending, at least one
/// Throws out_of_memory.
std::shared_ptr<Index::State> state_of_rows(const Index::State& index, std::span<const std::int64_t> places,
                                            std::uint32_t threads);

/// The same for one search: what is known of all rows is taken for what is known of these, and where the
/// device can, it puts them side by side itself.
std::shared_ptr<Index::State> state_of_kept(const Index::State& index, std::span<const std::int64_t> places,
                                            std::uint32_t threads);

/// The largest |element| of a sample of `rows`, of bits 0: no proposer is asked for them, and no arithmetic
/// of floats may see them.
double measured_reach(const Index::State& index, MatrixView<const float> rows);

}  // namespace kith
