// Tests that products propose for rows with missing values, and that the chain disposes: docs/certificate.md,
// section 9.
#include <algorithm>
#include <cmath>
#include <limits>

#include "common/device.hpp"
#include "common/elements.hpp"
#include "common/environment.hpp"
#include "common/oracle.hpp"
#include "common/parted/sets.hpp"
#include "common/proposers.hpp"
#include "kith/classifier.hpp"
#include "kith/index.hpp"
#include "search/gaps/gap_columns.hpp"
#include "workloads/random.hpp"

namespace kith::tests::test_gap_products {
namespace {

constexpr Metric metric = Metric::nan_euclidean;

/// Removes values: of 100, about `share`; and all of each 41st row, if any.
Matrix with_gaps(Matrix rows, std::int64_t share, std::uint64_t seed) {
  workloads::Random random(seed);
  for (std::size_t i = 0; i < rows.values.size(); ++i)
    if (random.below(100) < share || (share > 0 && i / size(rows.cols) % 41 == 40))
      rows.values[i] = std::nanf("");
  return rows;
}

std::vector<DataKind> all_kinds() {
  std::vector<DataKind> kinds;
  for (int kind = 0; kind <= static_cast<int>(DataKind::byte_grid); ++kind)
    kinds.push_back(static_cast<DataKind>(kind));
  return kinds;
}

/// Checks that a search by each proposer finds what the chain finds. Returns that.
Neighbors same_by_products(const Index& index, const RowsView& queries, std::int64_t k,
                           SearchOptions way = {}) {
  way.proposer = Proposer::none;
  const Neighbors right = index.search(queries, k, way);
  for (const Proposer proposer : device().info().proposers) {
    if (!refusal_of(proposer).empty()) continue;  // its library is missing
    CAPTURE_ALL(std::string(name(proposer)), k);
    way.proposer = proposer;
    CHECK(difference(index.search(queries, k, way), right) == "");
  }
  return right;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("gap products: deceiving rows, from no to only missing values") {
  for (const DataKind kind : all_kinds())
    for (const std::int64_t share : {0, 20, 60, 95}) {
      CAPTURE_ALL(std::string(name(kind)), share);
      const std::int64_t cols = kind == DataKind::normal ? 40 : 5;
      const Matrix train = with_gaps(hard_rows(kind, Set::train, 700, cols, Metric::l2), share, 1),
                   queries = with_gaps(hard_rows(kind, Set::queries, 45, cols, Metric::l2), share, 2);
      const Index index(device(), train, metric);
      const Neighbors right = same_by_products(index, queries, 3);
      if (share == 60) CHECK(difference(right, neighbors(metric, queries, train, 3)) == "");
      same_by_products(index, queries, 50);
      same_by_products(index, queries, 700);
    }
}

TEST_CASE("gap products: filters, own rows, radii, removed rows, and rows added") {
  const Matrix train = with_gaps(hard_rows(DataKind::grid, Set::train, 900, 9, Metric::l2), 30, 3),
               queries = with_gaps(hard_rows(DataKind::grid, Set::queries, 40, 9, Metric::l2), 30, 4);
  std::vector<std::uint32_t> words(40 * 29);
  workloads::Random random(9);
  for (std::uint32_t& word : words)
    word = static_cast<std::uint32_t>(random.next()) & static_cast<std::uint32_t>(random.next());
  const Index index(device(), train, metric);
  const Neighbors all = same_by_products(index, queries, 12);
  same_by_products(index, queries, 12, {.filter = {words.data(), 1, 29}});
  same_by_products(index, queries, 12, {.filter = {words.data(), 40, 29}});
  const std::vector<std::uint32_t> few{1u << 5, 7};
  std::vector<std::uint32_t> kept(29);
  std::copy(few.begin(), few.end(), kept.begin() + 3);
  same_by_products(index, queries, 12, {.filter = {kept.data(), 1, 29}});
  same_by_products(index, RowsView(train).slice(30, 70), 12, {.self = 30});
  same_by_products(index, RowsView(train).slice(30, 40), 12, {.filter = {words.data(), 40, 29}, .self = 30});
  SearchOptions near;
  near.radius = static_cast<double>(all.distance[7]);
  same_by_products(index, queries, 12, near);
  same_by_products(index.without({{0, 64, 899}}), queries, 12);
  same_by_products(index.with(queries), queries, 12);
  same_by_products(index, RowsView(queries).slice(0, 0), 12);
  same_by_products(index, RowsView(queries).slice(3, 1), 12);
}

TEST_CASE("gap products: on a set of devices, in threads, and rows extended in advance") {
  const Matrix train = with_gaps(hard_rows(DataKind::decades, Set::train, 900, 6, Metric::l2), 30, 3),
               queries = with_gaps(hard_rows(DataKind::decades, Set::queries, 70, 6, Metric::l2), 30, 4);
  const Neighbors right = neighbors(metric, queries, train, 12);
  const bool both_have = has(Proposer::dot);  // as the CPU does
  const Index split(set_of(3), train, metric);
  CHECK(difference(split.search(queries, 12, {.proposer = both_have ? Proposer::dot : Proposer::none}),
                   right) == "");
  if (device().info().proposers.empty()) return;
  const Index index(device(), train, metric);
  const SearchOptions way{.proposer = device().info().proposers.back(), .threads = 1};
  const std::size_t before = index.memory_bytes();
  index.prepare(70, 12, way);
  const std::size_t prepared = index.memory_bytes();
  CHECK(prepared > 4 * before);
  CHECK(difference(index.search(queries, 12, way), right) == "");
  CHECK(index.memory_bytes() == prepared);
}

TEST_CASE("gap products: chosen where they pay, kept with the index, and left where they do not") {
  if (!has(Proposer::int8) || !device().info().profile.host_threads) return;
  const auto rows = [](std::int64_t count, Set set, std::int64_t share) {
    return with_gaps(hard_rows(DataKind::normal, set, count, 48, Metric::l2), share, 5);
  };
  const Matrix queries = rows(80, Set::queries, 20);
  const Index index(device(), rows(66000, Set::train, 20), metric);
  const std::string why = "the chain searches for queries that are still open";
  CHECK(index.plan(2000, 10).reason.ends_with(why));
  CHECK(!index.plan(2000, 10, {.proposer = Proposer::none}).reason.ends_with(why));
  CHECK(!index.plan(80, 10).reason.ends_with(why));
  const std::size_t before = index.memory_bytes();
  index.search(queries, 10, {.proposer = Proposer::int8});
  CHECK(index.memory_bytes() > 4 * before);
  CHECK(index.plan(80, 10).reason.ends_with(why));  // extended rows are there
  Trace trace;
  const Neighbors found = index.search(queries, 10, {}, &trace);
  CHECK(difference(found, index.search(queries, 10, {.proposer = Proposer::none})) == "");
  CHECK(trace.plan.proposer == (has(Proposer::bf16) ? Proposer::bf16 : Proposer::int8));
  CHECK(trace.fallbacks < 5);  // a query without values

  const Index holes(device(), rows(66000, Set::train, 98), metric);
  const Neighbors right = holes.search(queries, 10, {.proposer = Proposer::none});
  CHECK(difference(holes.search(queries, 10, {.proposer = Proposer::int8}), right) == "");
  CHECK(!holes.plan(2000, 10).reason.ends_with(why));
}

TEST_CASE("gap products: a proposer that the device lacks is refused, with what to do") {
  const Index index(device(), with_gaps(hard_rows(DataKind::normal, Set::train, 50, 4, Metric::l2), 20, 5),
                    metric);
  for (const Proposer proposer : {Proposer::gemm, Proposer::fp16, Proposer::bf16})
    if (!has(proposer)) {
      const std::string error = error_of([&] {
        index.search(Matrix{1, 4, {1, 2, 3, 4}}, 3, {.proposer = proposer});
      });
      CHECK(error.find(" has no proposer " + std::string(name(proposer)) + "; choose ") != std::string::npos);
    }
}

TEST_CASE("gap products: votes are those of the chain") {
  const Matrix train = with_gaps(hard_rows(DataKind::integers, Set::train, 600, 7, Metric::l2), 30, 5),
               queries = with_gaps(hard_rows(DataKind::integers, Set::queries, 40, 7, Metric::l2), 30, 6);
  std::vector<std::int64_t> labels(600);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int64_t>(7 + i * i % 5);
  const Classifier classifier(device(), train, labels, metric);
  const Classification right = classifier.classify(queries, 5, {.proposer = Proposer::none});
  CHECK(std::count(right.label.begin(), right.label.end(), 0) == 0);
  for (const Proposer proposer : device().info().proposers) {
    if (!refusal_of(proposer).empty()) continue;
    CAPTURE(std::string(name(proposer)));
    const Classification found = classifier.classify(queries, 5, {.proposer = proposer});
    CHECK(found.label == right.label);
    CHECK(found.votes == right.votes);
    CHECK(found.scores == right.scores);
    CHECK(difference(found.neighbors, right.neighbors) == "");
  }
}

TEST_CASE("gap products: the same bits whatever the host program has set") {
  const Matrix train = with_gaps(hard_rows(DataKind::subnormal, Set::train, 400, 5, Metric::l2), 30, 7),
               queries = with_gaps(hard_rows(DataKind::subnormal, Set::queries, 30, 5, Metric::l2), 30, 8);
  Matrix twice = train;  // duplicates have distances of 0
  twice.rows *= 2;
  twice.values.insert(twice.values.end(), train.values.begin(), train.values.end());
  if (device().info().proposers.empty()) return;
  const SearchOptions way{.proposer = device().info().proposers.back()};
  const Neighbors right = neighbors(metric, queries, twice, 4);
  for (const HostileSetting setting : hostile_settings) {
    CAPTURE(std::string(name(setting)));
    Neighbors found;
    bool kept = false;
    {
      const HostileEnvironment hostile(setting);
      found = Index(device(), twice, metric).search(queries, 4, way);
      kept = hostile.still_set();
    }
    CHECK(kept);
    CHECK(difference(found, right) == "");
  }
}

TEST_SUITE_END();

TEST_CASE("gap products: no bound is below the product of a pair, whatever the threshold") {
  for (const DataKind kind : all_kinds())
    for (const std::int64_t cols : {1, 3, 30}) {
      CAPTURE_ALL(std::string(name(kind)), cols);
      const Matrix train = with_gaps(hard_rows(kind, Set::train, 300, cols, Metric::l2), 25, 8),
                   queries = with_gaps(hard_rows(kind, Set::queries, 20, cols, Metric::l2), 25, 9);
      const GapColumns columns{MatrixView<const float>(train).slice(0, 200)};
      std::vector<float> row(size(columns.width())), query(size(columns.width()));
      for (std::int64_t q = 0; q < queries.rows; ++q)
        for (std::int64_t t = 0; t < train.rows; ++t) {
          const float value = chain(metric, queries.row(q), train.row(t));
          if (!std::isfinite(value)) continue;
          columns.extend_row(train.row(t).data(), row.data());
          const double exact = columns.threshold_of(static_cast<double>(value));
          for (const double share : {1.0, 0.0, 0.7, 1.3}) {
            const GapQuery told = columns.extend_query(queries.row(q).data(), share * exact, query.data());
            const float product = chain(Metric::negative_dot, query, row);
            if (!(product <= columns.bound(told, value))) FAIL_CHECK(q << ' ' << t << ' ' << share);
          }
        }
    }
}

}  // namespace
}  // namespace kith::tests::test_gap_products
