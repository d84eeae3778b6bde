// Searches with a proposer give the same bits as searches without one: docs/certificate.md.
#include "common/proposers.hpp"
#include "kith/classifier.hpp"
#include "kith/index.hpp"

namespace kith::tests {
namespace {

const std::vector<Metric> product_metrics = {Metric::squared_l2, Metric::l2, Metric::negative_dot,
                                             Metric::cosine};

/// Returns an Index that keeps each row, equal ones too.
Index index_of_each(const Matrix& rows, Metric metric) {
  IndexOptions options;
  options.deduplicate = false;
  return Index(device(), rows, metric, options);
}

/// Returns an Index of n equal rows.
Index of_equal_rows(std::int64_t n) {
  return index_of_each({n, 2, std::vector<float>(size(2 * n), 1)}, Metric::l2);
}

/// Searches with and without the proposer, checks that the bits agree, and returns the trace with it.
Trace compare(Proposer proposer, const Matrix& queries, const Matrix& train, Metric metric, std::int64_t k,
              SearchOptions options = {}) {
  const Index index = index_of_each(train, metric);
  options.proposer = Proposer::none;
  const Neighbors expected = index.search(queries, k, options);
  options.proposer = proposer;
  Trace trace;
  const Neighbors found = index.search(queries, k, options, &trace);
  CHECK(found.row == expected.row);
  CHECK(bits(found.distance) == bits(expected.distance));
  return trace;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("proposer: by hand, the seed bounds and the product proposes") {
  if (!refusal_of(Proposer::gemm).empty()) return;
  // The first two rows, at 25 and 16 from the query, are the seed. Of the others only those at 9 and
  // 1 are nearer.
  const Matrix train = matrix(1, {5, 4, 7, 3, 100, -1, 6});
  const Index index(device(), train, Metric::squared_l2);
  Trace trace;
  const Neighbors found =
      index.search(matrix(1, {0}), 2, {.proposer = Proposer::gemm, .train_tile = 2}, &trace);
  CHECK(found == Neighbors{1, 2, {1, 9}, {5, 3}});
  CHECK(trace.plan.proposer == Proposer::gemm);
  CHECK(trace.plan.seed_rows == 2);
  CHECK(trace.train_tiles == 4);
  CHECK(trace.collected >= 2);  // at least these two; the bound may let more pass
  CHECK(trace.collected <= 5);
  CHECK(trace.fallbacks == 0);
  CHECK(trace.seconds.count("collect") == 1);
  CHECK(trace.seconds.count("rerank") == 1);
  CHECK(trace.seconds.count("tighten") == 1);
}

TEST_CASE("proposer: all data, metrics and k give the bits of the chain") {
  for_each_proposer([&](Proposer proposer) {
    for (const Metric metric : product_metrics)
      for (const DataKind kind : workloads::all_data_kinds) {
        if (!workloads::admits(metric, kind)) continue;
        CAPTURE_ALL(name(metric), name(kind));
        for (const std::int64_t dims : {1, 13, 64}) {
          const Matrix queries = hard_rows(kind, Set::queries, 17, dims, metric);
          const Matrix train = hard_rows(kind, Set::train, 1009, dims, metric);
          for (const std::int64_t k : {1, 10, 300}) {
            CAPTURE_ALL(dims, k);
            compare(proposer, queries, train, metric, k);
          }
          compare(proposer, queries, train, metric, 10, {.query_tile = 5, .train_tile = 37});
        }
      }
  });
}

TEST_CASE("proposer: many columns and more than one tile of queries and rows give the bits of the chain") {
  for_each_proposer([&](Proposer proposer) {
    for (const Metric metric : {Metric::squared_l2, Metric::cosine})
      for (const DataKind kind : {DataKind::normal, DataKind::integers, DataKind::offset})
        for (const std::int64_t dims : {257, 784}) {
          CAPTURE_ALL(name(metric), name(kind), dims);
          const Matrix queries = hard_rows(kind, Set::queries, 131, dims, metric);
          const Matrix train = hard_rows(kind, Set::train, 401, dims, metric);
          CHECK(compare(proposer, queries, train, metric, 10).plan.proposer == proposer);
        }
  });
}

TEST_CASE("proposer: few candidates where rows are spread, and none lost") {
  for_each_proposer([&](Proposer proposer) {
    const Matrix queries = hard_rows(DataKind::normal, Set::queries, 20, 32, Metric::l2);
    const Matrix train = hard_rows(DataKind::normal, Set::train, 20000, 32, Metric::l2);
    const Trace trace = compare(proposer, queries, train, Metric::l2, 10);
    CHECK(trace.fallbacks == 0);
    MESSAGE("candidates for each of k = 10, 20 queries, n = 20000: " << static_cast<double>(trace.collected) /
                                                                            (20 * 10));
    CHECK(trace.collected < 20 * 20000 / 10);
  });
}

TEST_CASE(
    "proposer: duplicates and rows that come ever nearer overflow the lists, and the chain takes over") {
  for_each_proposer([&](Proposer proposer) {
    const std::int64_t n = 6000, more = 20000;  // `more` exceeds what a list holds
    const Matrix equal{more, 3, std::vector<float>(static_cast<std::size_t>(3 * more), 1.5f)};
    const Matrix queries = matrix(3, {1, 2, 3, /**/ 1.5f, 1.5f, 1.5f, /**/ -7, 0, 0});
    CHECK(compare(proposer, queries, equal, Metric::squared_l2, 5).fallbacks == 3);
    Matrix nearer{n, 3, {}};
    for (std::int64_t t = 0; t < n; ++t)
      for (int d = 0; d < 3; ++d) nearer.values.push_back(static_cast<float>(n - t));
    const Trace trace = compare(proposer, matrix(3, {0, 0, 0, /**/ 5000, 5000, 5001}), nearer, Metric::l2, 4,
                                {.query_tile = 1});
    if (trace.plan.visit_rows == 0)
      CHECK(trace.fallbacks > 0);
    else
      // The order of visits is mixed, so rows do not come nearer.
      CHECK(trace.fallbacks + trace.repeats == 0);
  });
}

/// The stride with which the library visits the 157 blocks of 20,000 rows.
constexpr std::uint32_t stride_of_20000 = 97;

/// Returns rows that come nearer to the origin with every visit, so all rows of a step are nearer than
/// those before.
Matrix nearer_with_visits(std::int64_t n, std::int64_t visit_rows, std::uint32_t stride) {
  const auto blocks = static_cast<std::uint64_t>((n + visit_rows - 1) / visit_rows);
  std::vector<std::uint64_t> visit(blocks);
  for (std::uint64_t v = 0; v < blocks; ++v) visit[v * stride % blocks] = v;
  Matrix rows{n, 2, {}};
  for (std::int64_t t = 0; t < n; ++t) {
    const auto steps = static_cast<std::int64_t>(visit[size(t / visit_rows)]) * visit_rows + t % visit_rows;
    rows.values.insert(rows.values.end(), {static_cast<float>(2 * n - steps), 1});
  }
  return rows;
}

TEST_CASE("proposer: lists that overflow once are proposed for once more, and need no chain") {
  for_each_proposer([&](Proposer proposer) {
    const std::int64_t n = 20000;
    const Index index = of_equal_rows(n);
    const Plan plan = index.plan(2, 3, {.proposer = proposer});
    if (plan.visit_rows == 0) return;
    // For the queries on the far side rows do not come nearer. Their lists must not overflow: if more than a
    // quarter did, none would be repeated.
    const Matrix queries = matrix(2, {0, 0, /**/ 41000, 1, /**/ 42000, 1, /**/ 43000, 1, /**/ 44000, 1});
    const Trace trace = compare(proposer, queries, nearer_with_visits(n, plan.visit_rows, stride_of_20000),
                                Metric::squared_l2, 3);
    CHECK(trace.fallbacks == 0);
    CHECK(trace.repeats == 1);
  });
}

/// Returns rows of which 80 (64 with a sample) lie near 0, where a search begins, and all others far away. So
/// the first rows contain more of the nearest 100 than a sample would; no two near rows are in one group
/// of the sample.
Matrix near_where_it_begins(std::int64_t n, const Plan& plan) {
  std::vector<std::int64_t> near;
  if (plan.sample_rows == 0) {
    near.resize(80);
    std::iota(near.begin(), near.end(), 0);
  } else {
    const std::int64_t blocks = (n + plan.visit_rows - 1) / plan.visit_rows;
    for (std::int64_t visit = 0; visit < 16; ++visit)
      for (const std::int64_t row : {0, 36, 66, 102})
        near.push_back(visit * stride_of_20000 % blocks * plan.visit_rows + row);
  }
  Matrix rows{n, 2, {}};
  for (std::int64_t t = 0; t < n; ++t)
    rows.values.insert(rows.values.end(), {static_cast<float>(100000 + t), 1});
  for (std::size_t i = 0; i < near.size(); ++i) rows.values[size(2 * near[i])] = static_cast<float>(i);
  return rows;
}

TEST_CASE("proposer: a guess that was wrong for few queries is made good for these") {
  for_each_proposer([&](Proposer proposer) {
    const std::int64_t n = 20000, k = 100;
    const Index index = of_equal_rows(n);
    const Plan plan = index.plan(5, k, {.proposer = proposer});
    if (!plan.guesses()) return;
    // For the other queries, rows get farther with every row, and the nearest are spread over all blocks.
    const Matrix queries = matrix(2, {0, 0, /**/ 130000, 1, /**/ 140000, 1, /**/ 150000, 1, /**/ 160000, 1});
    const Trace trace = compare(proposer, queries, near_where_it_begins(n, plan), Metric::squared_l2, k);
    CHECK(trace.fallbacks == 0);
    // AVX2 quantizes the queries of int8 half as finely, so another list overflows.
    CHECK(trace.repeats == (proposer == Proposer::int8 && device().info().driver == "avx2" ? 2 : 1));
  });
}

TEST_CASE("proposer: rows of any length have the same directions") {
  for_each_proposer([&](Proposer proposer) {
    for (const std::int64_t m : {5, 90})
      for (const std::int64_t dims : {1, 3, 40})
        for (const float length : {1e-30f, 1e-3f, 0.1f, 1e3f}) {
          CAPTURE_ALL(m, dims, length);
          Matrix queries = hard_rows(DataKind::normal, Set::queries, m, dims, Metric::cosine);
          Matrix train = hard_rows(DataKind::normal, Set::train, 300, dims, Metric::cosine);
          for (float& x : train.values) x = length * std::fabs(x);
          for (float& x : queries.values) x *= -length;
          compare(proposer, queries, train, Metric::cosine, 200);
        }
  });
}

TEST_CASE("proposer: a handful of rows, fewer than any sample, tile or group of them") {
  for_each_proposer([&](Proposer proposer) {
    for (const std::int64_t n : {1, 2, 3, 5, 17})
      for (const std::int64_t m : {3, 255})
        for (const std::int64_t dims : {1, 31, 32})
          for (const std::int64_t tile : {0, 1, 1000}) {
            const Matrix queries = hard_rows(DataKind::normal, Set::queries, m, dims, Metric::l2);
            const Matrix train = hard_rows(DataKind::normal, Set::train, n, dims, Metric::l2);
            for (const std::int64_t k : {std::int64_t{1}, n})
              compare(proposer, queries, train, Metric::l2, k, {.train_tile = tile});
          }
  });
}

TEST_CASE("proposer: one neighbour is no guess, and no query is asked twice") {
  for_each_proposer([&](Proposer proposer) {
    const Matrix queries = hard_rows(DataKind::offset, Set::queries, 20, 32, Metric::l2);
    const Matrix train = hard_rows(DataKind::normal, Set::train, 20000, 32, Metric::l2);
    const Trace trace = compare(proposer, queries, train, Metric::l2, 1);
    CHECK(trace.repeats == 0);
    CHECK(trace.fallbacks == 0);
  });
}

TEST_CASE("proposer: an index that misled a guess for many queries is searched without one") {
  for_each_proposer([&](Proposer proposer) {
    const std::int64_t n = 20000, m = 48, k = 100;
    const SearchOptions options{.proposer = proposer, .query_tile = 16};
    const Plan plan = of_equal_rows(n).plan(m, k, options);
    if (!plan.guesses()) return;
    const Index index(device(), near_where_it_begins(n, plan));
    const Matrix queries{m, 2, std::vector<float>(size(2 * m), 0)};
    const Neighbors expected = index.search(queries, k, {.proposer = Proposer::none});
    double progress = 0;
    std::vector<std::int64_t> repeats;
    for (int search = 0; search < 2; ++search) {
      Trace trace;
      const auto told = [&](const Progress& now) { progress = now.fraction; };
      CHECK(index.search(queries, k, {.proposer = proposer, .query_tile = 16, .progress = told}, &trace) ==
            expected);
      CHECK(progress == 1);
      CHECK(trace.fallbacks == 0);
      repeats.push_back(trace.repeats);
    }
    CHECK(repeats == std::vector<std::int64_t>{16, 0});  // the first tile of the first search
  });
}

TEST_CASE("proposer: without room for a copy of the rows these are ranked as they are, later searches, too") {
  for_each_proposer([&](Proposer proposer) {
    const Matrix train = hard_rows(DataKind::normal, Set::train, 20000, 300, Metric::l2);
    const Matrix queries = hard_rows(DataKind::normal, Set::queries, 3, 300, Metric::l2);
    const Index index(device(), train), other(device(), train);
    const Neighbors expected = index.search(queries, 10, {.proposer = Proposer::none});
    Trace little, much;
    // The quantized fp16 rows take 12 MB, and a copy of the rows 24 MB.
    CHECK(index.search(queries, 10, {.proposer = proposer, .memory_limit = 20'000'000}, &little) == expected);
    CHECK(index.search(queries, 10, {.proposer = proposer}) == expected);
    CHECK(other.search(queries, 10, {.proposer = proposer}, &much) == expected);
    CHECK(little.plan.row_copy_bytes == 0);
    // A search may be given memory that another one released, even if it needs less.
    if (much.plan.row_copy_bytes > 0)
      CHECK(much.quantized_bytes > little.quantized_bytes + much.plan.row_copy_bytes / 2);
  });
}

TEST_CASE("proposer: an index that was added to is searched part by part") {
  for_each_proposer([&](Proposer proposer) {
    const Matrix train = hard_rows(DataKind::normal, Set::train, 1500, 9, Metric::l2);
    const Matrix queries = hard_rows(DataKind::normal, Set::queries, 21, 9, Metric::l2);
    const Index grown = Index(device(), train.view().slice(0, 700), Metric::l2)
                            .with(train.view().slice(700, 1))
                            .with(train.view().slice(701, 799));
    for (const std::int64_t k : {1, 10, 900}) {
      CAPTURE(k);
      const Neighbors expected =
          Index(device(), train, Metric::l2).search(queries, k, {.proposer = Proposer::none});
      CHECK(grown.search(queries, k, {.proposer = proposer}) == expected);
    }
  });
}

TEST_CASE("proposer: values out of the range of the bound are left to the chain, and the plan says so") {
  for_each_proposer([&](Proposer proposer) {
    const Index index(device(), matrix(1, {1e15f, 2, 3, -1e16f}));
    Trace trace;
    const SearchOptions options{.proposer = proposer};
    CHECK(index.search(matrix(1, {2.5f}), 2, options, &trace) == Neighbors{1, 2, {0.5f, 0.5f}, {1, 2}});
    CHECK(trace.plan.proposer == Proposer::none);
    CHECK(trace.plan.reason.starts_with("values are out of the range of the bound of a proposer; "));
  });
}

TEST_CASE("proposer: the classifier votes on what the chain ranked") {
  for_each_proposer([&](Proposer proposer) {
    const Matrix queries = hard_rows(DataKind::grid, Set::queries, 30, 4, Metric::l2);
    const Matrix train = hard_rows(DataKind::grid, Set::train, 3000, 4, Metric::l2);
    std::vector<std::int64_t> labels;
    for (std::int64_t t = 0; t < 3000; ++t) labels.push_back(t * 7 % 5);
    const Classifier classifier(device(), train, labels, Metric::l2);
    const Classification expected = classifier.classify(queries, 9);
    const Classification found = classifier.classify(queries, 9, {.proposer = proposer, .query_tile = 7});
    CHECK(found.label == expected.label);
    CHECK(found.votes == expected.votes);
  });
}

TEST_CASE("proposer: a memory limit makes tiles smaller, not answers different") {
  for_each_proposer([&](Proposer proposer) {
    const Matrix queries = hard_rows(DataKind::clusters, Set::queries, 40, 8, Metric::l2);
    const Matrix train = hard_rows(DataKind::clusters, Set::train, 3000, 8, Metric::l2);
    // One thread, since on a CPU each thread needs its own scratch, however small the tiles.
    SearchOptions options{.threads = 1};
    const Trace whole = compare(proposer, queries, train, Metric::l2, 3, options);
    SearchOptions one_by_one = options;
    one_by_one.query_tile = 1;
    const Trace least = compare(proposer, queries, train, Metric::l2, 3, one_by_one);
    // The limit is a third of the workspace, but enough for one query; a proposer gets half of the limit.
    const std::size_t limit = std::max(whole.plan.workspace_bytes / 3, 2 * least.plan.workspace_bytes);
    options.memory_limit = limit;
    const Trace limited = compare(proposer, queries, train, Metric::l2, 3, options);
    CHECK(limited.plan.workspace_bytes <= limit);
  });
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
