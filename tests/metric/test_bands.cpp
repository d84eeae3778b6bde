// Tests searches of rows of bits by bands of like numbers of ones: docs/boxes.md, section 7.
#include <algorithm>

#include "common/device.hpp"
#include "common/elements.hpp"
#include "common/oracle.hpp"
#include "kith/classifier.hpp"
#include "kith/index.hpp"
#include "metric/exact_shares.hpp"
#include "workloads/random.hpp"

namespace kith::tests {
namespace {

constexpr std::int64_t banded_rows = 40000, banded_bits = 150;

/// Returns rows with 0 to 150 ones, of which many are alike.
Stored rows_of_many_sizes(std::int64_t rows, std::uint64_t seed) {
  Stored stored(Element::bits, rows, banded_bits);
  workloads::Random random(seed);
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t in_1000 = random.below(1001);
    for (std::int64_t i = 0; i < row_bytes(Element::bits, banded_bits); ++i) {
      unsigned byte = 0;
      for (int bit = 0; bit < 8; ++bit) byte = byte << 1 | (random.below(1000) < in_1000 ? 1u : 0u);
      stored.row(r)[i] = r % 5 == 4 && i > 1 ? stored.row(r - 1)[i] : static_cast<unsigned char>(byte);
    }
  }
  return stored;
}

/// Calls body(metric, index) for each metric of two sums of bits.
template <class Body>
void for_each_banded(const Stored& rows, const Body& body) {
  for (const Metric metric : sum_metrics)
    if (compares_bits(metric)) {
      CAPTURE(std::string(name(metric)));
      body(metric, Index(device(), rows.view(), metric));
    }
}

TEST_SUITE_BEGIN("device");

TEST_CASE("bands: the nearest are those of all rows, and fewer rows are read") {
  const Stored rows = rows_of_many_sizes(banded_rows, 3), queries = rows_of_many_sizes(7, 5);
  for_each_banded(rows, [&](Metric metric, const Index& index) {
    for (const std::int64_t k : {1, 10, 300}) {
      CAPTURE(k);
      Trace trace;
      CHECK(difference(index.search(queries.view(), k, {.boxes = true}, &trace),
                       nearest_by_shares(metric, queries.view(), rows.view(), k)) == "");
      if (metric == Metric::jaccard && k == 1) CHECK(trace.leaves < 7 * banded_rows / 32 * 3 / 4);
    }
    const Plan plan = index.plan(7, 3, {.boxes = true});
    CHECK(plan.reason.ends_with(
        "and rows stand by their numbers of ones, which tell what need not be looked at"));
    CHECK(index.memory_bytes() > 2 * banded_rows * 20);
  });
}

TEST_CASE("bands: with a filter, without the own row, within a radius, and without removed rows") {
  const Stored rows = rows_of_many_sizes(banded_rows, 3), queries = rows_of_many_sizes(4, 5);
  std::vector<std::uint32_t> words(size(4 * banded_rows / 32));
  workloads::Random random(9);
  for (std::uint32_t& word : words)
    word = static_cast<std::uint32_t>(random.next()) & static_cast<std::uint32_t>(random.next());
  for_each_banded(rows, [&](Metric, const Index& index) {
    const auto same_as_all = [&](const Index& of, const RowsView& asked, SearchOptions options) {
      const Neighbors all = of.search(asked, 20, options);
      options.boxes = true;
      CHECK(difference(of.search(asked, 20, options), all) == "");
      return all;
    };
    const Neighbors all = same_as_all(index, queries.view(), {});
    same_as_all(index, queries.view(), {.filter = {words.data(), 1, banded_rows / 32}});
    same_as_all(index, queries.view(), {.filter = {words.data(), 4, banded_rows / 32}});
    same_as_all(index, rows.view().slice(100, 5), {.self = 100});
    for (const float radius : {-1.0f, 0.0f, all.distance[3], all.distance[25]}) {
      SearchOptions options;
      options.radius = radius;
      same_as_all(index, queries.view(), options);
    }
    same_as_all(index.without(std::vector<std::int64_t>{all.row[0], all.row[1], 7}), queries.view(), {});
  });
}

TEST_CASE("bands: votes are those of all rows") {
  const Stored rows = rows_of_many_sizes(banded_rows, 3), queries = rows_of_many_sizes(4, 5);
  std::vector<std::int64_t> labels;
  for (std::int64_t r = 0; r < banded_rows; ++r) labels.push_back(r % 3);
  const Classifier classifier(Index(device(), rows.view(), Metric::jaccard), labels);
  CHECK(classifier.predict(queries.view(), 5, {.boxes = true}) == classifier.predict(queries.view(), 5));
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
