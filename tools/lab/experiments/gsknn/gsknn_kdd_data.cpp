#include "lab/experiments/gsknn/gsknn_kdd_data.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "files/formats.hpp"
#include "files/source.hpp"
#include "kith/error.hpp"
#include "kith/preparation.hpp"

namespace kith::experiments::kdd {
namespace {

constexpr std::int64_t columns = 41;
constexpr std::array<std::int64_t, 3> text_columns = {1, 2, 3};  ///< protocol, service, flag; from 0

constexpr const char* where_to_get =
    "get kddcup.data_10_percent.gz from the UCI KDD archive, "
    "https://kdd.ics.uci.edu/databases/kddcup99/kddcup99.html";

/// Maps the labels of the training data to classes, as the task of the cup groups them.
constexpr std::array<std::pair<std::string_view, std::int64_t>, 23> label_classes{{
    {"normal", 0},     {"back", 1},      {"land", 1},         {"neptune", 1},     {"pod", 1},
    {"smurf", 1},      {"teardrop", 1},  {"ipsweep", 2},      {"nmap", 2},        {"portsweep", 2},
    {"satan", 2},      {"ftp_write", 3}, {"guess_passwd", 3}, {"imap", 3},        {"multihop", 3},
    {"phf", 3},        {"spy", 3},       {"warezclient", 3},  {"warezmaster", 3}, {"buffer_overflow", 4},
    {"loadmodule", 4}, {"perl", 4},      {"rootkit", 4},
}};

std::string_view without_dot(std::string_view label) {
  if (label.ends_with('.')) label.remove_suffix(1);
  return label;
}

[[noreturn]] void refuse_file(const std::string& path, const std::string& what) {
  throw Error(Errc::bad_file, "gsknn-kdd: " + path + ": " + what + "; " + where_to_get);
}

files::Table read_rows(const std::string& path, std::stop_token stop) {
  files::ReadOptions options;
  options.label_column = "-1";
  for (const std::int64_t column : text_columns) options.categorical.push_back(std::to_string(column + 1));
  options.stop = std::move(stop);
  files::Source source(path, options);
  files::Table table;
  table.path = path;
  table.text = true;
  // read_table() cannot be used, since the file's name does not say that commas separate its cells.
  files::read_delimited(source, files::Format::csv, options, table);
  return table;
}

/// Throws bad_file unless the table has the columns of KDD Cup 1999.
void check_columns(const files::Table& table) {
  if (table.cols != columns)
    refuse_file(table.path, "has " + std::to_string(table.cols) +
                                " columns beside the label, but KDD Cup 1999 " + std::to_string(columns));
  for (const files::Categories& categories : table.categories)
    if (std::find(text_columns.begin(), text_columns.end(), categories.column) == text_columns.end())
      refuse_file(table.path, table.column_text(categories.column) + " holds text (" +
                                  files::in_quotes(categories.names.front()) +
                                  "), but in KDD Cup 1999 columns 2, 3 and 4 alone do");
}

std::vector<float> rows_of(const files::Table& table, std::span<const std::int64_t> rows) {
  std::vector<float> values;
  values.reserve(rows.size() * static_cast<std::size_t>(table.cols));
  for (const std::int64_t row : rows) {
    const float* from = table.values.data() + row * table.cols;
    values.insert(values.end(), from, from + table.cols);
  }
  return values;
}

}  // namespace

std::int64_t class_of(std::string_view label) {
  label = without_dot(label);
  const auto found = std::find_if(label_classes.begin(), label_classes.end(),
                                  [&](const auto& known) { return known.first == label; });
  return found == label_classes.end() ? -1 : found->second;
}

void check_data(const std::string& path) {
  if (path.empty())
    throw Error(Errc::invalid_argument, std::string("gsknn-kdd: needs the rows of KDD Cup 1999; ") +
                                            where_to_get + ", and give --data FILE");
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) refuse_file(path, "there is no such file");
}

Connections read(const std::string& path, std::stop_token stop) {
  check_data(path);
  Connections all;
  all.table = read_rows(path, std::move(stop));
  check_columns(all.table);
  if (all.table.labels.names.empty())
    refuse_file(path, "its last column holds numbers, not labels such as smurf.");
  for (const std::string& label : all.table.labels.names) {
    all.names.emplace_back(without_dot(label));
    all.class_of_name.push_back(class_of(label));
    if (all.class_of_name.back() < 0)
      refuse_file(path, "holds the label " + files::in_quotes(label) +
                            ", which is none of the 23 of the training data of KDD Cup 1999");
  }
  return all;
}

Prepared prepare(const Connections& all, std::span<const std::int64_t> train,
                 std::span<const std::int64_t> test) {
  PreparationOptions options{.scalings = {Scaling::standardize, Scaling::min_max}};
  options.categorical.assign(text_columns.begin(), text_columns.end());
  options.categories = Categories::one_hot;
  const auto view = [&](const std::vector<float>& values) {
    return MatrixView<const float>(values.data(), static_cast<std::int64_t>(values.size()) / all.table.cols,
                                   all.table.cols);
  };
  const std::vector<float> fitted = rows_of(all.table, train);
  const Preparation preparation(view(fitted), options);
  return {preparation.apply(view(fitted)), preparation.apply(view(rows_of(all.table, test))),
          preparation.width()};
}

}  // namespace kith::experiments::kdd
