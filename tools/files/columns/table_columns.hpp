// Which columns a text file has, and what they are: values, answers, or such as nobody reads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "files/columns/column_notes.hpp"
#include "files/columns/dictionary.hpp"
#include "files/columns/records.hpp"

namespace kith::files {

/// One column of the table while it is being read.
struct Column {
  /// unread: it does not count, whatever it holds. blank: the training file has none such, so it must be
  /// empty.
  enum Kind { undecided, number, text, label, target, group, unread, blank } kind = undecided;
  std::int64_t place = -1;       ///< among the columns that are no answers
  std::int64_t position = -1;    ///< in the table
  std::size_t answer = 0;        ///< label, target: which of them
  bool nameless = false;         ///< the header has no name for it, or there is no header
  std::int64_t first_empty = 0;  ///< undecided: the line of its first cell, which is empty
  bool marked = false;           ///< undecided: it holds marks of missing values
  bool forced = false;           ///< text by the caller's wish or the training file's
  bool fixed = false;            ///< the dictionary may not grow
  Dictionary dictionary;         ///< text
  LabelWatch watched;            ///< label, group
  std::string first_text;        ///< text: for the message about a number further down
  std::int64_t first_line = 0;
};

/// Labels, targets and groups are no values.
inline bool is_answer(const Column& column) {
  return column.kind == Column::label || column.kind == Column::target || column.kind == Column::group;
}
inline bool is_value(const Column& column) {
  return !is_answer(column) && column.kind != Column::unread && column.kind != Column::blank;
}

/// The columns of a file, and of the table that is made of it, whose width and names they keep.
class TableColumns {
 public:
  /// Find answers, and leave out what does not count.
  /// Throws invalid_argument: columns that are not there, or not as those of options.like.
  TableColumns(const Records& records, Source& source, const ReadOptions& options, Table& table);

  std::size_t size() const { return columns_.size(); }
  Column& operator[](std::size_t column) { return columns_[column]; }
  const Column& operator[](std::size_t column) const { return columns_[column]; }
  auto begin() const { return columns_.begin(); }
  auto end() const { return columns_.end(); }

  bool has_targets() const { return has_targets_; }
  std::size_t label_count() const { return labels_; }  ///< columns of labels that are here

  /// Columns without a name and without a value in any row, as separators at the ends of lines make them,
  /// once all rows are read.
  void leave_empty_out();

  /// Throw invalid_argument: a column beyond those of the training rows is not empty after all.
  [[noreturn]] void refuse_width();

 private:
  std::vector<std::string> wanted_answers() const;
  bool are_without_answers(const Table& like) const;
  void find_group();
  void find_answers();
  Column& taken(std::size_t at);
  void take_answer(std::size_t at, std::size_t wanted, std::size_t label_count);
  void place();
  template <class IsOut>
  void leave_out(Column::Kind kind, const IsOut& is_out);
  void leave_unchosen_out();
  void leave_unread_out(const Table& like);
  void force_categories();
  void follow(const Table& like);

  const Records& records_;
  Source& source_;
  const ReadOptions& options_;
  Table& table_;
  std::vector<Column> columns_;
  std::size_t labels_ = 0;
  bool has_targets_ = false;
};

}  // namespace kith::files
