#include "boxes/cuts.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "boxes/curve.hpp"
#include "kith/key.hpp"

namespace kith {
namespace {

// With at most this many columns, the first cut of a column makes four parts: each cut costs a sort, and the
// few columns that are not cut can be halved later.
constexpr std::size_t most_columns_in_fours = 10;

/// A part of the rows. `numbers` has the row at each position; the row of a key is a position in it.
struct Part {
  MatrixView<const float> rows;
  const std::uint32_t* numbers;

  float value(Key key, std::uint32_t column) const { return rows.row(numbers[row_of(key)])[column]; }

  /// Returns the column in which a sample of these rows is widest.
  std::uint32_t widest(std::span<const Key> keys) const {
    std::uint32_t column = 0;
    float furthest = -1;
    for (std::uint32_t d = 0; d < spi::curve_columns(static_cast<std::uint32_t>(rows.cols())); ++d) {
      float least = value(keys[0], d), largest = least;
      for (std::size_t j = 1; j < spi::box_rows; ++j) {
        const float at = value(keys[j * keys.size() / spi::box_rows], d);
        least = std::min(least, at);
        largest = std::max(largest, at);
      }
      if (largest - least > furthest) furthest = largest - least, column = d;
    }
    return column;
  }

  void sort(std::span<Key> keys) const {
    const std::uint32_t column = widest(keys);
    for (Key& key : keys) key = make_key(value(key, column), row_of(key));
    std::sort(keys.begin(), keys.end());
  }
};

/// A row with its former position as tie break. std::stable_sort() would do the same, but then the library
/// would export its name.
struct Placed {
  float value;
  std::uint32_t place, row;

  bool operator<(const Placed& other) const {
    return value != other.value ? value < other.value : place < other.place;
  }
};

/// Sorts rows by a column; equal rows keep their order.
void sort_by_column(MatrixView<const float> rows, std::uint32_t column, std::span<std::uint32_t> order) {
  std::vector<Placed> placed(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) placed[i] = {rows.row(order[i])[column], i, order[i]};
  std::sort(placed.begin(), placed.end());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = placed[i].row;
}

}  // namespace

std::vector<spi::Cut> cuts_for(MatrixView<const float> sample, std::uint32_t n) {
  const FloatGuard guard;
  std::vector<double> reach;
  for (const Middle& middle : middles_of(sample)) reach.push_back(middle.high - middle.low);
  std::vector<std::uint32_t> taken(reach.size());
  const std::uint32_t at_once = reach.size() <= most_columns_in_fours ? 2 : 1;
  auto left = static_cast<std::uint32_t>(std::bit_width(n > 0 ? (n - 1) / spi::part_rows : 0));
  while (left > 0) {
    const auto widest = size(std::max_element(reach.begin(), reach.end()) - reach.begin());
    const std::uint32_t now = taken[widest] > 0 ? 1 : std::min(left, at_once);
    taken[widest] += now;
    reach[widest] /= 1 << now;
    left -= now;
  }
  std::vector<spi::Cut> cuts;
  for (std::uint32_t d = 0; d < taken.size(); ++d)
    if (taken[d] > 0) cuts.push_back({d, taken[d]});
  return cuts;
}

std::vector<std::uint32_t> order_by_cuts(MatrixView<const float> rows, const std::vector<spi::Cut>& cuts) {
  const FloatGuard guard;
  std::vector<std::uint32_t> order(size(rows.rows()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const std::size_t part = std::size_t{spi::part_rows}
                             << (bits_before(cuts, cuts.size()) - bits_before(cuts, i));
    for (std::size_t begin = 0; begin < order.size(); begin += part)
      sort_by_column(rows, cuts[i].column,
                     std::span(order).subspan(begin, std::min(part, order.size() - begin)));
  }
  return order;
}

void halve_parts(MatrixView<const float> rows, std::vector<std::uint32_t>& numbers) {
  const FloatGuard guard;
  for (std::size_t begin = 0; begin < numbers.size(); begin += spi::part_rows) {
    const std::size_t count = std::min<std::size_t>(spi::part_rows, numbers.size() - begin);
    const std::vector<std::uint32_t> came(numbers.data() + begin, numbers.data() + begin + count);
    const Part part{rows, came.data()};
    std::vector<Key> keys;
    for (std::uint32_t i = 0; i < count; ++i) keys.push_back(make_key(0, i));
    for (std::size_t all = spi::part_rows; all > spi::box_rows; all /= 2)
      for (std::size_t first = 0; first < count; first += all)
        part.sort(std::span(keys).subspan(first, std::min(all, count - first)));
    for (std::size_t i = 0; i < count; ++i) numbers[begin + i] = came[row_of(keys[i])];
  }
}

}  // namespace kith
