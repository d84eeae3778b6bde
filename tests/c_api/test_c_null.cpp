// Calls each function of kith.h with NULL where it needs something.
#include <filesystem>
#include <regex>

#include "c_api/c_support.hpp"
#include "paths.hpp"

namespace kith::tests {
namespace {

using namespace c;

struct NullCall {
  std::string name;  ///< name of the function
  std::function<kith_status()> ask;
};

std::int32_t read_nothing(std::int64_t, std::int64_t, void*, void*) {
  return 0;
}

/// Holds the arguments that are not NULL in a call.
struct Given {
  float values[8] = {0, 0, 1, 1, 2, 2, 3, 3};
  std::int64_t labels[4] = {0, 1, 0, 1}, count = 0, place = 0;
  double targets[4] = {0, 1, 2, 3}, number = 0;
  std::int64_t counts[4] = {};
  float radius = 1;
  std::uint32_t word = 0;
  std::string path = "/nowhere/m.kith";
  kith_rows rows = KITH_INIT(kith_rows);
  kith_device_answers answers = KITH_INIT(kith_device_answers);
  OpenDevice on = opened("cpu");
  kith_rows doubles = KITH_INIT(kith_rows);
  Rows index, double_index;
  Voter voter, double_voter;
  Averager averager, double_averager;
  Inventory inventory = made<Inventory>(kith_inventory_new);
  Evaluated evaluated;
  Prepared prepared;
  ModelHandle model;
  kith_classification answer = KITH_INIT(kith_classification);
  const std::uint32_t ordered_values[2] = {0xBF800000u, 0xC0000000u};
  const std::uint64_t ordered_doubles[2] = {0xBFF0000000000000u, 0xC000000000000000u};
  const std::uint32_t* a_value = ordered_values;
  const std::uint64_t* a_double = ordered_doubles;
  const std::int64_t* a_row = labels;
  std::uint64_t sum = 0;
  const char* text = nullptr;
  kith_radius_keys* new_keys = nullptr;
  kith_index* new_index = nullptr;
  kith_classifier* new_voter = nullptr;
  kith_regressor* new_averager = nullptr;
  kith_within* new_within = nullptr;
  kith_pairs* new_pairs = nullptr;
  kith_evaluation* new_evaluation = nullptr;
  kith_preparation* new_preparation = nullptr;
  kith_model* new_model = nullptr;
  char* new_text = nullptr;

  Given() {
    rows.data = values;
    rows.rows = 4;
    rows.cols = 2;
    index = made<Rows>([&](auto** out) { return kith_index_new(on.get(), &rows, nullptr, out); });
    doubles.data = targets;
    doubles.rows = doubles.cols = 2;
    doubles.element = KITH_F64;
    double_index = made<Rows>([&](auto** out) { return kith_index_new(on.get(), &doubles, nullptr, out); });
    voter = made<Voter>(
        [&](auto** out) { return kith_classifier_new(on.get(), &rows, labels, 1, nullptr, nullptr, out); });
    double_voter = made<Voter>(
        [&](auto** out) { return kith_classifier_of_index(double_index.get(), labels, 1, nullptr, out); });
    double_averager = made<Averager>(
        [&](auto** out) { return kith_regressor_of_index(double_index.get(), targets, 1, nullptr, out); });
    averager = made<Averager>(
        [&](auto** out) { return kith_regressor_new(on.get(), &rows, targets, 1, nullptr, nullptr, out); });
    evaluated = made<Evaluated>(
        [&](auto** out) { return kith_leave_one_out(voter.get(), &rows, 1, nullptr, nullptr, out); });
    prepared = made<Prepared>([&](auto** out) { return kith_preparation_new(&rows, nullptr, out); });
    kith_model_parts parts = KITH_INIT(kith_model_parts);
    parts.rows = &rows;
    parts.labels = labels;
    model = made<ModelHandle>([&](auto** out) { return kith_model_new(&parts, out); });
  }
};

// The calls capture `have`, a shared Given. NAME(ARGUMENTS) is called, and NAME is remembered.
#define KITH_NULL_CALL(function, ...)                   \
  {                                                     \
#function, [have] { return function(__VA_ARGS__); } \
  }
using Have = std::shared_ptr<Given>;

std::vector<NullCall> calls_of_devices(const Have& have) {
  return {
      KITH_NULL_CALL(kith_metric_find, nullptr, &have->text),
      KITH_NULL_CALL(kith_metric_find, "l2", nullptr),
      KITH_NULL_CALL(kith_inventory_new, nullptr),
      KITH_NULL_CALL(kith_inventory_device_count, nullptr, &have->count),
      KITH_NULL_CALL(kith_inventory_device_count, have->inventory.get(), nullptr),
      KITH_NULL_CALL(kith_inventory_device, nullptr, 0, nullptr),
      KITH_NULL_CALL(kith_inventory_device, have->inventory.get(), 0, nullptr),
      KITH_NULL_CALL(kith_inventory_backend_count, nullptr, &have->count),
      KITH_NULL_CALL(kith_inventory_backend, nullptr, 0, &have->text, &have->text),
      KITH_NULL_CALL(kith_inventory_backend, have->inventory.get(), 0, &have->text, nullptr),
      KITH_NULL_CALL(kith_inventory_backend, have->inventory.get(), 0, nullptr, &have->text),
      KITH_NULL_CALL(kith_inventory_warning_count, nullptr, &have->count),
      KITH_NULL_CALL(kith_inventory_warning, nullptr, 0, &have->text),
      KITH_NULL_CALL(kith_device_open, "cpu", nullptr),
      KITH_NULL_CALL(kith_device_adopt_opencl, nullptr, nullptr, nullptr, nullptr),
      KITH_NULL_CALL(kith_device_describe, nullptr, nullptr),
      KITH_NULL_CALL(kith_device_describe, have->on.get(), nullptr),
      KITH_NULL_CALL(kith_stop_new, nullptr),
      KITH_NULL_CALL(kith_stop_request, nullptr),
      KITH_NULL_CALL(kith_trace_new, 1, nullptr),
      KITH_NULL_CALL(kith_trace_describe, nullptr, nullptr),
      KITH_NULL_CALL(kith_trace_step, nullptr, 0, &have->text, &have->number),
      KITH_NULL_CALL(kith_trace_member, nullptr, 0, nullptr),
  };
}

std::vector<NullCall> calls_of_searches(const Have& have) {
  return {
      KITH_NULL_CALL(kith_filter_of, 4, have->labels, 4, nullptr),
      KITH_NULL_CALL(kith_filter_of, 4, nullptr, 4, &have->word),
      KITH_NULL_CALL(kith_index_new, nullptr, &have->rows, nullptr, &have->new_index),
      KITH_NULL_CALL(kith_index_new, have->on.get(), nullptr, nullptr, &have->new_index),
      KITH_NULL_CALL(kith_index_new, have->on.get(), &have->rows, nullptr, nullptr),
      KITH_NULL_CALL(kith_index_with, nullptr, &have->rows, have->labels, &have->new_index),
      KITH_NULL_CALL(kith_index_with, have->index.get(), nullptr, have->labels, &have->new_index),
      KITH_NULL_CALL(kith_index_without, nullptr, have->labels, 1, &have->new_index),
      KITH_NULL_CALL(kith_index_without, have->index.get(), nullptr, 1, &have->new_index),
      KITH_NULL_CALL(kith_index_without, have->index.get(), have->labels, 1, nullptr),
      KITH_NULL_CALL(kith_centre_learn, nullptr, 0, have->targets, nullptr),
      KITH_NULL_CALL(kith_centre_learn, &have->rows, 0, nullptr, nullptr),
      KITH_NULL_CALL(kith_index_compact, nullptr, &have->new_index),
      KITH_NULL_CALL(kith_index_compact, have->index.get(), nullptr),
      KITH_NULL_CALL(kith_index_numbers, nullptr, have->labels),
      KITH_NULL_CALL(kith_index_numbers, have->index.get(), nullptr),
      KITH_NULL_CALL(kith_index_describe, nullptr, nullptr),
      KITH_NULL_CALL(kith_index_describe, have->index.get(), nullptr),
      KITH_NULL_CALL(kith_index_search, nullptr, &have->rows, 1, nullptr, nullptr, nullptr),
      KITH_NULL_CALL(kith_index_search, have->index.get(), nullptr, 1, nullptr, nullptr, nullptr),
      KITH_NULL_CALL(kith_index_search_f64, nullptr, &have->doubles, 1, nullptr, nullptr, nullptr),
      KITH_NULL_CALL(kith_index_search_f64, have->double_index.get(), nullptr, 1, nullptr, nullptr, nullptr),
      KITH_NULL_CALL(kith_index_search_on_device, nullptr, &have->rows, 1, nullptr, &have->answers),
      KITH_NULL_CALL(kith_index_search_on_device, have->index.get(), nullptr, 1, nullptr, &have->answers),
      KITH_NULL_CALL(kith_index_search_on_device, have->index.get(), &have->rows, 1, nullptr, nullptr),
      KITH_NULL_CALL(kith_index_within, nullptr, &have->rows, &have->radius, 1, nullptr, &have->new_within),
      KITH_NULL_CALL(kith_index_within, have->index.get(), &have->rows, nullptr, 1, nullptr,
                     &have->new_within),
      KITH_NULL_CALL(kith_index_within, have->index.get(), &have->rows, &have->radius, 1, nullptr, nullptr),
      KITH_NULL_CALL(kith_index_within_f64, nullptr, &have->doubles, &have->number, 1, nullptr,
                     &have->new_within),
      KITH_NULL_CALL(kith_index_within_f64, have->double_index.get(), &have->doubles, nullptr, 1, nullptr,
                     &have->new_within),
      KITH_NULL_CALL(kith_index_within_f64, have->double_index.get(), &have->doubles, &have->number, 1,
                     nullptr, nullptr),
      KITH_NULL_CALL(kith_within_describe, nullptr, nullptr),
      KITH_NULL_CALL(kith_index_count, nullptr, &have->rows, &have->number, 1, 1, 0, nullptr, have->counts),
      KITH_NULL_CALL(kith_index_count, have->index.get(), nullptr, &have->number, 1, 1, 0, nullptr,
                     have->counts),
      KITH_NULL_CALL(kith_index_count, have->index.get(), &have->rows, nullptr, 1, 1, 0, nullptr,
                     have->counts),
      KITH_NULL_CALL(kith_index_count, have->index.get(), &have->rows, &have->number, 1, 1, 0, nullptr,
                     nullptr),
      KITH_NULL_CALL(kith_index_two_point, nullptr, &have->rows, &have->number, 1, 1, 0, nullptr,
                     have->counts),
      KITH_NULL_CALL(kith_index_two_point, have->index.get(), nullptr, &have->number, 1, 1, 0, nullptr,
                     have->counts),
      KITH_NULL_CALL(kith_index_two_point, have->index.get(), &have->rows, nullptr, 1, 1, 0, nullptr,
                     have->counts),
      KITH_NULL_CALL(kith_index_two_point, have->index.get(), &have->rows, &have->number, 1, 1, 0, nullptr,
                     nullptr),
      KITH_NULL_CALL(kith_pairs_new, nullptr, 1, nullptr, &have->new_pairs),
      KITH_NULL_CALL(kith_pairs_new, have->index.get(), 1, nullptr, nullptr),
      KITH_NULL_CALL(kith_pairs_next, nullptr, nullptr),
      KITH_NULL_CALL(kith_index_prepare, nullptr, 1, 1, nullptr),
      KITH_NULL_CALL(kith_knn, nullptr, &have->rows, &have->rows, 1, nullptr, nullptr, nullptr, nullptr),
      KITH_NULL_CALL(kith_knn, have->on.get(), nullptr, &have->rows, 1, nullptr, nullptr, nullptr, nullptr),
      KITH_NULL_CALL(kith_knn, have->on.get(), &have->rows, nullptr, 1, nullptr, nullptr, nullptr, nullptr),
      KITH_NULL_CALL(kith_knn_f64, nullptr, &have->doubles, &have->doubles, 1, nullptr, nullptr, nullptr,
                     nullptr),
      KITH_NULL_CALL(kith_knn_f64, have->on.get(), nullptr, &have->doubles, 1, nullptr, nullptr, nullptr,
                     nullptr),
      KITH_NULL_CALL(kith_knn_f64, have->on.get(), &have->doubles, nullptr, 1, nullptr, nullptr, nullptr,
                     nullptr),
      KITH_NULL_CALL(kith_knn_graph, nullptr, &have->rows, 1, nullptr, nullptr, nullptr, nullptr),
      KITH_NULL_CALL(kith_knn_graph, have->on.get(), nullptr, 1, nullptr, nullptr, nullptr, nullptr),
      KITH_NULL_CALL(kith_knn_graph_f64, nullptr, &have->doubles, 1, nullptr, nullptr, nullptr, nullptr),
      KITH_NULL_CALL(kith_knn_graph_f64, have->on.get(), nullptr, 1, nullptr, nullptr, nullptr, nullptr),
      KITH_NULL_CALL(kith_knn_graph_on_device, nullptr, &have->rows, 1, nullptr, nullptr, &have->answers),
      KITH_NULL_CALL(kith_knn_graph_on_device, have->on.get(), nullptr, 1, nullptr, nullptr, &have->answers),
      KITH_NULL_CALL(kith_knn_graph_on_device, have->on.get(), &have->rows, 1, nullptr, nullptr, nullptr),
      KITH_NULL_CALL(kith_index_explain, nullptr, 1, 1, nullptr, &have->new_text),
      KITH_NULL_CALL(kith_index_explain, have->index.get(), 1, 1, nullptr, nullptr),
  };
}

std::vector<NullCall> calls_of_keys(const Have& have) {
  return {
      KITH_NULL_CALL(kith_largest_element, nullptr, nullptr, 0, &have->radius),
      KITH_NULL_CALL(kith_largest_element, &have->rows, nullptr, 0, nullptr),
      KITH_NULL_CALL(kith_index_search_keys, nullptr, &have->rows, 1, nullptr, &have->word, have->labels),
      KITH_NULL_CALL(kith_index_search_keys, have->index.get(), nullptr, 1, nullptr, &have->word,
                     have->labels),
      KITH_NULL_CALL(kith_index_search_keys, have->index.get(), &have->rows, 1, nullptr, nullptr,
                     have->labels),
      KITH_NULL_CALL(kith_index_search_keys, have->index.get(), &have->rows, 1, nullptr, &have->word,
                     nullptr),
      KITH_NULL_CALL(kith_merge, 1, 1, 1, nullptr, &have->a_row, &have->word, have->labels),
      KITH_NULL_CALL(kith_merge, 1, 1, 1, &have->a_value, nullptr, &have->word, have->labels),
      KITH_NULL_CALL(kith_merge, 1, 1, 1, &have->a_value, &have->a_row, nullptr, have->labels),
      KITH_NULL_CALL(kith_merge, 1, 1, 1, &have->a_value, &have->a_row, &have->word, nullptr),
      KITH_NULL_CALL(kith_finish, "l2", 0, 1, nullptr, &have->radius),
      KITH_NULL_CALL(kith_finish, "l2", 0, 1, have->a_value, nullptr),
      KITH_NULL_CALL(kith_leave_out, 1, 1, nullptr, have->labels, have->labels, &have->word, have->labels),
      KITH_NULL_CALL(kith_leave_out, 1, 1, have->a_value, nullptr, have->labels, &have->word, have->labels),
      KITH_NULL_CALL(kith_leave_out, 1, 1, have->a_value, have->labels, nullptr, &have->word, have->labels),
      KITH_NULL_CALL(kith_leave_out, 1, 1, have->a_value, have->labels, have->labels, nullptr, have->labels),
      KITH_NULL_CALL(kith_leave_out, 1, 1, have->a_value, have->labels, have->labels, &have->word, nullptr),
      KITH_NULL_CALL(kith_digest, 1, 1, nullptr, have->labels, &have->sum),
      KITH_NULL_CALL(kith_digest, 1, 1, have->a_value, nullptr, &have->sum),
      KITH_NULL_CALL(kith_digest, 1, 1, have->a_value, have->labels, nullptr),
      KITH_NULL_CALL(kith_index_within_keys, nullptr, &have->rows, &have->radius, 1, nullptr,
                     &have->new_keys),
      KITH_NULL_CALL(kith_index_within_keys, have->index.get(), &have->rows, nullptr, 1, nullptr,
                     &have->new_keys),
      KITH_NULL_CALL(kith_index_within_keys, have->index.get(), &have->rows, &have->radius, 1, nullptr,
                     nullptr),
      KITH_NULL_CALL(kith_merge_radius, 0, 1, nullptr, &have->a_value, &have->a_row, &have->new_keys),
      KITH_NULL_CALL(kith_merge_radius, 0, 1, &have->a_row, nullptr, &have->a_row, &have->new_keys),
      KITH_NULL_CALL(kith_merge_radius, 0, 1, &have->a_row, &have->a_value, nullptr, &have->new_keys),
      KITH_NULL_CALL(kith_merge_radius, 0, 1, &have->a_row, &have->a_value, &have->a_row, nullptr),
      KITH_NULL_CALL(kith_radius_keys_describe, nullptr, nullptr),
  };
}

std::vector<NullCall> calls_of_double_keys(const Have& have) {
  return {
      KITH_NULL_CALL(kith_index_search_keys_f64, nullptr, &have->doubles, 1, nullptr, &have->sum,
                     have->labels),
      KITH_NULL_CALL(kith_index_search_keys_f64, have->double_index.get(), nullptr, 1, nullptr, &have->sum,
                     have->labels),
      KITH_NULL_CALL(kith_index_search_keys_f64, have->double_index.get(), &have->doubles, 1, nullptr,
                     nullptr, have->labels),
      KITH_NULL_CALL(kith_index_search_keys_f64, have->double_index.get(), &have->doubles, 1, nullptr,
                     &have->sum, nullptr),
      KITH_NULL_CALL(kith_merge_f64, 1, 1, 1, nullptr, &have->a_row, &have->sum, have->labels),
      KITH_NULL_CALL(kith_merge_f64, 1, 1, 1, &have->a_double, nullptr, &have->sum, have->labels),
      KITH_NULL_CALL(kith_merge_f64, 1, 1, 1, &have->a_double, &have->a_row, nullptr, have->labels),
      KITH_NULL_CALL(kith_merge_f64, 1, 1, 1, &have->a_double, &have->a_row, &have->sum, nullptr),
      KITH_NULL_CALL(kith_finish_f64, "l2", 0, 1, nullptr, &have->number),
      KITH_NULL_CALL(kith_finish_f64, "l2", 0, 1, have->a_double, nullptr),
      KITH_NULL_CALL(kith_leave_out_f64, 1, 1, nullptr, have->labels, have->labels, &have->sum, have->labels),
      KITH_NULL_CALL(kith_leave_out_f64, 1, 1, have->a_double, nullptr, have->labels, &have->sum,
                     have->labels),
      KITH_NULL_CALL(kith_leave_out_f64, 1, 1, have->a_double, have->labels, nullptr, &have->sum,
                     have->labels),
      KITH_NULL_CALL(kith_leave_out_f64, 1, 1, have->a_double, have->labels, have->labels, nullptr,
                     have->labels),
      KITH_NULL_CALL(kith_leave_out_f64, 1, 1, have->a_double, have->labels, have->labels, &have->sum,
                     nullptr),
      KITH_NULL_CALL(kith_digest_f64, 1, 1, nullptr, have->labels, &have->sum),
      KITH_NULL_CALL(kith_digest_f64, 1, 1, have->a_double, nullptr, &have->sum),
      KITH_NULL_CALL(kith_digest_f64, 1, 1, have->a_double, have->labels, nullptr),
      KITH_NULL_CALL(kith_index_within_keys_f64, nullptr, &have->doubles, &have->number, 1, nullptr,
                     &have->new_keys),
      KITH_NULL_CALL(kith_index_within_keys_f64, have->double_index.get(), &have->doubles, nullptr, 1,
                     nullptr, &have->new_keys),
      KITH_NULL_CALL(kith_index_within_keys_f64, have->double_index.get(), &have->doubles, &have->number, 1,
                     nullptr, nullptr),
      KITH_NULL_CALL(kith_merge_radius_f64, 0, 1, nullptr, &have->a_double, &have->a_row, &have->new_keys),
      KITH_NULL_CALL(kith_merge_radius_f64, 0, 1, &have->a_row, nullptr, &have->a_row, &have->new_keys),
      KITH_NULL_CALL(kith_merge_radius_f64, 0, 1, &have->a_row, &have->a_double, nullptr, &have->new_keys),
      KITH_NULL_CALL(kith_merge_radius_f64, 0, 1, &have->a_row, &have->a_double, &have->a_row, nullptr),
  };
}

std::vector<NullCall> calls_of_classifiers(const Have& have) {
  return {
      KITH_NULL_CALL(kith_classifier_new, nullptr, &have->rows, have->labels, 1, nullptr, nullptr,
                     &have->new_voter),
      KITH_NULL_CALL(kith_classifier_new, have->on.get(), &have->rows, have->labels, 1, nullptr, nullptr,
                     nullptr),
      KITH_NULL_CALL(kith_classifier_of_index, nullptr, have->labels, 1, nullptr, &have->new_voter),
      KITH_NULL_CALL(kith_classifier_of_index, have->index.get(), nullptr, 1, nullptr, &have->new_voter),
      KITH_NULL_CALL(kith_classifier_of_index, have->index.get(), have->labels, 1, nullptr, nullptr),
      KITH_NULL_CALL(kith_classifier_with, nullptr, &have->rows, have->labels, nullptr, have->labels,
                     &have->new_voter),
      KITH_NULL_CALL(kith_classifier_with, have->voter.get(), nullptr, have->labels, nullptr, nullptr,
                     &have->new_voter),
      KITH_NULL_CALL(kith_classifier_without, nullptr, have->labels, 1, &have->new_voter),
      KITH_NULL_CALL(kith_classifier_without, have->voter.get(), nullptr, 1, &have->new_voter),
      KITH_NULL_CALL(kith_classifier_compact, nullptr, &have->new_voter),
      KITH_NULL_CALL(kith_classifier_describe, nullptr, nullptr),
      KITH_NULL_CALL(kith_classifier_classes, nullptr, 0, nullptr, &have->count, nullptr),
      KITH_NULL_CALL(kith_classifier_index, nullptr, &have->new_index),
      KITH_NULL_CALL(kith_classifier_predict, nullptr, &have->rows, 1, nullptr, nullptr, &have->place),
      KITH_NULL_CALL(kith_classifier_predict, have->voter.get(), &have->rows, 1, nullptr, nullptr, nullptr),
      KITH_NULL_CALL(kith_classifier_predict_proba, nullptr, &have->rows, 1, nullptr, nullptr, 0,
                     &have->number),
      KITH_NULL_CALL(kith_classifier_predict_proba, have->voter.get(), &have->rows, 1, nullptr, nullptr, 0,
                     nullptr),
      KITH_NULL_CALL(kith_classifier_classify, nullptr, &have->rows, 1, nullptr, nullptr, 1, nullptr),
      KITH_NULL_CALL(kith_classifier_classify, have->voter.get(), &have->rows, 1, nullptr, nullptr, 1,
                     nullptr),
      KITH_NULL_CALL(kith_classifier_classify_within, nullptr, &have->rows, &have->radius, 1, nullptr,
                     nullptr, &have->answer, nullptr),
      KITH_NULL_CALL(kith_classifier_classify_within, have->voter.get(), &have->rows, &have->radius, 1,
                     nullptr, nullptr, nullptr, nullptr),
      KITH_NULL_CALL(kith_classifier_classify_within_f64, nullptr, &have->doubles, &have->number, 1, nullptr,
                     nullptr, &have->answer, nullptr),
      KITH_NULL_CALL(kith_classifier_classify_within_f64, have->double_voter.get(), &have->doubles,
                     &have->number, 1, nullptr, nullptr, nullptr, nullptr),
      KITH_NULL_CALL(kith_classifier_sweep, nullptr, &have->rows, have->labels, 1, nullptr, nullptr,
                     &have->place, nullptr, nullptr),
      KITH_NULL_CALL(kith_classifier_sweep, have->voter.get(), &have->rows, nullptr, 1, nullptr, nullptr,
                     &have->place, nullptr, nullptr),
      KITH_NULL_CALL(kith_classifier_sweep, have->voter.get(), &have->rows, have->labels, 1, nullptr, nullptr,
                     nullptr, nullptr, nullptr),
      KITH_NULL_CALL(kith_classifier_sweep_f64, nullptr, &have->doubles, have->labels, 1, nullptr, nullptr,
                     &have->place, nullptr, nullptr),
      KITH_NULL_CALL(kith_classifier_sweep_f64, have->double_voter.get(), &have->doubles, nullptr, 1, nullptr,
                     nullptr, &have->place, nullptr, nullptr),
      KITH_NULL_CALL(kith_classifier_sweep_f64, have->double_voter.get(), &have->doubles, have->labels, 1,
                     nullptr, nullptr, nullptr, nullptr, nullptr),
  };
}

std::vector<NullCall> calls_of_regressors(const Have& have) {
  return {
      KITH_NULL_CALL(kith_regressor_of_index, nullptr, have->targets, 1, nullptr, &have->new_averager),
      KITH_NULL_CALL(kith_regressor_of_index, have->index.get(), nullptr, 1, nullptr, &have->new_averager),
      KITH_NULL_CALL(kith_regressor_of_index, have->index.get(), have->targets, 1, nullptr, nullptr),
      KITH_NULL_CALL(kith_regressor_new, nullptr, &have->rows, have->targets, 1, nullptr, nullptr,
                     &have->new_averager),
      KITH_NULL_CALL(kith_regressor_with, nullptr, &have->rows, have->targets, nullptr, have->labels,
                     &have->new_averager),
      KITH_NULL_CALL(kith_regressor_with, have->averager.get(), nullptr, have->targets, nullptr, nullptr,
                     &have->new_averager),
      KITH_NULL_CALL(kith_regressor_without, nullptr, have->labels, 1, &have->new_averager),
      KITH_NULL_CALL(kith_regressor_without, have->averager.get(), nullptr, 1, &have->new_averager),
      KITH_NULL_CALL(kith_regressor_compact, nullptr, &have->new_averager),
      KITH_NULL_CALL(kith_regressor_describe, nullptr, nullptr),
      KITH_NULL_CALL(kith_regressor_index, nullptr, &have->new_index),
      KITH_NULL_CALL(kith_regressor_predict, nullptr, &have->rows, 1, nullptr, nullptr, &have->number,
                     nullptr, nullptr),
      KITH_NULL_CALL(kith_regressor_predict, have->averager.get(), &have->rows, 1, nullptr, nullptr, nullptr,
                     nullptr, nullptr),
      KITH_NULL_CALL(kith_regressor_predict_f64, nullptr, &have->doubles, 1, nullptr, nullptr, &have->number,
                     nullptr, nullptr),
      KITH_NULL_CALL(kith_regressor_predict_f64, have->double_averager.get(), &have->doubles, 1, nullptr,
                     nullptr, nullptr, nullptr, nullptr),
      KITH_NULL_CALL(kith_regressor_predict_within, nullptr, &have->rows, &have->radius, 1, nullptr, nullptr,
                     &have->number, nullptr),
      KITH_NULL_CALL(kith_regressor_predict_within, have->averager.get(), &have->rows, &have->radius, 1,
                     nullptr, nullptr, nullptr, nullptr),
      KITH_NULL_CALL(kith_regressor_predict_within_f64, nullptr, &have->doubles, &have->number, 1, nullptr,
                     nullptr, &have->number, nullptr),
      KITH_NULL_CALL(kith_regressor_predict_within_f64, have->double_averager.get(), &have->doubles,
                     &have->number, 1, nullptr, nullptr, nullptr, nullptr),
      KITH_NULL_CALL(kith_evaluate, nullptr, &have->rows, have->labels, 1, nullptr, nullptr,
                     &have->new_evaluation),
      KITH_NULL_CALL(kith_evaluate, have->voter.get(), &have->rows, nullptr, 1, nullptr, nullptr,
                     &have->new_evaluation),
      KITH_NULL_CALL(kith_leave_one_out, nullptr, &have->rows, 1, nullptr, nullptr, &have->new_evaluation),
      KITH_NULL_CALL(kith_cross_validate, nullptr, &have->rows, have->labels, 1, nullptr, nullptr,
                     &have->new_evaluation),
      KITH_NULL_CALL(kith_stratified_folds, nullptr, 4, 2, 0, &have->place),
      KITH_NULL_CALL(kith_stratified_folds, have->labels, 4, 2, 0, nullptr),
      KITH_NULL_CALL(kith_evaluation_describe, nullptr, nullptr),
      KITH_NULL_CALL(kith_evaluation_scores, nullptr, 1, nullptr, nullptr, nullptr, nullptr),
  };
}

std::vector<NullCall> calls_of_models(const Have& have) {
  return {
      KITH_NULL_CALL(kith_preparation_new, nullptr, nullptr, &have->new_preparation),
      KITH_NULL_CALL(kith_preparation_new, &have->rows, nullptr, nullptr),
      KITH_NULL_CALL(kith_preparation_shape, nullptr, &have->count, nullptr),
      KITH_NULL_CALL(kith_preparation_sources, nullptr, &have->place),
      KITH_NULL_CALL(kith_preparation_sources, have->prepared.get(), nullptr),
      KITH_NULL_CALL(kith_preparation_apply, nullptr, &have->rows, have->values),
      KITH_NULL_CALL(kith_preparation_apply, have->prepared.get(), &have->rows, nullptr),
      KITH_NULL_CALL(kith_model_new, nullptr, &have->new_model),
      KITH_NULL_CALL(kith_model_load, nullptr, &have->new_model),
      KITH_NULL_CALL(kith_model_load, have->path.c_str(), nullptr),
      KITH_NULL_CALL(kith_index_save, nullptr, have->path.c_str(), nullptr, nullptr, nullptr),
      KITH_NULL_CALL(kith_index_save, have->index.get(), nullptr, nullptr, nullptr, nullptr),
      KITH_NULL_CALL(kith_index_open, nullptr, have->path.c_str(), nullptr, &have->new_index),
      KITH_NULL_CALL(kith_index_open, have->on.get(), nullptr, nullptr, &have->new_index),
      KITH_NULL_CALL(kith_index_open, have->on.get(), have->path.c_str(), nullptr, nullptr),
      KITH_NULL_CALL(kith_index_file_describe, nullptr, nullptr),
      KITH_NULL_CALL(kith_index_from_file, nullptr, have->path.c_str(), nullptr, &have->new_index),
      KITH_NULL_CALL(kith_index_from_file, have->on.get(), nullptr, nullptr, &have->new_index),
      KITH_NULL_CALL(kith_index_from_file, have->on.get(), have->path.c_str(), nullptr, nullptr),
      KITH_NULL_CALL(kith_index_from_rows, nullptr, &have->rows, nullptr, &have->new_index),
      KITH_NULL_CALL(kith_index_from_rows, have->on.get(), nullptr, nullptr, &have->new_index),
      KITH_NULL_CALL(kith_index_from_rows, have->on.get(), &have->rows, nullptr, nullptr),
      KITH_NULL_CALL(kith_index_from_reader, nullptr, 1, 1, nullptr, read_nothing, nullptr, nullptr,
                     &have->new_index),
      KITH_NULL_CALL(kith_index_from_reader, have->on.get(), 1, 1, nullptr, nullptr, nullptr, nullptr,
                     &have->new_index),
      KITH_NULL_CALL(kith_index_from_reader, have->on.get(), 1, 1, nullptr, read_nothing, nullptr, nullptr,
                     nullptr),
      KITH_NULL_CALL(kith_index_residence, nullptr, &have->text),
      KITH_NULL_CALL(kith_index_residence, have->index.get(), nullptr),
      KITH_NULL_CALL(kith_model_save, nullptr, have->path.c_str(), nullptr, nullptr, nullptr),
      KITH_NULL_CALL(kith_model_save, have->model.get(), nullptr, nullptr, nullptr, nullptr),
      KITH_NULL_CALL(kith_model_describe, nullptr, nullptr),
      KITH_NULL_CALL(kith_model_describe, have->model.get(), nullptr),
      KITH_NULL_CALL(kith_model_classifier, nullptr, have->on.get(), &have->new_voter),
      KITH_NULL_CALL(kith_model_classifier, have->model.get(), nullptr, &have->new_voter),
      KITH_NULL_CALL(kith_model_regressor, nullptr, have->on.get(), &have->new_averager),
  };
}

#undef KITH_NULL_CALL

/// Returns a call for each pointer that may not be NULL, on the CPU.
std::vector<NullCall> null_calls() {
  const auto have = std::make_shared<Given>();
  std::vector<NullCall> all;
  for (const auto& part :
       {calls_of_devices(have), calls_of_searches(have), calls_of_keys(have), calls_of_double_keys(have),
        calls_of_classifiers(have), calls_of_regressors(have), calls_of_models(have)})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

/// Calls each function that frees with NULL.
void free_nulls() {
  kith_inventory_free(nullptr);
  kith_device_free(nullptr);
  kith_stop_free(nullptr);
  kith_trace_free(nullptr);
  kith_index_free(nullptr);
  kith_within_free(nullptr);
  kith_pairs_free(nullptr);
  kith_radius_keys_free(nullptr);
  kith_text_free(nullptr);
  kith_classifier_free(nullptr);
  kith_regressor_free(nullptr);
  kith_evaluation_free(nullptr);
  kith_preparation_free(nullptr);
  kith_model_free(nullptr);
}

/// Returns the names of the headers' functions that return a kith_status.
std::set<std::string> functions_with_status() {
  static const std::regex declaration("KITH_C_API kith_status (kith_\\w+)\\(");
  std::set<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(test_support::in_sources("/lib/include/kith/c"))) {
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (std::sregex_iterator found(text.begin(), text.end(), declaration), end; found != end; ++found)
      names.insert((*found)[1]);
  }
  return names;
}

TEST_CASE("c: every function of kith.h refuses NULL in one sentence, and frees NULL") {
  std::set<std::string> called;
  for (const NullCall& call : null_calls()) {
    CAPTURE(call.name);
    called.insert(call.name);
    CHECK(call.ask() == KITH_INVALID_ARGUMENT);
    const std::string said = kith_last_error();
    CHECK(said.find(" is NULL") != std::string::npos);
    CHECK(said.find("; give ") != std::string::npos);
    CHECK(said.rfind(call.name + ": ", 0) == 0);
  }
  free_nulls();
  const std::set<std::string> declared = functions_with_status();
  CHECK(declared.size() > 40);
  for (const std::string& function : declared) CHECK_MESSAGE(called.count(function) == 1, function);
}

}  // namespace
}  // namespace kith::tests
