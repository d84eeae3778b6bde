#include "c_operations.hpp"

#include <algorithm>

#include "common/folder.hpp"
#include "kith/kith.h"

namespace kith::tests::faults {
namespace {

/// Throws the Error that a status stands for. Making the Error itself never fails.
void check(kith_status status) {
  if (status == KITH_OK) return;
  const Spared spared;
  for (const Errc code : {Errc::invalid_argument, Errc::bad_file, Errc::unavailable, Errc::out_of_memory,
                          Errc::unsupported, Errc::device_failure, Errc::interrupted})
    if (name(code) == kith_status_name(status)) throw Error(code, kith_last_error());
  complain("status " + std::to_string(status) + " has no code");
}

kith_rows rows_of(const Matrix& matrix) {
  kith_rows rows = KITH_INIT(kith_rows);
  rows.data = matrix.values.data();
  rows.rows = matrix.rows;
  rows.cols = matrix.cols;
  return rows;
}

/// Returns the handle that `make(&handle)` makes, which must be set only on success.
template <class Handle, class Make>
Handle* made(const Make& make) {
  Handle* handle = nullptr;
  const kith_status status = make(&handle);
  if ((status == KITH_OK) != (handle != nullptr)) {
    const Spared spared;
    complain(std::string("kith.h: a handle, or none, after ") + kith_status_name(status));
  }
  check(status);
  return handle;
}

}  // namespace

struct CHandles::State {
  State(const Matrix& training, const std::vector<std::int64_t>& classes, const Matrix& asked)
      : train(rows_of(training)), queries(rows_of(asked)), labels(classes) {}
  ~State() {
    kith_classifier_free(classifier);
    kith_index_free(index);
    kith_device_free(device);
  }
  /// Makes room for k neighbours of each query.
  void make_room(std::int64_t k) {
    const Spared spared;
    distance.assign(size(queries.rows * k), -1);
    row.assign(size(queries.rows * k), -2);
  }
  bool found(const Neighbors& expected) const {
    return std::equal(distance.begin(), distance.end(), expected.distance.begin()) &&
           std::equal(row.begin(), row.end(), expected.row.begin());
  }

  kith_rows train, queries;
  const std::vector<std::int64_t>& labels;
  test_support::TemporaryFolder folder;
  const std::string path = folder / "c.kith";
  kith_device* device = nullptr;
  kith_index* index = nullptr;
  kith_classifier* classifier = nullptr;
  std::vector<float> distance;
  std::vector<std::int64_t> row;
};

CHandles::CHandles(const std::string& spec, const Matrix& train, const std::vector<std::int64_t>& labels,
                   const Matrix& queries)
    : state_(std::make_unique<State>(train, labels, queries)) {
  check(kith_device_open(spec.c_str(), &state_->device));
  check(kith_index_new(state_->device, &state_->train, nullptr, &state_->index));
  check(kith_classifier_new(state_->device, &state_->train, labels.data(), 1, nullptr, nullptr,
                            &state_->classifier));
}

CHandles::~CHandles() = default;

bool CHandles::right_search(const Neighbors& expected) {
  state_->make_room(expected.k);
  check(kith_index_search(state_->index, &state_->queries, expected.k, nullptr, state_->distance.data(),
                          state_->row.data()));
  return state_->found(expected);
}

bool CHandles::right_new_index(const Neighbors& expected) {
  state_->make_room(expected.k);
  auto* const index = made<kith_index>(
      [&](kith_index** out) { return kith_index_new(state_->device, &state_->train, nullptr, out); });
  const kith_status status = kith_index_search(index, &state_->queries, expected.k, nullptr,
                                               state_->distance.data(), state_->row.data());
  kith_index_free(index);
  check(status);
  return state_->found(expected);
}

bool CHandles::right_knn(const Neighbors& expected) {
  state_->make_room(expected.k);
  check(kith_knn(state_->device, &state_->train, &state_->queries, expected.k, nullptr, nullptr,
                 state_->distance.data(), state_->row.data()));
  return state_->found(expected);
}

bool CHandles::right_within(const RadiusNeighbors& expected, float radius) {
  auto* const within = made<kith_within>([&](kith_within** out) {
    return kith_index_within(state_->index, &state_->queries, &radius, 1, nullptr, out);
  });
  kith_within_info info = KITH_INIT(kith_within_info);
  const kith_status status = kith_within_describe(within, &info);
  const bool right = status == KITH_OK && std::equal(expected.row.begin(), expected.row.end(), info.row);
  kith_within_free(within);
  check(status);
  return right;
}

bool CHandles::right_labels(const std::vector<std::int64_t>& expected) {
  state_->make_room(1);
  check(
      kith_classifier_predict(state_->classifier, &state_->queries, 9, nullptr, nullptr, state_->row.data()));
  return state_->row == expected;
}

bool CHandles::right_model() {
  kith_model_parts parts = KITH_INIT(kith_model_parts);
  parts.rows = &state_->train;
  parts.labels = state_->labels.data();
  auto* const model = made<kith_model>([&](kith_model** out) { return kith_model_new(&parts, out); });
  const kith_status saved = kith_model_save(model, state_->path.c_str(), nullptr, nullptr, nullptr);
  kith_model_free(model);
  check(saved);
  auto* const loaded =
      made<kith_model>([&](kith_model** out) { return kith_model_load(state_->path.c_str(), out); });
  const kith_status described = kith_model_describe(loaded, &parts);
  const bool right =
      described == KITH_OK && std::equal(state_->labels.begin(), state_->labels.end(), parts.labels);
  kith_model_free(loaded);
  check(described);
  return right;
}

}  // namespace kith::tests::faults
