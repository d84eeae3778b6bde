#include "training.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

namespace kith::command {
namespace {

/// Throws invalid_argument: there are not as many as training rows.
void check_count(const std::string& where, const std::string& path, std::size_t count,
                 const std::string& what, const files::Table& train) {
  if (static_cast<std::int64_t>(count) == train.rows) return;
  refuse(where, path + " holds " + std::to_string(count) + " " + what + " but " + train.path + " " +
                    std::to_string(train.rows) + " rows; give one a row");
}

void take_labels(const std::string& where, const TrainingFlags& flags, Training& training) {
  files::Table& table = training.rows.table;
  if (!flags.labels.empty()) {
    training.labels.push_back(
        files::read_labels(flags.labels, files::LabelOptions(file_options(flags.tables))));
    training.label_names.push_back(flags.labels);
    check_count(where, flags.labels, training.labels[0].code.size(), "labels", table);
    return;
  }
  if (table.labels.code.empty()) return;
  training.labels.push_back(table.labels);
  training.labels.insert(training.labels.end(), table.more_labels.begin(), table.more_labels.end());
  training.label_names = flags.tables.label_columns;
  if (training.label_names.empty()) training.label_names.push_back("label");
}

void take_values(const std::string& where, const TrainingFlags& flags, Training& training) {
  if (flags.values.empty()) {
    training.values = training.rows.table.targets;
    if (!training.values.empty()) training.value_names = flags.tables.target_columns;
    return;
  }
  files::Values values = files::read_values(flags.values, file_options(flags.tables));
  check_count(where, flags.values, static_cast<std::size_t>(values.rows),
              values.cols == 1 ? "values" : "rows of values", training.rows.table);
  training.values = std::move(values.values);
  training.value_names = std::move(values.column_names);
  if (training.value_names.empty())
    for (std::int64_t c = 0; c < values.cols; ++c) training.value_names.push_back(std::to_string(c + 1));
}

std::vector<float> read_weights(const std::string& where, const TrainingFlags& flags,
                                const files::Table& train) {
  const std::string& path = flags.sample_weights;
  const files::Values values = files::read_values(path, number_options(flags.tables.format));
  if (values.cols != 1)
    refuse(where, path + " holds " + std::to_string(values.cols) + " columns; weights are one a row");
  check_count(where, path, values.values.size(), "weights", train);
  std::vector<float> weights;
  for (double value : values.values) weights.push_back(static_cast<float>(value));
  return weights;
}

/// Columns of prepared rows that come from these of the file.
std::vector<std::int64_t> prepared_features(const Preparation& preparation,
                                            const std::vector<std::int64_t>& features) {
  if (features.empty() || preparation.changes_nothing()) return features;
  const std::vector<std::int64_t> sources = preparation.sources();
  std::vector<std::int64_t> result;
  for (std::size_t c = 0; c < sources.size(); ++c)
    if (std::binary_search(features.begin(), features.end(), sources[c]))
      result.push_back(static_cast<std::int64_t>(c));
  return result;
}

void prepare(const Preparation& preparation, Rows& rows) {
  rows.width = rows.table.cols;
  if (preparation.changes_nothing()) return;
  rows.prepared = preparation.apply(view(rows.table));
  rows.width = preparation.width();
}

/// How queries are read: for --unseen zero a new category is 0 in every column of a one-hot code.
TableFlags query_flags(const TrainingFlags& flags, const Training& training) {
  TableFlags tables = flags.tables;
  const PreparationOptions& preparation = training.preparation.options();
  tables.unseen_is_new = preparation.categories == Categories::one_hot && !preparation.categorical.empty();
  return tables;
}

Rows prepared(const Preparation& preparation, files::Table table) {
  Rows rows;
  rows.table = std::move(table);
  prepare(preparation, rows);
  return rows;
}

Scaling parse_scaling(const std::string& text) {
  return scaling_named(text == "l2" ? "l2_rows" : spelled(text));
}

}  // namespace

MatrixView<const float> Rows::searched() const {
  return {prepared.empty() ? table.values.data() : prepared.data(), table.rows, width};
}

void add_answer_options(CLI::App& app, TrainingFlags& flags) {
  reads_file(app.add_option("--labels", flags.labels,
                            "Labels of the training rows, one a row, where they have their own file"));
}

void add_value_options(CLI::App& app, TrainingFlags& flags) {
  reads_file(app.add_option(
      "--values", flags.values,
      "Values of the training rows, a column for each that is to be predicted: .npy, .csv, .tsv, .txt, idx"));
  add_texts(app, "--target", flags.tables.target_columns,
            "The columns of text files that hold the values: names, or numbers from 1; -1 is the last. Where "
            "the queries have them too, they are the truth",
            "COLUMNS");
}

void add_sample_weight_option(CLI::App& app, TrainingFlags& flags) {
  reads_file(app.add_option("--sample-weights", flags.sample_weights,
                            "What the vote of each training row is multiplied by, one a row, 0 or more"));
}

void add_filter_option(CLI::App& app, TrainingFlags& flags) {
  reads_file(app.add_option(
      "--filter", flags.filter,
      "The training rows that count, as numbers from 0, one a line (or .npy): prototypes, gauges"));
}

void add_feature_option(CLI::App& app, TrainingFlags& flags) {
  app.add_option("--features", flags.features,
                 "The columns that count, in any order: names, numbers (from 1 in text files, else from 0) "
                 "and ranges, as in 2-5,width")
      ->type_name("LIST");
}

void add_preparation_options(CLI::App& app, TrainingFlags& flags) {
  CLI::Option* scale =
      add_texts(app, "--scale", flags.scale,
                "What is done to all columns, one after the other, as fitted on the training rows: "
                "standardize, min-max, l2 (each row divided by its norm)",
                "NAMES");
  check_by(app, scale, "--scale", [](const std::string& text) { parse_scaling(text); });
  add_choice(app, "--categories", flags.categories,
             "What a column of text becomes: ordinal (its place in the sorted list of its texts), one-hot",
             {"ordinal", "one_hot"});
}

PreparationOptions preparation_options(const std::string& where, const TrainingFlags& flags,
                                       const files::Table& train) {
  PreparationOptions options;
  for (const std::string& text : flags.scale) options.scalings.push_back(parse_scaling(text));
  options.categories = categories_named(flags.categories);
  if (options.categories == Categories::ordinal) return options;  // codes are what they are
  for (const files::Categories& known : train.categories) options.categorical.push_back(known.column);
  if (options.categorical.empty())
    refuse(where, "--categories one-hot: no column of " + train.path +
                      " holds text; name columns of numbers that are categories by --categorical");
  return options;
}

void require_labels(const std::string& where, const TrainingFlags& flags) {
  if (flags.labels.empty() != flags.tables.label_columns.empty()) return;
  refuse(where, flags.labels.empty()
                    ? "there are no labels; give --labels FILE, or --label-column COLUMN of the training file"
                    : "--labels and --label-column are both given; choose one");
}

void require_values(const std::string& where, const TrainingFlags& flags) {
  if (flags.values.empty() != flags.tables.target_columns.empty()) return;
  refuse(where, flags.values.empty()
                    ? "there are no values; give --values FILE, or --target COLUMN of the training file"
                    : "--values and --target are both given; choose one");
}

void check_k(const std::string& where, std::int64_t k, const Training& training, bool leave_one_out) {
  if (leave_one_out)
    check_k_of_others(where, k, training.rows.table);
  else
    check_k(where, k, training.rows.table);
  if (!training.filter) return;
  const std::int64_t most = training.filter->count() - (leave_one_out ? 1 : 0);
  if (k > most)
    refuse(where, "k = " + std::to_string(k) + " but --filter leaves " + std::to_string(most) +
                      (leave_one_out ? " other" : "") + (most == 1 ? " row" : " rows") +
                      "; choose a smaller k, or let more rows count");
}

RowFilter read_filter(const std::string& where, const TrainingFlags& flags, const files::Table& train) {
  const std::string& path = flags.filter;
  const files::Labels rows =
      files::read_labels(path, files::LabelOptions(number_options(flags.tables.format)));
  if (!rows.names.empty())
    refuse(where,
           path + " holds text such as " + rows.names[0] + "; a filter is the numbers of rows, from 0");
  for (std::int64_t row : rows.code)
    if (row >= train.rows)
      refuse(where, path + " names row " + std::to_string(row) + " but " + train.path + " holds rows 0 to " +
                        std::to_string(train.rows - 1) + "; correct it");
  return RowFilter::only(train.rows, rows.code);
}

Training read_training(const std::string& where, const TrainingFlags& flags) {
  Training training;
  files::Table& table = training.rows.table;
  table = read_train(flags.tables, !flags.features.empty());
  take_labels(where, flags, training);
  take_values(where, flags, training);
  if (!flags.sample_weights.empty()) training.sample_weights = read_weights(where, flags, table);
  if (!flags.filter.empty()) training.filter = read_filter(where, flags, table);
  if (!flags.features.empty()) training.file_features = parse_features(where, flags.features, table);
  training.preparation = Preparation(view(table), preparation_options(where, flags, table));
  prepare(training.preparation, training.rows);
  training.features = prepared_features(training.preparation, training.file_features);
  return training;
}

Rows read_prepared_queries(const TrainingFlags& flags, const Training& training) {
  return prepared(training.preparation, read_queries(query_flags(flags, training), training.rows.table));
}

Rows parse_prepared_queries(const TrainingFlags& flags, const std::vector<std::string>& rows,
                            const Training& training) {
  return prepared(training.preparation,
                  parse_queries(query_flags(flags, training), rows, training.rows.table));
}

}  // namespace kith::command
