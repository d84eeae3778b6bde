// Says when rows of a caller are searched where they lie, and in which pieces.
#pragma once

#include <cstdint>
#include <optional>

#include "kith/device.hpp"
#include "kith/metric.hpp"
#include "kith/options.hpp"
#include "kith/rows_view.hpp"

namespace kith {

/// Asks for the k nearest of some rows, once. It refers to memory of others.
struct SearchOnce {
  const Device& device;
  const RowsView& rows;
  const RowsView& queries;
  std::int64_t k;
  Metric metric;
  const SearchOptions& options;
  const IndexOptions& index_options;
};

/// How rows are divided. A round is what the device does before the caller is asked whether to go on.
struct StraightPieces {
  std::int64_t rows;         ///< of a piece, whole blocks
  std::int64_t count;        ///< pieces of all rows
  std::int64_t a_round;      ///< pieces of a round
  std::uint32_t team;        ///< threads that each have a piece
  std::uint32_t of_a_piece;  ///< threads that share a piece
};

/// Divides rows that are searched where they lie: a single piece is searched by all threads, several by
/// one thread each. Returns nothing if an Index is to be made, by which the answers would be the same.
///   asked  of a device that is no set
std::optional<StraightPieces> straight_pieces(const SearchOnce& asked);

}  // namespace kith
