#include "files/columns/records.hpp"

#include <algorithm>
#include <charconv>

#include "files/text/layout.hpp"
#include "files/text/number.hpp"
#include "kith/names.hpp"

namespace kith::files {

Records::Records(Source& source, Format format, const FileOptions& options, const Table* like,
                 const std::vector<std::string>& named)
    : reader_(source, options.quotes), source_(source) {
  const Layout layout = find_layout(source, reader_, format, options);
  has_header_ = find_header(source, layout.sample, options, like, named);
  reader_.begin(layout.separator, layout.skip);
  std::vector<std::string_view> cells;
  if (!read(cells))
    source.fail(layout.skip > 0 ? "has no row behind line " + std::to_string(layout.skip) +
                                      "; --csv skip= leaves the lines above the table out"
                                : "holds blank lines only; a file of data has at least one row");
  first_line_ = line_;
  first_.assign(cells.begin(), cells.end());
  columns_ = cells.size();
  has_second_ = read(second_);
  second_line_ = line_;
  line_ = has_header_ ? first_line_ : 0;
  if (has_header_ && !has_second_) source.fail(std::string(no_rows));
}

/// In a file of one column a blank line between others may be an empty cell, and rows would move up.
bool Records::read(std::vector<std::string_view>& cells) {
  if (!reader_.next(cells)) return false;
  line_ = reader_.line();
  if (columns_ == 1 && reader_.blank() > 0)
    fail_at(reader_.blank(),
            "is blank, which is an empty cell in a file of one column; fill it in or take it out");
  return true;
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
  } else if (!read(cells)) {
    return false;
  }
  if (cells.size() != columns_)
    fail(count_of(cells.size(), "cell") + " but the rows before have " + std::to_string(columns_) +
         (cells[0].starts_with('#') ? "; take comments out of the file" : "; every row needs as many cells"));
  return true;
}

void Records::fail(const std::string& text) const {
  fail_at(line_, text);
}

void Records::fail_at(std::int64_t line, const std::string& text) const {
  throw Error(Errc::bad_file, source_.name() + ":" + std::to_string(line) + ": " + text);
}

std::string Records::column_text(std::size_t column) const {
  std::string text = "column " + std::to_string(column + 1);
  return has_header_ && !first_[column].empty() ? text + " (" + printable(first_[column]) + ")" : text;
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
  const std::string one = has_header_ ? closest_name(wanted, first_) : std::string();
  throw Error(Errc::invalid_argument,
              source_.name() + ": has no column " + in_quotes(wanted) + "; " +
                  (one.empty() ? choices(wanted) : "did you mean " + in_quotes(one) + "?"));
}

std::string Records::choices(const std::string& wanted) const {
  std::string text = "it has columns 1 to " + std::to_string(columns_);
  if (columns_ == 1) text = "it has column 1 only";
  std::int64_t number = 0;
  if (!has_header_ && parse_whole(wanted, number)) return text + " and no header; give one of these numbers";
  if (!has_header_)
    return text + " and no header, for its line " + std::to_string(first_line_) + " begins with " +
           in_quotes(first_[0]) + "; say --csv header=yes if that is a name";
  constexpr std::size_t most_listed = 20;
  text += ", called ";
  for (std::size_t column = 0; column < std::min(columns_, most_listed); ++column)
    text += (column ? ", " : "") + in_quotes(first_[column]);
  return text + (columns_ > most_listed ? ", ..." : "") + "; name one of them";
}

}  // namespace kith::files
