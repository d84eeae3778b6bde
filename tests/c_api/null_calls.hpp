// What calls of kith.h with NULL need besides: arguments that are not NULL.
#pragma once

#include "c_api/c_support.hpp"

namespace kith::tests::c {

struct NullCall {
  std::string name;  ///< name of the function
  std::function<kith_status()> ask;
};

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

}  // namespace kith::tests::c
