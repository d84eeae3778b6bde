// Runs collect in a step after the first, with thresholds of every kind. Devices may then compute the
// comparison with the threshold as part of the product, which costs a little accuracy in both.
#include "certified/bounds.hpp"
#include "common/sanitizers.hpp"
#include "workloads/random.hpp"

namespace kith::tests::test_bounds_visits {
namespace {

using namespace bounding;

constexpr std::int64_t rows = 5 * 128 + 37;
constexpr spi::Visits later{128, 2, 3, 6, 5};  // visits blocks 4, 3 and 2

/// Returns whether the step visits training row t. Visit v reads block 5 v mod 6.
bool is_seen(std::size_t t) {
  return t / 128 >= 2 && t / 128 <= 4;
}

/// Returns the exact values of the visited rows for query q, ascending.
std::vector<double> places_of(const Truth& truth, std::size_t q) {
  std::vector<double> places;
  for (std::size_t t = 0; t < size(rows); ++t)
    if (is_seen(t)) places.push_back(truth.place(q, t));
  std::sort(places.begin(), places.end());
  return places;
}

/// Returns thresholds that let pass all rows, some, only the nearest, or none.
std::vector<float> thresholds_of(const Problem& problem, const Truth& truth) {
  std::vector<float> threshold;
  for (std::size_t q = 0; q < problem.m(); ++q) {
    const std::vector<double> places = places_of(truth, q);
    const double reach = std::fabs(places.front()) + std::fabs(places.back());
    const double of_query[] = {static_cast<double>(inf), places[places.size() / 8], places.front(),
                               places.front() - reach, places.back() + 100 * reach};
    threshold.push_back(static_cast<float>(of_query[q % 5]));
  }
  return threshold;
}

/// Checks that no row is lost and that all bounds hold. Returns how far the worst listed value exceeds the
/// threshold, in units of the rounding error of its terms.
double judge(const Problem& problem, const std::vector<float>& threshold, const Listed& found,
             std::size_t capacity) {
  const Truth truth(problem, found.query_terms, found.train_terms);
  double beyond = 0;
  for (std::size_t q = 0; q < problem.m(); ++q) {
    CAPTURE(q);
    std::set<std::size_t> listed;
    std::size_t lost = 0, wrong = 0;
    REQUIRE(found.counts[q] <= capacity);
    for (std::size_t j = 0; j < found.counts[q]; ++j) {
      const std::size_t at = q * capacity + j, t = found.rows[at] - first_row;
      const double place = truth.place(q, t), error = truth.error(t),
                   limit = static_cast<double>(threshold[q]);
      const auto low = static_cast<double>(found.low[at]),
                 high = static_cast<double>(value_of(found.high[at]));
      const double rounding = 0x1p-45 * (std::fabs(place) + truth.train_norms[t] + error) + 0x1p-149;
      wrong += !listed.insert(t).second || !is_seen(t) || !(low <= place + rounding) ||
               !(place <= high + rounding) || row_of(found.high[at]) != found.rows[at];
      const double unit = error + 0x1p-18 * (std::fabs(place) + std::fabs(limit) + truth.train_norms[t]);
      if (limit < static_cast<double>(inf)) beyond = std::max(beyond, (place - limit) / unit);
    }
    for (std::size_t t = 0; t < problem.n(); ++t)
      lost += is_seen(t) && truth.place(q, t) <= static_cast<double>(threshold[q]) && listed.count(t) == 0;
    CHECK(wrong == 0);
    CHECK(lost == 0);
  }
  return beyond;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("bounds: later visits lose no row, list hardly more, and bound what they list") {
  spi::with_device(device(), [](spi::Device& device) {
    for_each_bounding(device, [&](Proposer proposer) {
      if (proposer == Proposer::gemm) return;  // its library multiplies rows in order
      const std::vector<std::int64_t> some{1, 4, 17, 32}, all{1, 2, 3, 4, 5, 16, 17, 31, 32, 33};
      for (const std::int64_t dims : sanitized() ? some : all)
        for (const DataKind kind : {DataKind::uniform, DataKind::near_duplicates, DataKind::offset})
          // The norms of the queries are `ratio` times those of the training rows.
          for (const float ratio : {1.0f, 0x1p-9f, 0x1p9f}) {
            CAPTURE_ALL(dims, workloads::name(kind), ratio);
            const Metric metric =
                kind == DataKind::uniform && dims % 2 == 0 ? Metric::negative_dot : Metric::squared_l2;
            Problem problem =
                Problem::hard(proposer, metric, kind,
                              std::min<std::int64_t>(most_queries(device, proposer), 70), rows, dims);
            for (float& value : problem.queries.values) value *= ratio;
            const Truth before(problem, std::vector<float>(spi::terms_a_row * problem.m()),
                               std::vector<float>(spi::terms_a_row * problem.n()));
            const std::vector<float> threshold = thresholds_of(problem, before);
            Listed found;
            REQUIRE(collect(device, problem, threshold, size(rows), later, found) == "");
            CHECK(judge(problem, threshold, found, size(rows)) < 10);
          }
    });
  });
}

/// Returns small whole multiples of `unit`.
Matrix multiples(std::int64_t count, std::int64_t dims, float unit, std::uint64_t seed) {
  workloads::Random random(seed);
  Matrix all{count, dims, {}};
  for (std::int64_t i = 0; i < count * dims; ++i)
    all.values.push_back(unit * static_cast<float>(random.below(17) - 8));
  return all;
}

// 16-bit floats of such rows are exact, so that no residual hides what products lose of them.
TEST_CASE("bounds: rows far below the largest that the scale has room for") {
  spi::with_device(device(), [](spi::Device& device) {
    for_each_bounding(device, [&](Proposer proposer) {
      if (proposer == Proposer::gemm) return;  // its library multiplies rows in order
      for (const std::int64_t dims : {1, 2, 4, 5, 17, 24, 40})
        for (const float unit : {0x1p-20f, 0x1p-25f, 0x1p-26f, 0x1p-31f, 0x1p-35f})
          for (const std::int64_t m : {20, 70}) {
            CAPTURE_ALL(dims, unit, m);
            if (m > most_queries(device, proposer)) continue;
            const Metric metric = dims == 5 ? Metric::negative_dot : Metric::squared_l2;
            const Problem problem{proposer,
                                  metric,
                                  multiples(m, dims, unit, 1),
                                  multiples(rows, dims, unit, 2),
                                  std::vector<float>(size(dims)),
                                  1};
            const Truth before(problem, std::vector<float>(spi::terms_a_row * problem.m()),
                               std::vector<float>(spi::terms_a_row * problem.n()));
            const std::vector<float> threshold = thresholds_of(problem, before);
            Listed found;
            REQUIRE(collect(device, problem, threshold, size(rows), later, found) == "");
            judge(problem, threshold, found, size(rows));
          }
    });
  });
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_bounds_visits
