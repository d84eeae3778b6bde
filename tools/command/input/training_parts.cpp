// What belongs to training rows and may have its own file: labels, values, weights, a filter.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "command/input/training_parts.hpp"
#include "command/input/voting_flags.hpp"
#include "files/columns/dictionary.hpp"
#include "files/source.hpp"

namespace kith::command {
namespace {

/// Throws invalid_argument: their number is not the number of training rows.
void check_count(const std::string& where, const std::string& path, std::size_t count,
                 const std::string& what, const files::Table& train) {
  if (static_cast<std::int64_t>(count) == train.rows) return;
  refuse(where, path + " holds " + std::to_string(count) + " " + what + " but " + train.path + " " +
                    std::to_string(train.rows) + " rows; give one a row");
}

/// Notes columns that are named for a separate file, although the training file has them, too.
void tell_twice(const files::Table& table, const std::vector<std::string>& columns, const std::string& path) {
  for (const std::string& column : columns)
    if (std::find(table.column_names.begin(), table.column_names.end(), column) != table.column_names.end())
      note(table.path + ": has a column " + files::in_quotes(column) +
           ", too, which is a feature, since answers come from " + path);
}

/// Notes that numbers look like values, not like classes.
void tell_many_classes(const TrainingFlags& flags, const std::string& name, const files::Labels& labels) {
  constexpr std::size_t few_classes = 20, few_rows = 4;  // of a class, on average
  if (!labels.names.empty() && !files::are_numbers(labels.names)) return;
  const std::size_t rows = labels.code.size(), classes = classes_of(labels.code).size();
  if (classes < few_classes || rows >= few_rows * classes) return;
  const bool own_file = !flags.labels.empty();
  note(std::to_string(rows) + " rows have " + std::to_string(classes) +
       " different labels, all of them numbers; did you mean `kith regress " +
       (own_file                                                 ? "--values " + flags.labels
        : files::is_svm(flags.tables.train, flags.tables.format) ? "--train " + flags.tables.train
                                                                 : "--target " + name) +
       "`?");
}

void read_label_file(const std::string& where, const TrainingFlags& flags, Training& training) {
  files::Table& table = training.rows.table;
  std::vector<std::string> columns = flags.tables.label_columns;
  tell_twice(table, columns, flags.labels);
  if (columns.empty()) columns.emplace_back();
  for (const std::string& column : columns) {
    files::LabelOptions options(file_options(flags.tables));
    options.column = column;
    options.rows = table.rows;
    training.labels.push_back(files::read_labels(flags.labels, options));
    training.label_names.push_back(column.empty() ? flags.labels : column);
    check_count(where, flags.labels, training.labels.back().code.size(), "labels", table);
  }
  table.labels = training.labels[0];  // by which those of the queries are read
  table.more_labels.assign(training.labels.begin() + 1, training.labels.end());
}

}  // namespace

TableFlags train_flags(const TrainingFlags& flags) {
  TableFlags tables = flags.tables;
  if (!flags.labels.empty()) tables.label_columns.clear();
  if (!flags.values.empty()) tables.target_columns.clear();
  if (!files::is_svm(tables.train, tables.format)) return tables;
  using Answers = TrainingFlags::Answers;
  if (flags.answers == Answers::labels && flags.labels.empty() && tables.label_columns.empty())
    tables.label_columns = {"label"};
  if (flags.answers == Answers::values && flags.values.empty() && tables.target_columns.empty())
    tables.target_columns = {"target"};
  return tables;
}

void take_labels(const std::string& where, const TrainingFlags& flags, Training& training) {
  const files::Table& table = training.rows.table;
  if (!flags.labels.empty()) {
    read_label_file(where, flags, training);
  } else {
    if (table.labels.code.empty()) return;
    training.labels.push_back(table.labels);
    training.labels.insert(training.labels.end(), table.more_labels.begin(), table.more_labels.end());
    training.label_names = flags.tables.label_columns;
    if (training.label_names.empty()) training.label_names.push_back("label");
  }
  if (flags.answers != TrainingFlags::Answers::labels) return;
  for (std::size_t i = 0; i < training.labels.size(); ++i)
    tell_many_classes(flags, training.label_names[i], training.labels[i]);
}

void take_values(const std::string& where, const TrainingFlags& flags, Training& training) {
  if (flags.values.empty()) {
    training.values = training.rows.table.targets;
    if (training.values.empty()) return;
    training.value_names = flags.tables.target_columns;
    if (training.value_names.empty()) training.value_names.push_back("target");
    return;
  }
  files::ValueOptions options(file_options(flags.tables));
  options.columns = flags.tables.target_columns;
  options.rows = training.rows.table.rows;
  tell_twice(training.rows.table, options.columns, flags.values);
  files::Values values = files::read_values(flags.values, options);
  check_count(where, flags.values, static_cast<std::size_t>(values.rows),
              values.cols == 1 ? "values" : "rows of values", training.rows.table);
  training.values = training.rows.table.targets = std::move(values.values);
  training.value_names = std::move(values.column_names);
  if (training.value_names.empty())
    for (std::int64_t c = 0; c < values.cols; ++c) training.value_names.push_back(std::to_string(c + 1));
}

std::vector<float> read_weights(const std::string& where, const std::string& path, const TableFlags& flags,
                                const files::Table& train) {
  files::ValueOptions options(file_options(flags));
  options.rows = train.rows;
  const files::Values values = files::read_values(path, options);
  if (values.cols != 1)
    refuse(where, path + " holds " + std::to_string(values.cols) + " columns; weights are one a row");
  check_count(where, path, values.values.size(), "weights", train);
  std::vector<float> weights;
  for (double value : values.values) weights.push_back(static_cast<float>(value));
  return weights;
}

void require_answers(const std::string& where, const TrainingFlags& flags) {
  const bool labels = flags.answers == TrainingFlags::Answers::labels;
  const auto& [file, columns] = labels ? std::tie(flags.labels, flags.tables.label_columns)
                                       : std::tie(flags.values, flags.tables.target_columns);
  if (!file.empty() || !columns.empty() || files::is_svm(flags.tables.train, flags.tables.format)) return;
  refuse(where, labels
                    ? "there are no labels; give --labels FILE, or --label-column COLUMN of the training file"
                    : "there are no values; give --values FILE, or --target COLUMN of the training file");
}

Training read_classes(const std::string& where, const TrainingFlags& flags) {
  Training training = read_training(where, flags);
  if (training.labels.size() != 1)
    refuse(where, std::to_string(training.labels.size()) + " columns hold labels; give one --label-column");
  return training;
}

namespace {

/// Reads the numbers in a --filter file: one column, or all columns that `kith search --out-index` wrote.
std::vector<std::int64_t> read_row_numbers(const std::string& where, const std::string& path,
                                           const TableFlags& flags) {
  if (!files::is_text(path, flags.format)) {
    files::LabelOptions options(file_options(flags));
    return files::read_labels(path, options).code;
  }
  const files::Values values = files::read_values(path, files::ValueOptions(file_options(flags)));
  const bool found = std::all_of(values.column_names.begin(), values.column_names.end(),
                                 [](const std::string& name) { return name.starts_with("neighbor_"); });
  if (values.cols != 1 && (values.column_names.empty() || !found))
    refuse(where, path + " holds " + std::to_string(values.cols) +
                      " columns; a filter is the numbers of rows, from 0, one a line");
  std::vector<std::int64_t> rows;
  for (const double value : values.values) {
    if (value != std::trunc(value) || std::fabs(value) > 0x1p53)
      refuse(where, path + " holds " + format_double(value) + "; a filter is the numbers of rows, from 0");
    const auto row = static_cast<std::int64_t>(value);
    const bool none = row == no_neighbor && found && !values.column_names.empty();  // kith search wrote that
    if (!none) rows.push_back(row);
  }
  return rows;
}

}  // namespace

RowFilter read_filter(const std::string& where, const std::string& path, const TableFlags& flags,
                      const Training& training) {
  const std::vector<std::int64_t>& numbers = training.row_numbers;
  const bool whole = training.rows.kept || numbers.empty();  // the table has every row of the file
  const std::int64_t last = whole ? training.rows.table.rows - 1 : numbers.back();
  std::vector<std::int64_t> rows;
  std::int64_t dropped = 0;
  for (const std::int64_t row : read_row_numbers(where, path, flags)) {
    if (row < 0 || row > last)
      refuse(where, path + " names row " + std::to_string(row) + " but " + training.rows.table.path +
                        " holds rows 0 to " + std::to_string(last) + "; correct it");
    const auto at = std::lower_bound(numbers.begin(), numbers.end(), row);
    if (numbers.empty())
      rows.push_back(row);
    else if (at != numbers.end() && *at == row)
      rows.push_back(at - numbers.begin());
    else
      ++dropped;
  }
  if (dropped > 0)
    note(path + ": " + files::count_of(static_cast<std::uint64_t>(dropped), "row") +
         " of the filter not counted: --prepare missing=drop left " + (dropped == 1 ? "it" : "them") +
         " out");
  return RowFilter::only(training.n(), rows);
}

}  // namespace kith::command
