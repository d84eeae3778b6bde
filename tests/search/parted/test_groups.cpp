// Tests searches by groups: the answer of a group is that of an Index of its rows.
// docs/contract.md, section 2.
#include <random>

#include "common/device.hpp"
#include "common/parted/groups.hpp"
#include "common/searches.hpp"
#include "kith/classifier.hpp"

namespace kith::tests {
namespace {

struct GroupedCase {
  Metric metric;
  const Matrix& queries;
  const Matrix& rows;
  Borders of_queries, of_rows;
  std::int64_t k;
  bool leaves_own_out = false;
  bool from_group = false;
};

SearchOptions options_of(const GroupedCase& one, SearchOptions options = {}) {
  options.groups = one.of_queries;
  options.rows_from_group = one.from_group;
  if (one.leaves_own_out) options.self = 0;
  return options;
}

/// Returns what the contract says: for each group, what an Index of its rows finds.
Neighbors found_in_each(const GroupedCase& one) {
  Neighbors all{one.queries.rows, one.k, {}, {}};
  for (std::size_t g = 0; g + 1 < one.of_rows.size(); ++g) {
    const Matrix rows = rows_between(one.rows, one.of_rows[g], one.of_rows[g + 1]);
    const Matrix queries = rows_between(one.queries, one.of_queries[g], one.of_queries[g + 1]);
    const std::int64_t k = std::min(one.k, rows.rows - (one.leaves_own_out ? 1 : 0));
    Neighbors some;
    SearchOptions options;
    if (one.leaves_own_out) options.self = 0;
    if (k > 0 && queries.rows > 0) some = Index(device(), rows, one.metric).search(queries, k, options);
    for (std::int64_t q = 0; q < queries.rows; ++q)
      for (std::int64_t j = 0; j < one.k; ++j) {
        const bool is = j < k;
        all.distance.push_back(is ? some.distance[size(q * k + j)] : inf);
        all.row.push_back(is ? some.row[size(q * k + j)] + (one.from_group ? 0 : one.of_rows[g]) : -1);
      }
  }
  return all;
}

Index grouped_index(const GroupedCase& one) {
  IndexOptions options;
  options.groups = one.of_rows;
  return Index(device(), one.rows, one.metric, options);
}

void check_groups(const GroupedCase& one) {
  CHECK(difference(grouped_index(one).search(one.queries, one.k, options_of(one)), found_in_each(one)) == "");
}

TEST_SUITE_BEGIN("device");

TEST_CASE("groups: by hand, numbers in the whole and in the group") {
  const Matrix rows = matrix(1, {0, 1, 5, 5, 6}), queries = matrix(1, {1, 5});
  IndexOptions grouped;
  grouped.groups = {0, 2, 2, 5};
  const Index index(device(), rows, Metric::l1, grouped);
  SearchOptions options;
  options.groups = {0, 1, 1, 2};
  CHECK(index.search(queries, 3, options) == Neighbors{2, 3, {0, 1, inf, 0, 0, 1}, {1, 0, -1, 2, 3, 4}});
  options.rows_from_group = true;
  CHECK(index.search(queries, 3, options).row == std::vector<std::int64_t>{1, 0, -1, 0, 1, 2});
  options.groups = {0, 0, 2, 2};
  CHECK(index.search(queries, 1, options) == Neighbors{2, 1, {inf, inf}, {-1, -1}});
  SearchOptions own;
  own.self = 0;
  CHECK(index.search(rows, 2, own) ==
        Neighbors{5, 2, {1, inf, 1, inf, 0, 1, 0, 1, 1, 1}, {1, -1, 0, -1, 3, 4, 2, 4, 2, 3}});
}

TEST_CASE("groups: an Index for each group, on hard data, whatever the metric") {
  std::mt19937 random(3);
  std::size_t turn = 0;
  for (const auto& [dims, k] : std::initializer_list<std::pair<std::int64_t, std::int64_t>>{
           {1, 5}, {3, 16}, {4, 33}, {17, 1}, {70, 80}}) {
    const Borders of_rows = random_borders(9, 50, 150, random),
                  of_queries = random_borders(9, 20, 40, random);
    const std::int64_t n = of_rows.back(), m = of_queries.back(), most = k;
    for_each_hard_search(m, n, dims, [&](Metric metric, const Matrix& queries, const Matrix& rows) {
      CAPTURE_ALL(of_rows.size(), rows.cols);
      ++turn;
      check_groups({metric, queries, rows, of_queries, of_rows, most, false, turn % 2 == 0});
      check_groups({metric, rows, rows, of_rows, of_rows, most, true, turn % 3 == 0});
    });
  }
}

TEST_CASE("groups: bits, by hamming") {
  std::vector<unsigned char> bytes(64 * 5);
  std::mt19937 random(4);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
  const RowsView rows(bytes.data(), Element::bits, 64, 40);
  IndexOptions grouped;
  grouped.groups = {0, 10, 64};
  SearchOptions second;
  second.groups = {0, 0, 54};
  const Neighbors found =
      Index(device(), rows, Metric::hamming, grouped).search(rows.slice(10, 54), 7, second);
  Neighbors expected = Index(device(), rows.slice(10, 54), Metric::hamming).search(rows.slice(10, 54), 7);
  for (std::int64_t& row : expected.row) row += 10;
  CHECK(difference(found, expected) == "");
}

TEST_CASE("groups: a hundred thousand of up to five rows, and one huge among them") {
  std::mt19937 random(5);
  const Borders borders = random_borders(device().info().backend == "cpu" ? 100000 : 3000, 6, 5000, random);
  const std::int64_t n = borders.back(), k = 3;
  const Matrix rows = hard_rows(DataKind::grid, Set::train, n, 3, Metric::squared_l2);
  IndexOptions grouped;
  grouped.groups = borders;
  SearchOptions options;
  options.self = 0;
  Trace trace;
  const Neighbors found = Index(device(), rows, Metric::squared_l2, grouped).search(rows, k, options, &trace);
  CHECK(trace.plan.groups == static_cast<std::int64_t>(borders.size()) - 1);
  std::size_t wrong = 0;
  for (std::size_t g = 0; g + 1 < borders.size(); ++g) {
    if (g % 37 != 0 && borders[g + 1] - borders[g] < 100) continue;
    const Matrix group = rows_between(rows, borders[g], borders[g + 1]);
    const std::int64_t most = std::min(k, group.rows - 1);
    if (most < 1) continue;
    const Neighbors expected = Index(device(), group, Metric::squared_l2).search(group, most, options);
    for (std::int64_t q = 0; q < group.rows; ++q)
      for (std::int64_t j = 0; j < k; ++j) {
        const std::size_t at = size((borders[g] + q) * k + j);
        wrong += j < most ? found.row[at] != expected.row[size(q * most + j)] + borders[g] ||
                                found.distance[at] != expected.distance[size(q * most + j)]
                          : found.row[at] != -1;
      }
  }
  CHECK(wrong == 0);
}

TEST_CASE("groups: those that are searched by themselves give the same answers") {
  std::mt19937 random(6);
  const Borders of_rows = random_borders(7, 60, 90, random), of_queries = random_borders(7, 9, 12, random);
  const Matrix rows = hard_rows(DataKind::grid, Set::train, of_rows.back(), 4, Metric::l2);
  const Matrix queries = hard_rows(DataKind::grid, Set::queries, of_queries.back(), 4, Metric::l2);
  const GroupedCase one{Metric::l2, queries, rows, of_queries, of_rows, 5};
  const Index index = grouped_index(one);
  SearchOptions how = options_of(one);
  how.fused = false;
  how.train_tile = 16;
  Trace trace;
  CHECK(difference(index.search(queries, 5, how, &trace), found_in_each(one)) == "");
  CHECK(trace.plan.groups_apart > 0);
  CHECK(explain(trace.plan).find("groups         7, of which ") != std::string::npos);
  CHECK(index.plan(queries.rows, 5, how).groups_apart == trace.plan.groups_apart);
  index.prepare(queries.rows, 5, how);
}

TEST_CASE("groups: with a filter") {
  std::mt19937 random(7);
  const Borders of_rows = random_borders(6, 50, 70, random);
  const std::int64_t n = of_rows.back();
  const Matrix rows = hard_rows(DataKind::grid, Set::train, n, 3, Metric::l1);
  IndexOptions grouped;
  grouped.groups = of_rows;
  SearchOptions options;
  std::vector<std::int64_t> even;
  for (std::int64_t t = 0; t < n; t += 2) even.push_back(t);
  options.filter = RowFilter::only(n, even);
  const Neighbors found = Index(device(), rows, Metric::l1, grouped).search(rows, 4, options);
  for (std::size_t g = 0; g + 1 < of_rows.size(); ++g)
    for (std::int64_t q = of_rows[g]; q < of_rows[g + 1]; ++q) {
      std::vector<Key> keys;
      for (std::int64_t t = of_rows[g] + of_rows[g] % 2; t < of_rows[g + 1]; t += 2)
        keys.push_back(
            make_key(chains(Metric::l1, rows_between(rows, q, q + 1), rows_between(rows, t, t + 1))[0],
                     static_cast<std::uint32_t>(t)));
      std::sort(keys.begin(), keys.end());
      keys.resize(4, no_key);
      for (std::size_t j = 0; j < 4; ++j)
        CHECK(found.row[size(q) * 4 + j] ==
              (keys[j] == no_key ? -1 : static_cast<std::int64_t>(row_of(keys[j]))));
    }
}

TEST_CASE("groups: what is refused, and what to do") {
  const Matrix rows = matrix(1, {0, 1, 2, 3});
  const auto made = [&](Borders borders, Borders ids = {}) {
    IndexOptions grouped;
    grouped.groups = std::move(borders);
    grouped.ids = std::move(ids);
    return Index(device(), rows, Metric::l1, grouped);
  };
  const auto refusal_of_borders = [&](const Borders& borders) { return error_of([&] { made(borders); }); };
  CHECK(refusal_of_borders({0}) ==
        "invalid_argument: index: groups of rows have 1 borders; give those from 0 to 4, one more than there "
        "are groups");
  CHECK(refusal_of_borders({1, 4}) ==
        "invalid_argument: index: groups of rows begin at 1; give borders that ascend from 0 to 4");
  CHECK(refusal_of_borders({0, 5}) ==
        "invalid_argument: index: groups of rows end at 5; give borders that ascend from 0 to 4");
  CHECK(refusal_of_borders({0, 3, 2, 4}) ==
        "invalid_argument: index: groups of rows have border 2 at 2 behind 3; give borders that ascend");
  CHECK(
      error_of([&] {
        made({0, 2, 4}, {4, 5, 6, 7});
      }) ==
      "invalid_argument: index: there are groups, which are ranges of rows, and ids, which order rows; leave "
      "one out");
  const Index index = made({0, 2, 4});
  const auto search = [&](const Matrix& queries, std::int64_t k, const Borders& borders,
                          std::optional<std::int64_t> self = {}) {
    SearchOptions options;
    options.groups = borders;
    options.self = self;
    return error_of([&] { index.search(queries, k, options); });
  };
  CHECK(
      search(matrix(1, {0}), 1, {}) ==
      "invalid_argument: search: 1 queries without groups, but the groups of the index have 4 rows; give the "
      "groups of the queries");
  CHECK(search(rows, 1, {0, 4}) ==
        "invalid_argument: search: there are 1 groups of queries and 2 of rows; give as many, of which some "
        "may "
        "be empty");
  CHECK(search(rows, 1, {0, 2, 3}) ==
        "invalid_argument: search: groups of queries end at 3; give borders that ascend from 0 to 4");
  CHECK(search(rows, 5, {}).find("search: k = 5") != std::string::npos);
  CHECK(search(rows, 1, {0, 3, 4}, 0) ==
        "invalid_argument: search: self = 0, but of group 0 the queries would be rows 0 ... 2, and its rows "
        "are "
        "0 ... 1; ask each row in its own group");
  SearchOptions without;
  without.rows_from_group = true;
  CHECK(error_of([&] { Index(device(), rows).search(rows, 1, without); }) ==
        "invalid_argument: search: the search is by groups, but the rows have none; leave groups and "
        "rows_from_group out, or give the index groups");
  const std::vector<std::int64_t> labels{0, 1, 0, 1};
  const auto unsupported = [](const std::string& where, const std::string& what) {
    return "unsupported: " + where + ": the rows have groups, and " + what +
           "; make an index without groups for this";
  };
  CHECK(error_of([&] { index.with(rows); }) == unsupported("index", "take no more rows"));
  CHECK(error_of([&] { index.without(labels); }) == unsupported("index", "none of them is removed"));
  CHECK(error_of([&] { index.search_keys(rows, 1); }) ==
        unsupported("search_keys", "keys of shards do not go by them"));
  without.groups = {0, 2, 4};
  const Classifier classifier(index, MatrixView<const std::int64_t>(labels.data(), 4, 1));
  CHECK(error_of([&] { classifier.predict(rows, 1, without); }) ==
        "invalid_argument: classify: rows_from_group counts rows in their groups, but votes and averages go "
        "by their numbers in the whole; leave it out");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
