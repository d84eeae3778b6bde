// Tests the step score, which adds weighted votes in order of rank: docs/contract.md, section 5.
#include "common/device.hpp"
#include "common/oracle.hpp"
#include "common/vote_oracle.hpp"
#include "kith/unstable/stages.hpp"
#include "workloads/random.hpp"

namespace kith::tests {
namespace {

std::vector<float> score(const stages::KeyLists& lists, const std::vector<float>& weights,
                         const std::vector<std::uint32_t>& labels, std::uint32_t classes) {
  return stages::score(device(), lists, {weights.data(), lists.rows, lists.k}, labels, classes);
}

/// Sums the weights of each class in the order of the neighbours.
std::vector<float> added(const std::vector<Key>& keys, std::size_t k, const std::vector<float>& weights,
                         const std::vector<std::uint32_t>& labels, std::size_t classes) {
  std::vector<float> sums;
  for (std::size_t row = 0; row < keys.size(); row += k) {
    std::vector<float> sum(classes, 0.0f);
    for (std::size_t j = row; j < row + k; ++j)
      if (keys[j] != no_key) {
        const std::size_t c = labels[keys[j] % 0x100000000ull];
        sum[c] = sum[c] + weights[j];
      }
    sums.insert(sums.end(), sum.begin(), sum.end());
  }
  return sums;
}

/// Runs one score step between canaries.
void check_guarded(spi::Device& device, std::size_t q, std::uint32_t k, std::uint32_t classes) {
  CAPTURE_ALL(q, k, classes);
  workloads::Random random(q + k + classes);
  const std::uint32_t n = 3000;
  std::vector<std::uint32_t> labels(n);
  // Three classes have most of the rows, so that sums are long even if there are many classes.
  for (std::uint32_t& label : labels)
    label = static_cast<std::uint32_t>(random.below(random.one_in(2) ? classes : std::min(classes, 3u)));
  std::vector<Key> keys(q * k);
  std::vector<float> weights(q * k);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i] = random.one_in(10) ? no_key : key({1, static_cast<std::uint32_t>(random.below(n))});
    weights[i] = std::fabs(workloads::normal(random.next())) *
                 random.pick({1.0f, 1.0f, 1.0f, 0.0f, 0x1p-20f, 0x1p30f, denormal});
    if (keys[i] == no_key) weights[i] = inf;  // must be ignored
  }
  const GuardedGrid<Key> in(device, q, k, key({0, 0}), keys);  // key 0 would be one more vote
  const GuardedGrid<float> given(device, q, k, 1e9f, weights);
  const GuardedGrid<std::uint32_t> table(device, 1, n, 0, labels);
  const GuardedGrid<float> sums(device, q, classes, -7.0f);
  REQUIRE(run_step(device, spi::ScoreStep{in.grid(), given.grid(), table.grid(), classes, sums.grid()}) ==
          "");
  CHECK(difference(sums.inside(), added(keys, k, weights, labels, classes)) == "");
  CHECK(sums.canaries_live());
  check_unchanged(in, given, table);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("score: the weights of each class, worked out on paper") {
  const std::vector<std::uint32_t> labels{2, 0, 1, 1, 2, 0};
  CHECK(score(lists_of_rows(3, {0, 2, 3, /**/ 4, 3, 1}), {0.5f, 0.25f, 4, /**/ 1, 2, 3}, labels, 3) ==
        std::vector<float>{0, 4.25f, 0.5f, /**/ 3, 2, 1});
}

TEST_CASE("score: the order of the ranks is part of the sum") {
  const std::vector<std::uint32_t> labels{0, 0, 0, 1};
  const float half_unit = 0x1p-24f;
  // 1 + 2^-24 is a tie and rounds to 1, while 2^-24 + 2^-24 is exact.
  CHECK(difference(score(lists_of_rows(3, {0, 1, 2}), {1, half_unit, half_unit}, labels, 2), {1, 0}) == "");
  CHECK(difference(score(lists_of_rows(3, {0, 1, 2}), {half_unit, half_unit, 1}, labels, 2),
                   {1 + 0x1p-23f, 0}) == "");
  // Votes for other classes, and missing neighbours, come in between.
  CHECK(difference(score(lists_of_rows(5, {2, 3, 1, 0, no_row}), {half_unit, 8, half_unit, 1, 9}, labels, 2),
                   {1 + 0x1p-23f, 8}) == "");
}

TEST_CASE("score: begins with plus zero; subnormal weights count, and sums may overflow") {
  const std::vector<std::uint32_t> labels{0, 0, 1, 2, 2};
  CHECK(difference(score(lists_of_rows(5, {0, 1, 2, 3, 4}), {denormal, denormal, -0.0f, flt_max, flt_max},
                         labels, 4),
                   {2 * denormal, 0.0f, inf, 0.0f}) == "");
}

TEST_CASE("score: places without a neighbour have no vote, whatever their weight") {
  const std::vector<std::uint32_t> labels{0, 1};
  CHECK(difference(
            score(lists_of_rows(2, {1, no_row, /**/ no_row, no_row}), {3, inf, std::nanf(""), -1}, labels, 2),
            {0, 3, /**/ 0, 0}) == "");
}

TEST_CASE("score: any number of queries, neighbours and classes, between canaries") {
  spi::with_device(device(), [](spi::Device& device) {
    for (const std::size_t q : {1u, 2u, 17u, 64u, 1000u})
      for (const std::uint32_t k : {1u, 2u, 5u, 33u, 256u, 257u, 2049u})
        for (const std::uint32_t classes : {1u, 2u, 10u, 257u, 9000u}) {
          if (q * k > 20000 || q * classes > 40000) continue;
          check_guarded(device, q, k, classes);
        }
    check_guarded(device, 2, 40, 100003);
    check_guarded(device, 0, 3, 4);
  });
}

TEST_CASE("score: refuses what it could not add") {
  const std::vector<std::uint32_t> labels{0, 1, 2};
  const auto refusal = [&](const stages::KeyLists& lists, const std::vector<float>& weights,
                           std::uint32_t classes) {
    return error_of([&] { score(lists, weights, labels, classes); });
  };
  CHECK(refusal(lists_of_rows(1, {0}), {1}, 2) ==
        "invalid_argument: score: label 2 of row 2 is not below classes = 2; give labels 0 to 1");
  CHECK(refusal(lists_of_rows(1, {0}), {1}, 0) ==
        "invalid_argument: score: there are no classes; give at least one");
  CHECK(refusal(lists_of_rows(1, {3}), {1}, 3) ==
        "invalid_argument: score: a neighbour is row 3 but there are 3 labels; give one a row");
  CHECK(refusal({1, 2, 1, {1, 2}}, {1, 1}, 3) == "invalid_argument: score: 2 lists a row; merge them first");
  for (const float weight : {std::nanf(""), inf, -1.0f})
    CHECK(refusal(lists_of_rows(2, {0, 1, /**/ 2, 0}), {1, 1, 1, weight}, 3)
              .starts_with("invalid_argument: score: row 1, rank 1 has weight "));
  CHECK(refusal(lists_of_rows(2, {0, 1}), {1, -2}, 3) ==
        "invalid_argument: score: row 0, rank 1 has weight -2; make every weight finite and not negative");
  CHECK(error_of([&] {
          stages::score(device(), lists_of_rows(2, {0, 1}), Matrix{2, 1, {1, 1}}, labels, 3);
        }) ==
        "invalid_argument: score: weights are [2, 1] but neighbours [1, 2]; give one weight a neighbour");
  CHECK(stages::score(device(), {0, 1, 3, {}}, Matrix{0, 3, {}}, labels, 3).empty());
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
