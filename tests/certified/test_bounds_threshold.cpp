// tighten computes thresholds from bounds, and fills lists from scratch: docs/certificate.md, section 4.
#include "certified/bounds.hpp"
#include "workloads/random.hpp"

namespace kith::tests::test_bounds_threshold {
namespace {

using namespace bounding;

using Real = long double;

/// Output of tighten for lists of `high`: by bounds, or as chains with `afresh`.
struct Tightened {
  std::vector<Key> best;
  std::vector<float> threshold;
  std::vector<std::uint32_t> counts, lost;
};

/// Holds lists of `high` in device memory, with the terms and thresholds of their queries.
struct Lists {
  GuardedGrid<Key> keys;
  GuardedGrid<std::uint32_t> counts, lost;
  GuardedGrid<float> row_terms, threshold;

  ///   norms  norms of the queries
  Lists(spi::Device& device, std::size_t capacity, const std::vector<Key>& listed,
        const std::vector<std::uint32_t>& many, const std::vector<float>& norms,
        const std::vector<float>& before)
      : keys(device, many.size(), capacity, 0, listed),
        counts(device, many.size(), 1, 1, many),
        lost(device, many.size(), 1, 0, std::vector<std::uint32_t>(many.size())),
        row_terms(device, 4, many.size(), -inf, row_terms_of(norms)),
        threshold(device, many.size(), 1, -inf, before) {}

  static std::vector<float> row_terms_of(const std::vector<float>& norms) {
    const std::size_t m = norms.size();
    std::vector<float> row_terms(4 * m);
    for (std::size_t q = 0; q < m; ++q) {
      row_terms[spi::half_norm * m + q] = norms[q] * norms[q] / 2 * (1 - 0x1p-22f);
      row_terms[spi::norm * m + q] = norms[q];
    }
    return row_terms;
  }

  Tightened found() const {
    CHECK(threshold.canaries_live());
    CHECK(counts.canaries_live());
    CHECK(lost.canaries_live());
    CHECK(keys.unchanged());
    return {{}, threshold.inside(), counts.inside(), lost.inside()};
  }
};

std::string tighten_by_bounds(spi::Device& device, Proposer proposer, Metric metric, std::uint32_t dims,
                              std::uint32_t k, const Lists& lists, Tightened& found) {
  const spi::TightenByBoundsStep step{proposer,
                                      metric,
                                      dims,
                                      k,
                                      lists.keys.grid(),
                                      lists.counts.grid(),
                                      lists.row_terms.grid(),
                                      lists.threshold.grid(),
                                      lists.lost.grid(),
                                      {}};
  if (std::string why = run_step(device, step); !why.empty()) return why;
  found = lists.found();
  return {};
}

std::string tighten_afresh(spi::Device& device, Proposer proposer, Metric metric, std::uint32_t dims,
                           std::uint32_t k, const Lists& lists, Tightened& found) {
  const std::size_t m = lists.found().counts.size();
  const GuardedGrid<Key> best(device, m, k, 0,
                              std::vector<Key>(m * k, make_key(-inf, 3)));  // must be ignored
  spi::TightenStep step{proposer,
                        metric,
                        dims,
                        k,
                        lists.keys.grid(),
                        lists.counts.grid(),
                        best.grid(),
                        lists.row_terms.grid(),
                        lists.threshold.grid(),
                        lists.lost.grid(),
                        {}};
  step.afresh = true;
  if (std::string why = run_step(device, step); !why.empty()) return why;
  CHECK(best.canaries_live());
  found = lists.found();
  found.best = best.inside();
  return {};
}

/// Says how the values of a list are distributed.
enum class Spread { even, equal, few_values, neighbours, wide, mostly_infinite };

float value_of_spread(Spread spread, workloads::Random& random) {
  switch (spread) {
    case Spread::even:
      return std::ldexp(workloads::uniform(random.next()), 9) - 100;  // numbers of both signs
    case Spread::equal:
      return -2.5f;
    case Spread::few_values:
      return static_cast<float>(random.between(-2, 2));
    case Spread::neighbours:
      return std::bit_cast<float>(static_cast<std::uint32_t>(0x41200000 + random.between(0, 3)));
    case Spread::wide: {  // any finite float
      const auto any = static_cast<std::uint32_t>(random.next());
      const float value = std::bit_cast<float>(any);
      return std::isfinite(value) ? value : -flt_max;
    }
    case Spread::mostly_infinite:
      return random.one_in(8) ? 1.0f : inf;
  }
  return 0;
}

constexpr Spread all_spreads[] = {Spread::even,       Spread::equal, Spread::few_values,
                                  Spread::neighbours, Spread::wide,  Spread::mostly_infinite};

/// Checks thresholds of inner products, which equal the k-th smallest bound. Smaller bounds, which must be
/// ignored, follow the end of each list.
void check_kth(spi::Device& device, Proposer proposer, std::size_t m, std::uint32_t k, std::size_t capacity,
               Spread spread) {
  CAPTURE_ALL(m, k, capacity, static_cast<int>(spread));
  workloads::Random random(m + 3 * k + capacity);
  std::vector<Key> keys;
  std::vector<std::uint32_t> many, lost;
  std::vector<float> before, expected;
  for (std::size_t q = 0; q < m; ++q) {
    const std::size_t more = q % 4 == 0 ? 1 : 0;  // one more than the list holds
    const std::size_t listed =
        q % 3 == 2 ? size(random.between(0, static_cast<std::int64_t>(capacity))) : capacity;
    many.push_back(static_cast<std::uint32_t>(listed + (listed == capacity ? more : 0)));
    lost.push_back(many.back() > capacity ? 1 : 0);
    before.push_back(random.one_in(4) ? -1.5f : inf);
    std::vector<float> values;
    for (std::size_t j = 0; j < capacity; ++j) {
      const float value = value_of_spread(spread, random);
      if (j < listed) values.push_back(value == 0 ? 0 : value);
      const auto row = static_cast<std::uint32_t>(random.next());
      keys.push_back(j >= listed             ? make_key(-inf, row)
                     : value == inf && j % 2 ? no_key
                                             : make_key(value, row));
    }
    expected.push_back(before.back());
    if (listed < k) continue;
    std::nth_element(values.begin(), values.begin() + (k - 1), values.end());
    expected.back() = std::min(before.back(), values[k - 1]);
  }
  Tightened found;
  const Lists lists(device, capacity, keys, many, std::vector<float>(m, 1.0f), before);
  REQUIRE(tighten_by_bounds(device, proposer, Metric::negative_dot, 3, k, lists, found) == "");
  CHECK(difference(found.threshold, expected) == "");
  CHECK(found.counts == many);
  CHECK(found.lost == lost);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("bounds: the threshold of inner products is the k-th smallest itself, in lists of a few hundred") {
  spi::with_device(device(), [](spi::Device& device) {
    for_each_bounding(device, [&](Proposer proposer) {
      for (const Spread spread : {Spread::even, Spread::few_values})
        for (const std::uint32_t k : {5u, 300u}) check_kth(device, proposer, 3, k, 400, spread);
    });
  });
}

TEST_CASE("bounds: the threshold of inner products is the k-th smallest itself, whatever is listed") {
  spi::with_device(device(), [](spi::Device& device) {
    for_each_bounding(device, [&](Proposer proposer) {
      const std::size_t many = 4 * device.info.compute_units + 1;  // number of queries
      for (const Spread spread : all_spreads) {
        check_kth(device, proposer, 4, 1, 1, spread);
        check_kth(device, proposer, 4, 64, 64, spread);
        check_kth(device, proposer, many, 100, 1600, spread);
        check_kth(device, proposer, many, 256, 1030, spread);
        check_kth(device, proposer, 4, 257, 257, spread);
        check_kth(device, proposer, 4, 20, 3000, spread);
        check_kth(device, proposer, 4, 2048, 9001, spread);
        check_kth(device, proposer, 4, 300, 20000, spread);
        check_kth(device, proposer, 4, 4096, 4097, spread);
      }
    });
  });
}

TEST_CASE("bounds: the threshold follows from the k-th smallest, rounded to the safe side, and never grows") {
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
          const Lists lists(device, capacity, keys, many, norms, before);
          REQUIRE(tighten_by_bounds(device, proposer, metric, dims, k, lists, found) == "");
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
              CHECK(found.threshold[q] == before[q]);
              continue;
            }
            const Real s = value_of(list[k - 1]), g = (dims + 2) * 0x1p-24L / (1 - (dims + 2) * 0x1p-24L);
            const Real square = Real{norms[q]} * norms[q];
            const Real least =
                metric == Metric::negative_dot ? s : (s * (1 + g) + g * square + dims * 0x1p-149L) / (1 - g);
            const Real room = (std::fabs(s) + square * g) * 0x1p-20L;
            if (before[q] <= least) {
              CHECK(found.threshold[q] == before[q]);
            } else {
              CHECK(found.threshold[q] >= least);
              CHECK(found.threshold[q] <= least + room);
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
      const Lists lists(device, 3, keys, {3, 1}, {1, 1}, {inf, inf});
      REQUIRE(tighten_afresh(device, proposer, Metric::negative_dot, 3, 2, lists, found) == "");
      CHECK(found.best == std::vector<Key>{make_key(2, 7), make_key(2, 8), make_key(0, 1), no_key});
      CHECK(found.threshold == std::vector<float>{2, inf});
      CHECK(found.counts == std::vector<std::uint32_t>{0, 0});
    });
  });
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_bounds_threshold
