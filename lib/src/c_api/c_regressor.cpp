// Implements regressors for C.
#include <memory>

#include "c_api/c_arguments.hpp"
#include "c_api/c_structs.hpp"
#include "search/doubles/double_rows_of_index.hpp"

using namespace kith;
using namespace kith::c_api;

kith_status kith_regressor_new(const kith_device* device, const kith_rows* train, const double* values,
                               int64_t outputs, const float* sample_weights,
                               const kith_index_options* options, kith_regressor** out) {
  return make_handle(__func__, out, [&](const char* where) {
    const Device& on = given(where, "device", device).device;
    const RowsView rows = rows_of(where, "training", train);
    const kith_index_options asked = read_struct(where, options);
    auto made = std::make_unique<kith_regressor>(
        kith_regressor{Regressor(on, rows, MatrixView<const double>(values, rows.rows, outputs),
                                 choice_of(asked.metric, default_metric), index_options_of(where, asked),
                                 weights_of(where, sample_weights, rows.rows))});
    check_single(where, made->regressor.index().state());
    return made;
  });
}

kith_status kith_regressor_of_index(const kith_index* index, const double* values, int64_t outputs,
                                    const float* sample_weights, kith_regressor** out) {
  return make_handle(__func__, out, [&](const char* where) {
    const Index& of = given(where, "index", index).index;
    check_array(where, "values", values, of.rows());
    auto made = std::make_unique<kith_regressor>(
        kith_regressor{Regressor(of, MatrixView<const double>(values, of.rows(), outputs),
                                 weights_of(where, sample_weights, of.rows()))});
    check_single(where, made->regressor.index().state());
    return made;
  });
}

kith_status kith_regressor_with(const kith_regressor* regressor, const kith_rows* more, const double* values,
                                const float* sample_weights, const int64_t* ids, kith_regressor** out) {
  return make_handle(__func__, out, [&](const char* where) {
    const Regressor& before = given(where, "regressor", regressor).regressor;
    const RowsView rows = rows_of(where, "added", more);
    const std::vector<float> weights = weights_of(where, sample_weights, rows.rows);
    const MatrixView<const double> answers(values, rows.rows, before.outputs());
    return std::make_unique<kith_regressor>(
        kith_regressor{before.with(rows, answers, weights, ids_of(where, ids, rows.rows))});
  });
}

kith_status kith_regressor_without(const kith_regressor* regressor, const int64_t* rows, int64_t count,
                                   kith_regressor** out) {
  return make_handle(__func__, out, [&](const char* where) {
    const Regressor& before = given(where, "regressor", regressor).regressor;
    return std::make_unique<kith_regressor>(
        kith_regressor{before.without(array_of(where, "rows", rows, count))});
  });
}

kith_status kith_regressor_compact(const kith_regressor* regressor, kith_regressor** out) {
  return make_handle(__func__, out, [&](const char* where) {
    return std::make_unique<kith_regressor>(
        kith_regressor{given(where, "regressor", regressor).regressor.compact()});
  });
}

void kith_regressor_free(kith_regressor* regressor) {
  delete regressor;
}

kith_status kith_regressor_describe(const kith_regressor* regressor, kith_regressor_info* info) {
  return guarded(__func__, [&](const char* where) {
    const Regressor& from = given(where, "regressor", regressor).regressor;
    auto to = KITH_INIT(kith_regressor_info);
    to.outputs = from.outputs();
    to.values = from.values().data();
    if (!from.sample_weights().empty()) to.sample_weights = from.sample_weights().data();
    write_struct(where, info, to);
  });
}

kith_status kith_regressor_index(const kith_regressor* regressor, kith_index** out) {
  return make_handle(__func__, out, [&](const char* where) {
    return std::make_unique<kith_index>(kith_index{given(where, "regressor", regressor).regressor.index()});
  });
}

kith_status kith_regressor_predict(const kith_regressor* regressor, const kith_rows* queries, int64_t k,
                                   const kith_vote_options* vote, const kith_search_options* options,
                                   double* value, float* distance, int64_t* row) {
  return guarded(__func__, [&](const char* where) {
    const Regressor& of = given(where, "regressor", regressor).regressor;
    const RowsView rows = rows_of(where, "query", queries);
    const Asked how(where, options, of.index().positions(), rows.rows);
    check_array(where, "value", value, rows.rows);
    const Regression found = of.regress(rows, k, voting_of(where, vote), how.options(), how.trace());
    how.tell();
    give(value, found.value);
    give(distance, found.neighbors.distance);
    give(row, found.neighbors.row);
  });
}

kith_status kith_regressor_predict_within(const kith_regressor* regressor, const kith_rows* queries,
                                          const float* radii, int64_t radius_count,
                                          const kith_vote_options* vote, const kith_search_options* options,
                                          double* value, kith_within** neighbors) {
  if (neighbors) *neighbors = nullptr;
  return guarded(__func__, [&](const char* where) {
    const Regressor& of = given(where, "regressor", regressor).regressor;
    const RowsView rows = rows_of(where, "query", queries);
    const Asked how(where, options, of.index().positions(), rows.rows);
    check_array(where, "value", value, rows.rows);
    auto within = std::make_unique<kith_within>();
    RadiusRegression found = of.regress_within(rows, array_of(where, "radii", radii, radius_count),
                                               voting_of(where, vote), how.options(), how.trace());
    how.tell();
    give(value, found.value);
    if (!neighbors) return;
    within->found = std::move(found.neighbors);
    *neighbors = within.release();
  });
}
