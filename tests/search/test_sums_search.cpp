// Tests that metrics of two sums go with all that an Index does: docs/contract.md, sections 1 and 2.
#include <algorithm>
#include <random>

#include "common/device.hpp"
#include "common/elements.hpp"
#include "common/folder.hpp"
#include "common/oracle.hpp"
#include "common/parted/sets.hpp"
#include "kith/classifier.hpp"
#include "kith/filter.hpp"
#include "kith/index.hpp"
#include "kith/index_file.hpp"
#include "kith/knn_graph.hpp"
#include "workloads/random.hpp"

namespace kith::tests::test_sums_search {
namespace {

/// Returns rows of few different values, of which two in five are missing.
Matrix random_gaps(std::int64_t rows, std::uint64_t seed) {
  workloads::Random random(seed);
  Matrix some{rows, 5, {}};
  for (std::int64_t i = 0; i < rows * some.cols; ++i) {
    const auto drawn = static_cast<float>(random.below(70));
    some.values.push_back(drawn < 28 ? std::nanf("") : drawn / 7);
  }
  return some;
}

/// Rows of bits, or with gaps, and queries of them, the oracle's answers, and an Index.
struct Shares {
  explicit Shares(Metric of) : metric(of), index(device(), train.view(), of) {}

  static constexpr std::int64_t n = 129, m = 14;
  Metric metric;
  bool gaps = takes_gaps(metric);
  Stored train = gaps ? Stored(random_gaps(n, 11), Element::f32) : random_bits(n, 77, 11),
         queries = gaps ? Stored(random_gaps(m, 12), Element::f32) : random_bits(m, 77, 12);
  Matrix all = gaps ? random_gaps(n, 11) : zeros_and_ones(train.view()),
         asked = gaps ? random_gaps(m, 12) : zeros_and_ones(queries.view());
  Index index;
  Neighbors ranked = neighbors(metric, asked, all, n), among = neighbors(metric, all, all, n);
  float radius = ranked.distance[size(n * 3 + 20)];

  /// Returns the answers among the rows of `kept`, with their numbers.
  Neighbors nearest(const std::vector<std::int64_t>& kept, std::int64_t k) const {
    return first_of(ranked, k, [&](std::size_t, std::int64_t row) {
      return std::find(kept.begin(), kept.end(), row) != kept.end();
    });
  }

  /// Returns the first k rows of each list of all rows for which counts(query, row) holds.
  template <class Counts>
  static Neighbors first_of(const Neighbors& lists, std::int64_t k, const Counts& counts) {
    Neighbors found{lists.queries, k, {}, {}};
    for (std::size_t q = 0; q < size(lists.queries); ++q) {
      for (std::size_t j = q * size(n); j < (q + 1) * size(n) && found.row.size() < (q + 1) * size(k); ++j) {
        if (lists.row[j] < 0 || !counts(q, lists.row[j])) continue;
        found.distance.push_back(lists.distance[j]);
        found.row.push_back(lists.row[j]);
      }
      found.distance.resize((q + 1) * size(k), inf);
      found.row.resize((q + 1) * size(k), -1);
    }
    return found;
  }
};

std::vector<std::int64_t> rows_but(std::int64_t n, const std::vector<std::int64_t>& gone) {
  std::vector<std::int64_t> rows;
  for (std::int64_t r = 0; r < n; ++r)
    if (std::find(gone.begin(), gone.end(), r) == gone.end()) rows.push_back(r);
  return rows;
}

template <class Body>
void for_each_index_of_shares(const Body& body) {
  for (const Metric metric : sum_metrics)
    if (metric != Metric::braycurtis) {
      CAPTURE(std::string(name(metric)));
      body(Shares(metric));
    }
}

TEST_SUITE_BEGIN("device");

TEST_CASE("sums: radii, counts and pairs") {
  for_each_index_of_shares([](const Shares& of) {
    const std::size_t n = size(of.n);
    std::vector<std::int64_t> counts, rows;
    for (std::size_t q = 0; q < size(of.m); ++q) {
      counts.push_back(0);
      for (std::size_t j = q * n; j < q * n + n && of.ranked.distance[j] <= of.radius; ++j, ++counts.back())
        rows.push_back(of.ranked.row[j]);
    }
    CHECK(of.index.within(of.queries.view(), std::vector<float>{of.radius}).row == rows);
    const double wide = static_cast<double>(of.radius);
    CHECK(of.index.count(of.queries.view(), {MatrixView<const double>(&wide, 1, 1)}) == counts);
    std::size_t pairs = 0, found = 0;
    for (std::size_t i = 0; i < n * n; ++i)
      if (of.among.distance[i] <= of.radius && of.among.row[i] > static_cast<std::int64_t>(i / n)) ++pairs;
    PairSearch search = of.index.pairs(wide);
    for (Pairs block; search.next(block);) found += block.first.size();
    CHECK(found == pairs);
    std::vector<std::int64_t> others;
    SearchOptions self{.self = 0};
    CHECK(of.index.count(of.train.view(), {MatrixView<const double>(&wide, 1, 1)}, self).size() == n);
    for (const std::int64_t count :
         of.index.count(of.train.view(), {MatrixView<const double>(&wide, 1, 1)}, self))
      others.push_back(count);
    std::int64_t sum = 0;
    for (const std::int64_t count : others) sum += count;
    CHECK(sum == 2 * static_cast<std::int64_t>(pairs));
  });
}

TEST_CASE("sums: filters, added and removed rows, and rows compacted") {
  for_each_index_of_shares([](const Shares& of) {
    const std::vector<std::int64_t> gone{0, 3, 50, 128}, kept = rows_but(of.n, gone);
    const RowFilter filter = RowFilter::only(of.n, kept);
    CHECK(difference(of.index.search(of.queries.view(), 20, {.filter = filter}), of.nearest(kept, 20)) == "");
    const std::vector<std::int64_t> few{3, 50, 51, 90, 127};
    CHECK(difference(of.index.search(of.queries.view(), 5, {.filter = RowFilter::only(of.n, few)}),
                     of.nearest(few, 5)) == "");
    const Index rest = of.index.without(gone);
    CHECK(difference(rest.search(of.queries.view(), 125), of.nearest(kept, 125)) == "");
    CHECK(difference(rest.compact().search(of.queries.view(), 125), of.nearest(kept, 125)) == "");
    const Index grown =
        Index(device(), of.train.view().slice(0, 40), of.metric).with(of.train.view().slice(40, 89));
    CHECK(difference(grown.search(of.queries.view(), of.n), of.ranked) == "");
  });
}

TEST_CASE("sums: leave-one-out, graphs, groups and votes") {
  for_each_index_of_shares([](const Shares& of) {
    const Neighbors others = Shares::first_of(
        of.among, 6, [](std::size_t q, std::int64_t row) { return row != static_cast<std::int64_t>(q); });
    CHECK(difference(of.index.search(of.train.view(), 6, {.self = 0}), others) == "");
    CHECK(difference(knn_graph(device(), of.train.view(), 6, of.metric), others) == "");
    IndexOptions grouped;
    grouped.groups = {0, 29, of.n};
    SearchOptions second;
    second.groups = {0, 0, of.m};
    CHECK(
        difference(Index(device(), of.train.view(), of.metric, grouped).search(of.queries.view(), 20, second),
                   of.nearest(rows_but(of.n,
                                       [] {
                                         std::vector<std::int64_t> first(29);
                                         for (std::size_t r = 0; r < 29; ++r)
                                           first[r] = static_cast<std::int64_t>(r);
                                         return first;
                                       }()),
                              20)) == "");
    std::vector<std::int64_t> labels(size(of.n));
    for (std::size_t r = 0; r < labels.size(); ++r) labels[r] = static_cast<std::int64_t>(r);
    const std::vector<std::int64_t> first = Classifier(of.index, labels).predict(of.queries.view(), 1);
    for (std::size_t q = 0; q < size(of.m); ++q) CHECK(first[q] == of.ranked.row[q * size(of.n)]);
  });
}

TEST_CASE("sums: rows in a source, on a set of devices, and in a file") {
  const test_support::TemporaryFolder folder;
  std::mt19937 random(7);
  for_each_index_of_shares([&](const Shares& of) {
    IndexOptions streamed;
    streamed.residence = Residence::stream;
    streamed.chunk_rows = 32;
    CHECK(difference(Index(device(), memory_source(of.train.view()), of.metric, streamed)
                         .search(of.queries.view(), of.n),
                     of.ranked) == "");
    const auto [set, options] = set_by_chance(random, 5);
    CHECK(difference(Index(set, of.train.view(), of.metric, options).search(of.queries.view(), of.n),
                     of.ranked) == "");
    IndexOptions once;
    once.deduplicate = true;
    CHECK(difference(Index(device(), of.train.view(), of.metric, once).search(of.queries.view(), of.n),
                     of.ranked) == "");
    save(of.index, folder / "a.kidx");
    CHECK(difference(open_index(folder / "a.kidx", device()).search(of.queries.view(), of.n), of.ranked) ==
          "");
  });
  const Matrix rows = hard_rows(DataKind::grid, Set::train, 70, 5, Metric::l1);
  save(Index(device(), rows, Metric::braycurtis), folder / "b.kidx");
  CHECK(difference(open_index(folder / "b.kidx", device()).search(rows, 9),
                   neighbors(Metric::braycurtis, rows, rows, 9)) == "");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests::test_sums_search
