// Calls each function of kith.h with NULL where it needs something.
#include <filesystem>
#include <regex>

#include "c_api/null_searches.hpp"
#include "paths.hpp"

namespace kith::tests {
namespace {

using namespace c;

std::int32_t read_nothing(std::int64_t, std::int64_t, void*, void*) {
  return 0;
}

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
