#include "files/text/lines.hpp"

#include <algorithm>

#include "files/printed.hpp"

namespace kith::files {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 18;  // read at once
constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return text.substr(0, 0);
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string allow_longer(const Limits& limits) {
  return "allow more: --read max-line=" + std::to_string(std::max<std::uint64_t>(limits.line >> 19, 1)) + "M";
}

}  // namespace

void LineReader::fail(const std::string& text) const {
  throw Error(Errc::bad_file, source_.name() + ":" + std::to_string(number_) + ": " + text);
}

/// Read on, into the room behind the line that is being read.
void LineReader::fill() {
  is_broken_ = true;  // until nothing was thrown
  if (!keeps_) {
    buffer_.erase(0, begin_);
    end_ -= begin_, next_ -= begin_, begin_ = 0;
  }
  piece_.resize(piece_bytes);
  piece_.resize(source_.read(piece_.data(), piece_bytes));
  ended_ = piece_.size() < piece_bytes;
  if (!started_) check_start();
  const std::size_t most = buffer_.size() + 3 * piece_bytes;  // no byte becomes more than three
  if (most > buffer_.capacity()) {
    source_.require_memory(2 * most);
    buffer_.reserve(2 * most);
  }
  if (const std::string why = decoder_.decode(piece_, ended_, buffer_); !why.empty()) source_.fail(why);
  // Files of old Macintoshes end lines with CR alone.
  if (!started_ && buffer_.find('\n') == std::string::npos && buffer_.find('\r') != std::string::npos)
    line_end_ = '\r';
  started_ = true;
  is_broken_ = false;
}

/// What the first bytes of a file say about all of it.
void LineReader::check_start() const {
  const Encoding encoding = source_.encoding();
  if (encoding == Encoding::utf8 && (piece_.starts_with("\xFF\xFE") || piece_.starts_with("\xFE\xFF")))
    source_.fail("begins with the byte order mark of UTF-16; say --csv encoding=utf-16");
  if ((encoding == Encoding::latin1 || encoding == Encoding::windows1252) &&
      piece_.starts_with(byte_order_mark))
    source_.fail("begins with the byte order mark of UTF-8; leave --csv encoding= out");
  if (piece_.starts_with("\x1f\x8b\x08"))
    source_.fail("is packed by gzip twice; unpack it once, as by gzip -d");
}

void LineReader::begin(bool keep) {
  begin_ = end_ = next_ = 0;
  number_ = lines_ = 0;
  keeps_ = keep;
}

/// Look for a line end from next_ on; the line then ends before it. False: nothing is left, or the line goes
/// on beyond the limit.
bool LineReader::find_end() {
  const std::size_t line = next_ - begin_;
  for (std::size_t seen = line;;) {
    if (end_ = buffer_.find(line_end_, begin_ + seen); end_ != std::string::npos) {
      next_ = end_ + 1;
      break;
    }
    seen = buffer_.size() - begin_;
    if (ended_ && seen == line) return false;
    if (ended_ || seen > limits().line) {
      end_ = next_ = buffer_.size();
      break;
    }
    end_ = begin_;
    fill();
  }
  too_long_ = end_ - begin_ > limits().line;
  if (too_long_) return false;
  ++lines_;
  last_ = begin_ + line;
  if (!is_plain_ascii({buffer_.data() + last_, end_ - last_})) check_text();
  return true;
}

/// Refuse the line, or the last of those that a cell goes on in, where it is no text.
void LineReader::check_text() {
  const std::string_view line(buffer_.data() + last_, end_ - last_);
  const auto refuse = [&](const std::string& text) {
    is_broken_ = true;
    number_ = lines_;
    fail(text);
  };
  if (const std::size_t zero = line.find('\0'); zero != std::string_view::npos) {
    const bool wide =
        lines_ == 1 && zero < 2 && line.size() > 2 && line[zero + 2 < line.size() ? zero + 2 : zero] == '\0';
    refuse(std::string("holds a zero byte, so it is no plain text; save it as UTF-8 text") +
           (wide ? std::string(", or say --csv encoding=") + (zero == 0 ? "utf-16be" : "utf-16le") : ""));
  }
  const std::size_t at = first_not_utf8(line);
  if (at == line.size()) return;
  refuse("its byte " + std::to_string(at + 1) + ", " +
         printed("0x%02X", static_cast<unsigned char>(line[at])) +
         ", is not UTF-8; say --csv encoding=latin-1 or encoding=windows-1252, or save it as UTF-8 text");
}

std::string_view LineReader::view() const {
  std::string_view line(buffer_.data() + begin_, end_ - begin_);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool LineReader::next(std::string_view& line) {
  begin_ = next_;
  if (!find_end()) {
    number_ = lines_ + 1;
    is_broken_ = too_long_;
    if (too_long_)
      fail("has more than " + std::to_string(limits().line) +
           " bytes, the most that a line may have; break it, or " + allow_longer(limits()));
    return false;
  }
  number_ = lines_;
  if (lines_ == 1 && view().starts_with(byte_order_mark)) begin_ += byte_order_mark.size();
  line = view();
  return true;
}

bool LineReader::append(std::string_view& line) {
  if (!find_end()) return false;
  line = view();
  return true;
}

void RecordReader::begin(char separator, std::int64_t skip, bool keep) {
  lines_.begin(keep);
  separator_ = separator;
  first_joined_ = 0;
  for (std::int64_t line = 0; line < skip; ++line)
    if (!lines_.next(line_)) return;
}

Sample RecordReader::sample(char separator, std::int64_t skip) {
  constexpr std::size_t most_records = 500, enough_bytes = std::size_t{1} << 16,
                        most_cells = std::size_t{1} << 20;  // of one record more, if need be
  Sample sample;
  try {
    begin(separator, skip, true);
    std::size_t count = 0;
    for (std::vector<std::string_view> cells; sample.records.size() < most_records && count < most_cells &&
                                              lines_.passed() < enough_bytes && next(cells);) {
      sample.records.emplace_back(cells.begin(), cells.end());
      sample.lines.push_back(line());
      count += cells.size();
    }
  } catch (const Error& error) {
    if (error.code() != Errc::bad_file || lines_.is_broken()) throw;
    sample.error = std::current_exception();
  }
  return sample;
}

bool RecordReader::next(std::vector<std::string_view>& cells) {
  blank_ = 0;
  for (;;) {
    if (!lines_.next(line_)) return false;
    if (skip_blanks(0) != line_.size()) break;
    if (blank_ == 0) blank_ = lines_.number();
  }
  cells.clear();
  if (quotes_ == Quotes::no || line_.find('"') == std::string_view::npos)
    split_plain(cells);
  else
    split_quoted(cells);
  return true;
}

std::size_t RecordReader::skip_blanks(std::size_t at) const {
  while (at < line_.size() && is_blank(line_[at])) ++at;
  return at;
}

/// Refuse a line with too many cells.
void RecordReader::check_count(std::size_t cells) const {
  const std::uint64_t most = lines_.limits().text_columns;
  if (cells > most)
    fail("has more than " + std::to_string(most) +
         " cells, the most that a line may have; say what separates them (--csv sep=), or allow more: "
         "--read max-columns=" +
         std::to_string(2 * most));
}

void RecordReader::split_plain(std::vector<std::string_view>& cells) const {
  std::size_t at = 0;
  for (;;) {
    if (separator_ == ' ') at = skip_blanks(at);
    const std::size_t begin = at;
    while (at < line_.size() && !is_separator(line_[at])) ++at;
    cells.push_back(trimmed(line_.substr(begin, at - begin)));
    check_count(cells.size());
    if (at == line_.size()) return;
    ++at;
    if (separator_ == ' ' && skip_blanks(at) == line_.size()) return;
  }
}

/// Let the line go on where a quote is open.
void RecordReader::join_line() {
  const std::string open = "a quote opened in cell " + std::to_string(found_.size() + 1) + " is ";
  if (quotes_ == Quotes::automatic && (separator_ == ' ' || separator_ == '\t'))
    fail(open +
         "not closed in its line; say --csv quote=no if quotes are text here, or quote=yes if cells go on "
         "over lines");
  if (!lines_.append(line_)) {
    const bool too_long = lines_.is_too_long();
    const std::uint64_t most = lines_.limits().line;
    fail(open + (too_long ? "not closed within " + std::to_string(most) + " bytes" : "never closed") +
         "; close it, double quotes that belong to the text, or say --csv quote=no if all of them do" +
         (too_long ? ", or " + allow_longer(lines_.limits()) : ""));
  }
  if (first_joined_ == 0) first_joined_ = lines_.number();
}

/// The cell whose opening quote is at `at`, over several lines if need be; returns where it ends.
std::size_t RecordReader::quoted_cell(std::size_t at) {
  const std::size_t begin = ++at;
  bool doubled = false;
  for (;; ++at) {
    at = line_.find('"', at);
    if (at == std::string_view::npos) {
      at = line_.size();  // the search goes on here, in a longer line
      join_line();
      --at;
      continue;
    }
    if (at + 1 >= line_.size() || line_[at + 1] != '"') break;
    doubled = true;
    ++at;
  }
  Cell cell{begin, at, nullptr};
  if (doubled) {
    cell.unescaped = &unescaped_.emplace_back();
    for (std::size_t i = begin; i < at; ++i) {
      *cell.unescaped += line_[i];
      if (line_[i] == '"') ++i;
    }
  }
  found_.push_back(cell);
  const std::size_t end = skip_blanks(at + 1);
  if (end < line_.size() && !is_separator(line_[end]) && !(separator_ == ' ' && end > at + 1))
    fail("cell " + std::to_string(found_.size()) + " goes on after its closing quote with " +
         in_quotes(line_.substr(end, 20)) + "; double quotes that belong to the text");
  return separator_ == ' ' ? at + 1 : end;
}

void RecordReader::split_quoted(std::vector<std::string_view>& cells) {
  found_.clear();
  unescaped_.clear();
  std::size_t at = 0;
  for (;;) {
    const std::size_t start = skip_blanks(at);
    if (start < line_.size() && line_[start] == '"') {
      at = quoted_cell(start);
    } else {
      const std::size_t begin = at = start;
      while (at < line_.size() && !is_separator(line_[at])) ++at;
      found_.push_back({begin, begin + trimmed(line_.substr(begin, at - begin)).size(), nullptr});
    }
    check_count(found_.size());
    if (at >= line_.size()) break;
    ++at;
    if (separator_ == ' ' && skip_blanks(at) == line_.size()) break;
  }
  for (const Cell& cell : found_)
    cells.push_back(cell.unescaped ? std::string_view(*cell.unescaped)
                                   : line_.substr(cell.begin, cell.end - cell.begin));
}

}  // namespace kith::files
