// Lines of a text file, and the cells of a line.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "files/source.hpp"
#include "files/table.hpp"
#include "files/text/encoding.hpp"

namespace kith::files {

/// Lines one after the other as UTF-8, without their ends (LF or CRLF, or CR where the file has no LF); a
/// byte order mark is skipped. What is no text in the source's encoding is refused with its line and byte.
class LineReader {
 public:
  explicit LineReader(Source& source) : source_(source), decoder_(source.encoding()) {}

  /// The next line; valid until the next call. False: the file has ended.
  /// Throws bad_file: it is longer than the source's limits allow.
  bool next(std::string_view& line);

  /// The same line with the one after it, line end between, for cells that contain one. False: the file has
  /// ended, or is_too_long().
  bool append(std::string_view& line);
  bool is_too_long() const { return too_long_; }

  /// Begin again with the first line, which is in memory still if all calls before said that they keep lines.
  ///   keep  until the next call of begin() no line leaves memory
  void begin(bool keep);
  std::size_t passed() const { return next_; }   ///< bytes from the first line on, while lines are kept
  bool is_broken() const { return is_broken_; }  ///< whatever cuts its lines, the file cannot be read further

  const Limits& limits() const { return source_.limits(); }
  std::int64_t number() const { return number_; }  ///< of the line, or of its first, from 1

  /// Throw bad_file: `NAME:LINE: text`.
  [[noreturn]] void fail(const std::string& text) const;

 private:
  bool find_end();
  void fill();
  void check_start() const;
  void check_text();
  std::string_view view() const;

  Source& source_;
  Decoder decoder_;
  std::string piece_;                ///< what was read last, in the encoding of the file
  std::string buffer_;               ///< UTF-8
  std::size_t begin_ = 0, end_ = 0;  ///< the line is buffer_[begin_, end_)
  std::size_t last_ = 0;             ///< where the last line of several that a cell holds begins
  std::size_t next_ = 0;             ///< after the line end
  std::int64_t number_ = 0, lines_ = 0;
  bool started_ = false, ended_ = false, keeps_ = false, is_broken_ = false, too_long_ = false;
  char line_end_ = '\n';
};

using Record = std::vector<std::string>;

/// The first records of a file, as far as they can be read, and of each the line that it begins in.
struct Sample {
  std::vector<Record> records;
  std::vector<std::int64_t> lines;
  std::exception_ptr error;  ///< what the next one was refused with, such as an open quote
};

/// A line cut into cells, spaces around them removed, quotes resolved; blank lines are skipped.
class RecordReader {
 public:
  RecordReader(Source& source, Quotes quotes) : lines_(source), quotes_(quotes) {}

  /// Begin again behind `skip` lines.
  ///   separator  ',' or '\t'; or ' ', which stands for any run of spaces and tabs
  void begin(char separator, std::int64_t skip) { begin(separator, skip, false); }

  /// Records from there on, before any other was read: about 64 KiB of them, at most 500.
  Sample sample(char separator, std::int64_t skip);

  /// The first lines as they are, for as long as `wanted(line)` holds.
  template <class Wanted>
  std::int64_t count_lines(std::int64_t skip, const Wanted& wanted) {
    begin(',', skip, true);
    std::int64_t count = 0;
    while (lines_.next(line_) && wanted(line_)) ++count;
    return count;
  }

  /// The next record; valid until the next call. False: the file has ended.
  bool next(std::vector<std::string_view>& cells);

  std::int64_t line() const { return lines_.number(); }
  std::int64_t blank() const { return blank_; }  ///< the first blank line before the record; 0: there is none
  /// The line of the first record that went on over several, held together by quotes; 0: there was none.
  std::int64_t first_joined() const { return first_joined_; }
  [[noreturn]] void fail(const std::string& text) const { lines_.fail(text); }

 private:
  struct Cell {
    std::size_t begin, end;  ///< in the line
    std::string* unescaped;  ///< instead, where quotes were doubled
  };
  void begin(char separator, std::int64_t skip, bool keep);
  void split_plain(std::vector<std::string_view>& cells) const;
  void split_quoted(std::vector<std::string_view>& cells);
  std::size_t quoted_cell(std::size_t at);
  void join_line();
  void check_count(std::size_t cells) const;
  std::size_t skip_blanks(std::size_t at) const;
  bool is_blank(char c) const { return c == ' ' || (c == '\t' && separator_ != '\t'); }
  bool is_separator(char c) const { return separator_ == ' ' ? is_blank(c) : c == separator_; }

  LineReader lines_;
  Quotes quotes_;
  char separator_ = ',';
  std::int64_t blank_ = 0, first_joined_ = 0;
  std::string_view line_;
  std::vector<Cell> found_;
  std::deque<std::string> unescaped_;
};

}  // namespace kith::files
