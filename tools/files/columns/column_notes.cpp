#include "files/columns/column_notes.hpp"

#include <algorithm>
#include <cmath>

#include "files/columns/dates.hpp"
#include "files/source.hpp"

namespace kith::files {
namespace {

constexpr std::int64_t fewest_rows = 3;       // below it, anything may be by chance
constexpr std::int64_t fewest_nameless = 20;  // rows of a column without a name that counts them

/// id, ID, _id, PassengerId, sample_id, index, No., #
bool is_id_name(const std::string& name) {
  std::string lower = name;
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  for (const char* whole : {"id", "index", "idx", "row", "rowid", "row_id", "rownames", "row names", "no",
                            "no.", "nr", "nr.", "#", "uid", "uuid"})
    if (lower == whole) return true;
  for (const char* ending : {"_id", " id", "-id", ".id"})
    if (lower.ends_with(ending)) return true;
  const std::size_t size = name.size();
  const bool before_is_lower = size > 2 && name[size - 3] >= 'a' && name[size - 3] <= 'z';
  return before_is_lower && (name.ends_with("Id") || name.ends_with("ID"));
}

/// The number that `text` begins with, digits and perhaps a point and digits; empty: none.
std::string_view leading_number(std::string_view text) {
  constexpr std::string_view digits = "0123456789";
  const std::size_t whole = std::min(text.find_first_not_of(digits), text.size());
  if (whole == 0 || whole + 1 >= text.size() || text[whole] != '.') return text.substr(0, whole);
  const std::size_t end = std::min(text.find_first_not_of(digits, whole + 1), text.size());
  return text.substr(0, end == whole + 1 ? whole : end);
}

/// `text` with 0 for each number in it.
std::string shape_of(std::string_view text) {
  std::string shape;
  while (!text.empty()) {
    const std::size_t size = leading_number(text).size();
    shape += size > 0 ? '0' : text[0];
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return shape;
}

/// Whether two texts of one shape are in the order of their numbers, of which the first that differs decides.
bool in_order_of_numbers(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    const std::string_view x = leading_number(a), y = leading_number(b);
    const double from = parse_wide(x).value, to = parse_wide(y).value;
    if (from != to) return from < to;
    a.remove_prefix(std::max<std::size_t>(x.size(), 1));
    b.remove_prefix(std::max<std::size_t>(y.size(), 1));
  }
  return true;
}

}  // namespace

void TextWatch::add(std::string_view text, std::int64_t line, char decimal) {
  if (texts_++ == 0) first_ = text;
  if (is_missing_marker(text)) {
    ++missing_;
    return;
  }
  dates_ += looks_like_date(text);
  times_ += looks_like_time(text);
  if (shape_.empty()) shape_ = shape_of(text);
  shaped_ += shape_of(text) == shape_;
  const Decoration decoration = decoration_of(text, decimal);
  if (decoration.kind == Decoration::none) return;
  if (decoration.kind == Decoration::unit) {
    one_unit_ &= units_ == 0 || unit_ == decoration.what;
    if (is_magnitude(decoration.what) && magnitudes_++ == 0) magnitude_ = {line, std::string(text)};
    ++units_;
    unit_ = decoration.what;
    return;
  }
  if (decorated_++ > 0) return;
  decorated_line_ = line;
  decorated_text_ = text;
  decoration_ = decoration;
}

void LabelWatch::tell(const FileOptions& options, const std::string& where, const Labels& labels) const {
  if (!options.note) return;
  for (const std::string& name : labels.names)
    if (is_plain_mark(name))
      options.note(where + ": the label " + in_quotes(name) +
                   " is taken as a class; fill it in or leave its rows out if it stands for none");
  if (first_.empty() || !labels.names.empty()) return;
  const std::size_t digits = std::min(first_.find_first_not_of('0'), first_.size() - 1);
  options.note(where + ": labels such as " + in_quotes(first_) + " are read as numbers, so that is " +
               first_.substr(digits) + "; --labels-are text keeps their zeros");
}

/// Nine of ten, marks of missing values aside.
bool TextWatch::mostly(std::int64_t count) const {
  return count > 0 && 10 * count >= 9 * (texts_ - missing_);
}

std::pair<std::int64_t, std::string> TextWatch::refusal() const {
  if (mostly(magnitudes_) && !one_unit_)
    return {magnitude_.first, "holds " + in_quotes(magnitude_.second) +
                                  ", which is not read as a number, and nearly all of its cells are like "
                                  "that; write the numbers out, "
                                  "as 3000 in place of 3k"};
  if (!mostly(decorated_)) return {};
  return {decorated_line_,
          "holds " + in_quotes(decorated_text_) +
              ", which is not read as a number, and nearly all of its cells are like that; " +
              undecorating_advice(decoration_)};
}

std::string TextWatch::unit() const {
  return one_unit_ && units_ > 1 && mostly(units_) ? unit_ : "";
}

bool ColumnNotes::whole_and_distinct(std::int64_t column) const {
  std::vector<float> values;
  for (std::int64_t r = 0; r < table_.rows; ++r) {
    values.push_back(value(r, column));
    if (!(values.back() >= 0) || values.back() != std::trunc(values.back())) return false;
  }
  std::sort(values.begin(), values.end());
  return std::adjacent_find(values.begin(), values.end()) == values.end();
}

bool ColumnNotes::counts_rows(std::int64_t column) const {
  const float begin = value(0, column);
  if (begin != 0 && begin != 1) return false;
  const auto first = static_cast<std::int64_t>(begin);
  for (std::int64_t r = 0; r < table_.rows; ++r)
    if (value(r, column) != static_cast<float>(first + r)) return false;
  return true;
}

void ColumnNotes::look_at_numbers(std::int64_t column) {
  if (table_.cols < 2) return;
  if (!table_.header) {
    if (table_.rows >= fewest_nameless && counts_rows(column)) add(column, "counts the rows", true);
    return;
  }
  const std::string& name = table_.column_names[static_cast<std::size_t>(column)];
  const bool nameless = name.empty() || name.starts_with("Unnamed:");
  if (!nameless && !is_id_name(name)) return;
  if (table_.rows < (nameless ? 2 : fewest_rows)) return;
  const bool counts = counts_rows(column);
  if (!counts && !whole_and_distinct(column)) return;
  add(column, std::string(nameless ? "has no name and " : "") + (counts ? "counts" : "numbers") + " the rows",
      true);
}

/// Tell where numbers within texts have another order than the texts.
void ColumnNotes::look_at_order(std::int64_t column, const std::vector<std::string>& sorted) {
  const auto wrong = std::adjacent_find(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
    return shape_of(a) == shape_of(b) && !in_order_of_numbers(a, b);
  });
  if (wrong == sorted.end()) return;
  add(column,
      "holds texts with numbers in them, which are in alphabetical order, " + in_quotes(*wrong) + " before " +
          in_quotes(*(wrong + 1)) + "; make them numbers, or say --categorical " +
          std::to_string(number_in_file(column)) + " if their order is of no meaning",
      false);
}

void ColumnNotes::look_at_texts(std::int64_t column, const TextWatch& texts, const Dictionary& dictionary) {
  if (texts.size() == table_.rows && table_.rows >= fewest_rows)
    add(column, "holds another text in each row, as " + in_quotes(texts.first()), true);
  else if (const std::string unit = texts.unit(); !unit.empty())
    add(column,
        "holds numbers with " + in_quotes(unit) + ", as " + in_quotes(texts.first()) +
            ", which are read as texts in alphabetical order; take " + in_quotes(unit) + " off them",
        false);
  else if (texts.dates() || texts.times())
    add(column,
        (texts.dates() ? "holds dates, as " : "holds times, as ") + in_quotes(texts.first()) +
            ", which are read as texts in alphabetical order; make them numbers",
        false);
  else if (texts.hold_numbers())
    look_at_order(column, dictionary.sorted().names);
}

std::int64_t ColumnNotes::number_in_file(std::int64_t column) const {
  std::int64_t number = column + 1;
  for (std::int64_t absent : table_.left_out) number += absent < number;
  return number;
}

/// The columns that tell rows apart, as --drop takes them.
std::string ColumnNotes::rows_numbered_by() const {
  std::string list;
  for (const Odd& odd : odd_)
    if (odd.numbers_rows) list += (list.empty() ? "" : ",") + std::to_string(number_in_file(odd.column));
  return list;
}

void ColumnNotes::tell(const std::function<void(const std::string&)>& note) const {
  for (const Odd& odd : odd_) {
    std::string text = table_.path + ": ";
    const bool named = table_.header && !table_.column_names[static_cast<std::size_t>(odd.column)].empty();
    text += named ? table_.column_text(odd.column) : "column " + std::to_string(number_in_file(odd.column));
    text += " " + odd.what;
    if (odd.numbers_rows)
      text += ", yet counts as a feature; --drop " + rows_numbered_by() + " leaves it out";
    note(text);
  }
}

}  // namespace kith::files
