// Tests rows of so many bits that different quotients become one float: docs/contract.md, section 1.
#include <algorithm>
#include <array>
#include <numeric>

#include "common/device.hpp"
#include "common/elements.hpp"
#include "common/oracle.hpp"
#include "kith/index.hpp"
#include "kith/keys.hpp"
#include "kith/unstable/stages.hpp"
#include "metric/exact_shares.hpp"
#include "metric/share_code.hpp"
#include "workloads/random.hpp"

namespace kith::tests {
namespace {

constexpr std::array coded_metrics = {Metric::jaccard, Metric::dice, Metric::sokalsneath};
constexpr std::int64_t widest = 46250, ones_of_query = 23125;

/// Returns a query and rows of 46,250 bits, in pairs. Of the quotients i / u, of the bits that a row and the
/// query both have and those that one of them has, the two of a pair are neighbours among all of their size.
std::pair<Stored, Stored> close_rows(std::int64_t pairs) {
  Stored query(Element::bits, 1, widest), rows(Element::bits, 2 * pairs, widest);
  const auto fill = [](unsigned char* row, std::int64_t begin, std::int64_t end, std::int64_t begin_2,
                       std::int64_t end_2) {
    std::fill(row, row + widest / 8 + 1, static_cast<unsigned char>(0));
    for (std::int64_t c = begin; c < end; ++c) row[c / 8] |= static_cast<unsigned char>(0x80 >> c % 8);
    for (std::int64_t c = begin_2; c < end_2; ++c) row[c / 8] |= static_cast<unsigned char>(0x80 >> c % 8);
  };
  fill(query.row(0), 0, ones_of_query, 0, 0);
  workloads::Random random(5);
  for (std::int64_t pair = 0; pair < pairs;) {
    const std::int64_t u = widest - random.below(2000), v = widest - random.below(2000);
    if (u == v || std::gcd(u, v) != 1) continue;
    // i v - j u = 1
    std::int64_t i = 1, step = v % u;
    while (i < u && step != 1) step = (step + v) % u, ++i;
    const std::int64_t j = (i * v - 1) / u;
    if (i > ones_of_query || j > ones_of_query || j < 1) continue;
    fill(rows.row(2 * pair), 0, j, ones_of_query, v);  // j / v is less than i / u, and so farther
    fill(rows.row(2 * pair + 1), 0, i, ones_of_query, u);
    ++pair;
  }
  return {std::move(query), std::move(rows)};
}

TEST_SUITE_BEGIN("device");

TEST_CASE("sums of wide rows: the order is that of the quotients, however close they are") {
  const auto [query, rows] = close_rows(40);
  for (const Metric metric : coded_metrics) {
    CAPTURE(std::string(name(metric)));
    const Neighbors expected = nearest_by_shares(metric, query.view(), rows.view(), 80);
    std::size_t tied = 0;
    for (std::size_t j = 1; j < 80; ++j) tied += expected.distance[j] == expected.distance[j - 1];
    CHECK(tied > 20);
    const Index index(device(), rows.view(), metric);
    CHECK(difference(index.search(query.view(), 80), expected) == "");
    CHECK(difference(index.search(query.view(), 80, {.train_tile = 7}), expected) == "");
  }
}

TEST_CASE("sums of wide rows: all numbers of columns from where floats end") {
  for (const std::int64_t cols : {2897, 4096, 4097, 4128, 10000, 46250})
    for (const Metric metric : sum_metrics) {
      if (!compares_bits(metric)) continue;
      const std::int64_t n = cols == 2897 ? 150 : 40;  // the oracle takes long for wide rows
      const Stored rows = random_bits(n, cols, 7, cols % 2), queries = random_bits(9, cols, 3);
      CAPTURE_ALL(cols, std::string(name(metric)));
      const Index index(device(), rows.view(), metric);
      for (const std::int64_t k : {std::int64_t{4}, n})
        CHECK(difference(index.search(queries.view(), k),
                         nearest_by_shares(metric, queries.view(), rows.view(), k)) == "");
      CHECK(difference(stages::distance(device(), queries.view(), rows.view(), metric),
                       chains(metric, zeros_and_ones(queries.view()), zeros_and_ones(rows.view()))) == "");
    }
}

TEST_CASE("sums of wide rows: within a radius, counted, and as keys of shards") {
  const Stored rows = random_bits(120, 5001, 7), queries = random_bits(6, 5001, 3);
  for (const Metric metric : coded_metrics) {
    CAPTURE(std::string(name(metric)));
    const Index index(device(), rows.view(), metric);
    const Neighbors all = index.search(queries.view(), 120);
    CHECK(difference(finish(metric, index.search_keys(queries.view(), 120)), all) == "");
    for (const float radius : {-1.0f, 0.0f, all.distance[9], all.distance[150], 0.9999f, 1.0f, inf}) {
      CAPTURE(radius);
      const RadiusNeighbors found = index.within(queries.view(), std::array{radius});
      const std::array<double, 1> bound{radius};
      const std::vector<std::int64_t> counted = index.count(queries.view(), {{bound.data(), 1, 1}}),
                                      below = index.count(queries.view(), {{bound.data(), 1, 1}, true});
      for (std::size_t q = 0; q < 6; ++q) {
        const float* const list = all.distance.data() + q * 120;
        const auto near = std::upper_bound(list, list + 120, radius) - list,
                   nearer = std::lower_bound(list, list + 120, radius) - list;
        CHECK(found.first[q + 1] - found.first[q] == near);
        CHECK(std::equal(list, list + near, found.distance.begin() + found.first[q]));
        CHECK(counted[q] == near);
        CHECK(below[q] == nearer);
      }
    }
  }
}

TEST_SUITE_END();

TEST_CASE("sums of wide rows: a code becomes its quotient again") {
  workloads::Random random(3);
  for (int turn = 0; turn < 200000; ++turn) {
    const std::int64_t q = turn % 3 == 0 ? widest - random.below(9) : 1 + random.below(widest),
                       p = turn % 5 == 0 ? std::min(q, random.below(9)) : random.below(q + 1);
    const auto over = static_cast<float>(p), under = static_cast<float>(q);
    const float code = share_code(over, under);
    const double a = static_cast<double>(p), b = static_cast<double>(q);
    REQUIRE(code < 0);
    REQUIRE(share_of_code(Metric::jaccard, code) == static_cast<float>(a / b));
    REQUIRE(share_of_code(Metric::dice, code) == static_cast<float>(a / (2 * b - a)));
    REQUIRE(share_of_code(Metric::sokalsneath, code) == static_cast<float>(2 * a / (a + b)));
  }
}

TEST_CASE("sums of wide rows: neighbours among the quotients have different codes") {
  // The Farey sequence of order 46,250 from 0 on, from 1 / 2 on, and up to 1.
  const auto check = [](std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
    for (int turn = 0; turn < 1000000 && c < d; ++turn) {
      const auto code = [](std::int64_t p, std::int64_t q) {
        return share_code(static_cast<float>(p), static_cast<float>(q));
      };
      REQUIRE(code(a, b) < code(c, d));
      const std::int64_t times = (widest + b) / d, next_c = times * c - a, next_d = times * d - b;
      a = c, b = d, c = next_c, d = next_d;
    }
  };
  check(0, 1, 1, widest);
  check(1, 2, (widest / 2), widest - 1);
  check(1, 3, (widest + 1) / 3, widest);
  check(widest - 2, widest - 1, widest - 1, widest);
}

}  // namespace
}  // namespace kith::tests
