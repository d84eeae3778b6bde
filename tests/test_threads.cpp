// Many threads, one index: docs/contract.md, section 7.
#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "device.hpp"
#include "kith/classifier.hpp"
#include "kith/index.hpp"
#include "kith/stages.hpp"
#include "oracle.hpp"

namespace kith::tests {
namespace {

constexpr int team_size = 8;

/// body(number) on eight threads at once. What they find wrong; doctest's checks stay on this thread.
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

TEST_SUITE_BEGIN("device");

TEST_CASE("threads: eight search one index at once, each with options of its own") {
  const Matrix queries = hard_rows(DataKind::clusters, Set::queries, 40, 11, Metric::l2);
  const Matrix train = hard_rows(DataKind::clusters, Set::train, 600, 11, Metric::l2);
  const Index index(device(), train, Metric::l2);
  const Neighbors few = neighbors(Metric::l2, queries, train, 3),
                  many = neighbors(Metric::l2, queries, train, 50);
  CHECK(in_parallel([&](int number) {
          for (int i = 0; i < 6; ++i) {
            PlanOptions options;
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

TEST_CASE("threads: eight open the device and let it go at once") {
  const Matrix train = matrix(1, {4, 2, 6});
  CHECK(in_parallel([&](int) {
          const Index index(open_device(device_spec()), train, Metric::l1);
          return difference(index.search(matrix(1, {5}), 3), Neighbors{1, 3, {1, 1, 3}, {0, 2, 1}});
        }) == nothing_wrong);
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
