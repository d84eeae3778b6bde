// Tests the step that searches many groups: docs/contract.md, section 2.
#include <random>

#include "common/device.hpp"
#include "common/parted/groups.hpp"
#include "common/searches.hpp"

namespace kith::tests {
namespace {

/// Each row asks its group, but for the first rows.
struct StepCase {
  Metric metric;
  DataKind kind;
  std::int64_t dims;
  Borders borders;
  std::uint32_t skipped, k;
  bool from_group;
  std::int64_t own;
};

/// Returns the keys that rows skipped ... find, pair by pair.
std::vector<Key> expected_keys(const StepCase& one, const Matrix& rows) {
  std::vector<Key> expected;
  for (std::int64_t q = one.skipped; q < rows.rows; ++q) {
    const auto above = std::upper_bound(one.borders.begin(), one.borders.end(), q);
    const std::int64_t first = *(above - 1);
    std::vector<Key> keys;
    const std::vector<float> values =
        chains(one.metric, rows_between(rows, q, q + 1), rows_between(rows, first, *above));
    for (std::size_t t = 0; t < values.size(); ++t) {
      const std::int64_t row = first + static_cast<std::int64_t>(t);
      if (one.own < 0 || row != q)
        keys.push_back(make_key(values[t], static_cast<std::uint32_t>(row - (one.from_group ? first : 0))));
    }
    std::sort(keys.begin(), keys.end());
    keys.resize(one.k, no_key);
    expected.insert(expected.end(), keys.begin(), keys.end());
  }
  return expected;
}

/// Runs the step in memory with gaps, and compares each key and all memory around.
void check_step(const StepCase& one) {
  CAPTURE_ALL(one.dims, one.k, one.from_group, one.own);
  const std::int64_t n = one.borders.back();
  const Matrix rows = hard_rows(one.kind, Set::train, n, one.dims, one.metric);
  const Matrix asked = rows_between(rows, one.skipped, n);
  const std::vector<std::uint32_t> narrow(one.borders.begin(), one.borders.end());
  constexpr std::uint32_t first = 5;
  spi::with_device(device(), [&](spi::Device& on) {
    const GuardedRows queries(on, asked, on.info.query_block, first, rows),
        train(on, rows, on.info.train_block, first, rows);
    const GuardedGrid<std::uint32_t> both(on, 1, narrow.size(), 7u, narrow);
    const GuardedGrid<Key> out(on, size(asked.rows), one.k, Key{5});
    const spi::GroupsStep step{
        one.metric,  queries.rows(), train.rows(),   one.skipped, 0,          both.grid(),
        both.grid(), one.k,          one.from_group, one.own,     out.grid(), {}};
    CHECK(run_step(on, step) == "");
    CHECK(difference(out.inside(), expected_keys(one, rows)) == "");
    check_canaries(out);
    check_unchanged(queries, train, both);
  });
}

TEST_SUITE_BEGIN("device");

TEST_CASE("groups: the step, in memory with gaps, for every way of it") {
  if (device().info().backend == "planted") return;  // it searches no groups at once
  std::mt19937 random(9);
  for (const std::int64_t dims : {1, 3, 5, 18, 40, 64})
    for (const bool from_group : {false, true})
      for (const std::int64_t own : {-1, 0}) {
        // GPUs search groups of three columns in another way where they have many rows, and some propose by
        // products where sums of squares have many columns.
        const Metric metric = dims < 40 ? Metric::l1 : Metric::squared_l2;
        const Borders borders = dims == 3    ? random_borders(8, 900, 1500, random)
                                : dims >= 40 ? random_borders(8, 300, 700, random)
                                             : random_borders(8, 40, 100, random);
        check_step({metric, DataKind::grid, dims, borders, 3, 6, from_group, own});
      }
}

TEST_CASE("groups: the step in small, of a few queries that read more rows than GPUs read twice") {
  if (device().info().backend == "planted") return;  // it searches no groups at once
  for (const std::uint32_t k : {6u, 20u})            // GPUs bound lists of up to 16 rows in another way
    check_step({Metric::l1, DataKind::uniform, 3, {0, 1060, 1063}, 1057, k, true, 0});
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
