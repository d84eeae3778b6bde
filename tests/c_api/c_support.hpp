// Gives tests of kith.h handles that free themselves, and structs that are set up.
#pragma once

#include "common/device.hpp"
#include "kith/kith.h"
#include "kith/neighbors.hpp"

namespace kith::tests::c {

template <auto free>
struct Freed {
  template <class Handle>
  void operator()(Handle* handle) const {
    free(handle);
  }
};
using Inventory = std::unique_ptr<kith_inventory, Freed<kith_inventory_free>>;
using OpenDevice = std::unique_ptr<kith_device, Freed<kith_device_free>>;
using Stop = std::unique_ptr<kith_stop, Freed<kith_stop_free>>;
using TraceRoom = std::unique_ptr<kith_trace, Freed<kith_trace_free>>;
using Rows = std::unique_ptr<kith_index, Freed<kith_index_free>>;
using Within = std::unique_ptr<kith_within, Freed<kith_within_free>>;
using Voter = std::unique_ptr<kith_classifier, Freed<kith_classifier_free>>;
using Averager = std::unique_ptr<kith_regressor, Freed<kith_regressor_free>>;
using Evaluated = std::unique_ptr<kith_evaluation, Freed<kith_evaluation_free>>;
using Prepared = std::unique_ptr<kith_preparation, Freed<kith_preparation_free>>;
using ModelHandle = std::unique_ptr<kith_model, Freed<kith_model_free>>;

/// Returns the status, and the sentence where it is not KITH_OK: `6: kith_...: ...`.
inline std::string told(kith_status status) {
  return status == KITH_OK ? "ok" : std::to_string(status) + ": " + kith_last_error();
}

/// Returns a handle of type `Owned` that `make(&handle)` makes.
template <class Owned, class Make>
Owned made(const Make& make) {
  typename Owned::pointer handle = nullptr;
  REQUIRE(told(make(&handle)) == "ok");
  REQUIRE(handle != nullptr);
  return Owned(handle);
}

inline kith_rows rows_of(MatrixView<const float> matrix) {
  kith_rows rows = KITH_INIT(kith_rows);
  rows.data = matrix.data();
  rows.rows = matrix.rows();
  rows.cols = matrix.cols();
  rows.stride_bytes = matrix.stride() * static_cast<std::int64_t>(sizeof(float));
  return rows;
}

/// Returns rows of three columns.
inline kith_rows rows_of_doubles(const std::vector<double>& values) {
  kith_rows rows = KITH_INIT(kith_rows);
  rows.data = values.data();
  rows.rows = static_cast<std::int64_t>(values.size()) / 3;
  rows.cols = 3;
  rows.element = KITH_F64;
  return rows;
}

/// Returns the device under test, opened by C.
inline OpenDevice opened(const std::string& spec = device_spec()) {
  return made<OpenDevice>([&](kith_device** out) { return kith_device_open(spec.c_str(), out); });
}

inline Rows index_of(const kith_device* on, const Matrix& train, const char* metric) {
  kith_index_options options = KITH_INIT(kith_index_options);
  options.metric = metric;
  const kith_rows rows = rows_of(train);
  return made<Rows>([&](kith_index** out) { return kith_index_new(on, &rows, &options, out); });
}

/// Returns the lists of a radius search as C++ has them.
inline RadiusNeighbors lists_of(const kith_within* within) {
  kith_within_info info = KITH_INIT(kith_within_info);
  REQUIRE(told(kith_within_describe(within, &info)) == "ok");
  const std::int64_t cells = info.first[info.queries];
  return {info.queries,
          {info.first, info.first + info.queries + 1},
          {info.distance, info.distance + cells},
          {info.row, info.row + cells}};
}

/// Holds rows with labels, on the CPU.
struct Scene {
  std::vector<float> values{0, 0, 1, 1, 2, 2, 3, 3};
  std::vector<std::int64_t> labels{0, 1, 0, 1};
  kith_rows rows = KITH_INIT(kith_rows);
  OpenDevice on = opened("cpu");
  Rows index;
  Voter voter;

  Scene() {
    rows.data = values.data();
    rows.rows = 4;
    rows.cols = 2;
    index = made<Rows>([&](kith_index** out) { return kith_index_new(on.get(), &rows, nullptr, out); });
    voter = made<Voter>([&](kith_classifier** out) {
      return kith_classifier_new(on.get(), &rows, labels.data(), 1, nullptr, nullptr, out);
    });
  }
  kith_status search(const kith_rows& queries, const kith_search_options* options = nullptr,
                     std::int64_t k = 1) const {
    float distance[4];
    std::int64_t row[4];
    return kith_index_search(index.get(), &queries, k, options, distance, row);
  }
};

}  // namespace kith::tests::c
