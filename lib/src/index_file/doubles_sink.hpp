// Takes rows of doubles of an index file.
#pragma once

#include <cstdint>
#include <span>

#include "index_file/index_layout.hpp"
#include "rows/doubles/prepared_doubles.hpp"
#include "rows/index_state.hpp"

namespace kith {

class DoublesSink {
 public:
  ///   part    a part of the rows of the file
  ///   offset  bytes from the beginning of the file to the first row
  ///   box     in which the rows are; null: there is none
  DoublesSink(const IndexPart& part, const IndexLayout& layout, std::uint64_t offset,
              std::shared_ptr<const PeriodicBox> box);

  /// Takes the next bytes of the rows. Throws bad_file if no Index can have such rows.
  void take(std::span<const unsigned char> bytes);
  /// Puts the rows into `index`, after all were taken. Throws out_of_memory.
  void end(Index::State& index, const OpenOptions& options);

 private:
  void check_row(std::int64_t row);

  const std::int64_t first_;
  const bool unit_;
  const double most_;  ///< the largest magnitude of a value
  const std::uint64_t offset_;
  const std::shared_ptr<const PeriodicBox> box_;
  PreparedDoubles rows_;
  std::size_t taken_ = 0;     ///< bytes
  std::int64_t checked_ = 0;  ///< rows
};

}  // namespace kith
