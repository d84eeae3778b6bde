// Rows on a grid of bytes, whose chains are sums of whole numbers: docs/certificate.md, section 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kith/matrix_view.hpp"
#include "kith/spi/byte_grid.hpp"
#include "rows/landed/byte_grid.hpp"

namespace kith {

/// The most columns for which sums of squares of differences of bytes fit into 31 bits.
inline constexpr std::int64_t most_byte_columns = std::int64_t{1} << 15;

class ByteRows {
 public:
  ///   rows  [count, at most most_byte_columns], exactly on the grid
  ByteRows(const ByteGrid& grid, MatrixView<const float> rows, std::uint32_t threads);

  const std::uint8_t* row(std::size_t r) const { return bytes_.data() + r * dims_; }
  std::size_t bytes() const { return bytes_.size(); }
  /// Asks for a row before its turn, since memory answers late.
  void read_ahead(std::size_t r) const;
  /// Returns the sum of squares by which a row of the same grid and row r differ, in steps of the grid: of at
  /// most spi::most_exact steps it is the chain.
  std::int64_t apart(const std::uint8_t* query, std::size_t r) const;

 private:
  std::size_t dims_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace kith
