// Rows on the members of a set of devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "search/parted/asked_part.hpp"
#include "search/parted/parted_rows.hpp"
#include "search/sets/shares.hpp"

namespace kith {

/// Some rows of the whole, one behind the other, on one member.
struct SetPart {
  std::size_t member = 0;
  Stretch places = {};  ///< of its rows among all
  /// Whose first_row is the first of these places. Rows of bytes, and those that stay in a Source, are
  /// themselves parted.
  std::shared_ptr<const Index::State> rows;
};

/// Where rows of a set go.
struct SetLayout {
  Placement placement = Placement::split;  ///< never automatic
  std::vector<double> shares;              ///< [members], of sum 1
  std::vector<Stretch> rows;               ///< [members]  places; of a member without a share none
  std::int64_t reserve = 0;                ///< IndexOptions::reserve
};

/// Where `count` rows go whose first has the place `first`.
SetLayout set_layout(Placement placement, std::vector<double> shares, std::int64_t first, std::int64_t count);
/// Where the `count` rows of a new Index go.
/// Throws as shares_of() does; invalid_argument: a member would hold more rows than a device can.
SetLayout set_layout(const Index::State& whole, const Placing& placing, std::int64_t count);

/// A State for the rows of one part, which it lacks yet.
std::shared_ptr<Index::State> empty_part(const Index::State& whole, std::size_t member, Stretch places);

/// The parts of `layout`, with their rows on their members.
///   rows  prepared; row 0 has the place `first`
/// Throws out_of_memory.
std::vector<SetPart> parts_with_rows(const Index::State& whole, const SetLayout& layout,
                                     MatrixView<const float> rows, std::int64_t first, std::uint32_t threads);

/// Some rows of all parts, in the order of their places, as they are searched.
///   to  [places.count, dims]  out
void read_parts(std::span<const SetPart> parts, Stretch places, float* to, std::uint32_t threads);

/// New parts of `layout` with the rows of `parts` at these places, one behind the other.
///   places  ascending, as many as the layout has rows
std::vector<SetPart> parts_of_places(const Index::State& whole, const SetLayout& layout,
                                     std::span<const SetPart> parts, std::span<const std::int64_t> places);

/// The rows of an Index on a set: all of them, prepared.
/// Throws as set_layout() does, and out_of_memory.
std::shared_ptr<const PartedRows> rows_on_set(const Index::State& whole, MatrixView<const float> rows,
                                              const Placing& placing);
/// The same of parts that are there.
///   parts  by member, then by place
std::shared_ptr<const PartedRows> rows_on_set(const Index::State& whole, SetLayout layout,
                                              std::vector<SetPart> parts);

}  // namespace kith
