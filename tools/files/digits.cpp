#include "files/digits.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

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

void DigitsWatch::add(std::int64_t row, std::int64_t column, double value, float kept) {
  if (std::isnan(value) || column >= most_columns) return;
  const auto c = static_cast<std::size_t>(column), r = static_cast<std::size_t>(row);
  const auto narrow = static_cast<double>(kept);
  if (c >= columns_.size()) columns_.resize(c + 1);
  Column& of = columns_[c];
  of.least = of.any ? std::min(of.least, value) : value;
  of.most = of.any ? std::max(of.most, value) : value;
  if (!of.any || std::fabs(value - narrow) > std::fabs(of.value - of.kept))
    of.value = value, of.kept = narrow;
  of.any = true;
  if (row >= most_rows) return;
  if (r >= rows_.size()) rows_.resize(r + 1);
  rows_[r].value += mixed(c, value);
  rows_[r].kept += mixed(c, narrow);
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
