// A search in double precision of the rows of all ranks gives the bits of one Index of all rows.
#include <algorithm>
#include <cstdio>

#include "doubles/doubles_oracle.hpp"
#include "kith/index_file.hpp"
#include "ranks.hpp"

namespace kith::tests {
namespace {

const Device& cpu() {
  static const Device device = open_device("cpu");
  return device;
}

constexpr std::int64_t n = 211, m = 13, dims = 3;

RowsView part_of(const DoubleMatrix& rows, const std::vector<Part>& parts) {
  const Part& part = parts[size(rank())];
  return RowsView(rows).slice(part.first, part.rows);
}

/// Compares what a search for k and one within a radius find.
void check_like(const mpi::Index& shared, const Index& whole, const RowsView& queries) {
  CHECK(shared.arithmetic() == whole.arithmetic());
  for (const std::int64_t k : {std::int64_t{1}, std::int64_t{9}, shared.rows()})
    CHECK(shared.search(queries, k) == whole.search(queries, k));
  CHECK(shared.search_keys(queries, n + 3) == whole.search_keys(queries, n + 3));
  const std::vector<double> radius = {whole.search(queries, 9).distance64[8]};
  CHECK(shared.within(queries, radius) == whole.within(queries, radius));
  CHECK(shared.within_keys(queries, radius) == whole.within_keys(queries, radius));
  const std::vector<float> narrow(size(queries.rows), static_cast<float>(radius[0]));
  CHECK(shared.within(queries, narrow) == whole.within(queries, narrow));
}

}  // namespace

TEST_CASE("mpi doubles: search and within are those of one index and of the oracle") {
  std::mt19937 random(21);
  for (const Metric metric : all_metrics) {
    if (metric == Metric::hamming) continue;  // has no doubles
    for (const DoubleData kind : all_double_data) {
      const DoubleMatrix train = double_rows(kind, n, dims, random),
                         queries = double_rows(kind, m, dims, random);
      CAPTURE(name(metric));
      CAPTURE(static_cast<int>(kind));
      const Index whole(cpu(), train, metric);
      const std::vector<Part> parts = parts_of(n, random, kind == DoubleData::map);
      const mpi::Index shared(MPI_COMM_WORLD, my_device(), part_of(train, parts), {}, metric);
      CHECK(shared.arithmetic() == Arithmetic::f64);
      CHECK(shared.my_rows() == parts[size(rank())].rows);
      if (error_of([&] { whole.search(queries, 1); }) != "nothing was thrown") {  // inf - inf
        CHECK(
            error_of([&] { shared.search(queries, 1); }).starts_with("invalid_argument: search: query row "));
        continue;
      }
      check_like(shared, whole, queries);
      const auto all = all_by_oracle(metric, train, queries, every_row);
      CHECK(shared.search(queries, 9) == nearest_by_oracle(metric, all, 9));
    }
  }
}

TEST_CASE("mpi doubles: near ties and equal rows on several ranks") {
  DoubleMatrix train{n, 1, {}};
  for (std::int64_t r = 0; r < n; ++r)  // four rows of each value; neighbouring values are one float
    train.values.push_back(5334000.0 + static_cast<double>(r * 7 % n / 4) / 1048576);
  const DoubleMatrix queries{2, 1, {5334000.0, 5334000.00001}};
  std::mt19937 random(22);
  for (const bool one_empty : {false, true}) {
    const mpi::Index shared(MPI_COMM_WORLD, my_device(), part_of(train, parts_of(n, random, one_empty)), {},
                            Metric::l1);
    check_like(shared, Index(cpu(), train, Metric::l1), queries);
  }
}

TEST_CASE("mpi doubles: elements of any kind, by the arithmetic that is asked for") {
  std::mt19937 random(23);
  const Metric metric = Metric::squared_l2;
  const Matrix train = hard_rows(DataKind::normal, Set::train, n, dims, metric),
               queries = hard_rows(DataKind::normal, Set::queries, m, dims, metric);
  IndexOptions options;
  options.arithmetic = Arithmetic::f64;
  options.features = {0, 2};
  const std::vector<Part> parts = parts_of(n, random, true);
  const mpi::Index shared(MPI_COMM_WORLD, my_device(), mine_of(train, parts), {}, metric, options);
  const Index whole(cpu(), train.view(), metric, options);
  check_like(shared, whole, queries.view());
  check_like(shared, whole, double_rows(DoubleData::normal, m, dims, random));
  // Doubles that floats propose for, and floats, on different ranks.
  const std::vector<double> wide(train.values.begin(), train.values.end());
  const DoubleMatrix same{n, dims, wide};
  const RowsView mine = rank() % 2 == 0 ? part_of(same, parts) : mine_of(train, parts);
  check_like(mpi::Index(MPI_COMM_WORLD, my_device(), mine, {}, metric, options), whole, queries.view());
}

TEST_CASE("mpi doubles: an index file, of which each rank opens a part") {
  const std::string path = shared_path("kith-mpi-doubles.kidx");
  std::mt19937 random(24);
  for (const Metric metric : {Metric::l2, Metric::negative_dot, Metric::cosine}) {
    const DoubleMatrix train = double_rows(DoubleData::map, n, dims, random),
                       queries = double_rows(DoubleData::map, m, dims, random);
    IndexOptions numbered;
    numbered.first_row = 70;
    const Index whole =
        Index(cpu(), train, metric, numbered).without(std::vector<std::int64_t>{0, 1, 2, 100, 209, 210});
    mpi::together(MPI_COMM_WORLD, [&] {
      if (rank() == 0) save(whole, path);
    });
    CAPTURE(name(metric));
    check_like(mpi::Index(MPI_COMM_WORLD, my_device(), path), whole, queries);
    mpi::together(MPI_COMM_WORLD, [] {});  // rank 0 must not write the next file before this
  }
  mpi::together(MPI_COMM_WORLD, [&] {  // fewer rows than ranks
    if (rank() == 0) save(Index(cpu(), DoubleMatrix{1, 1, {0.1}}, Metric::l2), path);
  });
  const mpi::Index few(MPI_COMM_WORLD, my_device(), path);
  CHECK(few.arithmetic() == Arithmetic::f64);
  CHECK(few.search(DoubleMatrix{1, 1, {0.3}}, 1).distance64 == std::vector<double>{0.3 - 0.1});
  mpi::together(MPI_COMM_WORLD, [&] {
    if (rank() == 0) std::remove(path.c_str());
  });
}

TEST_CASE("mpi doubles: rows in any order of ranks, a filter, and leave one out") {
  std::mt19937 random(25);
  const DoubleMatrix train = double_rows(DoubleData::seconds, n, dims, random),
                     queries = double_rows(DoubleData::seconds, m, dims, random);
  std::vector<Part> parts = parts_of(n, random);
  std::reverse(parts.begin(), parts.end());
  const Part& mine = parts[size(rank())];
  const mpi::Index shared(MPI_COMM_WORLD, my_device(), part_of(train, parts), mine.first);
  const Index whole(cpu(), train);
  check_filtered(shared, whole, queries, 80, mine);
  std::vector<std::int64_t> own;
  for (std::int64_t row = 0; row < n; ++row) own.push_back(row);
  SearchOptions others;
  others.self = 0;
  CHECK(finish(default_metric, leave_out(shared.search_keys(train, 6), own)) ==
        whole.search(train, 5, others));
}

TEST_CASE("mpi doubles: votes and means are those of one classifier and one regressor") {
  std::mt19937 random(26);
  const DoubleMatrix train = double_rows(DoubleData::map, n, dims, random),
                     queries = double_rows(DoubleData::map, m, dims, random);
  const auto [labels, values] = answers_of(n);
  const MatrixView<const double> columns(values.data(), n, 1);
  const mpi::Index shared(MPI_COMM_WORLD, my_device(), part_of(train, parts_of(n, random)));
  const Classifier classifier(cpu(), train, labels);
  const Regressor regressor(cpu(), train, columns);
  const ShardLabels shard_labels(labels);
  const ShardValues shard_values(columns);
  const std::vector<double> radius = {classifier.classify(queries, 30).neighbors.distance64[29]};
  for (const Weights weights : {Weights::uniform, Weights::distance}) {
    const VotingOptions voting{.weights = weights};
    const Classification here = shared.classify(queries, 9, shard_labels, voting),
                         there = classifier.classify(queries, 9, voting);
    CHECK(here.label == there.label);
    CHECK(here.votes == there.votes);
    CHECK(here.scores64 == there.scores64);
    CHECK(here.neighbors == there.neighbors);
    CHECK(shared.regress(queries, 9, shard_values, voting).value ==
          regressor.regress(queries, 9, voting).value);
    CHECK(shared.classify_within(queries, radius, shard_labels, voting).label ==
          classifier.classify_within(queries, radius, voting).label);
    CHECK(shared.regress_within(queries, radius, shard_values, voting).neighbors ==
          regressor.regress_within(queries, radius, voting).neighbors);
  }
}

TEST_CASE("mpi doubles: keys that are reduced in several tiles") {
  const std::int64_t rows = 900, asked = 700, k = 850;  // 9 MiB of keys, of which 256 KiB are sent at a time
  std::mt19937 random(27);
  const DoubleMatrix train = double_rows(DoubleData::grid, rows, 2, random),
                     queries = double_rows(DoubleData::grid, asked, 2, random);
  const mpi::Index shared(MPI_COMM_WORLD, my_device(), part_of(train, parts_of(rows, random)));
  CHECK(digest(shared.search_keys(queries, k)) == digest(Index(cpu(), train).search_keys(queries, k)));
}

TEST_CASE("mpi doubles: ranks that differ") {
  std::mt19937 random(28);
  const DoubleMatrix train = double_rows(DoubleData::normal, n, dims, random),
                     queries = double_rows(DoubleData::normal, m, dims, random);
  const Matrix floats = hard_rows(DataKind::normal, Set::train, n, dims, Metric::l2);
  const std::vector<Part> parts = parts_of(n, random, true);
  if (ranks() < 3) return;
  const bool odd = rank() == 1;
  CHECK(
      error_of([&] {
        mpi::Index(MPI_COMM_WORLD, my_device(), odd ? mine_of(floats, parts) : part_of(train, parts));
      }) ==
      "invalid_argument: mpi: rank 0 computes in f64 and rank 1 computes in f32; give all ranks rows of one "
      "element, or choose one arithmetic for all");
  const mpi::Index shared(MPI_COMM_WORLD, my_device(), part_of(train, parts));
  const auto refused = [](const std::string& got, const std::string& what) {
    CHECK(got == "invalid_argument: mpi: rank 0 and rank 1 were given different " + what +
                     "; give every rank the same");
  };
  DoubleMatrix other = queries;
  if (odd) other.values[4] = std::nextafter(other.values[4], 9.0);
  refused(error_of([&] { shared.search(other, 3); }), "queries");
  const double radius = odd ? std::nextafter(1.0, 2.0) : 1.0;
  refused(error_of([&] { shared.within(queries, {&radius, 1}); }), "radii");
  const float narrow = 1;
  const double wide = 1;
  refused(error_of([&] {
            if (odd)
              shared.within(queries, {&narrow, 1});
            else
              shared.within(queries, {&wide, 1});
          }),
          "elements of radii");
  CHECK(shared.search(queries, 3) == Index(cpu(), train).search(queries, 3));
}

}  // namespace kith::tests
