// Tests prepared metrics and weights of columns: docs/contract.md, section 1.
#include <stop_token>

#include "common/asked.hpp"
#include "common/data_files.hpp"
#include "common/parted/sets.hpp"
#include "kith/classifier.hpp"
#include "kith/index_file.hpp"
#include "kith/keys.hpp"
#include "kith/knn_graph.hpp"
#include "kith/regressor.hpp"
#include "kith/shard_votes.hpp"
#include "kith/source.hpp"
#include "kith/trace.hpp"
#include "prepared/prepared_oracle.hpp"

namespace kith::tests {
namespace {

using data_files::Folder;

constexpr Arithmetic both_widths[] = {Arithmetic::f32, Arithmetic::f64};

/// Rows and queries for a metric, and the Index of them.
struct PreparedCase {
  PreparedCase(MetricAsked of, Arithmetic width, std::int64_t n, std::int64_t m, std::int64_t cols,
               std::mt19937& random)
      : asked(std::move(of)),
        arithmetic(width),
        train(rows_for(asked, n, cols, random)),
        queries(rows_for(asked, m, cols, random)) {}

  Index index(IndexOptions more = {}) const { return index_of(train, std::move(more)); }
  Index index_of(const DoubleMatrix& rows, IndexOptions more = {}) const {
    IndexOptions all = asked.options(arithmetic);
    all.groups = std::move(more.groups);
    all.first_row = more.first_row;
    return Index(device(), rows, asked.metric, all);
  }
  Neighbors nearest(std::int64_t k) const {
    return nearest_by_contract(asked, arithmetic, train, queries, k);
  }
  DoubleMatrix part(std::int64_t first, std::int64_t end) const {
    return {end - first,
            train.cols,
            {train.values.begin() + first * train.cols, train.values.begin() + end * train.cols}};
  }

  MetricAsked asked;
  Arithmetic arithmetic;
  DoubleMatrix train, queries;
};

/// Compares votes and means of keys with those of the Index of all rows.
void check_votes_of_keys(const Index& index, const Keys& keys, const DoubleMatrix& queries) {
  std::vector<std::int64_t> labels;
  std::vector<double> values;
  for (std::int64_t row = 0; row < index.rows(); ++row) {
    labels.push_back(row * row % 5);
    values.push_back(static_cast<double>(row % 17) / 3);
  }
  const MatrixView<const double> columns(values.data(), index.rows(), 1);
  const VotingOptions voting{.weights = Weights::distance};
  const Classification voted = Classifier(index, {labels.data(), index.rows(), 1})
                                   .classify(queries, keys.k, voting),
                       by_keys = classify(index.shown(), keys, ShardLabels(labels), voting);
  CHECK(by_keys.label == voted.label);
  CHECK(by_keys.scores == voted.scores);
  CHECK(by_keys.scores64 == voted.scores64);
  CHECK(regress(index.shown(), keys, ShardValues(columns), voting).value ==
        Regressor(index, columns).regress(queries, keys.k, voting).value);
}

template <class Body>
void for_each_prepared(std::int64_t n, std::int64_t m, std::int64_t cols, const Body& body) {
  std::mt19937 random(static_cast<unsigned>(n * 31 + cols));
  for (const MetricAsked& asked : all_prepared(cols, random))
    for (const Arithmetic width : both_widths) {
      if (!asked.has(width)) continue;
      CAPTURE(std::string(name(asked.metric)));
      CAPTURE(static_cast<int>(width));
      CAPTURE(asked.inverse.empty());
      body(PreparedCase(asked, width, n, m, cols, random));
    }
}

std::vector<double> distances_of(const Neighbors& found) {
  std::vector<double> all(found.distance.begin(), found.distance.end());
  all.insert(all.end(), found.distance64.begin(), found.distance64.end());
  return all;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("prepared metrics: random cases of each, in both widths") {
  std::mt19937 random(asked_seed("KITH_PREPARED_SEED", 44));
  const std::int64_t turns = asked_number("KITH_PREPARED_CASES", 12);
  std::int64_t compared = 0;
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    const std::int64_t cols = 2 + static_cast<std::int64_t>(random() % 20),
                       n = 1 + static_cast<std::int64_t>(random() % 150),
                       m = 1 + static_cast<std::int64_t>(random() % 12),
                       k = 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(n));
    for (const MetricAsked& asked : all_prepared(cols, random))
      for (const Arithmetic width : both_widths) {
        if (!asked.has(width)) continue;
        CAPTURE(std::string(name(asked.metric)));
        CAPTURE(turn);
        const PreparedCase of(asked, width, n, m, cols, random);  // the same rows, whatever is asked for
        if (!is_asked("KITH_PREPARED_METRIC", name(asked.metric))) continue;
        ++compared;
        const Index index = of.index();
        CHECK(index.metric() == asked.metric);
        CHECK(index.arithmetic() == width);
        CHECK(index.search(of.queries, k) == of.nearest(k));
        if (width == Arithmetic::f64) continue;
        const Matrix floats = rounded(of.queries);
        CHECK(index.search(floats, k) == of.nearest(k));
      }
  }
  CHECK(compared >= turns);
}

TEST_CASE("prepared metrics: proposers and boxes answer as the chain does") {
  for_each_prepared(2500, 40, 8, [](const PreparedCase& of) {
    const Index index = of.index();
    const Neighbors right = of.nearest(9);
    CHECK(index.search(of.queries, 9) == right);
    CHECK(index.search(of.queries, 9, {.proposer = Proposer::none}) == right);
    for (const Proposer proposer : device().info().proposers) {
      // gemm takes a library that not every machine with OpenCL has.
      if (of.asked.is_sum_of_terms() || proposer == Proposer::gemm) continue;
      CAPTURE(std::string(name(proposer)));
      CHECK(index.search(of.queries, 9, {.proposer = proposer}) == right);
    }
    if (device().info().boxes_max_k >= 9 && of.arithmetic == Arithmetic::f32 &&
        of.asked.metric != Metric::canberra && of.asked.metric != Metric::nan_gower)
      CHECK(index.search(of.queries, 9, {.boxes = true}) == right);
  });
}

TEST_CASE("prepared metrics: radii and counts") {
  for_each_prepared(300, 9, 5, [](const PreparedCase& of) {
    const Index index = of.index();
    const Neighbors all = index.search(of.queries, 300);
    const std::vector<double> distances = distances_of(all);
    const double radius = distances[40];
    const RadiusNeighbors found = index.within(of.queries, std::vector<double>{radius});
    std::vector<std::int64_t> rows, counts;
    for (std::size_t q = 0; q < 9; ++q) {
      counts.push_back(0);
      for (std::size_t i = q * 300; i < (q + 1) * 300 && distances[i] <= radius; ++i) {
        rows.push_back(all.row[i]);
        ++counts.back();
      }
    }
    CHECK(found.row == rows);
    CHECK(index.count(of.queries, {.radius = {&radius, 1, 1}}) == counts);
    SearchOptions limited;
    limited.radius = radius;
    const Neighbors cut = index.search(of.queries, 300, limited);
    if (counts[0] < 300) CHECK(cut.row[size(counts[0])] == -1);
  });
}

TEST_CASE("prepared metrics: rows that are added, removed and compacted; shards; leave-one-out; a graph") {
  for_each_prepared(200, 7, 6, [](const PreparedCase& of) {
    const Neighbors right = of.nearest(5);
    const Index grown = of.index_of(of.part(0, 120)).with(of.part(120, 200));
    CHECK(grown.search(of.queries, 5) == right);
    CHECK(grown.compact().search(of.queries, 5) == right);
    const std::vector<std::int64_t> gone{right.row[0], (right.row[0] + 7) % 200};
    const Index fewer = grown.without(gone);
    CHECK(fewer.compact().search(of.queries, 5) == fewer.search(of.queries, 5));
    CHECK(fewer.metric() == of.asked.metric);
    const Index one = of.index_of(of.part(0, 90));
    const Index two = of.index_of(of.part(90, 200), {.first_row = 90});
    const std::vector<Keys> keys{one.search_keys(of.queries, 5), two.search_keys(of.queries, 5)};
    CHECK(finish(grown.shown(), merge(keys)) == right);
    check_votes_of_keys(grown, merge(keys), of.queries);
    const Neighbors others = grown.search(of.train, 3, {.self = 0});
    CHECK(knn_graph(device(), of.train, 3, of.asked.metric, {}, nullptr, of.asked.options(of.arithmetic)) ==
          others);
    const Index grouped = of.index({.groups = {0, 90, 200}});
    const Neighbors first = grouped.search(of.queries, 2, {.groups = {0, 7, 7}});
    CHECK(first == one.search(of.queries, 2));
  });
}

TEST_CASE("prepared metrics: columns that do not count, votes and sets") {
  std::mt19937 random(5);
  for (const MetricAsked& asked : all_prepared(4, random)) {
    CAPTURE(std::string(name(asked.metric)));
    const PreparedCase of(asked, Arithmetic::f32, 120, 6, 4, random);
    std::vector<std::int64_t> labels, nearest;
    for (std::int64_t t = 0; t < 120; ++t) labels.push_back(t % 3);
    for (const std::int64_t row : of.nearest(1).row) nearest.push_back(row % 3);
    const Classifier voter(of.index(), {labels.data(), 120, 1});
    CHECK(voter.predict(of.queries, 1) == nearest);
    const Index set(set_of(2), of.train, asked.metric, asked.options(Arithmetic::f32));
    CHECK(set.search(of.queries, 8) == of.nearest(8));

    // A fifth column, in front, does not count.
    const auto wider = [](const DoubleMatrix& rows, double with) {
      DoubleMatrix wide{rows.rows, 5, {}};
      for (std::int64_t r = 0; r < rows.rows; ++r) {
        wide.values.push_back(with);
        for (const double value : rows.row(r)) wide.values.push_back(value);
      }
      return wide;
    };
    const auto longer = [](const Values& values) {
      Values all = values;
      if (!values.empty()) all.insert(all.begin(), -1);
      return all;
    };
    const auto larger = [](const Values& matrix) {
      Values all;
      for (std::size_t i = 0; i < 5 && !matrix.empty(); ++i)
        for (std::size_t j = 0; j < 5; ++j)
          all.push_back(i == 0 || j == 0 ? -1.0 : matrix[(i - 1) * 4 + j - 1]);
      return all;
    };
    MetricAsked wide = asked;
    wide.weights = longer(asked.weights);
    wide.variances = longer(asked.variances);
    wide.covariance = larger(asked.covariance);
    wide.inverse = larger(asked.inverse);
    wide.ranges = longer(asked.ranges);
    for (std::int64_t& column : wide.categorical) ++column;
    IndexOptions options = wide.options(Arithmetic::f32);
    options.features = {1, 2, 3, 4};
    const Index index(device(), wider(of.train, std::nan("")), asked.metric, options);
    CHECK(index.search(wider(of.queries, 1e300), 8) == of.nearest(8));
    const Folder folder;
    save(index, folder / "a.kidx");
    CHECK(open_index(folder / "a.kidx", device()).search(wider(of.queries, 0), 8) == of.nearest(8));
  }
}

TEST_CASE("prepared metrics: index files keep the metric and its parameters") {
  for_each_prepared(150, 6, 5, [](const PreparedCase& of) {
    const Folder folder;
    const Index index = of.index();
    save(index, folder / "a.kidx");
    const IndexFileInfo info = index_file_info(folder / "a.kidx");
    CHECK(info.metric == of.asked.metric);
    CHECK(info.prepared);
    const Index opened = open_index(folder / "a.kidx", device());
    CHECK(opened.metric() == of.asked.metric);
    CHECK(opened.search(of.queries, 4) == of.nearest(4));
    CHECK(opened.with(of.queries).search(of.queries, 2) == index.with(of.queries).search(of.queries, 2));
    save(opened, folder / "again.kidx");
    CHECK(folder.read("again.kidx") == folder.read("a.kidx"));
    CHECK(error_of([&] {
            file_source(folder / "a.kidx");
          }).ends_with("which a source of rows does not say; open the index itself"));
  });
}

TEST_CASE("prepared metrics: elements are the doubles that they equal") {
  std::mt19937 random(9);
  const std::vector<std::uint8_t> bytes{1, 9, 3, 4, 4, 4, 200, 0, 7, 5, 6, 1};
  const DoubleMatrix wide{4, 3, {bytes.begin(), bytes.end()}};
  for (const MetricAsked& asked : all_prepared(3, random)) {
    if (asked.metric == Metric::correlation || asked.metric == Metric::spearman)
      continue;  // row 1 is constant
    const Index index(device(), RowsView(bytes.data(), Element::u8, 4, 3), asked.metric, asked.options());
    CHECK(index.arithmetic() == Arithmetic::f32);
    CHECK(index.search(wide, 4) == nearest_by_contract(asked, Arithmetic::f32, wide, wide, 4));
  }
}

TEST_CASE("prepared metrics: seuclidean without variances takes those of the rows") {
  std::mt19937 random(31);
  for (const Arithmetic width : both_widths) {
    const PreparedCase of({Metric::seuclidean, {}, positive(6, random)}, width, 500, 12, 6, random);
    MetricAsked learned = of.asked;
    for (std::size_t d = 0; d < 6; ++d) {
      double sum = 0, squares = 0;
      for (std::int64_t r = 0; r < 500; ++r) sum = sum + of.train.row(r)[d];
      for (std::int64_t r = 0; r < 500; ++r) {
        const double apart = of.train.row(r)[d] - sum / 500, square = apart * apart;
        squares = squares + square;
      }
      learned.variances[d] = squares / 499;
    }
    IndexOptions options;
    options.arithmetic = width;
    const Neighbors right = nearest_by_contract(learned, width, of.train, of.queries, 9);
    CHECK(Index(device(), of.train, Metric::seuclidean, options).search(of.queries, 9) == right);
    CHECK(Index(set_of(2), of.train, Metric::seuclidean, options).search(of.queries, 9) == right);
    CHECK(Index(device(), memory_source(of.train), Metric::seuclidean, options).search(of.queries, 9) ==
          right);
    options.features = {1, 4};
    const Index some(device(), of.train, Metric::seuclidean, options);
    options.variances = learned.variances;
    CHECK(some.search(of.queries, 9) ==
          Index(device(), of.train, Metric::seuclidean, options).search(of.queries, 9));
  }
}

TEST_CASE("prepared metrics: a plan names the metric that was asked for, and that which compares") {
  for_each_prepared(50, 3, 4, [](const PreparedCase& of) {
    const Index index = of.index();
    const bool squares = of.arithmetic == Arithmetic::f64 && !of.asked.is_sum_of_terms();  // floats propose
    const std::string shown(name(of.asked.metric)),
        chain(name(squares ? Metric::squared_l2 : of.asked.compared()));
    const std::string how =
        is_prepared(of.asked.metric) ? ", of rows prepared for it and compared by " : ", compared by ";
    const std::string wanted =
        "problem        " + (shown == chain ? "" : shown + how) + chain + (of.asked.has_terms() ? "" : ", n");
    CAPTURE(wanted);
    const auto says = [&](const Plan& plan) { return explain(plan).find(wanted) != std::string::npos; };
    Trace trace;
    index.search(of.queries, 2, {}, &trace);
    CHECK(says(trace.plan));
    index.search_keys(of.queries, 2, {}, &trace);
    CHECK(says(trace.plan));
    index.within(of.queries, std::vector<double>{1}, {}, &trace);
    CHECK(says(trace.plan));
    index.within_keys(of.queries, std::vector<double>{1}, {}, &trace);
    CHECK(says(trace.plan));
    CHECK(says(index.plan(3, 2)));
  });
}

TEST_CASE("prepared metrics: a stop ends while rows are prepared") {
  std::mt19937 random(32);
  const PreparedCase of({Metric::mahalanobis, {}, {}, definite_matrix(5, random)}, Arithmetic::f32, 60, 60, 5,
                        random);
  const Index index = of.index();
  std::stop_source stop;
  stop.request_stop();
  SearchOptions options;
  options.stop = stop.get_token();
  CHECK(error_of([&] { index.search(of.queries, 2, options); }) ==
        "interrupted: search: stopped after 0 of 60 steps, as was asked; nothing is returned");
  options.stop = {};
  options.threads = 1;
  CHECK(index.search(of.queries, 2, options) == of.nearest(2));
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
