// What tighten makes of bounds: theta, and lists that begin afresh. docs/certificate.md, section 4.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "bounds.hpp"
#include "random.hpp"  // tools/workloads

namespace kith::tests {
namespace {

using namespace bounding;

using Real = long double;

/// What tighten makes of highs: by bounds, or as chains but afresh.
struct Tightened {
  std::vector<Key> best;
  std::vector<float> theta;
  std::vector<std::uint32_t> counts, lost;
};

std::string tighten(spi::Device& device, Proposer proposer, Metric metric, std::uint32_t dims,
                    std::uint32_t k, std::size_t capacity, const std::vector<Key>& keys,
                    const std::vector<std::uint32_t>& many, const std::vector<float>& norms,
                    const std::vector<float>& before, bool bounds, Tightened& found) {
  const std::size_t m = many.size();
  std::vector<float> facts(4 * m);
  for (std::size_t q = 0; q < m; ++q) {
    facts[spi::half_norm * m + q] = norms[q] * norms[q] / 2 * (1 - 0x1p-22f);
    facts[spi::norm * m + q] = norms[q];
  }
  const GuardedGrid<Key> lists(device, m, capacity, 0, keys),
      best(device, m, k, 0, std::vector<Key>(m * k, make_key(-inf, 3)));  // what may not count
  const GuardedGrid<std::uint32_t> counts(device, m, 1, 1, many),
      lost(device, m, 1, 0, std::vector<std::uint32_t>(m));
  const GuardedGrid<float> of_queries(device, 4, m, -inf, facts), theta(device, m, 1, -inf, before);
  spi::TightenStep step{proposer,     metric,        dims,        k,
                        lists.grid(), counts.grid(), best.grid(), of_queries.grid(),
                        theta.grid(), lost.grid(),   {}};
  step.of = bounds ? spi::TightenStep::Of::bounds : spi::TightenStep::Of::chains;
  step.afresh = true;
  if (std::string why = run_step(device, step); !why.empty()) return why;
  CHECK(best.canaries_live());
  CHECK(theta.canaries_live());
  CHECK(counts.canaries_live());
  CHECK(lists.unchanged());
  found = {best.inside(), theta.inside(), counts.inside(), lost.inside()};
  return {};
}

TEST_SUITE_BEGIN("device");

TEST_CASE("bounds: theta follows from the k-th smallest, rounded to the safe side, and never grows") {
  spi::with_device(device(), [](spi::Device& device) {
    for_each_bounding(device, [&](Proposer proposer) {
      for (const std::uint32_t k : {1u, 3u, 70u, 2100u})
        for (const Metric metric : {Metric::squared_l2, Metric::negative_dot}) {
          CAPTURE(k);
          const std::size_t m = 5, capacity = k + 300;
          const std::uint32_t dims = 37;
          workloads::Random random(k);
          std::vector<Key> keys;
          for (std::size_t i = 0; i < m * capacity; ++i)
            keys.push_back(make_key(std::ldexp(workloads::uniform(random.next()), 12) - 700,
                                    static_cast<std::uint32_t>(i)));
          const auto full = static_cast<std::uint32_t>(capacity);
          const std::vector<std::uint32_t> many = {full, k, k - 1, full + 9, full};
          const std::vector<float> norms = {1000, 2000, 10, 1500, 40}, before = {inf, inf, 99, inf, -5000};
          Tightened found;
          REQUIRE(tighten(device, proposer, metric, dims, k, capacity, keys, many, norms, before, true,
                          found) == "");
          CHECK(found.counts == many);
          CHECK(found.lost == std::vector<std::uint32_t>{0, 0, 0, 1, 0});
          for (std::size_t q = 0; q < m; ++q) {
            CAPTURE(q);
            std::vector<Key> list(
                keys.begin() + static_cast<std::ptrdiff_t>(q * capacity),
                keys.begin() +
                    static_cast<std::ptrdiff_t>(q * capacity + std::min<std::size_t>(many[q], capacity)));
            std::sort(list.begin(), list.end());
            if (list.size() < k) {
              CHECK(found.theta[q] == before[q]);
              continue;
            }
            const Real s = value_of(list[k - 1]), g = (dims + 2) * 0x1p-24L / (1 - (dims + 2) * 0x1p-24L);
            const Real square = Real{norms[q]} * norms[q];
            const Real least =
                metric == Metric::negative_dot ? s : (s * (1 + g) + g * square + dims * 0x1p-149L) / (1 - g);
            const Real room = (std::fabs(s) + square * g) * 0x1p-20L;
            if (before[q] <= least) {
              CHECK(found.theta[q] == before[q]);
            } else {
              CHECK(found.theta[q] >= least);
              CHECK(found.theta[q] <= least + room);
            }
          }
        }
    });
  });
}

TEST_CASE("bounds: afresh, what was best before does not count") {
  spi::with_device(device(), [](spi::Device& device) {
    for_each_bounding(device, [&](Proposer proposer) {
      const std::vector<Key> keys = {make_key(4, 9), make_key(2, 8), make_key(2, 7),
                                     make_key(0, 1), make_key(5, 5), 0};
      Tightened found;
      REQUIRE(tighten(device, proposer, Metric::negative_dot, 3, 2, 3, keys, {3, 1}, {1, 1}, {inf, inf},
                      false, found) == "");
      CHECK(found.best == std::vector<Key>{make_key(2, 7), make_key(2, 8), make_key(0, 1), no_key});
      CHECK(found.theta == std::vector<float>{2, inf});
      CHECK(found.counts == std::vector<std::uint32_t>{0, 0});
    });
  });
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
