#include "files/columns/rounded_wholes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/numbers.hpp"
#include "files/printed.hpp"
#include "files/source.hpp"
#include "files/table.hpp"
#include "files/text/number.hpp"

namespace kith::files {
namespace {

constexpr std::int64_t at_once = std::int64_t{1} << 18;  // numbers that are summed together

}  // namespace

bool is_rounded_whole(std::string_view text, double value) {
  if (!(std::fabs(value) >= 0x1p53) || !std::isfinite(value)) return false;
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  if (!all_digits(text)) return false;
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  return text != printed("%.0f", std::fabs(value));
}

/// Each part writes the row, from 1, the sign, and the 64 bits of the magnitude and of the double; the other
/// parts add zeros.
void WholesWatch::join(std::int64_t part, std::int64_t parts, std::int64_t cols, const SumOfParts& sum) {
  constexpr std::size_t numbers = 4;  // of a column
  const std::int64_t most = std::max<std::int64_t>(1, at_once / parts);
  const std::map<std::int64_t, RoundedWhole> mine = std::exchange(first_, {});
  for (std::int64_t begin = 0; begin < cols; begin += most) {
    const std::int64_t count = std::min(most, cols - begin);
    std::vector<std::int64_t> seen(size(parts * count) * numbers);
    for (auto one = mine.lower_bound(begin); one != mine.end() && one->first < begin + count; ++one) {
      auto to = seen.begin() + ((part * count) + one->first - begin) * static_cast<std::int64_t>(numbers);
      const bool negative = one->second.text.starts_with('-');
      *to++ = one->second.row + 1;
      *to++ = negative ? 1 : 0;
      *to++ = std::bit_cast<std::int64_t>(std::stoull(one->second.text.substr(negative ? 1 : 0)));
      *to++ = std::bit_cast<std::int64_t>(one->second.value);
    }
    const std::vector<std::int64_t> all = sum(seen);
    for (std::int64_t i = 0; i < parts * count; ++i) {
      const auto from = all.begin() + i * static_cast<std::int64_t>(numbers);
      if (from[0] == 0) continue;
      const std::string digits = std::to_string(std::bit_cast<std::uint64_t>(from[2]));
      add({from[0] - 1, begin + i % count, from[1] != 0 ? "-" + digits : digits,
           std::bit_cast<double>(from[3])});
    }
  }
}

std::vector<RoundedWhole> WholesWatch::rounded() const {
  std::vector<RoundedWhole> list;
  for (const auto& [column, one] : first_) list.push_back(one);
  return list;
}

std::string describe(const RoundedWhole& one) {
  return one.text + " becomes " + printed("%.0f", one.value) +
         ", since doubles hold all whole numbers up to 2^53 alone";
}

std::string describe_rounded_wholes(const Table& table) {
  if (table.rounded_wholes.empty()) return {};
  const auto first = std::min_element(table.rounded_wholes.begin(), table.rounded_wholes.end(),
                                      [](const auto& a, const auto& b) { return a.row < b.row; });
  const std::size_t others = table.rounded_wholes.size() - 1;
  return table.path + ": row " + std::to_string(first->row) + ", " + table.column_text(first->column) + ": " +
         describe(*first) + (others > 0 ? "; so it is with " + count_of(others, "other column") : "");
}

}  // namespace kith::files
