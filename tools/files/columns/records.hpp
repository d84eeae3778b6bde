// Rows of a .csv, .tsv or .txt file, and the names of their columns.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "files/formats.hpp"
#include "files/table.hpp"
#include "files/text/lines.hpp"

namespace kith::files {

/// Describes a fault: the only line of a file has the names of columns.
inline constexpr std::string_view no_rows = "holds a header and no rows; a file of data has at least one row";

/// The records of a file, of which the first may name the columns.
class Records {
 public:
  /// Find the layout, and read the first record.
  ///   like   the training table, or null
  ///   named  columns that the caller asks for: where the first record holds such a name, it is a header
  /// Throws bad_file: what separates cells, or whether there is a header, may be read in two ways.
  Records(Source& source, Format format, const FileOptions& options, const Table* like,
          const std::vector<std::string>& named = {});

  std::size_t columns() const { return columns_; }
  bool has_header() const { return has_header_; }
  const std::vector<std::string>& first() const { return first_; }  ///< the cells of the first record
  std::int64_t line() const { return line_; }                       ///< of the record next() gave
  bool is_first() const { return line_ == first_line_; }            ///< whether that was the first one

  /// The next row of data, valid until the next call. False: the file has ended.
  /// Throws bad_file: it has not as many cells as the first record.
  bool next(std::vector<std::string_view>& cells);

  /// The line of the first record that quotes held together over several lines; 0: there was none.
  std::int64_t first_joined() const { return reader_.first_joined(); }

  /// Throws bad_file: `NAME:LINE: text`.
  [[noreturn]] void fail(const std::string& text) const;
  [[noreturn]] void fail_at(std::int64_t line, const std::string& text) const;

  /// `column 3 (petal width)`, `column` from 0.
  std::string column_text(std::size_t column) const;

  /// The column that `wanted` names, or whose number it is, from 1, or from the end.
  /// Throws invalid_argument: several are called so.
  std::optional<std::size_t> find_column(const std::string& wanted) const;
  std::size_t require_column(const std::string& wanted) const;  ///< the same; none is invalid_argument

 private:
  bool read(std::vector<std::string_view>& cells);
  std::string choices(const std::string& wanted) const;

  RecordReader reader_;
  const Source& source_;
  std::vector<std::string> first_;
  std::vector<std::string_view> second_;
  std::size_t columns_ = 0;
  std::int64_t first_line_ = 0, second_line_ = 0;
  std::int64_t line_ = 0;  ///< 0: the first record is a row and still to come
  bool has_second_ = false, has_header_ = false;
};

}  // namespace kith::files
