// What is told about the columns of a text file once it is read: such as number the rows instead of
// describing them, texts whose numbers have another order than their letters, and labels that may be meant
// otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "files/columns/dictionary.hpp"
#include "files/table.hpp"

namespace kith::files {

/// Looks for labels that may be meant otherwise: 007, which as a number is 7; NA, which as a text is a class.
class LabelWatch {
 public:
  void look_at(std::string_view label) {
    if (label.size() > 1 && label[0] == '0' && label[1] >= '0' && label[1] <= '9' && first_.empty())
      first_ = label;
  }
  /// Tell of them, once all labels are known.
  void tell(const FileOptions& options, const std::string& where, const Labels& labels) const;

 private:
  std::string first_;
};

/// Collects notes about the columns of a training table, whose text columns may still hold codes that are not
/// in order.
class ColumnNotes {
 public:
  explicit ColumnNotes(const Table& table) : table_(table) {}

  void look_at_numbers(std::int64_t column);  ///< a position in the table
  void look_at_texts(std::int64_t column, const Dictionary& dictionary);

  /// One line each, with the --drop that leaves out all columns that tell rows apart.
  void tell(const FileOptions& options) const;

 private:
  struct Odd {
    std::int64_t column;
    std::string what;
    bool numbers_rows;  ///< so it is better left out
  };
  bool numbers_rows(std::int64_t column) const;
  std::int64_t number_in_file(std::int64_t column) const;

  const Table& table_;
  std::vector<Odd> odd_;
};

}  // namespace kith::files
