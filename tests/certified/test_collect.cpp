// Tests the step collect: it appends the rows whose value is at most the threshold to lists of candidates.
// docs/certificate.md, section 5.
#include "common/device.hpp"
#include "common/oracle.hpp"
#include "kith/unstable/stages.hpp"
#include "workloads/random.hpp"

namespace kith::tests::test_collect {
namespace {

using stages::Candidates;

constexpr std::uint32_t canary = 0xCAFECAFEu;

Candidates collect(const Matrix& values, const std::vector<float>& threshold, std::int64_t capacity) {
  return stages::collect(device(), values, threshold, capacity);
}

/// Returns random values with many ties and a few infinities.
std::vector<float> random_values(std::size_t count, workloads::Random& random) {
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(random.between(-500, 500)) * 0.25f;
    if (random.one_in(50)) value = random.one_in(2) ? inf : -inf;
    if (random.one_in(50)) value = -0.0f;
  }
  return values;
}

/// Holds lists of candidates in device memory that already contain some.
struct Lists {
  GuardedGrid<std::uint32_t> counts, rows;

  Lists(spi::Device& device, const std::vector<std::uint32_t>& before, std::size_t capacity)
      : counts(device, before.size(), 1, canary, before),
        rows(device, before.size(), capacity, canary,
             std::vector<std::uint32_t>(before.size() * capacity, canary)) {}

  spi::CandidateLists lists() const { return {rows.grid(), counts.grid()}; }
};

spi::CollectStep step_of(const GuardedGrid<float>& values, const GuardedGrid<float>& threshold,
                         std::uint32_t first_row, const Lists& lists) {
  return {Proposer::none, Metric::l1, {}, {}, values.grid(), threshold.grid(), first_row, lists.lists(), {}};
}

/// Checks that `expected`, in any order, follows the before[q] entries of list q, as far as there is room,
/// and that nothing else was written.
void check_lists(const Lists& lists, const std::vector<std::uint32_t>& before, std::size_t capacity,
                 const std::vector<std::vector<std::uint32_t>>& expected) {
  const std::vector<std::uint32_t> counts = lists.counts.inside(), rows = lists.rows.inside();
  for (std::size_t q = 0; q < expected.size(); ++q) {
    CAPTURE(q);
    CHECK(counts[q] == before[q] + expected[q].size());
    const auto list = rows.begin() + static_cast<std::ptrdiff_t>(q * capacity);
    const auto from = list + static_cast<std::ptrdiff_t>(std::min<std::size_t>(before[q], capacity));
    const auto until = list + static_cast<std::ptrdiff_t>(std::min<std::size_t>(counts[q], capacity));
    CHECK(std::all_of(list, from, [](std::uint32_t row) { return row == canary; }));
    CHECK(std::all_of(until, list + static_cast<std::ptrdiff_t>(capacity),
                      [](std::uint32_t row) { return row == canary; }));
    std::vector<std::uint32_t> listed(from, until);
    std::sort(listed.begin(), listed.end());
    if (counts[q] <= capacity)
      CHECK(difference(listed, expected[q]) == "");
    else
      CHECK(std::includes(expected[q].begin(), expected[q].end(), listed.begin(), listed.end()));
  }
  check_canaries(lists.counts, lists.rows);
}

/// Runs one step. The cells around the values would be listed, and the thresholds around
/// would list everything.
void check_guarded(spi::Device& device, std::size_t m, std::size_t n, std::size_t capacity,
                   std::uint32_t first_row, std::uint32_t threads) {
  CAPTURE_ALL(m, n, capacity, first_row);
  workloads::Random random(m * 1000 + n + capacity);
  const std::vector<float> values = random_values(m * n, random);
  std::vector<float> threshold(m);
  std::vector<std::uint32_t> before(m);
  std::vector<std::vector<std::uint32_t>> expected;
  for (std::size_t q = 0; q < m; ++q) {
    threshold[q] = random.pick({-inf, -124.0f, -120.0f, -0.0f, 0.0f, 60.125f, 124.75f, flt_max, inf});
    before[q] = random.pick<std::uint32_t>({0, 0, 0, 1, 7});
    expected.push_back(kept(std::span(values).subspan(q * n, n), threshold[q], first_row));
  }
  const GuardedGrid<float> in(device, m, n, -inf, values), bounds(device, m, 1, inf, threshold);
  const Lists lists(device, before, capacity);
  REQUIRE(run_step(device, step_of(in, bounds, first_row, lists), threads) == "");
  check_lists(lists, before, capacity, expected);
  check_unchanged(in, bounds);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("collect: keeps what is at most the threshold, worked out on paper") {
  const Matrix values = matrix(5, {3, 1, 2, 1, 9, /**/ 3, 1, 2, 1, 9, /**/ 3, 1, 2, 1, 9});
  CHECK(collect(values, {1, 0.5f, 3}, 4) ==
        Candidates{
            3, 4, {2, 0, 4}, {1, 3, no_row, no_row, /**/ no_row, no_row, no_row, no_row, /**/ 0, 1, 2, 3}});
}

TEST_CASE("collect: plus infinity keeps all, minus infinity itself, and zeros have no sign") {
  const Matrix values = matrix(6, {inf, flt_max, -inf, 0, -0.0f, denormal});
  const auto rows = [&](float threshold) {
    const Candidates found = collect(values, {threshold}, 6);
    return std::vector<std::uint32_t>(found.indices.begin(), found.indices.begin() + found.counts[0]);
  };
  CHECK(rows(inf) == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5});
  CHECK(rows(flt_max) == std::vector<std::uint32_t>{1, 2, 3, 4, 5});
  CHECK(rows(denormal) == std::vector<std::uint32_t>{2, 3, 4, 5});
  CHECK(rows(0.0f) == std::vector<std::uint32_t>{2, 3, 4});
  CHECK(rows(-0.0f) == std::vector<std::uint32_t>{2, 3, 4});
  CHECK(rows(-denormal) == std::vector<std::uint32_t>{2});
  CHECK(rows(-inf) == std::vector<std::uint32_t>{2});
}

TEST_CASE("collect: a list that is too short counts on, and holds as many as it has places") {
  const Matrix values = matrix(8, {1, 5, 1, 1, 5, 1, 1, 1});
  const Candidates found = collect(values, {1}, 3);
  CHECK(found.counts == std::vector<std::uint32_t>{6});
  const std::vector<std::uint32_t> right{0, 2, 3, 5, 6, 7};
  CHECK(std::is_sorted(found.indices.begin(), found.indices.end()));
  CHECK(std::includes(right.begin(), right.end(), found.indices.begin(), found.indices.end()));
}

TEST_CASE("collect: everything within a distance, on hard data") {
  for (const DataKind kind : workloads::all_data_kinds)
    for (const Metric metric : {Metric::squared_l2, Metric::l1, Metric::cosine}) {
      CAPTURE_ALL(workloads::name(kind), name(metric));
      const Matrix queries = hard_rows(kind, Set::queries, 11, 5, metric);
      const Matrix train = hard_rows(kind, Set::train, 400, 5, metric);
      const std::vector<float> values = chains(metric, queries, train);
      std::vector<float> threshold;
      std::vector<std::vector<std::uint32_t>> expected;
      for (std::size_t q = 0; q < 11; ++q) {
        const auto row = std::span(values).subspan(q * 400, 400);
        // The threshold equals one of the values, which must then be listed.
        threshold.push_back(sorted(row, 0, 400)[q * 30].first);
        expected.push_back(kept(row, threshold.back()));
      }
      const Candidates found = collect({11, 400, values}, threshold, 400);
      for (std::size_t q = 0; q < 11; ++q) {
        const auto list = found.indices.begin() + static_cast<std::ptrdiff_t>(q * 400);
        CHECK(difference(std::vector<std::uint32_t>(list, list + found.counts[q]), expected[q]) == "");
      }
    }
}

TEST_CASE("collect: any number of queries, rows and places, between canaries") {
  spi::with_device(device(), [](spi::Device& device) {
    for (const std::size_t m : {1u, 2u, 17u, 65u})
      for (const std::size_t n : {1u, 2u, 15u, 16u, 33u, 255u, 1025u})
        for (const std::size_t capacity : {1u, 13u, 200u, 1100u}) {
          if (m * std::max(n, capacity) > 20000) continue;
          check_guarded(device, m, n, capacity, 1000, 0);
        }
    check_guarded(device, 3, 5000, 4096, 0xFFFFFFFEu - 5000, 0);
    for (const std::uint32_t threads : {1u, 2u, 5u}) check_guarded(device, 5, 30011, 6000, 3, threads);
    check_guarded(device, 1, 200003, 200100, 0, 0);
  });
}

TEST_CASE("collect: several tiles append to the same lists") {
  spi::with_device(device(), [](spi::Device& device) {
    const std::size_t m = 6, tile = 300, capacity = 500;
    workloads::Random random(3);
    const std::vector<std::uint32_t> empty(m);
    const Lists lists(device, empty, capacity);
    std::vector<std::vector<std::uint32_t>> expected(m);
    for (std::uint32_t first = 0; first < 4 * tile; first += tile) {
      const std::vector<float> values = random_values(m * tile, random);
      std::vector<float> threshold;
      for (std::size_t q = 0; q < m; ++q) {
        threshold.push_back(static_cast<float>(q) * 40 - 120);
        const auto more = kept(std::span(values).subspan(q * tile, tile), threshold[q], first);
        expected[q].insert(expected[q].end(), more.begin(), more.end());
      }
      const GuardedGrid<float> in(device, m, tile, -inf, values), bounds(device, m, 1, inf, threshold);
      REQUIRE(run_step(device, step_of(in, bounds, first, lists)) == "");
    }
    check_lists(lists, empty, capacity, expected);
  });
}

TEST_CASE("collect: nothing is done where there is nothing") {
  spi::with_device(device(), [](spi::Device& device) {
    for (const auto& [m, n] : {std::pair<std::size_t, std::size_t>{0, 7}, {3, 0}}) {
      const std::vector<std::uint32_t> before(m, 2);
      const GuardedGrid<float> in(device, m, n, -inf), bounds(device, m, 1, inf, std::vector<float>(m, inf));
      const Lists lists(device, before, 4);
      REQUIRE(run_step(device, step_of(in, bounds, 0, lists)) == "");
      check_lists(lists, before, 4, std::vector<std::vector<std::uint32_t>>(m));
    }
  });
}

TEST_CASE("collect: refuses what it could not compare or list") {
  const Matrix values = matrix(2, {1, 2, 3, 4});
  const auto refusal = [](const Matrix& of, const std::vector<float>& threshold, std::int64_t capacity) {
    return error_of([&] { collect(of, threshold, capacity); });
  };
  CHECK(refusal(values, {1, 2}, 0) ==
        "invalid_argument: collect: capacity = 0 but there are 2 rows; choose capacity from 1 to 2");
  CHECK(refusal(values, {1, 2}, 3) ==
        "invalid_argument: collect: capacity = 3 but there are 2 rows; choose capacity from 1 to 2");
  CHECK(refusal(values, {1}, 1) ==
        "invalid_argument: collect: 1 thresholds for 2 queries; give one for each");
  CHECK(refusal(values, {1, std::nanf("")}, 1) ==
        "invalid_argument: collect: the threshold of query 1 is NaN; every value must be a number");
  CHECK(refusal(matrix(2, {1, 2, std::nanf(""), 4}), {1, 2}, 1) ==
        "invalid_argument: collect: row 1, column 0 holds NaN; every value must be a number");
  CHECK(collect(Matrix{0, 5, {}}, {}, 2) == Candidates{0, 2, {}, {}});
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_collect
