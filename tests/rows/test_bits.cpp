// Tests rows of bits by hamming: docs/contract.md, sections 1 and 3.
#include "common/device.hpp"
#include "common/elements.hpp"
#include "common/oracle.hpp"
#include "kith/classifier.hpp"
#include "kith/evaluation.hpp"
#include "kith/feature_selection.hpp"
#include "kith/filter.hpp"
#include "kith/index.hpp"
#include "kith/regressor.hpp"
#include "kith/structure.hpp"
#include "kith/unstable/stages.hpp"

namespace kith::tests {
namespace {

/// Counts the columns that differ one by one, as l1 of zeros and ones.
Neighbors nearest_bits(const Stored& queries, const Stored& train, std::int64_t k) {
  return neighbors(Metric::l1, zeros_and_ones(queries.view()), zeros_and_ones(train.view()), k);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("hamming: by hand, high bit first, and what follows the last column is ignored") {
  const unsigned char rows[] = {0b10000000, 0b01000000, 0b00000001, 0b10111111, 0b11111111, 0b11000000};
  const unsigned char asked[] = {0b10000000, 0b00111111};
  const RowsView train(rows, Element::bits, 3, 10), query(asked, Element::bits, 1, 10);
  CHECK(Index(device(), train, Metric::hamming).search(query, 3) == Neighbors{1, 3, {1, 3, 9}, {0, 1, 2}});
}

TEST_CASE("hamming: any number of columns, with gaps, by every selector in tiny tiles") {
  for (const std::int64_t cols : {1, 7, 8, 9, 31, 32, 33, 64, 100, 129, 1000}) {
    const Stored train = random_bits(131, cols, 5, cols % 3), queries = random_bits(5, cols, 6, 1);
    const Index index(device(), train.view(), Metric::hamming);
    CHECK(index.dims() == cols);
    for (const std::int64_t k : {1, 9, 131}) {
      const Neighbors expected = nearest_bits(queries, train, k);
      CAPTURE_ALL(cols, k);
      CHECK(difference(index.search(queries.view(), k), expected) == "");
      for (const Selector selector : device().info().selectors) {
        CAPTURE(std::string(name(selector)));
        SearchOptions options{
            .selector = selector, .lists = k == 9 ? 2 : 0, .query_tile = 3, .train_tile = k == 9 ? 13 : 67};
        CHECK(difference(index.search(queries.view(), k, options), expected) == "");
      }
      if (static_cast<std::uint64_t>(k) <= device().info().fused_max_k) {
        CHECK(difference(index.search(queries.view(), k, {.fused = true}), expected) == "");
      }
    }
  }
}

TEST_CASE("hamming: words whose floats are NaN, infinite or subnormal are counted bit by bit") {
  // These are NaN, infinities, subnormal numbers and zeros; rows from 10 on have them in the other
  // byte order.
  const std::uint32_t patterns[] = {0x7F800001u, 0x7FC00000u, 0xFFBFFFFFu, 0x7F800000u, 0xFF800000u,
                                    0x00000001u, 0x80000000u, 0x007FFFFFu, 0xFFFFFFFFu, 0u};
  Stored rows(Element::bits, 20, 64);
  for (std::int64_t r = 0; r < 20; ++r)
    for (std::int64_t word = 0; word < 2; ++word) {
      std::uint32_t pattern = patterns[size((r + 3 * word) % 10)];
      if (r >= 10) pattern = __builtin_bswap32(pattern);
      rows.put_pattern(r, word, pattern);
    }
  CHECK(difference(Index(device(), rows.view(), Metric::hamming).search(rows.view(), 20),
                   nearest_bits(rows, rows, 20)) == "");
}

TEST_CASE("hamming: many queries and rows, in every shape of a kernel") {
  for (const std::array<std::int64_t, 4>& sizes : std::vector<std::array<std::int64_t, 4>>{
           {1, 5000, 256, 10}, {70, 3000, 256, 5}, {300, 2100, 96, 40}, {33, 700, 2048, 700}}) {
    const std::int64_t m = sizes[0], n = sizes[1], cols = sizes[2], k = sizes[3];
    const Stored train = random_bits(n, cols, 8), queries = random_bits(m, cols, 9);
    CAPTURE(m);
    CHECK(difference(Index(device(), train.view(), Metric::hamming).search(queries.view(), k),
                     nearest_bits(queries, train, k)) == "");
  }
}

TEST_CASE("hamming: classification, regression, evaluation, radius, filters and grown indices") {
  const Metric metric = Metric::hamming;
  const Stored train = random_bits(120, 77, 11), more = random_bits(9, 77, 13),
               queries = random_bits(14, 77, 12);
  const Matrix plain = zeros_and_ones(train.view()), plain_more = zeros_and_ones(more.view()),
               plain_queries = zeros_and_ones(queries.view());
  std::vector<std::int64_t> labels, folds, truth(14, 1);
  std::vector<double> values;
  for (std::int64_t r = 0; r < 120; ++r) {
    labels.push_back(r % 7 % 3);
    folds.push_back(r % 5);
    values.push_back(static_cast<double>(r % 13));
  }
  const Classifier by_bits(device(), train.view(), labels, metric),
      by_numbers(device(), plain, labels, Metric::l1);
  for (const VotingOptions& voting : {VotingOptions{}, VotingOptions{.weights = Weights::distance}})
    CHECK(by_bits.predict(queries.view(), 9, voting) == by_numbers.predict(plain_queries, 9, voting));
  CHECK(evaluate(by_bits, queries.view(), truth, 9) == evaluate(by_numbers, plain_queries, truth, 9));
  CHECK(leave_one_out(by_bits, train.view(), 9) == leave_one_out(by_numbers, plain, 9));
  CHECK(cross_validate(by_bits, train.view(), folds, 9) == cross_validate(by_numbers, plain, folds, 9));
  const MatrixView<const double> targets(values.data(), 120, 1);
  CHECK(Regressor(device(), train.view(), targets, metric).predict(queries.view(), 6) ==
        Regressor(device(), plain, targets, Metric::l1).predict(plain_queries, 6));
  const Index index = by_bits.index().with(more.view()), right = by_numbers.index().with(plain_more);
  const std::vector<float> radii{30};
  CHECK(index.within(queries.view(), radii) == right.within(plain_queries, radii));
  const RowFilter filter = RowFilter::only(129, std::vector<std::int64_t>{3, 50, 51, 90, 127, 128});
  CHECK(index.search(queries.view(), 8, {.filter = filter}) ==
        right.search(plain_queries, 8, {.filter = filter}));
  CHECK(index.search(train.view(), 8, {.self = 0}) == right.search(plain, 8, {.self = 0}));
}

TEST_CASE("hamming: stages take bits") {
  const Stored train = random_bits(60, 70, 21), queries = random_bits(7, 70, 22);
  const Matrix plain = zeros_and_ones(train.view()), plain_queries = zeros_and_ones(queries.view());
  CHECK(stages::distance(device(), queries.view(), train.view(), Metric::hamming) ==
        chains(Metric::l1, plain_queries, plain));
}

TEST_CASE("hamming: bits and hamming go together, and with nothing that measures numbers") {
  const Stored bits = random_bits(4, 40, 1);
  const Matrix numbers = matrix(2, {1, 2, 3, 4});
  const std::vector<std::int64_t> labels{0, 1, 0, 1};
  CHECK(error_of([&] { Index(device(), bits.view(), Metric::l2); }) ==
        "invalid_argument: index: the training rows are bits, but l2 measures numbers; choose hamming, or "
        "give numbers");
  CHECK(error_of([&] { Index(device(), numbers, Metric::hamming); }) ==
        "invalid_argument: index: the training rows are f32, but hamming compares bits; give bits, or choose "
        "another metric");
  const Index index(device(), bits.view(), Metric::hamming);
  const Matrix as_wide{1, 40, std::vector<float>(40)};
  CHECK(error_of([&] { index.search(as_wide, 1); }) ==
        "invalid_argument: search: the query rows are f32, but hamming compares bits; give bits, or choose "
        "another metric");
  CHECK(error_of([&] { index.within(as_wide, std::vector<float>{1}); }) ==
        "invalid_argument: within: the query rows are f32, but hamming compares bits; give bits, or choose "
        "another metric");
  CHECK(error_of([&] {
          Index(device(), bits.view(), Metric::hamming, {{0, 3}});
        }) ==
        "invalid_argument: index: hamming compares whole rows of bits, but features are chosen; leave them "
        "out");
  CHECK(error_of([&] { stages::distance(device(), numbers, numbers, Metric::hamming); }) ==
        "invalid_argument: stages: the query rows are f32, but hamming compares bits; give bits, or choose "
        "another metric");
  const std::string structure =
      "unsupported: structure: hamming compares bits, whose class structure kith does not measure; choose "
      "squared_l2, l2, cosine, l1 or linf, and give numbers";
  CHECK(error_of([&] { Structure(device(), bits.view(), labels, Metric::hamming); }) == structure);
  CHECK(error_of([&] { class_matrices(device(), bits.view(), labels, Metric::hamming, {}); }) == structure);
  CHECK(error_of([&] { select_features(device(), bits.view(), labels, Metric::hamming, {}); }) ==
        "unsupported: select_features: hamming compares whole rows of bits, of which no columns are chosen; "
        "give numbers, and another metric");
}

TEST_CASE("hamming: no more bits than float32 counts exactly") {
  const std::vector<unsigned char> bytes((1 << 21) + 1, 0xFF), zeros((1 << 21) + 1);
  const RowsView most(bytes.data(), Element::bits, 1, 1 << 24), none(zeros.data(), Element::bits, 1, 1 << 24);
  if (device().info().largest_allocation > 2 * bytes.size())  // blocks of planted devices are smaller
    CHECK(Index(device(), most, Metric::hamming).search(none, 1) == Neighbors{1, 1, {16777216}, {0}});
  CHECK(error_of([&] {
          Index(device(), RowsView(bytes.data(), Element::bits, 1, (1 << 24) + 1), Metric::hamming);
        }) ==
        "invalid_argument: index: the training rows have 16777217 bits, but hamming counts at most 16777216 "
        "exactly; give fewer");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
