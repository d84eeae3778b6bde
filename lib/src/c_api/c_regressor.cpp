// Implements regressors for C.
#include <memory>

#include "c_api/c_arguments.hpp"
#include "c_api/c_structs.hpp"

using namespace kith;
using namespace kith::c_api;

kith_status kith_regressor_new(const kith_device* device, const kith_rows* train, const double* values,
                               int64_t outputs, const float* sample_weights,
                               const kith_index_options* options, kith_regressor** out) {
  return make_handle(__func__, out, [&](const char* where) {
    const Device& on = given(where, "device", device).device;
    const RowsView rows = rows_of(where, "training", train);
    const kith_index_options asked = read_struct(where, options);
    return std::make_unique<kith_regressor>(
        kith_regressor{Regressor(on, rows, MatrixView<const double>(values, rows.rows, outputs),
                                 choice_of(asked.metric, default_metric), index_options_of(where, asked),
                                 weights_of(where, sample_weights, rows.rows))});
  });
}

kith_status kith_regressor_of_index(const kith_index* index, const double* values, int64_t outputs,
                                    const float* sample_weights, kith_regressor** out) {
  return make_handle(__func__, out, [&](const char* where) {
    const Index& of = given(where, "index", index).index;
    check_array(where, "values", values, of.rows());
    return std::make_unique<kith_regressor>(
        kith_regressor{Regressor(of, MatrixView<const double>(values, of.rows(), outputs),
                                 weights_of(where, sample_weights, of.rows()))});
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

namespace {

///   instead  the function for distances of the other width
template <class Distance>
kith_status predict(const char* function, const char* instead, const kith_regressor* regressor,
                    const kith_rows* queries, std::int64_t k, const kith_vote_options* vote,
                    const kith_search_options* options, double* value, Distance* distance,
                    std::int64_t* row) {
  return guarded(function, [&](const char* where) {
    const Regressor& of = given(where, "regressor", regressor).regressor;
    const RowsView rows = rows_of(where, "query", queries);
    const Asked how(where, options, of.index().positions(), rows.rows);
    check_array(where, "value", value, rows.rows);
    if (distance) check_width(where, of.index().arithmetic(), arithmetic_of_array<Distance>, instead);
    const Regression found = of.regress(rows, k, voting_of(where, vote), how.options(), how.trace());
    how.tell();
    give(value, found.value);
    give(distance, distances_of<Distance>(found.neighbors));
    give(row, found.neighbors.row);
  });
}

template <class Radius>
kith_status predict_within(const char* function, const char* instead, const kith_regressor* regressor,
                           const kith_rows* queries, const Radius* radii, std::int64_t radius_count,
                           const kith_vote_options* vote, const kith_search_options* options, double* value,
                           kith_within** neighbors) {
  if (neighbors) *neighbors = nullptr;
  return guarded(function, [&](const char* where) {
    const Regressor& of = given(where, "regressor", regressor).regressor;
    const RowsView rows = rows_of(where, "query", queries);
    const Asked how(where, options, of.index().positions(), rows.rows);
    check_array(where, "value", value, rows.rows);
    const std::span<const Radius> most = array_of(where, "radii", radii, radius_count);
    check_width(where, of.index().arithmetic(), arithmetic_of_array<Radius>, instead);
    auto within = std::make_unique<kith_within>();
    RadiusRegression found =
        of.regress_within(rows, most, voting_of(where, vote), how.options(), how.trace());
    how.tell();
    give(value, found.value);
    if (!neighbors) return;
    within->found = std::move(found.neighbors);
    *neighbors = within.release();
  });
}

}  // namespace

kith_status kith_regressor_predict(const kith_regressor* regressor, const kith_rows* queries, int64_t k,
                                   const kith_vote_options* vote, const kith_search_options* options,
                                   double* value, float* distance, int64_t* row) {
  return predict(__func__, "kith_regressor_predict_f64", regressor, queries, k, vote, options, value,
                 distance, row);
}

kith_status kith_regressor_predict_f64(const kith_regressor* regressor, const kith_rows* queries, int64_t k,
                                       const kith_vote_options* vote, const kith_search_options* options,
                                       double* value, double* distance, int64_t* row) {
  return predict(__func__, "kith_regressor_predict", regressor, queries, k, vote, options, value, distance,
                 row);
}

kith_status kith_regressor_predict_within(const kith_regressor* regressor, const kith_rows* queries,
                                          const float* radii, int64_t radius_count,
                                          const kith_vote_options* vote, const kith_search_options* options,
                                          double* value, kith_within** neighbors) {
  return predict_within(__func__, "kith_regressor_predict_within_f64", regressor, queries, radii,
                        radius_count, vote, options, value, neighbors);
}

kith_status kith_regressor_predict_within_f64(const kith_regressor* regressor, const kith_rows* queries,
                                              const double* radii, int64_t radius_count,
                                              const kith_vote_options* vote,
                                              const kith_search_options* options, double* value,
                                              kith_within** neighbors) {
  return predict_within(__func__, "kith_regressor_predict_within", regressor, queries, radii, radius_count,
                        vote, options, value, neighbors);
}
