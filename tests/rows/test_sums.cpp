// Tests metrics of two sums, of bits and of numbers: docs/contract.md, section 1.
#include <algorithm>
#include <array>

#include "common/device.hpp"
#include "common/elements.hpp"
#include "common/oracle.hpp"
#include "kith/index.hpp"
#include "kith/structure.hpp"
#include "kith/unstable/stages.hpp"

namespace kith::tests {
namespace {

/// Finds the nearest rows of bits by the oracle, which counts column by column.
Neighbors nearest_shares(Metric metric, const Stored& queries, const Stored& train, std::int64_t k) {
  return neighbors(metric, zeros_and_ones(queries.view()), zeros_and_ones(train.view()), k);
}

/// Calls body(metric) for each metric of two sums of bits.
template <class Body>
void for_each_share_of_bits(const Body& body) {
  for (const Metric metric : sum_metrics)
    if (compares_bits(metric)) {
      CAPTURE(std::string(name(metric)));
      body(metric);
    }
}

/// Returns rows whose sums are zeros, subnormal, rounded and infinite.
Matrix telling_numbers(std::int64_t rows, std::int64_t cols, std::uint32_t state) {
  const std::array<float, 6> scales{0x1p-24f, 0x1p-22f, 0x1p-149f, 0x1p104f, 0, 0x1p-20f};
  Matrix matrix{rows, cols, {}};
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t d = 0; d < cols; ++d) {
      state = state * 1664525u + 1013904223u;
      const float unit = static_cast<float>(state >> 8), sign = state % 3 == 0 ? -1.0f : 1.0f;
      matrix.values.push_back(sign * unit * scales[size(r) % scales.size()]);
    }
  return matrix;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("sums: by hand, an empty row, and what follows the last column is ignored") {
  const unsigned char rows[] = {0b11000000, 0b01111111, 0b10110000, 0b00111111, 0b00000000, 0b00111111};
  const unsigned char asked[] = {0b11000000, 0b00000000, 0b00000000, 0b00111111};
  const RowsView train(rows, Element::bits, 3, 10), queries(asked, Element::bits, 2, 10);
  const auto values = [&](Metric metric) { return stages::distance(device(), queries, train, metric); };
  // The rows have 3, 3 and 0 ones, the queries 2 and 0; of the first pair 2 are common and 1 is not, of the
  // second pair 1 is common and 3 are not.
  CHECK(values(Metric::jaccard) == std::vector<float>{1 / 3.0f, 0.75f, 1, 1, 1, 0});
  CHECK(values(Metric::dice) == std::vector<float>{0.2f, 0.6f, 1, 1, 1, 0});
  CHECK(values(Metric::sokalsneath) == std::vector<float>{0.5f, 6 / 7.0f, 1, 1, 1, 0});
  CHECK(values(Metric::rogerstanimoto) ==
        std::vector<float>{2 / 11.0f, 6 / 13.0f, 4 / 12.0f, 6 / 13.0f, 6 / 13.0f, 0});
  CHECK(values(Metric::russellrao) == std::vector<float>{0.8f, 0.9f, 1, 1, 1, 1});
}

TEST_CASE("sums: any number of columns, with gaps, by every selector in tiny tiles") {
  for (const std::int64_t cols : {1, 9, 32, 33, 100, 1000})
    for_each_share_of_bits([&](Metric metric) {
      const Stored train = random_bits(131, cols, 5, cols % 3), queries = random_bits(5, cols, 6, 1);
      const Index index(device(), train.view(), metric);
      for (const std::int64_t k : {9, 131}) {
        const Neighbors expected = nearest_shares(metric, queries, train, k);
        CAPTURE_ALL(cols, k);
        CHECK(difference(index.search(queries.view(), k), expected) == "");
        for (const Selector selector : device().info().selectors) {
          CAPTURE(std::string(name(selector)));
          const SearchOptions options{
              .selector = selector, .lists = k == 9 ? 2 : 0, .query_tile = 3, .train_tile = k == 9 ? 13 : 67};
          CHECK(difference(index.search(queries.view(), k, options), expected) == "");
        }
      }
    });
}

TEST_CASE("sums: many queries and rows, up to the most bits") {
  for (const std::array<std::int64_t, 4>& sizes : std::vector<std::array<std::int64_t, 4>>{
           {1, 5000, 256, 10}, {70, 1500, 167, 5}, {130, 900, 96, 40}, {9, 400, 2048, 300}, {3, 50, 2896, 7}})
    for_each_share_of_bits([&](Metric metric) {
      const Stored train = random_bits(sizes[1], sizes[2], 8), queries = random_bits(sizes[0], sizes[2], 9);
      CAPTURE(sizes[0]);
      CHECK(difference(Index(device(), train.view(), metric).search(queries.view(), sizes[3]),
                       nearest_shares(metric, queries, train, sizes[3])) == "");
    });
  const Stored far = random_bits(20, 70001, 3);
  for (const Metric metric : {Metric::rogerstanimoto, Metric::russellrao})
    CHECK(difference(Index(device(), far.view(), metric).search(far.view(), 20),
                     nearest_shares(metric, far, far, 20)) == "");
}

TEST_CASE("sums: braycurtis of numbers whose sums are zero, subnormal, rounded and infinite") {
  for (const std::int64_t cols : {1, 2, 7, 40}) {
    const Matrix train = telling_numbers(150, cols, 3), queries = telling_numbers(37, cols, 4);
    CAPTURE(cols);
    const std::vector<float> right = chains(Metric::braycurtis, queries, train);
    CHECK(difference(stages::distance(device(), queries, train, Metric::braycurtis), right) == "");
    const Index index(device(), train, Metric::braycurtis);
    CHECK(difference(index.search(queries, 150), neighbors(Metric::braycurtis, queries, train, 150)) == "");
    CHECK(difference(index.search(train, 3, {.self = 0}),
                     index.search(train, 3, {.query_tile = 7, .self = 0})) == "");
  }
  const Matrix rows = matrix(2, {1, 2, -1, -2, 0, 0, 2, 4, 3e38f, 3e38f}), asked = matrix(2, {1, 2});
  CHECK(stages::distance(device(), asked, rows, Metric::braycurtis) ==
        std::vector<float>{0, inf, 1, 1 / 3.0f, inf});
  CHECK(stages::distance(device(), matrix(2, {0, 0}), rows, Metric::braycurtis) ==
        std::vector<float>{1, 1, 0, 1, inf});
}

TEST_CASE("sums: braycurtis of other elements, and of chosen columns") {
  const Matrix numbers = hard_rows(DataKind::grid, Set::train, 90, 6, Metric::l1),
               asked = hard_rows(DataKind::grid, Set::queries, 11, 6, Metric::l1);
  for (const Element element : {Element::f16, Element::bf16}) {
    const Stored stored(numbers, element);
    CHECK(difference(Index(device(), stored.view(), Metric::braycurtis).search(asked, 20),
                     neighbors(Metric::braycurtis, asked, numbers, 20)) == "");
  }
  const std::vector<std::int64_t> columns{1, 4};
  IndexOptions options;
  options.features = {4, 1};
  CHECK(difference(Index(device(), numbers, Metric::braycurtis, options).search(asked, 20),
                   neighbors(Metric::braycurtis, columns_of(asked, columns), columns_of(numbers, columns),
                             20)) == "");
}

TEST_CASE("sums: the plan is of all distances, and says why") {
  const Stored bits = random_bits(40, 64, 1);
  Trace trace;
  Index(device(), bits.view(), Metric::dice).search(bits.view(), 3, {}, &trace);
  CHECK(!trace.plan.fused);
  CHECK(trace.plan.proposer == Proposer::none);
  CHECK(trace.plan.reason == "the metric is a quotient of two sums, which only the step distance computes");
}

TEST_CASE("sums: what cannot be had is refused, with what to do") {
  const Stored bits = random_bits(40, 64, 1);
  const Index index(device(), bits.view(), Metric::jaccard);
  const auto refused = [&](const SearchOptions& options) {
    return error_of([&] { index.search(bits.view(), 3, options); });
  };
  CHECK(refused({.fused = true}) ==
        "unsupported: search: the fused step is not for jaccard; drop the demand for it");
  CHECK(refused({.proposer = Proposer::gemm}) ==
        "unsupported: search: proposer gemm works by inner products, from which jaccard does not follow; "
        "choose "
        "proposer none");
  if (device().info().boxes_max_k > 0)  // else a radius search has no boxes to leave out
    CHECK(error_of([&] { index.within(bits.view(), std::array{0.5f}, {.boxes = true}); })
              .ends_with(
                  "boxes by numbers of ones are for the k nearest of rows that a device has; drop the demand "
                  "for boxes"));
  CHECK(
      error_of([&] {
        stages::nearest(device(), bits.view(), bits.view(), Metric::dice, 3);
      }).ends_with("metric dice is a quotient of two sums, which step distance alone computes; choose that"));
  const Stored wide = random_bits(2, 46251, 1);
  for (const Metric metric : {Metric::jaccard, Metric::dice, Metric::sokalsneath})
    CHECK(error_of([&] { Index(device(), wide.view(), metric); }) ==
          "invalid_argument: index: the training rows have 46251 bits, but " + std::string(name(metric)) +
              " tells the quotients of at most 46250 apart; give fewer");
  const Matrix numbers = matrix(2, {1, 2, 3, 4});
  CHECK(error_of([&] { Index(device(), numbers, Metric::jaccard); }) ==
        "invalid_argument: index: the training rows are f32, but jaccard compares bits; give bits, or choose "
        "another metric");
  CHECK(
      error_of([&] { Index(device(), bits.view(), Metric::braycurtis); }) ==
      "invalid_argument: index: the training rows are bits, but braycurtis measures numbers; choose hamming, "
      "or give numbers");
  CHECK(error_of([&] { Index(device(), numbers, Metric::braycurtis, {.arithmetic = Arithmetic::f64}); }) ==
        "invalid_argument: index: rows of f32 in arithmetic f64, in which braycurtis is not computed; give "
        "f32, "
        "and leave the arithmetic out");
  CHECK(error_of([&] {
          Structure(device(), numbers, std::vector<std::int64_t>{0, 1}, Metric::braycurtis);
        }) ==
        "unsupported: structure: braycurtis is a quotient of two sums, whose class structure kith does not "
        "measure; choose squared_l2, l2, cosine, l1 or linf");
}

TEST_SUITE_END();

TEST_CASE("sums: two different quotients of as many bits as are allowed are two floats") {
  // The Farey sequence of order 4,096 has each fraction of h bits that differ among h + i once, ascending.
  std::int64_t a = 0, b = 1, c = 1, d = 4096, tied = 0, met = 0;
  const auto ties = [](std::int64_t p, std::int64_t q, std::int64_t r, std::int64_t s) {
    return static_cast<float>(static_cast<double>(p) / static_cast<double>(q)) >=
           static_cast<float>(static_cast<double>(r) / static_cast<double>(s));
  };
  std::int64_t e = 0, f = 1;  // the fraction before, of at most 2,896
  while (a < b) {
    tied += ties(a, b, c, d) + ties(a, 2 * b - a, c, 2 * d - c);  // jaccard, dice
    if (d <= 2896) {
      tied += ties(2 * e, f + e, 2 * c, d + c);  // sokalsneath
      e = c, f = d;
    }
    const std::int64_t times = (4096 + b) / d, next_c = times * c - a, next_d = times * d - b;
    a = c, b = d, c = next_c, d = next_d;
    ++met;
  }
  CHECK(met == 5100020);
  CHECK(tied == 0);
}

}  // namespace
}  // namespace kith::tests
