// Whole numbers that doubles do not hold: beyond 2^53 not all of them are doubles.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "files/digits.hpp"

namespace kith::files {

struct Table;

/// A whole number that became another one.
struct RoundedWhole {
  std::int64_t row = 0, column = 0;  ///< of the table, from 0
  std::string text;                  ///< the number as it was
  double value = 0;                  ///< what it became

  bool operator==(const RoundedWhole&) const = default;
};

/// Returns whether `text` is a whole number, without a point or an exponent, and the double `value` that it
/// was read as is another one.
bool is_rounded_whole(std::string_view text, double value);

/// Looks at a table as its numbers become doubles, and keeps the first rounded whole number of each column.
class WholesWatch {
 public:
  bool knows(std::int64_t column) const { return first_.contains(column); }
  void add(const RoundedWhole& one) { first_.emplace(one.column, one); }
  /// Adds what the others saw that each looked at one part of the rows, which has numbers of 64 bits. All of
  /// them call this. DigitsWatch::join() describes the arguments.
  void join(std::int64_t part, std::int64_t parts, std::int64_t cols, const SumOfParts& sum);

  std::vector<RoundedWhole> rounded() const;  ///< ascending by column

 private:
  std::map<std::int64_t, RoundedWhole> first_;
};

/// Says that a number was rounded, and why: `1700000000000000001 becomes 1700000000000000000, since ...`.
std::string describe(const RoundedWhole& one);

/// Says the same of a table, with the place, and how many columns have such numbers; empty: none has.
std::string describe_rounded_wholes(const Table& table);

}  // namespace kith::files
