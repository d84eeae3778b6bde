#include "files/text/lines.hpp"

#include <algorithm>
#include <cstring>

#include "files/printed.hpp"

namespace kith::files {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;
constexpr std::size_t piece_bytes = std::size_t{1} << 16;   // read at once of another encoding
constexpr std::size_t largest_head = std::size_t{1} << 26;  // a line that is longer is not looked at
std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return text.substr(0, 0);
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::string allow_longer(const Limits& limits) {
  return "allow more: --max-line " + std::to_string(std::max<std::uint64_t>(limits.line >> 19, 1)) + "M";
}

}  // namespace

void LineReader::fail(const std::string& text) const {
  throw Error(Errc::bad_file, source_.name() + ":" + std::to_string(number_) + ": " + text);
}

/// Make room behind the line being read, and read on.
void LineReader::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, size_ - begin_);
    end_ -= begin_, next_ -= begin_, size_ -= begin_, begin_ = 0;
  }
  if (buffer_.size() - size_ < buffer_bytes / 2) {
    const std::size_t larger = std::max(buffer_bytes, buffer_.size() * 2);
    source_.require_memory(larger);
    buffer_.resize(larger);
  }
  if (source_.encoding() == Encoding::utf8) {
    const std::size_t room = buffer_.size() - size_, got = source_.read(buffer_.data() + size_, room);
    size_ += got;
    ended_ = got < room;
  } else {
    fill_decoded();
  }
  if (!started_) start();
}

/// Read a piece in another encoding. `decoded_` grows to 3 bytes for each that is read, at most.
void LineReader::fill_decoded() {
  std::string bytes(piece_bytes, '\0');
  bytes.resize(source_.read(bytes.data(), bytes.size()));
  ended_ = bytes.size() < piece_bytes;
  decoded_.clear();
  if (!started_ && bytes.starts_with(byte_order_mark) && source_.encoding() != Encoding::utf16be &&
      source_.encoding() != Encoding::utf16le)
    source_.fail("begins with the byte order mark of UTF-8; leave --encoding out");
  if (const std::string why = decoder_.decode(bytes, ended_, decoded_); !why.empty()) source_.fail(why);
  if (buffer_.size() - size_ < decoded_.size()) {
    source_.require_memory(size_ + decoded_.size());
    buffer_.resize(size_ + decoded_.size());
  }
  std::copy(decoded_.begin(), decoded_.end(), buffer_.begin() + static_cast<std::ptrdiff_t>(size_));
  size_ += decoded_.size();
}

/// What the first bytes of a file say about all of it.
void LineReader::start() {
  started_ = true;
  const std::string_view text(buffer_.data(), size_);
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    source_.fail("begins with the byte order mark of UTF-16; say --encoding utf-16");
  if (text.starts_with("\x1f\x8b\x08"))
    source_.fail("is packed by gzip twice; unpack it once, as by gzip -d");
  find_line_end();
}

/// Files of old Macintoshes end lines with CR alone.
void LineReader::find_line_end() {
  const std::string_view text(buffer_.data(), size_);
  if (text.find('\n') == std::string_view::npos && text.find('\r') != std::string_view::npos)
    line_end_ = '\r';
}

std::string_view LineReader::head(std::size_t lines, std::size_t bytes) {
  if (!started_) fill();
  for (std::size_t at = 0, found = 0;;) {
    const void* end = size_ > at ? std::memchr(buffer_.data() + at, line_end_, size_ - at) : nullptr;
    if (end) {
      at = static_cast<std::size_t>(static_cast<const char*>(end) - buffer_.data()) + 1;
      if (++found >= lines && at >= bytes) return {buffer_.data(), at};
    } else if (ended_ || size_ > largest_head) {
      return {buffer_.data(), ended_ ? size_ : at};
    } else {
      fill();
    }
  }
}

/// Look for a line end from next_ on; the line then ends before it. False: nothing is left, or the line goes
/// on beyond the limit.
bool LineReader::find_end() {
  const std::size_t before = next_ - begin_;
  for (std::size_t from = next_;;) {
    const void* found = size_ > from ? std::memchr(buffer_.data() + from, line_end_, size_ - from) : nullptr;
    if (found) {
      end_ = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data());
      next_ = end_ + 1;
      break;
    }
    if (ended_) {
      if (next_ == size_) return false;
      end_ = next_ = size_;
      break;
    }
    if (size_ - begin_ > limits().line) {
      end_ = size_;
      break;
    }
    const std::size_t seen = size_ - begin_;
    fill();
    from = seen;
  }
  too_long_ = end_ - begin_ > limits().line;
  if (too_long_) return false;
  ++lines_;
  from_ = begin_ + before;
  if (!is_plain_ascii({buffer_.data() + from_, end_ - from_})) check_text();
  return true;
}

/// Refuse the line, or the last of those that a cell goes on in, where it is no text.
void LineReader::check_text() {
  const std::string_view line(buffer_.data() + from_, end_ - from_);
  const auto refuse = [&](const std::string& text) {
    number_ = lines_;
    fail(text);
  };
  if (const std::size_t zero = line.find('\0'); zero != std::string_view::npos) {
    const bool wide =
        lines_ == 1 && zero < 2 && line.size() > 2 && line[zero + 2 < line.size() ? zero + 2 : zero] == '\0';
    refuse(std::string("holds a zero byte, so it is no plain text; save it as UTF-8 text") +
           (wide ? std::string(", or say --encoding ") + (zero == 0 ? "utf-16be" : "utf-16le") : ""));
  }
  const std::size_t at = first_not_utf8(line);
  if (at == line.size()) return;
  refuse("its byte " + std::to_string(at + 1) + ", " +
         printed("0x%02X", static_cast<unsigned char>(line[at])) +
         ", is not UTF-8; say --encoding latin-1 or windows-1252, or save it as UTF-8 text");
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
         " cells, the most that a line may have; say what separates them (--delimiter), or allow more: "
         "--max-columns " +
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

void RecordReader::refuse_open_quote() const {
  const std::uint64_t most = lines_.limits().line;
  fail("a quote opened in cell " + std::to_string(found_.size() + 1) + " is " +
       (lines_.is_too_long() ? "not closed within " + std::to_string(most) + " bytes" : "never closed") +
       "; close it, double quotes that belong to the text, or say --csv quotes=no if all of them do" +
       (lines_.is_too_long() ? ", or " + allow_longer(lines_.limits()) : ""));
}

/// Let the line go on where a quote is open.
void RecordReader::join_line() {
  if (quotes_ == Quotes::automatic && (separator_ == ' ' || separator_ == '\t'))
    fail("a quote opened in cell " + std::to_string(found_.size() + 1) +
         " is not closed in its line; say --csv quotes=no if quotes are text here, or quotes=yes if cells go "
         "on "
         "over lines");
  if (!lines_.append(line_)) refuse_open_quote();
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
