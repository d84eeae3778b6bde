// Rows of a caller on their way into an Index.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kith/rows_view.hpp"
#include "rows/resident_rows.hpp"
#include "rows/rows.hpp"

namespace kith {

/// Rows that are to become part of an Index.
struct RowsForIndex {
  std::string_view what;  ///< in messages: "training" or "added"
  RowsView rows;
  const std::vector<std::int64_t>& order;  ///< in which they are put; empty: as they come
  std::int64_t first = 0;                  ///< the training row that the first of them becomes
  std::int64_t first_row = 0;              ///< the number of row 0 in messages
};

/// What becomes of them.
struct RowsOfIndex {
  std::vector<Chunk> chunks;
  float largest = 0;    ///< max |element|; 0 of bits
  PreparedRows sample;  ///< every sample_stride()-th of them, or all of them
};

/// Check rows, and put them on the device of `schema`: by the host, or as they are, to be landed there. The
/// same bits either way.
/// Throws as prepare_rows() does, and out_of_memory; for rows on a device what spi::Device::borrow() throws.
RowsOfIndex put_rows(const RowSchema& schema, const RowsForIndex& given);

/// The rows prepared by the host, in their order, on no device.
/// Throws as prepare_rows() does.
PreparedRows prepared_rows(const RowSchema& schema, const RowsForIndex& given);

}  // namespace kith
