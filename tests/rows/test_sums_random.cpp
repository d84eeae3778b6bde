// Random searches by metrics of two sums: docs/contract.md, section 1. KITH_SUMS_CASES asks for more of them,
// from KITH_SUMS_SEED on, and KITH_SUMS_METRIC for those of one metric.
#include <algorithm>
#include <cmath>
#include <string>

#include "common/asked.hpp"
#include "common/device.hpp"
#include "common/elements.hpp"
#include "common/oracle.hpp"
#include "kith/index.hpp"
#include "metric/exact_shares.hpp"
#include "workloads/random.hpp"

namespace kith::tests {
namespace {

/// Returns rows of bits, or of numbers of which some are equal, some are far, and with gaps some are missing.
Stored drawn_rows(Metric metric, std::int64_t rows, std::int64_t cols, workloads::Random& random) {
  if (compares_bits(metric)) return random_bits(rows, cols, random.next() >> 1, random.below(3));
  const std::int64_t missing = takes_gaps(metric) ? random.pick({0, 2, 9}) : 0;
  const float unit = random.pick({1.0f, 0x1p-75f, 0x1p60f, 0.1f});
  Matrix some{rows, cols, {}};
  for (std::int64_t i = 0; i < rows * cols; ++i) {
    const auto whole = static_cast<float>(random.below(random.one_in(8) ? 1 << 24 : 9));
    const float value = random.one_in(2) ? whole * unit : -whole * unit;
    some.values.push_back(random.below(10) < missing ? std::nanf("") : value);
  }
  return Stored(some, Element::f32, random.below(3) * 4);
}

/// Returns numbers as the oracle takes them.
Matrix seen_by_oracle(const RowsView& view) {
  Matrix all{view.rows, view.cols, {}};
  for (std::int64_t r = 0; r < view.rows; ++r)
    for (std::int64_t d = 0; d < view.cols; ++d) all.values.push_back(value_in(view, r, d));
  return all;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("sums: random cases equal the oracle") {
  const auto seed = static_cast<std::uint64_t>(asked_number("KITH_SUMS_SEED", 44));
  const std::int64_t turns = asked_number("KITH_SUMS_CASES", 20);
  std::int64_t compared = 0;
  for (std::int64_t turn = 0; turn < turns; ++turn)
    for (const Metric metric : sum_metrics) {
      if (!is_asked("KITH_SUMS_METRIC", name(metric))) continue;
      ++compared;
      CAPTURE_ALL(std::string(name(metric)), seed, turn);
      workloads::Random random(seed + static_cast<std::uint64_t>(turn));
      const std::int64_t most = !compares_bits(metric) ? 40
                                : random.one_in(8)     ? 46250
                                                       : 300,
                         cols = 1 + random.below(most), n = 1 + random.below(200), m = 1 + random.below(20),
                         k = std::min(n, 1 + random.below(random.one_in(2) ? n : 10));
      const Stored train = drawn_rows(metric, n, cols, random), queries = drawn_rows(metric, m, cols, random);
      SearchOptions options;
      if (random.one_in(2))
        options.query_tile = 1 + random.below(m), options.train_tile = 1 + random.below(n);
      if (random.one_in(3)) options.lists = 1 + random.below(4);
      if (random.one_in(3) && compares_bits(metric)) options.boxes = true;
      const Neighbors found = Index(device(), train.view(), metric).search(queries.view(), k, options);
      const Neighbors right =
          compares_bits(metric)
              ? nearest_by_shares(metric, queries.view(), train.view(), k)
              : neighbors(metric, seen_by_oracle(queries.view()), seen_by_oracle(train.view()), k);
      CHECK(difference(found, right) == "");
    }
  CHECK(compared >= turns);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
