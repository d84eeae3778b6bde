// Tests that a set of devices answers with the same bits as one device: docs/contract.md, section 13.
#include <random>

#include "common/environment.hpp"
#include "common/folder.hpp"
#include "common/parted/sets.hpp"
#include "common/subsets.hpp"
#include "kith/classifier.hpp"
#include "kith/evaluation.hpp"
#include "kith/filter.hpp"
#include "kith/index_file.hpp"
#include "kith/keys.hpp"
#include "kith/knn_graph.hpp"
#include "kith/regressor.hpp"
#include "kith/structure.hpp"

namespace kith::tests {
namespace {

constexpr Metric metrics[] = {Metric::squared_l2, Metric::l2,           Metric::l1,
                              Metric::linf,       Metric::negative_dot, Metric::cosine};
constexpr DataKind kinds[] = {DataKind::normal, DataKind::grid, DataKind::equal, DataKind::integers};

std::int64_t chosen(std::mt19937& random, std::int64_t least, std::int64_t most) {
  return least + static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(most - least + 1));
}

/// Holds rows and queries of one case, with one index on a device and one on a set.
struct Case {
  Metric metric;
  Matrix train, queries;
  std::int64_t k;
  Index one, set;
};

Case case_of(std::mt19937& random) {
  const Metric metric = metrics[random() % std::size(metrics)];
  const DataKind kind = kinds[random() % std::size(kinds)];
  const std::int64_t n = chosen(random, 2, 400), m = chosen(random, 1, 40), dims = chosen(random, 1, 9);
  Matrix train = hard_rows(kind, Set::train, n, dims, metric, random()),
         queries = hard_rows(kind, Set::queries, m, dims, metric, random());
  const auto [set, options] = set_by_chance(random, 17);
  const Index one(one_device(), train, metric), many(set, train, metric, options);
  const std::int64_t k = random() % 4 == 0 ? n - 1 : chosen(random, 1, std::min<std::int64_t>(n - 1, 20));
  return {metric, std::move(train), std::move(queries), k, one, many};
}

/// Returns radii that some rows are exactly at.
std::vector<float> radii_of(const Case& at) {
  const Neighbors found = at.one.search(at.queries, at.k);
  std::vector<float> radii;
  for (std::int64_t q = 0; q < at.queries.rows; ++q)
    radii.push_back(found.distance[size((q + 1) * at.k - 1)]);
  return radii;
}

/// Checks that all kinds of searches have the same answers on the set and on one device.
void check_same(const Case& at, const SearchOptions& options) {
  CHECK(difference(at.set.search(at.queries, at.k, options), at.one.search(at.queries, at.k, options)) == "");
  const std::vector<float> radii = radii_of(at);
  CHECK(difference(at.set.within(at.queries, radii, options), at.one.within(at.queries, radii, options)) ==
        "");
  if (options.self) return;
  CHECK(at.set.search_keys(at.queries, at.k + 3, options) ==
        at.one.search_keys(at.queries, at.k + 3, options));
  CHECK(at.set.within_keys(at.queries, radii, options) == at.one.within_keys(at.queries, radii, options));
}

TEST_SUITE_BEGIN("device");

TEST_CASE("sets: any parts on any members give the bits of one index") {
  std::mt19937 random(1);
  for (int i = 0; i < 60; ++i) {
    CAPTURE(i);
    const Case at = case_of(random);
    CAPTURE(at.set.device().info().spec);
    check_same(at, {});
    const std::int64_t filters = random() % 2 == 0 ? 1 : at.queries.rows;
    const RowFilter filter = filter_of(some(chosen(random, 1, 9)), at.train.rows, filters);
    SearchOptions options{.filter = filter};
    check_same(at, options);
    options.filter = {};
    if (at.queries.rows <= at.train.rows && at.k < at.train.rows) {
      options.self = chosen(random, 0, at.train.rows - at.queries.rows);
      check_same(at, options);
    }
    options = {};
    options.query_tile = chosen(random, 1, 9);
    options.train_tile = chosen(random, 1, 50);
    options.threads = 1;
    check_same(at, options);
  }
}

TEST_CASE("sets: the same bits whatever the host program has set, and its setting is kept") {
  std::mt19937 random(5);
  for (const HostileSetting setting : hostile_settings) {
    CAPTURE(std::string(name(setting)));
    const Case at = case_of(random);
    const std::vector<float> radii = radii_of(at);
    const Neighbors expected = at.one.search(at.queries, at.k);
    const RadiusNeighbors within = at.one.within(at.queries, radii);
    Neighbors found, anew;
    RadiusNeighbors near;
    bool kept = false;
    {
      const HostileEnvironment hostile(setting);
      SearchOptions options{.progress = [](const Progress&) {}};
      found = at.set.search(at.queries, at.k, options);
      near = at.set.within(at.queries, radii);
      anew = Index(at.set.device(), at.train, at.metric).search(at.queries, at.k);
      kept = hostile.still_set();
    }
    CHECK(kept);
    CHECK(difference(found, expected) == "");
    CHECK(difference(anew, expected) == "");
    CHECK(difference(near, within) == "");
  }
}

TEST_CASE("sets: progress ends with all of the work") {
  std::mt19937 random(6);
  for (int i = 0; i < 20; ++i) {
    const Case at = case_of(random);
    double last = -1;
    SearchOptions options;
    options.progress = [&](const Progress& progress) {
      CHECK(progress.fraction >= last);
      last = progress.fraction;
    };
    static_cast<void>(at.set.search(at.queries, at.k, options));
    CHECK(last == 1);
  }
}

TEST_CASE("sets: rows and queries of any element") {
  std::mt19937 random(2);
  std::vector<std::uint8_t> values(150 * 5);
  for (std::uint8_t& value : values) value = static_cast<std::uint8_t>(random() % 4);
  for (const Element element : {Element::u8, Element::i8, Element::bits}) {
    const Metric metric = element == Element::bits ? Metric::hamming : Metric::l2;
    const std::int64_t cols = element == Element::bits ? 37 : 5;
    const RowsView train(values.data(), element, 150, cols), queries(values.data() + 40, element, 20, cols);
    const auto [set, options] = set_by_chance(random, 5);
    const Index one(one_device(), train, metric), many(set, train, metric, options);
    CHECK(many.search(queries, 11) == one.search(queries, 11));
    CHECK(many.within(queries, std::vector<float>{2}) == one.within(queries, std::vector<float>{2}));
  }
}

TEST_CASE("sets: rows come, go and are compacted as on one device") {
  std::mt19937 random(3);
  for (int i = 0; i < 25; ++i) {
    CAPTURE(i);
    Case at = case_of(random);
    for (int step = 0; step < 5; ++step) {
      const auto what = random() % 3;
      if (what == 0) {
        const Matrix more =
            hard_rows(DataKind::grid, Set::train, chosen(random, 1, 60), at.train.cols, at.metric, random());
        at.one = at.one.with(more);
        at.set = at.set.with(more);
      } else if (what == 1 && at.one.rows() > 3) {
        std::vector<std::int64_t> gone = at.one.numbers();
        std::shuffle(gone.begin(), gone.end(), random);
        gone.resize(size(chosen(random, 1, at.one.rows() - 2)));
        at.one = at.one.without(gone);
        at.set = at.set.without(gone);
      } else {
        at.one = at.one.compact();
        at.set = at.set.compact();
      }
      CHECK(at.set.numbers() == at.one.numbers());
      CHECK(at.set.next_row() == at.one.next_row());
      at.k = std::min(at.k, at.one.rows() - 1);
      check_same(at, {});
      const RowFilter filter = filter_of(some(3), at.one.positions(), 1);
      SearchOptions options{.filter = filter};
      check_same(at, options);
    }
  }
}

TEST_CASE("sets: an index goes through a file from a set, to a set and back") {
  std::mt19937 random(4);
  const test_support::TemporaryFolder folder;
  for (int i = 0; i < 12; ++i) {
    CAPTURE(i);
    Case at = case_of(random);
    const std::vector<std::int64_t> gone{0};
    if (at.one.rows() > 2 && i % 2 == 0) {
      at.one = at.one.without(gone);
      at.set = at.set.without(gone);
      at.k = std::min(at.k, at.one.rows() - 1);
    }
    save(at.set, folder / "set.kidx");
    save(at.one, folder / "one.kidx");
    CHECK(folder.read("set.kidx") == folder.read("one.kidx"));
    const auto [set, options] = set_by_chance(random, 5);
    OpenOptions how{.placement = options.placement, .shares = options.shares};
    at.set = open_index(folder / "one.kidx", set, how);
    check_same(at, {});
    at.set = open_index(folder / "set.kidx", one_device());
    check_same(at, {});
  }
}

TEST_CASE("sets: votes, means, evaluations, structure and graphs are those of one device") {
  std::mt19937 random(5);
  for (int i = 0; i < 8; ++i) {
    CAPTURE(i);
    const std::int64_t n = 90, k = 7;
    const Matrix train = hard_rows(DataKind::grid, Set::train, n, 3, Metric::l2, random()),
                 queries = hard_rows(DataKind::grid, Set::queries, 2500, 3, Metric::l2, random());
    std::vector<std::int64_t> labels;
    std::vector<double> values;
    for (std::int64_t t = 0; t < n; ++t) {
      labels.push_back(static_cast<std::int64_t>(random() % 4));
      values.push_back(static_cast<double>(random() % 100) / 8);
    }
    const auto [set, options] = set_by_chance(random, 6);
    const MatrixView<const std::int64_t> column(labels.data(), n, 1);
    const Classifier one(Index(one_device(), train), column),
        many(Index(set, train, Metric::l2, options), column);
    for (const Weights weights : {Weights::uniform, Weights::distance}) {
      const VotingOptions voting{.weights = weights};
      const Classification a = one.classify(queries, k, voting), b = many.classify(queries, k, voting);
      CHECK(a.label == b.label);
      CHECK(a.votes == b.votes);
      CHECK(bits(a.scores) == bits(b.scores));
      CHECK(a.neighbors == b.neighbors);
      const std::vector<float> radius{2};
      CHECK(one.classify_within(queries, radius, voting).label ==
            many.classify_within(queries, radius, voting).label);
      CHECK(leave_one_out(one, train, k, voting).confusion ==
            leave_one_out(many, train, k, voting).confusion);
    }
    std::vector<std::int64_t> folds;
    for (std::int64_t t = 0; t < n; ++t) folds.push_back(t % 5);
    CHECK(cross_validate(one, train, folds, k).confusion == cross_validate(many, train, folds, k).confusion);
    const Regressor mean(Index(one_device(), train), {values.data(), n, 1}),
        means(Index(set, train, Metric::l2, options), {values.data(), n, 1});
    CHECK(mean.predict(queries, k) == means.predict(queries, k));
    CHECK(knn_graph(one_device(), train, k) == knn_graph(set, train, k));
    const Structure by_one(one_device(), train, labels),
        by_set(set, train, labels, Metric::squared_l2, options);
    CHECK(by_one.class_matrix().mean == by_set.class_matrix().mean);
    CHECK(by_one.sample_classes().mean == by_set.sample_classes().mean);
    CHECK(by_one.distances(3, 9) == by_set.distances(3, 9));
    CHECK(by_one.errors() == by_set.errors());
  }
}

TEST_CASE("sets: a trace tells what each member did") {
  const Matrix train = hard_rows(DataKind::normal, Set::train, 300, 4, Metric::l2);
  const Device set = set_of(3);
  IndexOptions options{.placement = Placement::split, .shares = {1, 0, 1}};
  Trace trace;
  const Index split(set, train, Metric::l2, options);
  split.search(train, 5, {}, &trace);
  REQUIRE(trace.members.size() == 2);
  CHECK(trace.members[0].rows == 160);  // parts begin at multiples of 32
  CHECK(trace.members[1].rows == 140);
  CHECK(trace.members[0].queries == 300);
  CHECK(trace.members[0].device == one_device().info().spec);
  CHECK(trace.members[0].share == 160.0 / 300);
  CHECK(trace.members[0].bytes + trace.members[1].bytes == split.memory_bytes());
  CHECK(trace.members[0].seconds > 0);
  CHECK(trace.plan.problem == Problem{Metric::l2, 300, 300, 4, 5});
  CHECK(trace.plan.device == set.info().spec);
  CHECK(trace.total_seconds >= trace.members[1].seconds);
  options.placement = Placement::replicate;
  Index(set, train, Metric::l2, options).search(train, 5, {}, &trace);
  REQUIRE(trace.members.size() == 2);
  CHECK(trace.members[1].rows == 300);
  CHECK(trace.members[1].queries == 150);
  CHECK(split.plan(300, 5).problem == Problem{Metric::l2, 300, 300, 4, 5});
}

TEST_CASE("sets: the trace of folds has what each member did for all of them") {
  const Matrix train = hard_rows(DataKind::grid, Set::train, 300, 4, Metric::l2);
  std::vector<std::int64_t> labels, folds;
  for (std::int64_t t = 0; t < 300; ++t) {
    labels.push_back(t % 4);
    folds.push_back(t % 7 % 3);
  }
  const MatrixView<const std::int64_t> column(labels.data(), 300, 1);
  for (const Placement placement : {Placement::split, Placement::replicate}) {
    CAPTURE(name(placement));
    const IndexOptions options{.placement = placement, .shares = {1, 0, 2}};
    const Classifier classifier(Index(set_of(3), train, Metric::l2, options), column);
    Trace trace;
    cross_validate(classifier, train, folds, 5, {}, {}, &trace);
    REQUIRE(trace.members.size() == 2);
    const MemberTrace &first = trace.members[0], &second = trace.members[1];
    CHECK(first.rows + second.rows == (placement == Placement::split ? 300 : 600));
    CHECK(first.queries + second.queries == (placement == Placement::split ? 600 : 300));
    CHECK(first.device == one_device().info().spec);
    CHECK(first.seconds > 0);
    const auto pairs = [](const MemberTrace& member) {
      return static_cast<double>(member.rows) * static_cast<double>(member.queries);
    };
    CHECK(second.share == pairs(second) / (pairs(first) + pairs(second)));
  }
}

TEST_CASE("sets: what is wrong is said as by one device, with the number of the row in the whole") {
  Matrix train = hard_rows(DataKind::normal, Set::train, 300, 4, Metric::negative_dot);
  const Device set = set_of(4);
  const Index one(one_device(), train, Metric::negative_dot), many(set, train, Metric::negative_dot);
  const auto same_error = [&](const auto& body) {
    const std::string expected = error_of([&] { body(one); });
    CHECK(expected != "nothing was thrown");
    CHECK(error_of([&] { body(many); }) == expected);
  };
  same_error([&](const Index& index) { index.search(train, 0); });
  same_error([&](const Index& index) { index.search(train, 301); });
  same_error([&](const Index& index) { index.search(matrix(3, {1, 2, 3}), 1); });
  same_error([&](const Index& index) { index.search(matrix(4, {1, 2, 3, inf}), 1); });
  same_error([&](const Index& index) { index.search(matrix(4, {1, 2, 3, flt_max}), 1); });
  same_error([&](const Index& index) { index.search(train, 1, {.self = 1}); });
  same_error([&](const Index& index) { index.search_keys(train, 1, {.self = 0}); });
  same_error([&](const Index& index) { index.within(train, std::vector<float>{1, 2}); });
  same_error([&](const Index& index) { index.without(std::vector<std::int64_t>{300}); });
  train.values[size(250 * 4 + 2)] = inf;
  const std::string expected = error_of([&] { Index(one_device(), train); });
  CHECK(expected.find("250") != std::string::npos);
  CHECK(error_of([&] { Index(set, train); }) == expected);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
