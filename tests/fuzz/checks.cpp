// Checks that every table, label and message must pass.
#include <algorithm>
#include <cmath>

#include "files/columns/dictionary.hpp"
#include "files/shown.hpp"
#include "fuzz.hpp"

namespace kith::fuzz {
namespace {

bool ascends(const std::vector<std::string>& names) {
  return std::is_sorted(names.begin(), names.end()) &&
         std::adjacent_find(names.begin(), names.end()) == names.end();
}

std::size_t size_of(std::int64_t rows, std::int64_t cols) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
}

void check_numbers(const files::Table& table, bool missing) {
  require(table.rows > 0 && table.cols > 0, "a table without rows or columns");
  if (table.values.size() != size_of(table.rows, table.cols))
    wrong("values are not rows times columns: " + std::to_string(table.values.size()) + " of " +
          std::to_string(table.rows) + " x " + std::to_string(table.cols) + " in " + table.path);
  for (const float value : table.values)
    require(std::isfinite(value) || (missing && std::isnan(value)), "a value is not finite");
  require(table.targets.size() % static_cast<std::size_t>(table.rows) == 0, "targets are not so many a row");
  for (const double value : table.targets) require(std::isfinite(value), "a target is not finite");
}

void check_columns(const files::Table& table) {
  const auto cols = static_cast<std::size_t>(table.cols);
  require(table.column_names.empty() || table.column_names.size() == cols, "names are not one a column");
  require(table.header == !table.column_names.empty(), "names without a header, or a header without");
  require(std::is_sorted(table.left_out.begin(), table.left_out.end()), "columns left out do not ascend");
  std::int64_t last = -1;
  for (const files::RoundedColumn& column : table.rounded) {
    require(column.column > last && column.column < table.cols, "a rounded column that is not there");
    require(column.step > 0 && column.spread >= 0,
            "a rounded column without a step, or with a spread below 0");
    require(column.value != column.kept, "a rounded value that is not");
    last = column.column;
  }
  if (table.equal_rows)
    require(table.equal_rows->a >= 0 && table.equal_rows->a < table.equal_rows->b &&
                table.equal_rows->b < table.rows,
            "equal rows that are not there");
  require(std::is_sorted(table.unread.begin(), table.unread.end()),
          "columns that nobody reads do not ascend");
  require(table.unread_names.size() == (table.header ? table.unread.size() : 0),
          "names of columns that nobody reads are not one each");
  if (table.image_shape.empty()) return;
  require(table.image_shape.size() == 2 && table.image_shape[0] * table.image_shape[1] == table.cols,
          "an image of another size than its row");
}

void check_categories(const files::Table& table, const files::ReadOptions& options) {
  std::int64_t last = -1;
  for (const files::Categories& known : table.categories) {
    require(known.column > last && known.column < table.cols, "categories of a column that is not there");
    last = known.column;
    require(!known.names.empty() && ascends(known.names), "names of categories do not ascend");
    const std::size_t most = known.names.size() + (options.unseen_is_new ? 1 : 0);
    for (std::int64_t row = 0; row < table.rows; ++row) {
      const float code = table.values[size_of(row, table.cols) + static_cast<std::size_t>(known.column)];
      if (options.missing && std::isnan(code)) continue;
      require(code >= 0 && code == std::trunc(code) && code < static_cast<float>(most),
              "a category without a name");
    }
  }
}

}  // namespace

void check_line(std::string_view text) {
  const std::string shown = files::shown_in_line(text);
  if (shown != text) wrong("words with what a terminal obeys: " + shown);
  if (text.size() > 4096) wrong("words of more than 4096 bytes: " + shown.substr(0, 400));
}

void check_message(std::string_view message, std::string_view where, bool raw) {
  if (raw) check_line(message);
  const std::string shown = files::shown_in_line(message);
  if (!message.starts_with(where)) wrong("a message that begins otherwise: " + shown);
  const std::size_t what = message.find(": ");
  if (what == std::string_view::npos || message.find("; ", what) == std::string_view::npos)
    wrong("a message not of the form where: what; what to do: " + shown);
}

bool attempt(std::string_view where, bool raw, const std::function<void()>& body) {
  try {
    body();
    return true;
  } catch (const Error& error) {
    check_message(error.what(), where, raw);
    if (error.code() == Errc::device_failure || error.code() == Errc::interrupted)
      wrong(std::string("an error of another code: ") + error.what());
    return false;
  }
}

void check_labels(const files::Labels& labels, const files::Labels* known) {
  require(!labels.code.empty(), "no labels, and no error");
  const auto names = static_cast<std::int64_t>(labels.names.size());
  for (const std::int64_t code : labels.code) {
    require(names == 0 || (code >= 0 && code < names), "a label without a name");
    require(names > 0 || known || code >= 0, "a negative label without names");
  }
  if (known && !known->names.empty())
    require(labels.names.size() >= known->names.size() &&
                std::equal(known->names.begin(), known->names.end(), labels.names.begin()),
            "known labels have other codes");
  else if (!known)
    require(labels.names == files::sorted_names(labels.names), "names of labels do not ascend");
}

void check_values(const files::Values& values) {
  require(values.rows > 0 && values.cols > 0, "no values, and no error");
  require(values.values.size() == size_of(values.rows, values.cols), "values are not rows times columns");
  for (const double value : values.values) require(std::isfinite(value), "a value is not finite");
  require(values.column_names.empty() || values.column_names.size() == static_cast<std::size_t>(values.cols),
          "names are not one a column");
}

void check_table(const files::Table& table, const files::ReadOptions& options) {
  check_numbers(table, options.missing);
  check_columns(table);
  check_categories(table, options);
  const auto rows = static_cast<std::size_t>(table.rows);
  const bool labelled = !options.label_column.empty() || !options.more_label_columns.empty();
  require(!labelled || options.label_optional || table.labels.code.size() == rows,
          "labels are not one a row");
  std::vector<const files::Labels*> columns{&table.labels};
  for (const files::Labels& labels : table.more_labels) columns.push_back(&labels);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i]->code.empty()) continue;
    require(columns[i]->code.size() == rows, "labels are not one a row");
    const bool known = i == 0 && options.like && !options.like->labels.code.empty();
    check_labels(*columns[i], known ? &options.like->labels : nullptr);
  }
  if (options.like)
    require(table.cols == options.like->cols, "queries have other columns than training rows");
  check_line(files::describe_lost_digits(table));
}

files::FileOptions file_options(FuzzedDataProvider& input, const std::string& format) {
  files::FileOptions options;
  options.format = format;
  options.header = pick(input, {files::Header::automatic, files::Header::yes, files::Header::no});
  options.separator = pick(input, {'\0', ',', ';', '\t', '|', ' ', ':', '\0'});
  options.decimal = pick(input, {'.', ','});
  using enum files::Encoding;
  options.encoding = pick(input, {utf8, latin1, windows1252, utf16, utf16le, utf16be});
  options.note = check_line;
  return options;
}

}  // namespace kith::fuzz
