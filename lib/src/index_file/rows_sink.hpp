// Brings rows of an index file to a device, or to the members of a set.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "index_file/index_layout.hpp"
#include "kith/index_file.hpp"
#include "rows/resident_rows.hpp"
#include "search/sets/set_store.hpp"

namespace kith {

class DeviceRowsSink;

/// Takes the rows of a file, or of a part of it, in pieces, and passes each to the device that stores it.
class RowsSink {
 public:
  ///   part    a part of the rows of the file
  ///   offset  bytes from the beginning of the file to the first row
  /// Throws as set_layout() does.
  RowsSink(const RowSchema& schema, const IndexPart& part, const IndexLayout& layout, std::uint64_t offset,
           const OpenOptions& options);
  ~RowsSink();

  /// Takes the next bytes of the rows. Throws bad_file if no Index can have such rows; out_of_memory.
  void take(std::span<const unsigned char> bytes);
  /// Returns the rows, after all were taken.
  std::shared_ptr<const RowStore> end();

 private:
  const RowSchema schema_;
  const std::int64_t rows_, row_bytes_;
  SetLayout layout_;  ///< layout of rows on a set of devices
  std::vector<SetPart> parts_;
  std::vector<std::unique_ptr<DeviceRowsSink>> sinks_;  ///< one per part
  std::int64_t taken_ = 0;                              ///< bytes of rows taken so far
};

}  // namespace kith
