// Lines of a text file, and the cells of a line.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "files/source.hpp"
#include "files/table.hpp"
#include "files/text/encoding.hpp"

namespace kith::files {

inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// Lines one after the other as UTF-8, without their ends (LF or CRLF, or CR where the file has no LF); a
/// byte order mark is skipped. What is no text in the source's encoding is refused with its line and byte.
class LineReader {
 public:
  explicit LineReader(Source& source) : source_(source), decoder_(source.encoding()) {}

  /// Lines of `text` instead, which is UTF-8; the source is named in messages.
  LineReader(Source& source, std::string_view text)
      : source_(source), decoder_(Encoding::utf8), buffer_(text.begin(), text.end()), size_(text.size()) {
    started_ = ended_ = true;
    find_line_end();
  }

  /// The beginning of the file, before any line was taken: whole lines, at least `lines` of them and `bytes`
  /// bytes, as far as there are so many. Valid until the next call.
  std::string_view head(std::size_t lines, std::size_t bytes);

  /// The next line; valid until the next call. False: the file has ended.
  /// Throws bad_file: it is longer than the source's limits allow.
  bool next(std::string_view& line);

  /// The same line with the one after it, line end between, for cells that contain one. False: the file has
  /// ended, or is_too_long().
  bool append(std::string_view& line);
  bool is_too_long() const { return too_long_; }

  const Limits& limits() const { return source_.limits(); }

  std::int64_t number() const { return number_; }  ///< of the line, or of its first, from 1

  /// Throw bad_file: `NAME:LINE: text`.
  [[noreturn]] void fail(const std::string& text) const;

 private:
  bool find_end();
  void fill();
  void start();
  void find_line_end();
  void fill_decoded();
  void check_text();
  std::string_view view() const;

  Source& source_;
  Decoder decoder_;
  std::string decoded_;  ///< where the source is not UTF-8: the piece that was read last
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  ///< the line is buffer_[begin_, end_)
  std::size_t from_ = 0;             ///< where the last line of several that a cell holds begins
  std::size_t size_ = 0;             ///< of buffer_, filled
  std::size_t next_ = 0;             ///< after the line end
  std::int64_t number_ = 0, lines_ = 0;
  bool started_ = false, ended_ = false, too_long_ = false;
  char line_end_ = '\n';
};

/// A line cut into cells, spaces around them removed, quotes resolved; blank lines are skipped.
class RecordReader {
 public:
  /// separator ',' or '\t'; or ' ', which stands for any run of spaces and tabs.
  RecordReader(Source& source, char separator) : lines_(source), separator_(separator) {}
  RecordReader(LineReader lines, char separator) : lines_(std::move(lines)), separator_(separator) {}

  LineReader& lines() { return lines_; }
  void set_separator(char separator) { separator_ = separator; }
  void set_quotes(Quotes quotes) { quotes_ = quotes; }

  /// Leave the next line out, whatever it holds. False: the file has ended.
  bool skip_line() { return lines_.next(line_); }

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
  void split_plain(std::vector<std::string_view>& cells) const;
  void split_quoted(std::vector<std::string_view>& cells);
  std::size_t quoted_cell(std::size_t at);
  void join_line();
  [[noreturn]] void refuse_open_quote() const;
  void check_count(std::size_t cells) const;
  std::size_t skip_blanks(std::size_t at) const;
  bool is_blank(char c) const { return c == ' ' || (c == '\t' && separator_ != '\t'); }
  bool is_separator(char c) const { return separator_ == ' ' ? is_blank(c) : c == separator_; }

  LineReader lines_;
  std::int64_t blank_ = 0;
  char separator_;
  Quotes quotes_ = Quotes::automatic;
  std::int64_t first_joined_ = 0;
  std::string_view line_;
  std::vector<Cell> found_;
  std::deque<std::string> unescaped_;
};

}  // namespace kith::files
