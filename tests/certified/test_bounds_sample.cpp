// Samples of bounds, and the thresholds that tighten makes of them: docs/certificate.md, section 5.
#include "certified/bounds.hpp"
#include "workloads/random.hpp"

namespace kith::tests::test_bounds_sample {
namespace {

using namespace bounding;

/// Returns whether a device may compute the comparison with the threshold as part of the product, which
/// changes the bounds.
bool may_fuse_test(const Problem& problem) {
  return problem.m() > 64 && problem.centre.size() <= 24;
}

std::vector<std::uint32_t> sorted_row(const std::vector<std::uint32_t>& codes, std::size_t q,
                                      std::size_t columns) {
  std::vector<std::uint32_t> row(codes.begin() + static_cast<std::ptrdiff_t>(q * columns),
                                 codes.begin() + static_cast<std::ptrdiff_t>((q + 1) * columns));
  std::sort(row.begin(), row.end());
  return row;
}

/// Checks that each sampled number is the bound of a different row, that the smallest bound is sampled, and
/// that at most 16 rows share one sampled number.
void judge(const Problem& problem, const Listed& all, const Listed& sampled, std::size_t capacity,
           std::size_t groups) {
  const std::uint32_t infinite = ordered(inf);
  for (std::size_t q = 0; q < problem.m(); ++q) {
    CAPTURE(q);
    std::vector<std::uint32_t> highs;
    for (std::size_t j = 0; j < all.counts[q]; ++j)
      highs.push_back(static_cast<std::uint32_t>(all.high[q * capacity + j] >> 32));
    std::sort(highs.begin(), highs.end());
    std::vector<std::uint32_t> codes = sorted_row(sampled.sample, q, groups);
    codes.erase(std::lower_bound(codes.begin(), codes.end(), infinite), codes.end());
    CHECK(codes.size() * spi::sample_rows >= highs.size());
    CHECK(std::includes(highs.begin(), highs.end(), codes.begin(), codes.end()));
    CHECK(codes.front() == highs.front());
  }
}

TEST_SUITE_BEGIN("device");

TEST_CASE("sample: of every 16 rows of the visits the least bound, and nothing is listed") {
  struct Shape {
    std::int64_t m, n, dims;
    spi::Visits visits;
  };
  // Some visits include the last block, which is short. Some blocks have several tiles, of which some
  // have no rows.
  const Shape shapes[] = {{1, 1000, 7, {128, 0, 3, 8, 5}},      {5, 1000, 128, {128, 2, 6, 8, 5}},
                          {33, 1500, 300, {128, 0, 12, 12, 7}}, {64, 1500, 20, {384, 0, 4, 4, 3}},
                          {70, 1500, 40, {128, 1, 11, 12, 7}},  {130, 1500, 64, {384, 1, 3, 4, 3}},
                          {70, 1000, 130, {128, 0, 8, 8, 5}},   {300, 1000, 300, {128, 0, 8, 8, 5}}};
  spi::with_device(device(), [&](spi::Device& device) {
    for_each_bounding(device, [&](Proposer proposer) {
      if (!takes_samples(device, proposer)) return;
      for (const Shape& shape : shapes)
        for (const DataKind kind : {DataKind::normal, DataKind::offset})
          for (const Metric metric : product_metrics) {
            if (shape.m > most_queries(device, proposer)) continue;
            CAPTURE_ALL(shape.m, shape.dims, name(metric));
            const Problem problem = Problem::hard(proposer, metric, kind, shape.m, shape.n, shape.dims);
            REQUIRE(!may_fuse_test(problem));
            const std::size_t places = std::size_t{shape.visits.rows} * shape.visits.count,
                              groups = places / spi::sample_rows;
            const std::vector<float> all_pass(problem.m(), inf);
            Listed all, sampled;
            REQUIRE(collect(device, problem, all_pass, places, shape.visits, all) == "");
            REQUIRE(collect(device, problem, all_pass, 1, shape.visits, sampled, 1, groups) == "");
            judge(problem, all, sampled, places, groups);
          }
    });
  });
}

/// Returns the threshold that a sample gives, or that keys with the same bounds give.
std::vector<float> threshold_of(spi::Device& device, Proposer proposer,
                                const std::vector<std::uint32_t>& codes, std::size_t groups, std::uint32_t k,
                                bool sampled) {
  const std::size_t m = codes.size() / groups;
  std::vector<Key> keys;
  for (const std::uint32_t code : codes) keys.push_back(Key{code} << 32 | keys.size());
  std::vector<float> row_terms(4 * m, 1.5f), before(m, inf);
  before.back() = -1e30f;  // smaller than all sampled values, so it must stay
  const GuardedGrid<Key> lists(device, m, groups, 0, keys);
  const GuardedGrid<std::uint32_t> counts(device, m, 1, 1,
                                          std::vector<std::uint32_t>(m, static_cast<std::uint32_t>(groups))),
      lost(device, m, 1, 0, std::vector<std::uint32_t>(m)), sample(device, m, groups, 0, codes);
  const GuardedGrid<float> of_queries(device, 4, m, -inf, row_terms), threshold(device, m, 1, -inf, before);
  if (sampled)
    REQUIRE(run_step(device, spi::TightenBySampleStep{proposer, Metric::squared_l2, 30, k, sample.grid(),
                                                      of_queries.grid(), threshold.grid()}) == "");
  else
    REQUIRE(run_step(device, spi::TightenByBoundsStep{proposer,
                                                      Metric::squared_l2,
                                                      30,
                                                      k,
                                                      lists.grid(),
                                                      counts.grid(),
                                                      of_queries.grid(),
                                                      threshold.grid(),
                                                      lost.grid(),
                                                      {}}) == "");
  CHECK(threshold.canaries_live());
  CHECK(sample.unchanged());
  CHECK(lost.unchanged());
  CHECK(counts.unchanged());
  return threshold.inside();
}

TEST_CASE("sample: the threshold is that of the k-th of as many bounds, of any number and any order") {
  spi::with_device(device(), [&](spi::Device& device) {
    for_each_bounding(device, [&](Proposer proposer) {
      if (!takes_samples(device, proposer)) return;
      workloads::Random random(7);
      for (const std::size_t groups : {1u, 31u, 64u, 200u, 257u, 1024u, 1500u, 2048u})
        for (const std::uint32_t k : {1u, 2u, 17u, 64u, 128u, 1025u}) {
          if (k > groups) continue;
          CAPTURE_ALL(groups, k);
          std::vector<std::uint32_t> codes;
          for (std::size_t i = 0; i < 7 * groups; ++i) {
            const float value = workloads::uniform(random.next()) * 8 - 3;
            // Query 1 has few different values, query 2 one value, query 3 infinities; those of
            // the others differ.
            const std::size_t q = i / groups;
            codes.push_back(ordered(q == 1            ? std::round(value)
                                    : q == 2          ? 1.25f
                                    : q == 3 && i % 2 ? inf
                                                      : value));
          }
          CHECK(threshold_of(device, proposer, codes, groups, k, true) ==
                threshold_of(device, proposer, codes, groups, k, false));
        }
    });
  });
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_bounds_sample
