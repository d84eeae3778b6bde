// Rows of an index file on their way to a device, or to the members of a set.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "index_file/index_layout.hpp"
#include "kith/index_file.hpp"
#include "rows/index_state.hpp"
#include "search/sets/set_rows.hpp"

namespace kith {

class PartSink;

/// Takes the rows of a file, or of a part of it, in pieces as they come, and hands each to the device that
/// gets it.
class RowsSink {
 public:
  /// `index` lacks its rows alone, and lives longer, as the others do.
  ///   offset  of the first row in the file, in bytes
  ///   first   its place among all rows there
  /// Throws as set_layout() does.
  RowsSink(const Index::State& index, const IndexLayout& layout, std::uint64_t offset, std::int64_t first,
           const OpenOptions& options);
  ~RowsSink();

  /// The next bytes of the rows.
  /// Throws bad_file: rows that no Index has; out_of_memory.
  void take(std::span<const unsigned char> bytes);
  /// All are there: give them to the index.
  void end(Index::State& index);

 private:
  const std::int64_t row_bytes_;
  SetLayout layout_;  ///< of a set
  std::vector<SetPart> parts_;
  std::vector<std::shared_ptr<Index::State>> states_;  ///< of the parts
  std::vector<std::unique_ptr<PartSink>> sinks_;       ///< one a part
  std::int64_t taken_ = 0;                             ///< bytes of rows
};

}  // namespace kith
