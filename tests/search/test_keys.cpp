// Tests keys of shards: merged in any order and any grouping they equal those of one Index. docs/contract.md,
// section 13.
#include "common/oracle.hpp"
#include "common/parted/shards.hpp"
#include "kith/index.hpp"
#include "kith/key.hpp"
#include "kith/keys.hpp"

namespace kith::tests {
namespace {

constexpr std::uint32_t one = 0xBF800000u, two = 0xC0000000u, infinite = 0xFF800000u;  // ordered(1), ...
static_assert(one == ordered(1.0f) && two == ordered(2.0f) && infinite == ordered(inf));

/// Returns keys of one query.
Keys list(std::vector<std::uint32_t> value, std::vector<std::int64_t> row) {
  const auto k = static_cast<std::int64_t>(row.size());
  return {1, k, std::move(value), std::move(row)};
}

std::string refused(const std::vector<Keys>& lists) {
  return error_of([&] { merge(lists); });
}

TEST_CASE("keys: merged by hand") {
  const Keys a = list({one, two, two}, {7, 1, 9}), b = list({one, one, two}, {5, 8, 2});
  const Keys expected = list({one, one, one}, {5, 7, 8});
  CHECK(merge(std::vector{a, b}) == expected);
  CHECK(merge(std::vector{b, a}) == expected);
  CHECK(merge(std::vector{a}) == a);
  // Equal values are ordered by row, compared in all 64 bits. A key that several lists have is kept once. The
  // result is padded where there are no more keys.
  const std::int64_t far = std::int64_t{1} << 40;
  const Keys c = list({two, no_value, no_value}, {far, -1, -1}),
             d = list({two, infinite, no_value}, {3, 4, -1});
  CHECK(merge(std::vector{c, d}) == list({two, two, infinite}, {3, far, 4}));
  CHECK(merge(std::vector{c, c, c}) == c);
}

TEST_CASE("keys: finished by each metric, and padded as a search pads") {
  const Keys keys = list({ordered(-0.5f), two, infinite, no_value}, {3, 4, 5, -1});
  const std::vector<std::int64_t> rows = {3, 4, 5, -1};
  CHECK(finish(Metric::negative_dot, keys) == Neighbors{1, 4, {-0.5f, 2, inf, inf}, rows});
  CHECK(error_of([&] { finish(Metric::cosine, keys); }) ==
        "invalid_argument: finish: value 1090519039 at place 0 is that of no distance by cosine; give keys "
        "as search_keys(), within_keys() and merge() of this kith do");
  const Keys squares = list({0x80000000u, two}, {3, 4});
  CHECK(finish(Metric::cosine, squares) == Neighbors{1, 2, {0, 1}, {3, 4}});
  CHECK(finish(Metric::l2, squares) == Neighbors{1, 2, {0, 1.41421354f}, {3, 4}});
  CHECK(finish(Metric::squared_l2, squares) == Neighbors{1, 2, {0, 2}, {3, 4}});
}

TEST_CASE("keys: lists that no search has are refused, with their place") {
  const Keys good = list({one, two}, {7, 1});
  CHECK(refused({}) == "invalid_argument: merge: there is no list; give at least one");
  CHECK(refused({good, list({one}, {7})}) ==
        "invalid_argument: merge: list 1 has 1 queries and k = 1, but list 0 has 1 and k = 2; search every "
        "shard for the same queries and k");
  CHECK(refused({good, Keys{2, 2, {one, two, one, two}, {1, 2, 1, 2}}}) ==
        "invalid_argument: merge: list 1 has 2 queries and k = 2, but list 0 has 1 and k = 2; search every "
        "shard for the same queries and k");
  CHECK(refused({good, Keys{1, 2, {one, two}, {7}}}) ==
        "invalid_argument: merge: list 1 has 2 values and 1 rows, but [1, 2] (queries, k); give 2 of each");
  CHECK(refused({Keys{1, 0, {}, {}}}) ==
        "invalid_argument: merge: list 0 of 1 queries with k = 0; give 0 or more queries and k of 1 or more");
  const std::string end = ", which no search finds; give keys as search_keys(), within_keys() and merge() do";
  // Rows of a shard that do not ascend by number would be cut wrongly where values are equal.
  CHECK(refused({good, list({one, one}, {7, 1})}) ==
        "invalid_argument: merge: list 1, query 0, rank 1: value 3212836864, row 1 behind value 3212836864, "
        "row 7" +
            end);
  CHECK(refused({list({two, one}, {1, 7})}) ==
        "invalid_argument: merge: list 0, query 0, rank 1: value 3212836864, row 7 behind value 3221225472, "
        "row 1" +
            end);
  CHECK(refused({list({no_value, one}, {-1, 7})})
            .find("rank 1: value 3212836864, row 7 behind value 4294967295, row -1") != std::string::npos);
  CHECK(refused({list({one, one}, {7, 7})}).find("rank 1") != std::string::npos);
  CHECK(refused({list({one, two}, {-2, 7})}) ==
        "invalid_argument: merge: list 0, query 0, rank 0: value 3212836864, row -2 at the beginning" + end);
  CHECK(refused({list({one, infinite + 1}, {1, 7})}).find("rank 1") != std::string::npos);
  // the key of a NaN below -infinity
  CHECK(refused({list({1, two}, {1, 7})}).find("rank 0") != std::string::npos);
  CHECK(error_of([&] {
          finish(Metric::l2, list({two, one}, {1, 7}));
        }).find("finish: the keys, query 0, rank 1") != std::string::npos);
}

TEST_CASE("keys: a digest, by a program that is not kith") {
  // python3: FNV-1a of struct.pack("<qq", 2, 2) and of struct.pack("<Iq", value, row) of each key.
  const Keys keys{2, 2, {one, two, 0x80000000u, no_value}, {7, std::int64_t{1} << 40, 0, -1}};
  CHECK(digest(keys) == 0x4D9EC16AC5A7B738ull);
  Keys other = keys;
  other.row[2] = 1;
  CHECK(digest(other) != digest(keys));
  other.row[2] = -5;
  CHECK(error_of([&] { digest(other); }).find("digest: the keys, query 1, rank 0: ") != std::string::npos);
  CHECK(digest(Keys{0, 4, {}, {}}) == 0x0C35039535423BE1ull);
  CHECK(
      error_of([] {
        digest(Keys{1, 2, {one}, {1}});
      }) ==
      "invalid_argument: digest: the keys have 1 values and 1 rows, but [1, 2] (queries, k); give 2 of each");
}

TEST_CASE("keys: the largest element, and numbers of rows that there are") {
  const Matrix rows = matrix(3, {1, -7, 2, 5, 0, 100});
  CHECK(largest_element(rows) == 100);
  CHECK(largest_element(rows, {1, 0}) == 7);
  CHECK(largest_element({rows.values.data(), 0, 3}) == 0);
  const Device cpu = open_device("cpu");
  const auto made = [&](const IndexOptions& options, Metric metric = Metric::negative_dot) {
    return error_of([&] { Index(cpu, rows, metric, options); });
  };
  CHECK(made({{}, -1}) ==
        "invalid_argument: index: first_row = -1 with 2 rows; choose from 0 to 9223372036854775805");
  CHECK(made({{}, 9223372036854775806}) ==
        "invalid_argument: index: first_row = 9223372036854775806 with 2 rows; choose from 0 to "
        "9223372036854775805");
  CHECK(made({{}, 9223372036854775805}) == "nothing was thrown");
  CHECK(made({{}, 0, 99}) ==
        "invalid_argument: index: largest = 99, but the training rows reach 100; give the largest |element| "
        "of the rows of all shards");
  CHECK(made({{}, 0, std::numeric_limits<float>::quiet_NaN()}).find("largest = nan") != std::string::npos);
  CHECK(made({{}, 0, 99}, Metric::l2) == "nothing was thrown");
  CHECK(made({{0, 1}, 0, 99}) == "nothing was thrown");
  const Index shard(cpu, rows, Metric::negative_dot, {{}, 40, 100});
  CHECK(shard.first_row() == 40);
  CHECK(shard.with(rows).first_row() == 40);
  CHECK(error_of([&] {
          shard.with(matrix(3, {0, 0, 101}));
        }).find("largest = 100, but the training rows reach 101") != std::string::npos);
}

TEST_SUITE_BEGIN("device");

TEST_CASE("keys: uneven shards of two devices, shuffled, by each metric, are one index") {
  std::mt19937 random(20261125);
  constexpr std::int64_t n = 203, m = 9;
  for (const DataKind kind : {DataKind::grid, DataKind::equal, DataKind::normal, DataKind::decades})
    for (const Metric metric : number_metrics) {
      if (!workloads::admits(metric, kind)) continue;
      CAPTURE_ALL(workloads::name(kind), name(metric));
      const auto dims = static_cast<std::int64_t>(1 + random() % 6);
      const Matrix train = hard_rows(kind, Set::train, n, dims, metric),
                   queries = hard_rows(kind, Set::queries, m, dims, metric);
      const Index whole(device(), train, metric);
      for (const std::int64_t count : {1, 2, 3, 8, 17}) {
        const std::vector<Index> shards = shards_of(train, uneven_parts(n, count, random), metric);
        // often larger than a part
        const auto k = static_cast<std::int64_t>(1 + random() % (count == 17 ? n : 30));
        CAPTURE_ALL(count, k);
        std::vector<Keys> lists;
        for (const Index& shard : shards) lists.push_back(shard.search_keys(queries, k));
        const Keys merged = merged_by_chance(lists, random), keys = whole.search_keys(queries, k);
        CHECK(merged == keys);
        CHECK(digest(merged) == digest(keys));
        CHECK(difference(finish(metric, merged), whole.search(queries, k)) == "");
        lists.push_back(lists.front());  // a shard that was searched twice
        CHECK(merge(lists) == keys);
      }
    }
}

TEST_CASE("keys: what is padded, what is counted from, and no queries") {
  const Matrix train = hard_rows(DataKind::grid, Set::train, 5, 3, Metric::l2),
               queries = hard_rows(DataKind::grid, Set::queries, 4, 3, Metric::l2);
  const std::int64_t shift = std::int64_t{1} << 40;
  const Index shard(device(), train, Metric::l2, {{}, shift});
  const Keys keys = shard.search_keys(queries, 7);
  const Neighbors found = shard.search(queries, 5);
  REQUIRE(keys.k == 7);
  for (std::int64_t q = 0; q < 4; ++q)
    for (std::int64_t j = 0; j < 7; ++j) {
      const std::size_t at = size(q * 7 + j);
      CHECK(keys.row[at] == (j < 5 ? found.row[size(q * 5 + j)] + shift : -1));
      CHECK((keys.value[at] == no_value) == (j >= 5));
    }
  CHECK(shard.search_keys(Matrix{0, 3, {}}, 7) == Keys{0, 7, {}, {}});
  CHECK(error_of([&] { shard.search_keys(queries, 0); }) == error_of([&] { shard.search(queries, 0); }));
  SearchOptions self{.self = 1};
  CHECK(error_of([&] { shard.search_keys(queries, 2, self); }) ==
        "unsupported: search_keys: self = 1, but a row leaves the lists after the merge; search for k + 1 "
        "and call leave_out() then");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
