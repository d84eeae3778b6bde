#include "files/columns/column_notes.hpp"

#include <algorithm>
#include <cmath>

#include "files/source.hpp"
#include "kith/names.hpp"

namespace kith::files {
namespace {

constexpr std::int64_t fewest_rows = 3;  // below it, anything may be by chance
constexpr std::int64_t many_rows = 20;   // of a column that counts them, where no column has a name

/// id, sample_id, PassengerId; index; or no name, as pandas writes an index.
bool is_id_name(const std::string& name) {
  const std::string lower = plain_name(name);
  return name.empty() || lower == "id" || lower == "index" || lower.ends_with("_id") ||
         name.ends_with("Id") || name.ends_with("ID") || lower.starts_with("unnamed:");
}

}  // namespace

void LabelWatch::tell(const FileOptions& options, const std::string& where, const Labels& labels) const {
  if (!options.note) return;
  for (const std::string& name : labels.names)
    if (is_plain_mark(name))
      options.note(where + ": the label " + in_quotes(name) +
                   " is taken as a class; fill it in or leave its rows out if it stands for none");
  if (first_.empty() || !labels.names.empty()) return;
  const std::size_t digits = std::min(first_.find_first_not_of('0'), first_.size() - 1);
  options.note(where + ": labels such as " + in_quotes(first_) + " are read as numbers, so that is " +
               first_.substr(digits) + "; --csv labels=text keeps their zeros");
}

/// Whole numbers that are all different; where there are no names, 0, 1, 2, ... or 1, 2, 3, ...
bool ColumnNotes::numbers_rows(std::int64_t column) const {
  std::vector<float> values;
  for (std::int64_t r = 0; r < table_.rows; ++r)
    values.push_back(table_.values[static_cast<std::size_t>(r * table_.cols + column)]);
  if (!std::all_of(values.begin(), values.end(), [](float v) { return v >= 0 && v == std::trunc(v); }))
    return false;
  if (!table_.header) {
    for (std::size_t r = 1; r < values.size(); ++r)
      if (values[r] != values[r - 1] + 1) return false;
    return values[0] <= 1;
  }
  std::sort(values.begin(), values.end());
  return std::adjacent_find(values.begin(), values.end()) == values.end();
}

void ColumnNotes::look_at_numbers(std::int64_t column) {
  const bool named = table_.header && is_id_name(table_.column_names[static_cast<std::size_t>(column)]);
  if (table_.cols < 2 || table_.rows < (named ? fewest_rows : many_rows) || named != table_.header) return;
  if (numbers_rows(column)) odd_.push_back({column, "numbers the rows", true});
}

void ColumnNotes::look_at_texts(std::int64_t column, const Dictionary& dictionary) {
  const std::vector<std::string> texts = dictionary.names(0);
  const auto has_digit = [](const std::string& text) {
    return std::any_of(text.begin(), text.end(), is_digit);
  };
  if (dictionary.size() == table_.rows && table_.rows >= fewest_rows)
    odd_.push_back({column, "holds another text in each row, as " + in_quotes(texts[0]), true});
  else if (std::all_of(texts.begin(), texts.end(), has_digit))
    odd_.push_back(
        {column,
         "holds texts with numbers in them, as " + in_quotes(texts[0]) +
             ", which count in alphabetical order; make them numbers, or say --prepare categorical=" +
             std::to_string(number_in_file(column)) + " if they are names",
         false});
}

std::int64_t ColumnNotes::number_in_file(std::int64_t column) const {
  std::int64_t number = column + 1;
  for (std::int64_t absent : table_.left_out) number += absent < number;
  return number;
}

void ColumnNotes::tell(const FileOptions& options) const {
  std::string list;
  for (const Odd& odd : odd_)
    if (odd.numbers_rows) list += (list.empty() ? "" : ",") + std::to_string(number_in_file(odd.column));
  for (const Odd& odd : odd_)
    options.note(table_.path + ": " + table_.column_text(odd.column) + " " + odd.what +
                 (odd.numbers_rows ? ", yet counts as a feature; --drop " + list + " leaves it out" : ""));
}

}  // namespace kith::files
