// Whether float32 tells the values of a column apart, and rows that differ.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace kith::files {

/// A column whose values float32 rounds.
struct RoundedColumn {
  std::int64_t column = 0;        ///< position in the table's columns, from 0
  double step = 0;                ///< of float32 at the largest of its values
  double spread = 0;              ///< the largest value minus the least
  double value = 0, kept = 0;     ///< the value that is farthest from what it becomes, and that
  bool is_finer_centred() const;  ///< the step is a quarter or less once the mean is subtracted
  bool is_coarse() const;         ///< the step is large beside the spread, which is not 0

  bool operator==(const RoundedColumn&) const = default;
};

/// Two rows that differ, and whose float32 do not.
struct EqualRows {
  std::int64_t a = 0, b = 0;

  bool operator==(const EqualRows&) const = default;
};

using SumOfParts = std::function<std::vector<std::int64_t>(const std::vector<std::int64_t>&)>;

/// Looks at the values of a table as they are rounded, in any order.
class DigitsWatch {
 public:
  void add(std::int64_t row, std::int64_t column, double value, float kept);

  /// Adds what the others saw that each looked at one part of the rows of a table. All of them call this.
  ///   part, parts  which part this one saw, and of how many
  ///   rows, cols   of the whole table
  ///   sum          returns the sums of the vectors of all parts, number by number
  void join(std::int64_t part, std::int64_t parts, std::int64_t rows, std::int64_t cols,
            const SumOfParts& sum);

  std::vector<RoundedColumn> rounded() const;   ///< columns with a value that was rounded, ascending
  std::optional<EqualRows> equal_rows() const;  ///< of the first 2^20 rows the first two, if any

 private:
  struct Column {
    bool any = false;
    double least = 0, most = 0, value = 0, kept = 0;

    void include(const Column& other);  ///< of rows behind those that were seen
  };
  /// Sums that are equal for equal rows, and hardly ever for others.
  struct Row {
    std::uint64_t value = 0, kept = 0;
  };
  void join_columns(std::int64_t part, std::int64_t parts, std::int64_t cols, const SumOfParts& sum);
  void join_rows(std::int64_t rows, const SumOfParts& sum);

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace kith::files
