#include "files/binary/records.hpp"

#include <algorithm>
#include <charconv>

#include "files/text/decorated.hpp"
#include "files/text/header.hpp"
#include "files/text/number.hpp"
#include "kith/names.hpp"

namespace kith::files {

Records::Records(Source& source, Format format, const FileOptions& options, const Table* like,
                 const std::vector<std::string>& named)
    : reader_(source, ','),
      source_(source),
      layout_(find_layout(source, reader_.lines(), format, options, like)) {
  reader_.set_separator(layout_.delimiter);
  reader_.set_quotes(options.quotes);
  if (options.header == Header::no) layout_.names.clear();
  read_first();
  has_header_ = decide_header(options, like, named);
  layout_.sample = {};
  if (has_header_ && !has_second_) source.fail(std::string(no_rows));
  if (!has_header_) line_ = 0;
}

void Records::read_first() {
  for (std::size_t line = 0; line < layout_.left_out; ++line) reader_.skip_line();
  std::vector<std::string_view> cells;
  if (!reader_.next(cells)) source_.fail("holds blank lines only; a file of data has at least one row");
  first_line_ = line_ = reader_.line();
  if (!layout_.names.empty()) {  // a comment has them
    first_ = layout_.names;
    columns_ = first_.size();
    second_ = cells;
    second_line_ = line_;
    has_second_ = true;
    return;
  }
  first_.assign(cells.begin(), cells.end());
  columns_ = cells.size();
  has_second_ = reader_.next(second_);
  if (!has_second_) return;
  second_line_ = reader_.line();
  refuse_blank();
}

/// In a file of one column a blank line between others may be an empty cell, and rows would move up.
void Records::refuse_blank() const {
  if (columns_ == 1 && reader_.blank() > 0)
    fail_at(reader_.blank(),
            "is blank, which is an empty cell in a file of one column; fill it in or take it out");
}

bool Records::decide_header(const FileOptions& options, const Table* like,
                            const std::vector<std::string>& named) {
  if (options.header != Header::automatic) return options.header == Header::yes;
  if (!layout_.names.empty()) return true;
  if (layout_.sample.size() < 2) {
    layout_.sample = {first_};
    if (has_second_) layout_.sample.emplace_back(second_.begin(), second_.end());
  }
  const HeaderGuess guess = guess_header(layout_, like, named);
  if (!guess.note.empty() && options.note) options.note(source_.name() + ": " + guess.note);
  return guess.header;
}

bool Records::only_names() const {
  return !has_header_ && !has_second_ &&
         std::all_of(first_.begin(), first_.end(), [](const std::string& cell) {
           return !is_missing_marker(cell) && parse_number(cell).kind == Number::not_a_number &&
                  decoration_of(cell).kind == Decoration::none;
         });
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
    refuse_blank();
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
           in_quotes(first_[0]) + "; say --header yes if that is a name";
  constexpr std::size_t most_listed = 20;
  text += ", called ";
  for (std::size_t column = 0; column < std::min(columns_, most_listed); ++column)
    text += (column ? ", " : "") + in_quotes(first_[column]);
  return text + (columns_ > most_listed ? ", ..." : "") + "; name one of them";
}

}  // namespace kith::files
