#include "command/input/model_file.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "command/shared/output_file.hpp"
#include "command/words/keys.hpp"
#include "files/columns/dictionary.hpp"

namespace kith::command {
namespace {

/// Gathers the texts of all label columns in one list; labels become positions in that list.
void add_labels(const std::string& where, const Training& training, Model& model) {
  const std::vector<files::Labels>& labels = training.labels;
  std::vector<std::string>& texts = model.label_texts;
  for (const files::Labels& column : labels) {
    if (column.names.empty() != labels[0].names.empty())
      refuse(where,
             "--save-model: some label columns are text and others numbers, which one model does not "
             "hold; save a model for each");
    texts.insert(texts.end(), column.names.begin(), column.names.end());
  }
  texts = files::sorted_names(std::move(texts));
  std::vector<std::vector<std::int64_t>> places;  // of the names of each column, in the list of all
  for (const files::Labels& column : labels) {
    std::vector<std::int64_t>& to = places.emplace_back();
    for (const std::string& name : column.names)
      to.push_back(std::find(texts.begin(), texts.end(), name) - texts.begin());
  }
  for (std::size_t t = 0; t < labels[0].code.size(); ++t)
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const std::int64_t code = labels[i].code[t];
      model.labels.push_back(texts.empty() ? code : places[i][static_cast<std::size_t>(code)]);
    }
}

/// Moves the rows, and how queries are prepared, which in double precision they are not.
void take_rows(Training& training, Model& model) {
  Rows& rows = training.rows;
  std::vector<float>& floats = rows.prepared.empty() ? rows.table.values : rows.prepared;
  model.arithmetic = training.arithmetic;
  if (model.arithmetic == Arithmetic::f32) {
    model.preparation = training.preparation;
    model.rows = std::move(floats);
  } else if (rows.doubles.empty()) {
    model.rows64.assign(floats.begin(), floats.end());
  } else {
    model.rows64 = std::move(rows.doubles);
  }
}

/// Takes the training rows out of a model, so that queries can be read and answers written.
Training training_of(Model& model, const std::string& path) {
  Training training;
  files::Table& table = training.rows.table;
  table.path = path;
  table.rows = model.n;
  table.cols = model.preparation.changes_nothing() ? model.dims : model.preparation.dims();
  table.column_names = model.columns;
  table.header = table.text = !model.columns.empty();
  table.first_index = model.first_index;
  table.unread = table.left_out = model.unread;
  table.unread_names = model.unread_names;
  training.row_numbers = model.row_numbers;
  training.answer_columns = model.answer_names;
  for (std::size_t c = 0; c < model.category_texts.size(); ++c)
    if (!model.category_texts[c].empty())
      table.categories.push_back({static_cast<std::int64_t>(c), model.category_texts[c]});
  training.rows.width = model.dims;
  training.rows.prepared = std::move(model.rows);
  training.rows.doubles = std::move(model.rows64);
  training.arithmetic = model.arithmetic;
  training.preparation = model.preparation;
  training.features = model.features;
  training.metric_options = model.metric_options;
  training.sample_weights = model.sample_weights;
  training.values = model.values;
  const auto outputs = static_cast<std::size_t>(model.outputs);
  const auto called = [&](std::size_t output) {
    return model.answer_names.empty() ? std::to_string(output + 1) : model.answer_names[output];
  };
  for (std::size_t output = 0; output < outputs; ++output) {
    if (model.labels.empty()) {
      training.value_names.push_back(called(output));
      continue;
    }
    files::Labels labels{{}, model.label_texts};
    for (std::size_t at = output; at < model.labels.size(); at += outputs)
      labels.code.push_back(model.labels[at]);
    training.label_names.push_back(called(output));
    training.labels.push_back(std::move(labels));
  }
  if (!training.labels.empty()) {
    table.labels = training.labels[0];
    table.more_labels.assign(training.labels.begin() + 1, training.labels.end());
  }
  return training;
}

}  // namespace

void check_model_options(const CLI::App& app) {
  refuse_both(app, "--save-model", "--filter",
              "a model holds all training rows: give --filter where it is used");
  refuse_both(app, "--save-model", "--groups-column", "a model keeps no groups: leave one of them out");
  for (const char* option :
       {"--train", "--labels", "--values", "--votes sample-weights", "--features", "--groups-column",
        "--scale", "--prepare centre", "--prepare categories", "--prepare categorical", "--prepare missing",
        "--prepare arithmetic", "--metric", "--metric-params", "--save-model"})
    refuse_both(
        app, "--model", option,
        "a model has its training rows and what was done to them: leave " + std::string(option) + " out");
}

void write_model(const std::string& path, const Model& model) {
  {
    ProgressBar bar("saving " + path);
    save(model, path, {interrupt_token(), [&](double part) { bar.update(part); }});
  }
  note_written(path);
}

Training read_model(const std::string& where, const TrainingFlags& flags, const std::string& path,
                    Model& model) {
  model = load_model(path);
  Training training = training_of(model, path);
  if (!flags.filter.empty()) training.filter = read_filter(where, flags.filter, flags.tables, training);
  const std::vector<std::string>& truth =
      training.values.empty() ? flags.tables.label_columns : flags.tables.target_columns;
  if (!truth.empty() && static_cast<std::int64_t>(truth.size()) != model.outputs)
    refuse(where, "columns with the truth are " + std::to_string(truth.size()) + " but " + path +
                      " answers " + std::to_string(model.outputs) + "; give a column for each, or none");
  if (!truth.empty()) (training.values.empty() ? training.label_names : training.value_names) = truth;
  return training;
}

Model model_of(const std::string& where, Training& training, Metric metric, std::int64_t k,
               const VotingOptions& voting) {
  const files::Table& table = training.rows.table;
  Model model;
  model.metric = metric;
  model.metric_options = training.metric_options;
  model.k = k;
  model.voting = voting;
  model.voting.no_label = default_no_label;
  model.features = training.features;
  model.columns = table.column_names;
  model.n = training.n();
  model.row_numbers = training.row_numbers;
  model.first_index = table.first_index;
  model.unread = table.unread;
  model.unread_names = table.unread_names;
  model.dims = training.rows.width;
  take_rows(training, model);
  model.sample_weights = training.sample_weights;
  if (!table.categories.empty()) model.category_texts.resize(static_cast<std::size_t>(table.cols));
  for (const files::Categories& known : table.categories)
    model.category_texts[static_cast<std::size_t>(known.column)] = known.names;
  if (training.values.empty()) {
    model.outputs = static_cast<std::int64_t>(training.labels.size());
    add_labels(where, training, model);
  } else {
    model.outputs = static_cast<std::int64_t>(training.value_names.size());
    model.values = training.values;
  }
  if (static_cast<std::int64_t>(table.answer_names.size()) == model.outputs)
    model.answer_names = table.answer_names;
  return model;
}

}  // namespace kith::command
