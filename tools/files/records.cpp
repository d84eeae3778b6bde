#include "records.hpp"

#include <algorithm>
#include <charconv>

#include "number.hpp"

namespace kith::files {
namespace {

char separator_of(Format format) {
  if (format == Format::csv) return ',';
  return format == Format::tsv ? '\t' : ' ';
}

bool is_missing_marker(std::string_view text) {
  constexpr std::string_view markers[] = {"",    "?",   "-",  ".",    "*",    "NA",
                                          "N/A", "n/a", "na", "null", "NULL", "None"};
  return std::find(std::begin(markers), std::end(markers), text) != std::end(markers);
}

}  // namespace

Records::Records(Source& source, Format format, Header header, const Table* like)
    : reader_(source, separator_of(format)), source_(source) {
  std::vector<std::string_view> cells;
  if (!reader_.next(cells)) source.fail("holds blank lines only; a file of data has at least one row");
  first_line_ = line_ = reader_.line();
  first_.assign(cells.begin(), cells.end());
  columns_ = cells.size();
  has_second_ = reader_.next(second_);
  if (has_second_) second_line_ = reader_.line();
  has_header_ = header == Header::yes || (header == Header::automatic && looks_like_header(like));
  if (has_header_ && !has_second_)
    source.fail("holds a header and no rows; a file of data has at least one row");
  if (!has_header_) line_ = 0;
}

bool Records::next(std::vector<std::string_view>& cells) {
  if (line_ == 0) {
    cells.assign(first_.begin(), first_.end());
    line_ = first_line_;
    return true;
  }
  if (has_second_) {
    has_second_ = false;
    cells.swap(second_);
    line_ = second_line_;
  } else {
    if (!reader_.next(cells)) return false;
    line_ = reader_.line();
  }
  if (cells.size() != columns_)
    fail(count_of(cells.size(), "cell") + " but the rows before have " + std::to_string(columns_) +
         "; every row needs as many cells");
  return true;
}

void Records::fail(const std::string& text) const {
  throw Error(Errc::bad_file, source_.name() + ":" + std::to_string(line_) + ": " + text);
}

std::string Records::column_text(std::size_t column) const {
  std::string text = "column " + std::to_string(column + 1);
  return has_header_ ? text + " (" + printable(first_[column]) + ")" : text;
}

std::optional<std::size_t> Records::find_column(const std::string& wanted) const {
  if (has_header_) {
    const auto found = std::find(first_.begin(), first_.end(), wanted);
    if (found != first_.end()) {
      if (std::find(found + 1, first_.end(), wanted) != first_.end())
        throw Error(Errc::invalid_argument, source_.name() + ": several columns are called " +
                                                in_quotes(wanted) +
                                                "; give the number of the one that is meant, from 1");
      return static_cast<std::size_t>(found - first_.begin());
    }
  }
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
  if (error != std::errc() || end != wanted.data() + wanted.size() || number == 0) return std::nullopt;
  const auto count = static_cast<std::int64_t>(columns_);
  if (number < -count || number > count) return std::nullopt;
  return static_cast<std::size_t>(number > 0 ? number - 1 : count + number);
}

std::size_t Records::require_column(const std::string& wanted) const {
  if (const std::optional<std::size_t> found = find_column(wanted)) return *found;
  throw Error(Errc::invalid_argument,
              source_.name() + ": has no column " + in_quotes(wanted) + "; " + choices());
}

/// A name over a number makes a header; a mark of a missing value does not.
bool Records::looks_like_header(const Table* like) const {
  if (like && like->header && repeats(like->column_names)) return true;
  if (!has_second_ || second_.size() != first_.size()) return false;
  for (std::size_t column = 0; column < first_.size(); ++column)
    if (!is_missing_marker(first_[column]) && parse_number(first_[column]).kind == Number::not_a_number &&
        parse_number(second_[column]).kind != Number::not_a_number)
      return true;
  return false;
}

/// Whether the first record holds all of `names` in their order, perhaps with a label among them.
bool Records::repeats(const std::vector<std::string>& names) const {
  if (first_.size() != names.size() && first_.size() != names.size() + 1) return false;
  std::size_t same = 0;
  for (const std::string& cell : first_)
    if (same < names.size() && cell == names[same]) ++same;
  return same == names.size();
}

std::string Records::choices() const {
  std::string text = "it has columns 1 to " + std::to_string(columns_);
  if (columns_ == 1) text = "it has column 1 only";
  if (!has_header_) return text + " and no header";
  constexpr std::size_t most_listed = 20;
  text += ", called ";
  for (std::size_t column = 0; column < std::min(columns_, most_listed); ++column)
    text += (column ? ", " : "") + in_quotes(first_[column]);
  return text + (columns_ > most_listed ? ", ..." : "");
}

}  // namespace kith::files
