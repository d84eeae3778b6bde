// Tests searches in double precision against the oracle by chance: metrics, kinds of data, elements, filters,
// features, ways and histories.
#include "common/asked.hpp"
#include "common/subsets.hpp"
#include "doubles/doubles_oracle.hpp"

namespace kith::tests {
namespace {

std::int64_t below(std::mt19937& random, std::int64_t most) {
  return static_cast<std::int64_t>(random()) % most;
}

/// Rounds a matrix to floats, in its own memory.
struct AsFloats {
  explicit AsFloats(DoubleMatrix& of) : values(of.values.size()) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<float>(of.values[i]);
      if (!std::isfinite(values[i]) || values[i] == 0) values[i] = 1;
      of.values[i] = static_cast<double>(values[i]);
    }
  }
  std::vector<float> values;
};

/// Compares the lists of some queries, and returns how many that were.
std::int64_t check_one(std::mt19937& random) {
  const Metric metric = number_metrics[static_cast<std::size_t>(below(random, number_metrics.size()))];
  DoubleData kind = all_double_data[static_cast<std::size_t>(below(random, all_double_data.size()))];
  if (metric == Metric::negative_dot && kind == DoubleData::huge) kind = DoubleData::mixed_scales;
  const std::int64_t n = 2 + below(random, below(random, 10) == 0 ? 3000 : 200), m = 1 + below(random, 60),
                     cols = 1 + below(random, below(random, 6) == 0 ? 140 : 12),
                     k = 1 + below(random, std::min<std::int64_t>(n - 1, 40));
  CAPTURE_ALL(name(metric), static_cast<int>(kind), n, m, cols, k);
  DoubleMatrix train = double_rows(kind, n, cols, random), queries = double_rows(kind, m, cols, random);
  for (std::int64_t q = 0; q < m; ++q)
    if (below(random, 3) == 0)
      std::copy_n(train.values.begin() + below(random, n) * cols, cols, queries.values.begin() + q * cols);
  std::optional<AsFloats> single;
  if (below(random, 4) == 0) single.emplace(queries);
  const RowsView asked = single ? RowsView(single->values.data(), m, cols) : RowsView(queries);

  const std::int64_t first = below(random, 3) == 0 ? 1 + below(random, n) : n;
  IndexOptions of_index;
  Index index(device(), RowsView(train.view().slice(0, first)), metric, of_index);
  if (first < n) index = index.with(RowsView(train.view().slice(first, n - first)));
  std::vector<std::int64_t> gone;
  if (below(random, 3) == 0)
    for (std::int64_t t = 0; t + k < n - 1; ++t)
      if (below(random, 8) == 0 && n - static_cast<std::int64_t>(gone.size()) > k + 1) gone.push_back(t);
  if (!gone.empty()) index = index.without(gone);
  if (below(random, 4) == 0) index = index.compact();

  SearchOptions options;
  std::vector<std::uint32_t> words(static_cast<std::size_t>((n + 31) / 32), ~0u);
  if (below(random, 3) == 0) {
    for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random() | random());
    options.filter = {words.data(), 1, static_cast<std::int64_t>(words.size())};
  }
  const auto counts = [&](std::int64_t, std::int64_t t) {
    return (words[static_cast<std::size_t>(t / 32)] >> t % 32 & 1) != 0 &&
           !std::binary_search(gone.begin(), gone.end(), t);
  };
  const auto all = all_by_oracle(metric, train, queries, counts);
  const Neighbors right = nearest_by_oracle(metric, all, k);
  CHECK(index.search(asked, k, options) == right);
  if (below(random, 2) == 0) return m;
  std::vector<double> radii;
  for (std::int64_t q = 0; q < m; ++q) {
    const double far = right.distance64[static_cast<std::size_t>((q + 1) * k - 1)];
    radii.push_back(std::isinf(far) ? 0 : far * (below(random, 2) == 0 ? 1 : 0.75));
  }
  CHECK(index.within(asked, radii, options) == within_by_oracle(metric, all, radii));
  return 2 * m;
}

TEST_SUITE("device") {
  TEST_CASE("doubles: random cases equal the oracle") {
    std::mt19937 random(asked_seed("KITH_DOUBLE_SEED", 14));
    std::int64_t compared = 0;
    for (const std::int64_t wanted = asked_number("KITH_DOUBLE_LISTS", 3000); compared < wanted;)
      compared += check_one(random);
    MESSAGE("compared lists: ", compared);
  }
}

}  // namespace
}  // namespace kith::tests
