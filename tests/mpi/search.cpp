// A search of the rows of all ranks gives the bits of one Index of all rows.
#include <algorithm>
#include <cstdio>

#include "kith/index_file.hpp"
#include "ranks.hpp"

namespace kith::tests {
namespace {

const Device& cpu() {
  static const Device device = open_device("cpu");
  return device;
}

constexpr std::int64_t n = 403, m = 21, dims = 5;

}  // namespace

TEST_CASE("mpi: search and within are those of one index, by each metric") {
  std::mt19937 random(5);
  for (const Metric metric : all_metrics) {
    if (metric == Metric::hamming) continue;  // searches bits, which hard_rows() cannot make
    for (const DataKind kind : {DataKind::grid, DataKind::equal, DataKind::normal, DataKind::integers}) {
      const Matrix train = hard_rows(kind, Set::train, n, dims, metric),
                   queries = hard_rows(kind, Set::queries, m, dims, metric);
      const Index whole(cpu(), train.view(), metric);
      const std::vector<Part> parts = parts_of(n, random, kind == DataKind::grid);
      const mpi::Index shared(MPI_COMM_WORLD, my_device(), mine_of(train, parts), {}, metric);
      CAPTURE(name(metric));
      CAPTURE(name(kind));
      CHECK(shared.rows() == n);
      CHECK(shared.my_rows() == parts[size(rank())].rows);
      CHECK(shared.first_row() == parts[size(rank())].first);
      for (const std::int64_t k : {std::int64_t{1}, std::int64_t{7}, n})
        CHECK(shared.search(queries.view(), k) == whole.search(queries.view(), k));
      const float radius = whole.search(queries.view(), 9).distance[8];
      CHECK(shared.within(queries.view(), {&radius, 1}) == whole.within(queries.view(), {&radius, 1}));
      CHECK(shared.search_keys(queries.view(), n + 3) == whole.search_keys(queries.view(), n + 3));
    }
  }
}

TEST_CASE("mpi: one centre, learned from the rows of all ranks or given, is that of one index") {
  std::mt19937 random(8);
  const std::vector<double> train = map_points(n, 1), asked = map_points(m, 2);
  const MatrixView<const double> rows(train.data(), n, 3), queries(asked.data(), m, 3);
  IndexOptions learning, given;
  learning.learn_centre = true;
  const Index whole(cpu(), rows, Metric::l2, learning);
  given.centre = whole.centre();
  for (const bool one_empty : {false, true}) {
    const std::vector<Part> parts = parts_of(n, random, one_empty);
    const Part& mine = parts[size(rank())];
    for (const IndexOptions& options : {learning, given}) {
      const mpi::Index shared(MPI_COMM_WORLD, my_device(), rows.slice(mine.first, mine.rows), {}, Metric::l2,
                              options);
      CHECK(shared.search(queries, 7) == whole.search(queries, 7));
      const float radius = whole.search(queries, 9).distance[8];
      CHECK(shared.within(queries, {&radius, 1}) == whole.within(queries, {&radius, 1}));
    }
    // The ranks hold their parts in reverse order.
    const Part& other = parts[size(ranks() - 1 - rank())];
    const mpi::Index turned(MPI_COMM_WORLD, my_device(), rows.slice(other.first, other.rows), other.first,
                            Metric::l2, learning);
    CHECK(turned.search_keys(queries, 7) == whole.search_keys(queries, 7));
  }
  const std::string path = shared_path("kith-mpi-centre.kidx");
  mpi::together(MPI_COMM_WORLD, [&] {
    if (rank() == 0) save(whole, path);
  });
  CHECK(mpi::Index(MPI_COMM_WORLD, my_device(), path).search(queries, 7) == whole.search(queries, 7));
  mpi::together(MPI_COMM_WORLD, [&] {
    if (rank() == 0) std::remove(path.c_str());
  });
  const auto refused = [&](const IndexOptions& options, Metric metric) {
    std::string error;
    try {
      const mpi::Index none(MPI_COMM_WORLD, my_device(), rows, n * rank(), metric, options);
    } catch (const Error& caught) {
      error = caught.what();
    }
    return error;
  };
  CHECK(refused(learning, Metric::cosine).starts_with("index: a centre is for differences of values"));
  IndexOptions unlike = given;
  unlike.centre[0] += rank();
  if (ranks() > 1)
    CHECK(refused(unlike, Metric::l2) ==
          "mpi: rank 0 and rank 1 were given different centres; give every rank the same");
}

TEST_CASE("mpi: an index file, of which each rank opens a part") {
  const std::string path = shared_path("kith-mpi-test.kidx");
  for (const Metric metric : {Metric::l2, Metric::negative_dot, Metric::cosine}) {
    const Matrix train = hard_rows(DataKind::grid, Set::train, n, dims, metric),
                 queries = hard_rows(DataKind::grid, Set::queries, m, dims, metric);
    const std::vector<std::int64_t> removed = {0, 1, 2, 100, 401, 402};
    const Index whole = Index(cpu(), train.view(), metric, {{}, 70}).without(removed);
    mpi::together(MPI_COMM_WORLD, [&] {
      if (rank() == 0) save(whole, path);
    });
    const mpi::Index shared(MPI_COMM_WORLD, my_device(), path);
    CAPTURE(name(metric));
    CHECK(shared.metric() == metric);
    CHECK(shared.rows() == n - 6);
    CHECK(shared.search(queries.view(), 11) == whole.search(queries.view(), 11));
    CHECK(shared.search_keys(queries.view(), n) == whole.search_keys(queries.view(), n));
    const float radius = whole.search(queries.view(), 9).distance[8];
    CHECK(shared.within(queries.view(), {&radius, 1}) == whole.within(queries.view(), {&radius, 1}));
    mpi::together(MPI_COMM_WORLD, [] {});  // rank 0 must not write the next file before this
  }
  mpi::together(MPI_COMM_WORLD, [&] {  // fewer rows than ranks
    if (rank() == 0) save(Index(cpu(), matrix(1, {5, 7}), Metric::l2), path);
  });
  CHECK(mpi::Index(MPI_COMM_WORLD, my_device(), path).search(matrix(1, {6}).view(), 2).row ==
        std::vector<std::int64_t>{0, 1});
  mpi::together(MPI_COMM_WORLD, [&] {
    if (rank() == 0) std::remove(path.c_str());
  });
  std::string error;
  try {
    const mpi::Index missing(MPI_COMM_WORLD, my_device(), path);
  } catch (const Error& caught) {
    error = caught.what();
  }
  CHECK(error.starts_with("index file: " + path + ": it cannot be read: "));
}

TEST_CASE("mpi: rows that are numbered by the caller, in any order of ranks, and a filter") {
  std::mt19937 random(6);
  const Metric metric = Metric::squared_l2;
  const Matrix train = hard_rows(DataKind::grid, Set::train, n, dims, metric),
               queries = hard_rows(DataKind::grid, Set::queries, m, dims, metric);
  std::vector<Part> parts = parts_of(n, random);
  std::reverse(parts.begin(), parts.end());
  const Part& mine = parts[size(rank())];
  const mpi::Index shared(MPI_COMM_WORLD, my_device(), mine_of(train, parts), mine.first, metric);
  const Index whole(cpu(), train.view(), metric);
  CHECK(shared.first_row() == mine.first);
  CHECK(shared.search(queries.view(), 8) == whole.search(queries.view(), 8));
  check_filtered(shared, whole, queries.view(), 150, mine);
}

TEST_CASE("mpi: votes and means are those of one classifier and one regressor") {
  std::mt19937 random(7);
  const Metric metric = Metric::l2;
  const Matrix train = hard_rows(DataKind::integers, Set::train, n, dims, metric),
               queries = hard_rows(DataKind::integers, Set::queries, m, dims, metric);
  const auto [labels, values] = answers_of(n);
  const mpi::Index shared(MPI_COMM_WORLD, my_device(), mine_of(train, parts_of(n, random)), {}, metric);
  const Classifier classifier(cpu(), train.view(), labels, metric);
  const MatrixView<const double> columns(values.data(), n, 1);
  const Regressor regressor(cpu(), train.view(), columns, metric);
  const ShardLabels shard_labels(labels);
  const ShardValues shard_values(columns);
  const float radius = 150;
  for (const Weights weights : {Weights::uniform, Weights::distance}) {
    VotingOptions voting{.weights = weights};
    const Classification here = shared.classify(queries.view(), 9, shard_labels, voting),
                         there = classifier.classify(queries.view(), 9, voting);
    CHECK(here.label == there.label);
    CHECK(here.votes == there.votes);
    CHECK(bits(here.scores) == bits(there.scores));
    CHECK(here.neighbors == there.neighbors);
    CHECK(shared.classify_within(queries.view(), {&radius, 1}, shard_labels, voting).label ==
          classifier.classify_within(queries.view(), {&radius, 1}, voting).label);
    CHECK(shared.regress(queries.view(), 9, shard_values, voting).value ==
          regressor.regress(queries.view(), 9, voting).value);
    const RadiusRegression far = shared.regress_within(queries.view(), {&radius, 1}, shard_values, voting);
    CHECK(far.neighbors == regressor.regress_within(queries.view(), {&radius, 1}, voting).neighbors);
  }
}

TEST_CASE("mpi: leave one out, by merged keys") {
  std::mt19937 random(8);
  const Metric metric = Metric::l1;
  const Matrix train = hard_rows(DataKind::grid, Set::train, n, dims, metric);
  const mpi::Index shared(MPI_COMM_WORLD, my_device(), mine_of(train, parts_of(n, random, true)), {}, metric);
  std::vector<std::int64_t> own(size(n));
  for (std::size_t row = 0; row < own.size(); ++row) own[row] = static_cast<std::int64_t>(row);
  SearchOptions others{.self = 0};
  CHECK(finish(metric, leave_out(shared.search_keys(train.view(), 6), own)) ==
        Index(cpu(), train.view(), metric).search(train.view(), 5, others));
}

TEST_CASE("mpi: keys that are reduced in several tiles") {
  // 70 MiB of keys, of which 256 KiB are sent at a time.
  const std::int64_t rows = 3000, asked = 2100, k = 2900;
  const Metric metric = Metric::squared_l2;
  const Matrix train = hard_rows(DataKind::grid, Set::train, rows, 2, metric),
               queries = hard_rows(DataKind::grid, Set::queries, asked, 2, metric);
  std::mt19937 random(9);
  const mpi::Index shared(MPI_COMM_WORLD, my_device(), mine_of(train, parts_of(rows, random)), {}, metric);
  CHECK(digest(shared.search_keys(queries.view(), k)) ==
        digest(Index(cpu(), train.view(), metric).search_keys(queries.view(), k)));
}

}  // namespace kith::tests
