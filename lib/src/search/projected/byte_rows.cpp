#include "search/projected/byte_rows.hpp"

#include "base/numbers.hpp"
#include "host/parallel.hpp"

namespace kith {

ByteRows::ByteRows(const ByteGrid& grid, MatrixView<const float> rows, std::uint32_t threads)
    : dims_(size(rows.cols())), bytes_(size(rows.rows()) * dims_) {
  const double centre = static_cast<double>(grid.centre), scale = static_cast<double>(grid.scale);
  parallel_for(rows.rows(), rows.rows() * rows.cols(), threads, [&](std::int64_t r) {
    const float* const from = rows.row(r);
    std::uint8_t* const to = bytes_.data() + size(r) * dims_;
    for (std::size_t d = 0; d < dims_; ++d)  // a whole number, without an error
      to[d] = static_cast<std::uint8_t>(static_cast<int>((static_cast<double>(from[d]) - centre) * scale) -
                                        spi::least_on_grid);
  });
}

void ByteRows::read_ahead(std::size_t r) const {
  constexpr std::size_t line = 64;
  for (std::size_t at = 0; at < dims_; at += line) __builtin_prefetch(row(r) + at);
}

std::int64_t ByteRows::apart(const std::uint8_t* query, std::size_t r) const {
  const std::uint8_t* const own = row(r);
  std::int32_t sum = 0;
  for (std::size_t d = 0; d < dims_; ++d) {
    const auto apart = static_cast<std::int16_t>(query[d] - own[d]);
    sum += apart * apart;
  }
  return sum;
}

}  // namespace kith
