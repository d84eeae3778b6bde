#include "files/digits.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "base/numbers.hpp"

namespace kith::files {
namespace {

constexpr std::int64_t most_rows = std::int64_t{1} << 20;     // that are compared
constexpr std::int64_t most_columns = std::int64_t{1} << 20;  // that are looked at
constexpr double coarse = 1e-4;                               // of the spread

/// The mixing of SplitMix64 (Steele, Lea, Flood 2014).
std::uint64_t mixed(std::uint64_t column, double value) {
  std::uint64_t z = std::bit_cast<std::uint64_t>(value + 0.0) + (column + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30u)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27u)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31u);
}

/// Returns the distance from the float32 of `value` to the next one away from 0.
double step_at(double value) {
  const float size = static_cast<float>(std::fabs(value));
  return static_cast<double>(std::nextafter(size, std::numeric_limits<float>::infinity())) -
         static_cast<double>(size);
}

}  // namespace

bool RoundedColumn::is_coarse() const {
  return spread > 0 && step > coarse * spread;
}

bool RoundedColumn::is_finer_centred() const {
  return 4 * step_at(spread / 2) <= step;
}

void DigitsWatch::Column::include(const Column& other) {
  if (!other.any) return;
  least = any ? std::min(least, other.least) : other.least;
  most = any ? std::max(most, other.most) : other.most;
  if (!any || std::fabs(other.value - other.kept) > std::fabs(value - kept))
    value = other.value, kept = other.kept;
  any = true;
}

void DigitsWatch::add(std::int64_t row, std::int64_t column, double value, float kept) {
  if (std::isnan(value) || column >= most_columns) return;
  const auto c = static_cast<std::size_t>(column), r = static_cast<std::size_t>(row);
  const auto narrow = static_cast<double>(kept);
  if (c >= columns_.size()) columns_.resize(c + 1);
  columns_[c].include({true, value, value, value, narrow});
  if (row >= most_rows) return;
  if (r >= rows_.size()) rows_.resize(r + 1);
  rows_[r].value += mixed(c, value);
  rows_[r].kept += mixed(c, narrow);
}

void DigitsWatch::join(std::int64_t part, std::int64_t parts, std::int64_t rows, std::int64_t cols,
                       const SumOfParts& sum) {
  join_columns(part, parts, std::min(cols, most_columns), sum);
  join_rows(std::min(rows, most_rows), sum);
}

void DigitsWatch::join_columns(std::int64_t part, std::int64_t parts, std::int64_t cols,
                               const SumOfParts& sum) {
  constexpr std::size_t numbers = 5;  // of a column
  constexpr std::int64_t at_once = std::int64_t{1} << 18;
  const std::vector<Column> mine = std::exchange(columns_, std::vector<Column>(size(cols)));
  const std::int64_t most = std::max<std::int64_t>(1, at_once / parts);
  for (std::int64_t first = 0; first < cols; first += most) {
    const std::size_t count = size(std::min(most, cols - first)), begin = size(first);
    std::vector<std::int64_t> seen(size(parts) * count * numbers);  // zeros but for this part
    auto to = seen.begin() + part * static_cast<std::int64_t>(count * numbers);
    for (std::size_t c = begin; c < std::min(begin + count, mine.size()); ++c) {
      *to++ = mine[c].any ? 1 : 0;
      for (const double one : {mine[c].least, mine[c].most, mine[c].value, mine[c].kept})
        *to++ = std::bit_cast<std::int64_t>(one);
    }
    const std::vector<std::int64_t> all = sum(seen);
    for (std::size_t i = 0; i < size(parts) * count; ++i) {
      const auto number = [&](std::size_t place) { return std::bit_cast<double>(all[i * numbers + place]); };
      columns_[begin + i % count].include(
          {all[i * numbers] != 0, number(1), number(2), number(3), number(4)});
    }
  }
}

void DigitsWatch::join_rows(std::int64_t rows, const SumOfParts& sum) {
  rows_.resize(size(rows));
  std::vector<std::int64_t> seen;  // zeros for the rows of other parts
  for (const Row& row : rows_)
    for (const std::uint64_t one : {row.value, row.kept}) seen.push_back(std::bit_cast<std::int64_t>(one));
  const std::vector<std::int64_t> all = sum(seen);
  for (std::size_t r = 0; r < rows_.size(); ++r)
    rows_[r] = {std::bit_cast<std::uint64_t>(all[2 * r]), std::bit_cast<std::uint64_t>(all[2 * r + 1])};
}

std::vector<RoundedColumn> DigitsWatch::rounded() const {
  std::vector<RoundedColumn> list;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Column& of = columns_[c];
    if (!of.any || of.value == of.kept) continue;
    const double largest = std::max(std::fabs(of.least), std::fabs(of.most));
    list.push_back({static_cast<std::int64_t>(c), step_at(largest), of.most - of.least, of.value, of.kept});
  }
  return list;
}

std::optional<EqualRows> DigitsWatch::equal_rows() const {
  if (rounded().empty()) return std::nullopt;
  std::vector<std::size_t> order(rows_.size());
  for (std::size_t r = 0; r < order.size(); ++r) order[r] = r;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return rows_[a].kept != rows_[b].kept ? rows_[a].kept < rows_[b].kept : a < b;
  });
  std::optional<EqualRows> first;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const std::size_t a = order[i - 1], b = order[i];
    if (rows_[a].kept != rows_[b].kept || rows_[a].value == rows_[b].value) continue;
    const EqualRows pair{static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)};
    if (!first || pair.b < first->b) first = pair;
  }
  return first;
}

}  // namespace kith::files
