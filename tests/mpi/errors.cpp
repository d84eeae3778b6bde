// An error on one rank is thrown on all ranks, and the next search is right.
#include <limits>

#include "ranks.hpp"

namespace kith::tests {
namespace {

constexpr std::int64_t n = 90, dims = 3;

/// Returns the rank that fails: the last one, which differs from rank 0 if there are several.
int failing() {
  return ranks() - 1;
}

struct Shared {
  std::mt19937 random{11};
  Matrix train = hard_rows(DataKind::normal, Set::train, n, dims, Metric::negative_dot);
  Matrix queries = hard_rows(DataKind::normal, Set::queries, 4, dims, Metric::negative_dot);
  std::vector<Part> parts = parts_of(n, random);

  std::string error_of_index(Metric metric, const IndexOptions& options = {}) const {
    return error_of(
        [&] { mpi::Index(MPI_COMM_WORLD, my_device(), mine_of(train, parts), {}, metric, options); });
  }
};

}  // namespace

TEST_CASE("mpi: a bad row is named by its number on every rank") {
  for (const Metric metric : {Metric::l2, Metric::negative_dot}) {
    Shared shared;
    shared.train.values[size((n - 1) * dims + 1)] = std::numeric_limits<float>::quiet_NaN();
    const std::string alone = error_of([&] { Index(my_device(), shared.train.view(), metric); });
    CHECK(alone.find("row 89") != std::string::npos);
    CHECK(shared.error_of_index(metric) == alone);
  }
}

TEST_CASE("mpi: what one rank throws, all throw") {
  const auto on_all = [](const auto& failure) {
    return error_of([&] {
      mpi::together(MPI_COMM_WORLD, [&] {
        if (rank() == failing()) failure();
      });
    });
  };
  CHECK(on_all([] { open_device("nothing:0"); }) == error_of([] { open_device("nothing:0"); }));
  CHECK(on_all([] { throw Error(Errc::bad_file, "file: bad"); }) == "bad_file: file: bad");
  CHECK(on_all([] { throw std::bad_alloc(); }).starts_with("out_of_memory: mpi: the host has no memory"));
  CHECK(on_all([] { throw std::runtime_error("other"); }) == "device_failure: other");
  CHECK(on_all([] {}) == "nothing was thrown");
  CHECK(error_of([&] {
          mpi::together(MPI_COMM_WORLD,
                        [&] { throw Error(Errc::unsupported, "rank " + std::to_string(rank())); });
        }) == "unsupported: rank 0");
}

TEST_CASE("mpi: a search that fails on one rank, and one after it") {
  const Shared shared;
  const mpi::Index index(MPI_COMM_WORLD, my_device(), mine_of(shared.train, shared.parts), {},
                         Metric::negative_dot);
  const Neighbors right =
      Index(my_device(), shared.train.view(), Metric::negative_dot).search(shared.queries.view(), 4);
  std::stop_source stop;
  SearchOptions options;
  if (rank() == failing()) stop.request_stop();
  options.stop = stop.get_token();
  CHECK(error_of([&] { index.search(shared.queries.view(), 4, options); }).starts_with("interrupted: "));
  CHECK(index.search(shared.queries.view(), 4) == right);
  const float radius = 0;
  CHECK(error_of([&] {
          index.within(shared.queries.view(), {&radius, 1}, options);
        }).starts_with("interrupted: "));
  SearchOptions self;
  if (rank() == failing()) self.self = 0;
  CHECK(error_of([&] {
          index.search(shared.queries.view(), 4, self);
        }).starts_with("unsupported: search_keys: self"));
  CHECK(error_of([&] { index.search(shared.queries.view(), n + 1); }) ==
        "invalid_argument: search: k = 91 but the ranks hold 90 rows; choose k from 1 to 90");
  CHECK(error_of([&] { index.search(shared.queries.view(), 0); }).starts_with("invalid_argument: "));
  const std::vector<std::int64_t> labels(rank() == failing() ? 2 : std::size_t{n});
  CHECK(error_of([&] {
          index.classify(shared.queries.view(), 3, ShardLabels(labels));
        }).find("but there are labels of 2 rows") != std::string::npos);
  CHECK(index.search(shared.queries.view(), 4) == right);
}

TEST_CASE("mpi: ranks that were given different things") {
  Shared shared;
  const std::string other = "rank 0 and rank " + std::to_string(failing()) + " were given different ";
  const mpi::Index index(MPI_COMM_WORLD, my_device(), mine_of(shared.train, shared.parts));
  const bool alone = ranks() == 1, odd = rank() == failing();
  const auto refused = [&](const std::string& got, const std::string& what) {
    CHECK(got == (alone ? "nothing was thrown"
                        : "invalid_argument: mpi: " + other + what + "; give every rank the same"));
  };
  refused(error_of([&] { index.search(shared.queries.view(), odd ? 2 : 3); }), "k");
  refused(error_of([&] { index.search(shared.queries.view().slice(0, odd ? 2 : 3), 3); }),
          "numbers of queries");
  Matrix queries = shared.queries;
  if (odd) queries.values[5] += 1;
  refused(error_of([&] { index.search(queries.view(), 3); }), "queries");
  const std::vector<std::uint8_t> ones(shared.queries.values.size(), 1);
  const Element element = odd ? Element::u8 : Element::i8;
  refused(error_of([&] { index.search(RowsView(ones.data(), element, 4, dims), 3); }), "elements of queries");
  const float radius = odd ? 1 : 2;
  refused(error_of([&] { index.within(shared.queries.view(), {&radius, 1}); }), "radii");
  refused(shared.error_of_index(odd ? Metric::l1 : Metric::l2), "metrics");
  refused(shared.error_of_index(Metric::l2, {{odd ? 1 : 0}}), "features");
}

TEST_CASE("mpi: parameters of metrics that are missing, or not the same on all ranks") {
  const Shared shared;
  CHECK(shared.error_of_index(Metric::gower, {.categorical = {1}}) ==
        "invalid_argument: mpi: gower without ranges, of which each rank would have its own; give one a "
        "column, "
        "0 for categories");
  CHECK(
      shared.error_of_index(Metric::seuclidean) ==
      "invalid_argument: mpi: seuclidean without variances, of which each rank would have its own; give one "
      "a column");
  if (ranks() == 1) return;
  const auto differ = [](const std::string& what) {
    return "invalid_argument: mpi: rank 0 and rank " + std::to_string(failing()) + " were given different " +
           what + "; give every rank the same";
  };
  CHECK(shared.error_of_index(Metric::minkowski, {.p = rank() == failing() ? 1.0 : 2.0}) ==
        differ("metrics"));
  CHECK(shared.error_of_index(Metric::minkowski, {.p = rank() == failing() ? 3.0 : 4.0}) ==
        differ("parameters of the metric"));
}

TEST_CASE("mpi: rows that make no index") {
  const Shared shared;
  const RowsView none(shared.train.values.data(), 0, 0);
  const auto made = [&](const RowsView& rows, std::optional<std::int64_t> first) {
    return error_of([&] { mpi::Index(MPI_COMM_WORLD, my_device(), rows, first); });
  };
  CHECK(made(none, {}) == "invalid_argument: mpi: no rank has a row; give at least one");
  if (ranks() == 1) return;
  const RowsView two = RowsView(shared.train.view()).slice(0, 2);
  CHECK(made(two, rank() == 1 ? 1 : 10 * rank()) ==
        "invalid_argument: mpi: row 1 is with rank 0 and with rank 1; give first_row so that each row has "
        "one rank");
  CHECK(
      made(two, rank() == 1 ? std::nullopt : std::optional<std::int64_t>(9 * rank())) ==
      "invalid_argument: mpi: rank 0 was given a first_row and rank 1 none; give it to all ranks or to none");
  CHECK(
      made(two, rank() == 0 ? std::nullopt : std::optional<std::int64_t>(9 * rank())) ==
      "invalid_argument: mpi: rank 1 was given a first_row and rank 0 none; give it to all ranks or to none");
  const RowsView narrow(shared.train.values.data(), 2, rank() == 1 ? 2 : 3);
  CHECK(made(narrow, {}) ==
        "invalid_argument: mpi: rank 0 has rows of 3 columns and rank 1 of 2; give rows of the same columns");
}

}  // namespace kith::tests
