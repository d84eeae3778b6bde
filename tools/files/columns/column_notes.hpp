// What is odd about the columns of a text file once it is read: numbers that were read as text, and columns
// that number the rows instead of describing them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dictionary.hpp"
#include "files/table.hpp"
#include "files/text/decorated.hpp"

namespace kith::files {

/// Looks at the distinct texts of a column as they come.
class TextWatch {
 public:
  void add(std::string_view text, std::int64_t line, char decimal);

  /// Where nearly all texts are decorated numbers: the line of the first, and what is wrong with it,
  /// `holds ..., ...; ...`. Empty: they are not.
  std::pair<std::int64_t, std::string> refusal() const;

  std::int64_t size() const { return texts_; }         ///< distinct texts
  const std::string& first() const { return first_; }  ///< of them
  bool dates() const { return mostly(dates_); }        ///< nearly all are dates
  bool times() const { return mostly(times_); }        ///< nearly all are times
  /// Nearly all are alike but for the numbers in them, as 5-10 and 10-15.
  bool hold_numbers() const { return shape_.find('0') != std::string::npos && mostly(shaped_); }
  std::string unit() const;  ///< the letters behind all numbers, as "kg"; empty: there are none

 private:
  bool mostly(std::int64_t count) const;

  std::int64_t texts_ = 0, missing_ = 0, decorated_ = 0, units_ = 0, dates_ = 0, times_ = 0, shaped_ = 0;
  std::int64_t decorated_line_ = 0;
  std::int64_t magnitudes_ = 0;
  std::pair<std::int64_t, std::string> magnitude_;  ///< line and text of the first
  bool one_unit_ = true;
  std::string first_, decorated_text_, unit_, shape_;
  Decoration decoration_;  ///< of decorated_text_
};

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

/// Collects what is odd about the columns of a training table, whose text columns may still hold codes that
/// are not in order.
class ColumnNotes {
 public:
  explicit ColumnNotes(const Table& table) : table_(table) {}

  void look_at_numbers(std::int64_t column);  ///< a position in the table
  void look_at_texts(std::int64_t column, const TextWatch& texts, const Dictionary& dictionary);

  /// One line each, with the --drop that leaves out all columns that tell rows apart.
  void tell(const std::function<void(const std::string&)>& note) const;

 private:
  struct Odd {
    std::int64_t column;
    std::string what;
    bool numbers_rows;  ///< so it is better left out
  };
  void add(std::int64_t column, const std::string& what, bool numbers_rows) {
    odd_.push_back({column, what, numbers_rows});
  }
  void look_at_order(std::int64_t column, const std::vector<std::string>& sorted);
  bool whole_and_distinct(std::int64_t column) const;
  bool counts_rows(std::int64_t column) const;
  float value(std::int64_t row, std::int64_t column) const {
    return table_.values[static_cast<std::size_t>(row * table_.cols + column)];
  }
  std::int64_t number_in_file(std::int64_t column) const;
  std::string rows_numbered_by() const;

  const Table& table_;
  std::vector<Odd> odd_;
};

}  // namespace kith::files
