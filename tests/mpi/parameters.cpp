// Metrics with parameters: a search of the rows of all ranks gives the bits of one Index of all rows.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "doubles/doubles_oracle.hpp"
#include "kith/index_file.hpp"
#include "ranks.hpp"

namespace kith::tests {
namespace {

constexpr std::int64_t n = 150, m = 9, dims = 4;

struct Asked {
  Metric metric;
  IndexOptions options;
  double parameter;
};

std::vector<Asked> asked_of(Arithmetic arithmetic) {
  std::vector<Asked> all(8);
  all[0] = {Metric::minkowski, {.p = 3}, 3};
  all[1] = {Metric::minkowski, {.column_weights = {1, 0, 2, 0.5}, .p = 1.5}, 1.5};
  all[2] = {Metric::minkowski, {.features = {1, 3}, .p = 1}, 0};
  all[3] = {Metric::gower, {.categorical = {1, 3}, .ranges = {4, 0, 2.5, 0}}, 4};
  all[4] = {Metric::gower, {.features = {0, 3}, .ranges = {4, 1, 2.5, 3}}, 2};
  all[5] = {Metric::matching, {}, 4};
  all[6] = {Metric::canberra, {}, 0};
  all[7] = {Metric::seuclidean, {.variances = {1, 2, 3, 0.5}}, 0};
  for (Asked& one : all)  // with p of 1 it is l1, which takes doubles in double precision alone
    one.options.arithmetic = one.options.p == 1 ? Arithmetic::f64 : arithmetic;
  return all;
}

/// Returns rows of which every second column holds whole numbers, and so does every value for matching.
DoubleMatrix rows_for(Metric metric, std::int64_t count, std::mt19937& random) {
  DoubleMatrix rows = double_rows(DoubleData::normal, count, dims, random);
  for (std::size_t i = 0; i < rows.values.size(); ++i)
    if (i % 2 == 1 || metric == Metric::matching) rows.values[i] = std::floor(2 * rows.values[i]);
  return rows;
}

/// Returns the distance at a place, as a radius.
std::vector<double> radius_at(std::size_t place, const Neighbors& found) {
  const bool doubles = found.arithmetic == Arithmetic::f64;
  return {doubles ? found.distance64[place] : static_cast<double>(found.distance[place])};
}

void check_like(const mpi::Index& shared, const Index& whole, const RowsView& queries) {
  CHECK(shared.shown() == whole.shown());
  const Neighbors right = whole.search(queries, n);
  CHECK(shared.search(queries, n) == right);
  CHECK(finish(shared.shown(), shared.search_keys(queries, n)) == right);
  const std::vector<double> radius = radius_at(20, right);
  CHECK(shared.within(queries, radius) == whole.within(queries, radius));
}

}  // namespace

TEST_CASE("mpi: metrics with parameters are those of one index, and of its file") {
  std::mt19937 random(446);
  const std::string path = shared_path("kith-mpi-parameters.kidx");
  for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64})
    for (const Asked& asked : asked_of(arithmetic)) {
      CAPTURE(name(asked.metric));
      const DoubleMatrix train = rows_for(asked.metric, n, random),
                         queries = rows_for(asked.metric, m, random);
      const Index whole(open_device("cpu"), train, asked.metric, asked.options);
      CHECK(whole.shown().parameter == asked.parameter);
      for (const bool one_empty : {false, true}) {
        const Part mine = parts_of(n, random, one_empty)[size(rank())];
        check_like(mpi::Index(MPI_COMM_WORLD, my_device(), RowsView(train).slice(mine.first, mine.rows), {},
                              asked.metric, asked.options),
                   whole, queries);
      }
      mpi::together(MPI_COMM_WORLD, [&] {
        if (rank() == 0) save(whole, path);
      });
      check_like(mpi::Index(MPI_COMM_WORLD, my_device(), path), whole, queries);
      mpi::together(MPI_COMM_WORLD, [] {});  // rank 0 must not write the next file before this
    }
  mpi::together(MPI_COMM_WORLD, [&] {
    if (rank() == 0) std::remove(path.c_str());
  });
}

TEST_CASE("mpi: votes and means by metrics with parameters") {
  std::mt19937 random(447);
  const auto [labels, values] = answers_of(n);
  const MatrixView<const double> columns(values.data(), n, 1);
  const ShardLabels shard_labels(labels);
  const ShardValues shard_values(columns);
  const VotingOptions voting{.weights = Weights::distance};
  for (const Asked& asked : asked_of(Arithmetic::f32)) {
    CAPTURE(name(asked.metric));
    const DoubleMatrix train = rows_for(asked.metric, n, random), queries = rows_for(asked.metric, m, random);
    const Part mine = parts_of(n, random)[size(rank())];
    const mpi::Index shared(MPI_COMM_WORLD, my_device(), RowsView(train).slice(mine.first, mine.rows), {},
                            asked.metric, asked.options);
    const Index whole(open_device("cpu"), train, asked.metric, asked.options);
    const Classifier classifier(whole, {labels.data(), n, 1});
    const Regressor regressor(whole, columns);
    const Classification here = shared.classify(queries, 9, shard_labels, voting),
                         there = classifier.classify(queries, 9, voting);
    CHECK(here.label == there.label);
    CHECK(bits(here.scores) == bits(there.scores));
    CHECK(here.neighbors == there.neighbors);
    CHECK(shared.regress(queries, 9, shard_values, voting).value ==
          regressor.regress(queries, 9, voting).value);
    const std::vector<double> radius = radius_at(8, there.neighbors);
    CHECK(shared.classify_within(queries, radius, shard_labels, voting).neighbors ==
          classifier.classify_within(queries, radius, voting).neighbors);
    CHECK(shared.regress_within(queries, radius, shard_values, voting).neighbors ==
          regressor.regress_within(queries, radius, voting).neighbors);
  }
}

}  // namespace kith::tests
