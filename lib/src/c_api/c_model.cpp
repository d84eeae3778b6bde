// Implements models for C.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "c_api/c_arguments.hpp"
#include "c_api/c_structs.hpp"
#include "model/model_check.hpp"
#include "rows/rows.hpp"

namespace {

using namespace kith;
using namespace kith::c_api;

/// Copies rows without gaps.
std::vector<float> rows_without_gaps(MatrixView<const float> rows) {
  std::vector<float> values;
  if (rows.rows() < 1 || rows.cols() < 1) return values;
  values.reserve(static_cast<std::size_t>(rows.rows() * rows.cols()));
  for (std::int64_t t = 0; t < rows.rows(); ++t)
    values.insert(values.end(), rows.row(t), rows.row(t) + rows.cols());
  return values;
}

/// Copies rows to a model, which is in double precision for rows of doubles.
void give_rows(const char* where, const kith_rows* given_rows, Model& model) {
  const RowsView rows = rows_of(where, "model's", given_rows);
  if (rows.element != Element::f64) {
    const LandedRows landed = numbers_of(where, "model's", given_rows);
    model.n = landed.view.rows();
    model.dims = landed.view.cols();
    model.rows = rows_without_gaps(landed.view);
    return;
  }
  check_rows(where, "model's", rows);
  model.n = rows.rows;
  model.dims = rows.cols;
  model.arithmetic = Arithmetic::f64;
  model.rows64.resize(cells_of(model.n, model.dims));
  for (std::int64_t t = 0; t < model.n; ++t)
    std::memcpy(model.rows64.data() + t * model.dims, rows.row(t),
                static_cast<std::size_t>(model.dims) * sizeof(double));
}

/// Copies an array of `count` elements; empty if it is NULL.
template <class T>
std::vector<T> copy_if_given(const char* where, const char* what, const T* data, std::int64_t count) {
  return data ? copy_of(where, what, data, count) : std::vector<T>();
}

/// Copies the texts of the categories of each column.
std::vector<std::vector<std::string>> category_texts_of(const char* where, const kith_model_parts& parts) {
  const auto counts = array_of(where, "category_counts", parts.category_counts,
                               parts.category_counts ? parts.category_column_count : 0);
  std::vector<std::vector<std::string>> columns;
  const char* const* texts = parts.category_texts;
  for (const std::int64_t count : counts) {
    columns.push_back(texts_of(where, "category text", texts, count));
    if (texts) texts += count;
  }
  return columns;
}

Model model_of(const char* where, const kith_model_parts& parts) {
  if (parts.outputs < 0) refuse(where, "outputs = " + std::to_string(parts.outputs) + "; give at least 1");
  Model model;
  give_rows(where, parts.rows, model);
  model.metric = choice_of(parts.metric, default_metric);
  model.k = parts.k;
  model.voting = voting_of(where, parts.vote);
  if (parts.preparation) model.preparation = parts.preparation->preparation;
  model.features = copy_of(where, "features", parts.features, parts.features_count);
  model.columns = texts_of(where, "column", parts.columns, parts.column_count);
  model.outputs = std::max<std::int64_t>(parts.outputs, 1);
  const auto answers = static_cast<std::int64_t>(cells_of(model.n, model.outputs));
  model.labels = copy_if_given(where, "labels", parts.labels, answers);
  model.label_texts = texts_of(where, "label text", parts.label_texts, parts.label_text_count);
  model.values = copy_if_given(where, "values", parts.values, answers);
  model.sample_weights = copy_if_given(where, "sample_weights", parts.sample_weights, model.n);
  model.category_texts = category_texts_of(where, parts);
  if (parts.answer_names)
    model.answer_names = texts_of(where, "answer name", parts.answer_names, model.outputs);
  model.row_numbers = copy_if_given(where, "row_numbers", parts.row_numbers, model.n);
  model.first_index = parts.has_first_index ? parts.first_index : -1;
  model.unread = copy_of(where, "unread", parts.unread, parts.unread_count);
  if (parts.unread_names)
    model.unread_names = texts_of(where, "unread name", parts.unread_names, parts.unread_count);
  if (parts.metric_options) {
    const kith_index_options given = read_struct(where, parts.metric_options);
    model.metric_options = index_options_of(where, given);
  }
  return model;
}

}  // namespace

kith_status kith_model_new(const kith_model_parts* parts, kith_model** out) {
  return make_handle(__func__, out, [&](const char* where) {
    check_given(where, "parts", parts);
    Model model = model_of(where, read_struct(where, parts));
    check_model(model);
    return std::make_unique<kith_model>(std::move(model));
  });
}

kith_status kith_model_load(const char* path, kith_model** out) {
  return make_handle(__func__, out, [&](const char* where) {
    check_given(where, "path", path);
    return std::make_unique<kith_model>(load_model(path));
  });
}

kith_status kith_model_save(const kith_model* model, const char* path, const kith_stop* stop,
                            kith_progress progress, void* user) {
  return guarded(__func__, [&](const char* where) {
    const Model& from = given(where, "model", model).model;
    check_given(where, "path", path);
    SaveOptions options;
    if (stop) options.stop = stop->source.get_token();
    options.progress = progress_of(progress, user);
    save(from, path, options);
  });
}

void kith_model_free(kith_model* model) {
  delete model;
}

kith_status kith_model_describe(const kith_model* model, kith_model_parts* parts) {
  return guarded(__func__, [&](const char* where) {
    write_struct(where, parts, given(where, "model", model).described());
  });
}

kith_status kith_model_classifier(const kith_model* model, const kith_device* device, kith_classifier** out) {
  return make_handle(__func__, out, [&](const char* where) {
    const Model& from = given(where, "model", model).model;
    return std::make_unique<kith_classifier>(
        kith_classifier{from.classifier(given(where, "device", device).device)});
  });
}

kith_status kith_model_regressor(const kith_model* model, const kith_device* device, kith_regressor** out) {
  return make_handle(__func__, out, [&](const char* where) {
    const Model& from = given(where, "model", model).model;
    return std::make_unique<kith_regressor>(
        kith_regressor{from.regressor(given(where, "device", device).device)});
  });
}
