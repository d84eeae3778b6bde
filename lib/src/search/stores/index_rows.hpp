// Brings rows of a caller into an Index.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kith/rows_view.hpp"
#include "rows/resident_rows.hpp"
#include "rows/rows.hpp"

namespace kith {

/// Holds rows that are to become part of an Index.
struct RowsForIndex {
  std::string_view what;  ///< in messages: "training" or "added"
  RowsView rows;
  const std::vector<std::int64_t>& order;  ///< in which they are stored; empty: as given
  std::int64_t first = 0;                  ///< the training row that the first of them becomes
  std::int64_t first_row = 0;              ///< the number of row 0 in messages
};

/// Holds the rows on the device, and a sample of them.
struct RowsOfIndex {
  std::vector<Chunk> chunks;
  float largest = 0;    ///< max |element|; max |element|; 0 for bits
  PreparedRows sample;  ///< every sample_stride()-th row, or all rows
};

/// Checks rows, and puts them on the device of `schema`: packed by the host, or as they are, to be landed
/// there. Both ways give the same bits. Throws as prepare_rows() does, and out_of_memory; for rows on a
/// device what spi::Device::borrow() throws.
RowsOfIndex put_rows(const RowSchema& schema, const RowsForIndex& given);

/// Prepares the rows on the host, in their order, without a device. Throws as prepare_rows() does.
PreparedRows prepared_rows(const RowSchema& schema, const RowsForIndex& given);

}  // namespace kith
