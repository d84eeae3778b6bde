// Tests that a proposer starts with the threshold that earlier rows gave: the answer has the bits of one
// index, from fewer candidates.
#include <random>

#include "common/parted/sets.hpp"
#include "common/parted/sources.hpp"
#include "common/proposers.hpp"
#include "kith/index.hpp"
#include "kith/keys.hpp"

namespace kith::tests {
namespace {

Index stream_of(const Matrix& train, Metric metric, std::int64_t chunk_rows) {
  return Index(one_device(), memory_source(train), metric, streamed(chunk_rows));
}

/// Searches in chunks of several lengths, for several k, by each proposer.
void check_chunks(const Matrix& train, const Matrix& queries, Metric metric) {
  const Index whole(one_device(), train, metric);
  for (const std::int64_t k :
       {std::int64_t{1}, std::int64_t{2}, std::int64_t{9}, std::int64_t{40}, train.rows}) {
    const Keys expected = whole.search_keys(queries, k);
    for (const std::int64_t length : {1, 31, 33}) {
      CAPTURE_ALL(k, length);
      const Index index = stream_of(train, metric, length);
      for_each_proposer([&](Proposer proposer) {
        CHECK(index.search_keys(queries, k, {.proposer = proposer}) == expected);
      });
    }
  }
}

/// Returns one column, each row one step of float32 above the row before.
Matrix rising(std::int64_t rows) {
  Matrix matrix{rows, 1, {}};
  for (float value = 1; matrix.values.size() < size(rows);
       value = std::nextafter(value, std::numeric_limits<float>::infinity()))
    matrix.values.push_back(value);
  return matrix;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("thresholds: ties with the k-th of earlier chunks") {
  for (const DataKind kind : {DataKind::equal, DataKind::grid})
    for (const Metric metric : {Metric::squared_l2, Metric::negative_dot})
      check_chunks(hard_rows(kind, Set::train, 70, 3, metric), hard_rows(kind, Set::queries, 4, 3, metric),
                   metric);
}

TEST_CASE("thresholds: rows that come nearer by one step, or go away by one") {
  const Matrix rows = rising(70);
  check_chunks(rows, Matrix{2, 1, {1, -3}}, Metric::negative_dot);
  check_chunks(rows, Matrix{2, 1, {0, 2}}, Metric::squared_l2);
}

TEST_CASE("thresholds: later chunks whose rows are all farther list nothing") {
  std::mt19937 random(3);
  Matrix train{1024, 8, {}}, queries{20, 8, {}};
  for (std::int64_t i = 0; i < train.rows * train.cols; ++i)
    train.values.push_back(static_cast<float>(random() % 16) + (i < 256 * 8 ? 0.0f : 1000.0f));
  for (std::int64_t i = 0; i < queries.rows * queries.cols; ++i)
    queries.values.push_back(static_cast<float>(random() % 16));
  const Matrix near{256, 8, {train.values.begin(), train.values.begin() + 256 * 8}};
  const Index all = stream_of(train, Metric::l2, 256), first = stream_of(near, Metric::l2, 256);
  for_each_proposer([&](Proposer proposer) {
    Trace of_all, of_first;
    const Neighbors found = all.search(queries, 5, {.proposer = proposer}, &of_all);
    CHECK(difference(found, first.search(queries, 5, {.proposer = proposer}, &of_first)) == "");
    CHECK(of_all.chunks == 4);
    CHECK(of_first.listed > 0);
    CHECK(of_all.listed == of_first.listed);
  });
}

TEST_CASE("thresholds: parts that one member searches one after another") {
  for (const DataKind kind : {DataKind::grid, DataKind::normal}) {
    const Matrix train = hard_rows(kind, Set::train, 300, 4, Metric::l2),
                 queries = hard_rows(kind, Set::queries, 9, 4, Metric::l2);
    const Index one(one_device(), train, Metric::l2);
    const Device twice = set_of_devices({one_device(), one_device()});  // with the same proposers
    const IndexOptions options{.placement = Placement::split, .shares = {1, 2}};
    Index grown(twice, train.view().slice(0, 100), Metric::l2, options);
    for (const auto& [first, count] : {std::pair{100, 20}, std::pair{120, 79}, std::pair{199, 101}})
      grown = grown.with(train.view().slice(first, count));
    for (const std::int64_t k : {1, 15, 40, 300})
      for_each_proposer([&](Proposer proposer) {
        CAPTURE(k);
        CHECK(grown.search_keys(queries, k, {.proposer = proposer}) == one.search_keys(queries, k));
      });
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
