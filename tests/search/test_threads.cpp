// Tests one index that many threads search: docs/contract.md, section 7.
#include <atomic>
#include <thread>

#include "common/device.hpp"
#include "common/oracle.hpp"
#include "kith/classifier.hpp"
#include "kith/index.hpp"
#include "kith/unstable/stages.hpp"

namespace kith::tests {
namespace {

constexpr int team_size = 8;

/// Runs body(number) on eight threads at once. Returns what they find wrong, since doctest's checks must stay
/// on this thread.
template <class Body>
std::vector<std::string> in_parallel(const Body& body) {
  std::vector<std::string> wrong(team_size);
  std::vector<std::thread> team;
  std::atomic<int> waiting = team_size;
  for (int i = 0; i < team_size; ++i)
    team.emplace_back([&, i] {
      --waiting;
      while (waiting > 0) std::this_thread::yield();
      try {
        wrong[static_cast<std::size_t>(i)] = body(i);
      } catch (const std::exception& error) {
        wrong[static_cast<std::size_t>(i)] = error.what();
      }
    });
  for (std::thread& thread : team) thread.join();
  return wrong;
}

const std::vector<std::string> nothing_wrong(team_size);

template <class T>
std::vector<T> repeated(const std::vector<T>& values, int times) {
  std::vector<T> all;
  for (int i = 0; i < times; ++i) all.insert(all.end(), values.begin(), values.end());
  return all;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("threads: eight search one index at once, each with options of its own") {
  const Matrix queries = hard_rows(DataKind::clusters, Set::queries, 40, 11, Metric::l2);
  const Matrix train = hard_rows(DataKind::clusters, Set::train, 600, 11, Metric::l2);
  const Index index(device(), train, Metric::l2);
  const Neighbors few = neighbors(Metric::l2, queries, train, 3),
                  many = neighbors(Metric::l2, queries, train, 50);
  CHECK(in_parallel([&](int number) {
          for (int i = 0; i < 6; ++i) {
            SearchOptions options;
            if (number % 2) options.fused = false;
            options.train_tile = number % 3 ? 100 + number : 0;
            options.query_tile = i % 2 ? 9 : 0;
            const bool large = (number + i) % 2;
            const std::string wrong =
                difference(index.search(queries, large ? 50 : 3, options), large ? many : few);
            if (!wrong.empty()) return wrong;
          }
          return std::string();
        }) == nothing_wrong);
}

TEST_CASE("threads: eight search one index by the device's proposers at once, and ask for plans") {
  const std::int64_t n = 20000, dims = 40, k = 5;
  const Matrix train = hard_rows(DataKind::integers, Set::train, n, dims, Metric::l2);
  const Matrix queries = hard_rows(DataKind::integers, Set::queries, 40, dims, Metric::l2);
  const Index index(device(), train, Metric::l2);
  const Neighbors expected = index.search(queries, k, {.proposer = Proposer::none});
  const std::vector<Proposer> proposers = device().info().proposers;
  CHECK(in_parallel([&](int number) {
          for (const Proposer proposer : proposers) {
            if (proposer == Proposer::gemm) continue;  // its library may be missing
            const std::string wrong = difference(index.search(queries, k, {.proposer = proposer}), expected);
            if (!wrong.empty()) return wrong;
            index.plan(40 + number, k);
          }
          return std::string();
        }) == nothing_wrong);
}

TEST_CASE("threads: eight search snapshots of one index, while rows come and go") {
  const std::int64_t n = 600, dims = 7, k = 4;
  const Matrix train = hard_rows(DataKind::integers, Set::train, n, dims, Metric::l2);
  const Matrix queries = hard_rows(DataKind::integers, Set::queries, 20, dims, Metric::l2);
  const Index index(device(), train, Metric::l2);
  const Neighbors expected = neighbors(Metric::l2, queries, train, k);
  // Each thread removes the nearest row of query `number`, which then finds the next one.
  CHECK(in_parallel([&](int number) {
          const std::size_t q = static_cast<std::size_t>(number);
          const std::vector<std::int64_t> gone = {expected.row[q * k]};
          for (int i = 0; i < 3; ++i) {
            Index fewer = index.without(gone);
            if (number % 2) fewer = fewer.compact();
            if (number % 3 == 0) fewer = fewer.with(matrix(dims, {900, 900, 900, 900, 900, 900, 900}));
            const Neighbors found = fewer.search(queries, k - 1);
            for (std::size_t j = 0; j + 1 < k; ++j)
              if (found.row[q * (k - 1) + j] != expected.row[q * k + j + 1])
                return std::string("another row");
            const std::string wrong = difference(index.search(queries, k), expected);
            if (!wrong.empty()) return wrong;
          }
          return std::string();
        }) == nothing_wrong);
}

TEST_CASE("threads: a proposer gives way for eight at once") {
  const std::int64_t n = 20000, dims = 256, k = 5;
  const Index index(device(), Matrix{n, dims, std::vector<float>(size(n * dims), 1)});
  if (index.plan(64, k).proposer == Proposer::none) return;
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, 64, dims, Metric::l2);
  const Neighbors expected = index.search(queries, k, {.proposer = Proposer::none});
  CHECK(in_parallel([&](int) {
          for (int i = 0; i < 2; ++i) {
            index.plan(64, k);
            const std::string wrong = difference(index.search(queries, k), expected);
            if (!wrong.empty()) return wrong;
          }
          return std::string();
        }) == nothing_wrong);
}

TEST_CASE("threads: indexes, stages and classifiers on one device at once") {
  const Matrix queries = hard_rows(DataKind::grid, Set::queries, 20, 5, Metric::l1);
  const Matrix train = hard_rows(DataKind::grid, Set::train, 300, 5, Metric::l1);
  const Neighbors expected = neighbors(Metric::l1, queries, train, 10);
  const std::vector<float> values = chains(Metric::l1, queries, train);
  const std::vector<Key> lists = selected(values, 300, 10, 1);
  const std::vector<std::int64_t> labels(300, 4);
  CHECK(in_parallel([&](int number) {
          for (int i = 0; i < 4; ++i) {
            std::string wrong;
            switch ((number + i) % 4) {
              case 0:
                wrong = difference(Index(device(), train, Metric::l1).search(queries, 10), expected);
                break;
              case 1:
                wrong = difference(stages::distance(device(), queries, train, Metric::l1), values);
                break;
              case 2:
                wrong = difference(stages::select(device(), {values.data(), 20, 300}, 10).keys, lists);
                break;
              default:
                if (Classifier(device(), train, labels, Metric::l1).predict(queries, 10) !=
                    std::vector<std::int64_t>(20, 4))
                  wrong = "other labels";
            }
            if (!wrong.empty()) return wrong;
          }
          return std::string();
        }) == nothing_wrong);
}

/// Checks that a step gives `expected` in `out` with any number of host threads. Steps with less work would
/// not be shared among threads.
template <class Work, class T>
void check_team(spi::Device& device, Work work, const GuardedGrid<T>& out, const std::vector<T>& expected) {
  for (const std::uint32_t threads : {1u, 2u, 3u, 0u}) {
    CAPTURE_ALL(Work::name, threads);
    CHECK(run_step(device, work, threads) == "");
    CHECK(difference(out.inside(), expected) == "");
    CHECK(out.canaries_live());
  }
}

TEST_CASE("threads: steps that a team shares give what one thread gives") {
  const std::int64_t m = 96, n = 1500, dims = 9;
  const std::uint32_t k = 100;
  const Matrix queries = hard_rows(DataKind::grid, Set::queries, m, dims, Metric::l1);
  const Matrix train = hard_rows(DataKind::grid, Set::train, n, dims, Metric::l1);
  const std::vector<float> values = chains(Metric::l1, queries, train);
  const std::vector<Key> lists = selected(values, size(n), k, 3), nearest = merged(lists, 3, k);
  spi::with_device(device(), [&](spi::Device& opened) {
    const GuardedRows query_rows(opened, queries, opened.info.query_block, 3, train);
    const GuardedRows train_rows(opened, train, opened.info.train_block, 5, queries);
    const GuardedGrid<float> distances(opened, size(m), size(n), -inf);
    check_team(opened, spi::DistanceStep{Metric::l1, query_rows.rows(), train_rows.rows(), distances.grid()},
               distances, values);
    const GuardedGrid<Key> selected_lists(opened, size(m), 3 * k, 0);
    for (const Selector selector : opened.info.selectors)
      check_team(opened, spi::SelectStep{selector, distances.grid(), 0, k, 3, selected_lists.grid(), {}},
                 selected_lists, lists);
    if (opened.info.fused_max_k >= k)
      check_team(opened,
                 spi::NearestStep{
                     Metric::l1, query_rows.rows(), train_rows.rows(), 0, k, 3, selected_lists.grid(), {}},
                 selected_lists, lists);
    const GuardedGrid<Key> many(opened, 4 * size(m), 3 * k, 0, repeated(lists, 4));
    const GuardedGrid<Key> merged_lists(opened, 4 * size(m), k, 0);
    check_team(opened, spi::MergeStep{3, k, many.grid(), merged_lists.grid(), {}}, merged_lists,
               repeated(nearest, 4));
    const std::uint32_t classes = 300;
    std::vector<std::uint32_t> labels(size(n));
    for (std::size_t t = 0; t < labels.size(); ++t) labels[t] = static_cast<std::uint32_t>(t * t % classes);
    std::vector<std::uint32_t> votes(4 * size(m) * classes);
    for (std::size_t i = 0; i < 4 * nearest.size(); ++i)
      ++votes[i / k * classes + labels[row_of(nearest[i % nearest.size()])]];
    const GuardedGrid<std::uint32_t> table(opened, 1, size(n), 0, labels), winner(opened, 4 * size(m), 1, 0);
    const GuardedGrid<std::uint32_t> counts(opened, 4 * size(m), classes, 7);
    check_team(opened,
               spi::VoteStep{merged_lists.grid(), table.grid(), classes, counts.grid(), winner.grid()},
               counts, votes);
  });
}

#ifdef _OPENMP
TEST_CASE("threads: a host program that searches in an OpenMP loop of its own") {
  const Matrix queries = hard_rows(DataKind::clusters, Set::queries, 64, 9, Metric::l2);
  const Matrix train = hard_rows(DataKind::clusters, Set::train, 2000, 9, Metric::l2);
  const Index index(device(), train, Metric::l2);
  const Neighbors expected = neighbors(Metric::l2, queries, train, 7);
  std::vector<std::string> wrong(team_size);
#pragma omp parallel for num_threads(team_size)
  for (int i = 0; i < team_size; ++i)
    wrong[static_cast<std::size_t>(i)] = difference(index.search(queries, 7), expected);
  CHECK(wrong == nothing_wrong);
}
#endif

TEST_CASE("threads: eight open the device and let it go at once") {
  const Matrix train = matrix(1, {4, 2, 6});
  CHECK(in_parallel([&](int) {
          const Index index(open_device(device_spec()), train, Metric::l1);
          return difference(index.search(matrix(1, {5}), 3), Neighbors{1, 3, {1, 1, 3}, {0, 2, 1}});
        }) == nothing_wrong);
}

// All devices of a process share the kernels, and with them the local memory that these may take.
TEST_CASE("threads: eight devices, each with searches that take more local memory than others'") {
  const std::int64_t m = 16, n = 700, neighbours[] = {5, 100};
  std::vector<Matrix> queries, train;
  std::vector<Neighbors> expected;  // few and many, for each number of columns
  for (const std::int64_t dims : {40, 64, 130, 200}) {
    queries.push_back(hard_rows(DataKind::normal, Set::queries, m, dims, Metric::l2));
    train.push_back(hard_rows(DataKind::normal, Set::train, n, dims, Metric::l2));
    for (const std::int64_t k : neighbours)
      expected.push_back(neighbors(Metric::l2, queries.back(), train.back(), k));
  }
  CHECK(in_parallel([&](int number) {
          const std::size_t own = static_cast<std::size_t>(number) % train.size();
          const Index index(open_device(device_spec()), train[own], Metric::l2);
          for (std::size_t i = 0; i < 12; ++i) {
            const std::size_t many = (static_cast<std::size_t>(number) / train.size() + i) % 2;
            const std::string wrong =
                difference(index.search(queries[own], neighbours[many]), expected[2 * own + many]);
            if (!wrong.empty()) return wrong;
          }
          return std::string();
        }) == nothing_wrong);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
