// A host program may have set flush-to-zero, denormals-are-zero or another rounding mode. The answers must
// not change, and the settings must be restored: docs/contract.md, section 7.
#include <cfenv>
#include <thread>

#include "common/device.hpp"
#include "common/environment.hpp"
#include "common/oracle.hpp"
#include "kith/classifier.hpp"
#include "kith/index.hpp"
#include "kith/knn.hpp"
#include "kith/unstable/stages.hpp"

namespace kith::tests {
namespace {

/// Holds the answers of all functions that a host program may call, on data that flushing or upward rounding
/// would change.
struct Answers {
  Neighbors found;
  std::vector<float> distances;
  std::vector<Key> lists;
  std::vector<std::int64_t> labels;

  bool operator==(const Answers&) const = default;
};

Answers ask(const Device& on, const Matrix& queries, const Matrix& train, Metric metric,
            const SearchOptions& options) {
  std::vector<std::int64_t> labels;
  for (std::int64_t t = 0; t < train.rows; ++t) labels.push_back(t % 3);
  Answers answers;
  answers.found = Index(on, train, metric).search(queries, 7, options);
  answers.distances = stages::distance(on, queries, train, metric);
  answers.lists = stages::select(on, {answers.distances.data(), queries.rows, train.rows}, 7).keys;
  answers.labels = Classifier(on, train, labels, metric).predict(queries, 7, options);
  return answers;
}

TEST_SUITE_BEGIN("device");

TEST_CASE("environment: the scalar chain of these tests would notice each hostile setting") {
  // If these settings did not change a scalar chain, the next tests could not fail.
  const Matrix queries = hard_rows(DataKind::subnormal, Set::queries, 4, 5, Metric::squared_l2);
  const Matrix train = hard_rows(DataKind::subnormal, Set::train, 30, 5, Metric::squared_l2);
  const Matrix others = hard_rows(DataKind::normal, Set::train, 30, 5, Metric::squared_l2);
  const auto now = [&] {
    return std::pair(bits(chains(Metric::squared_l2, queries, train)),
                     bits(chains(Metric::squared_l2, train, others)));
  };
  const auto expected = now();
  for (const HostileSetting setting : hostile_settings) {
    if (setting == HostileSetting::trap || setting == HostileSetting::trap_inexact)
      continue;  // a trap would end the program
    CAPTURE(std::string(name(setting)));
    const HostileEnvironment hostile(setting);
    CHECK(now() != expected);
  }
}

TEST_CASE("environment: the same bits whatever the host program has set, and its setting is kept") {
  for (const DataKind kind : {DataKind::subnormal, DataKind::normal, DataKind::huge})
    for (const Metric metric : {Metric::squared_l2, Metric::l1, Metric::l2, Metric::cosine}) {
      const Matrix queries = hard_rows(kind, Set::queries, 20, 9, metric);
      const Matrix train = hard_rows(kind, Set::train, 100, 9, metric);
      for (const bool split : {false, true}) {
        SearchOptions options;
        if (split) {
          options.fused = false;
          options.train_tile = 33;
          options.query_tile = 7;
        }
        const Answers expected = ask(device(), queries, train, metric, options);
        CHECK(difference(expected.found, neighbors(metric, queries, train, 7)) == "");
        for (const HostileSetting setting : hostile_settings) {
          CAPTURE_ALL(workloads::name(kind), name(metric), name(setting));
          Answers actual;
          bool kept = false;
          {
            const HostileEnvironment hostile(setting);
            actual = ask(device(), queries, train, metric, options);
            kept = hostile.still_set();
          }
          CHECK(kept);
          CHECK(difference(actual.found, expected.found) == "");
          CHECK(difference(actual.distances, expected.distances) == "");
          CHECK(difference(actual.lists, expected.lists) == "");
          CHECK(actual.labels == expected.labels);
        }
      }
    }
}

TEST_CASE("environment: the setting is kept when a call throws, too") {
  const Matrix train = matrix(1, {1, 2});
  const Index index(device(), train);
  for (const HostileSetting setting : hostile_settings) {
    bool kept = false;
    {
      const HostileEnvironment hostile(setting);
      error_of([&] { index.search(train, 3); });
      error_of([&] { Index(device(), matrix(1, {inf}), Metric::l1); });
      error_of([&] { knn(device(), matrix(1, {inf}), train, 1); });
      error_of([&] { Index(device(), matrix(1, {std::nanf("")}), Metric::l1); });
      error_of(
          [&] { stages::distance(device(), matrix(1, {1e30f}), matrix(1, {1e30f}), Metric::negative_dot); });
      error_of([&] { stages::select(device(), matrix(2, {denormal, std::nanf("")}), 1); });
      SearchOptions options;
      options.progress = [](const Progress&) { throw 1; };
      try {
        index.search(train, 1, options);
      } catch (int) {
      }
      kept = hostile.still_set();
    }
    CHECK(kept);
  }
}

TEST_CASE("environment: rows of nothing but the smallest numbers") {
  const Matrix rows = matrix(2, {denormal, 0, /**/ 0, -denormal, /**/ -3 * denormal, denormal});
  for (const Metric metric :
       {Metric::l1, Metric::linf, Metric::squared_l2, Metric::negative_dot, Metric::cosine}) {
    const Neighbors expected = neighbors(metric, rows, rows, 3);
    for (const HostileSetting setting : hostile_settings) {
      CAPTURE_ALL(name(metric), name(setting));
      Neighbors found, once;
      {
        const HostileEnvironment hostile(setting);
        found = Index(device(), rows, metric).search(rows, 3);
        once = knn(device(), rows, rows, 3, metric);
      }
      CHECK(difference(found, expected) == "");
      CHECK(once == found);
    }
  }
}

TEST_CASE("environment: a progress callback runs under the caller's own setting") {
  const Matrix train = matrix(1, {1, 2});
  const Index index(device(), train);
  for (const HostileSetting setting : hostile_settings) {
    bool kept = false, kept_once = false;
    {
      const HostileEnvironment hostile(setting);
      SearchOptions options;
      options.progress = [&](const Progress&) { kept = hostile.still_set(); };
      index.search(train, 1, options);
      options.progress = [&](const Progress&) { kept_once = hostile.still_set(); };
      knn(device(), train, train, 1, Metric::l2, options);
    }
    CHECK(kept);
    CHECK(kept_once);
  }
}

TEST_CASE("environment: a device opened under a hostile setting is exact, and the setting is kept") {
  for (const HostileSetting setting : hostile_settings) {
    CAPTURE(std::string(name(setting)));
    bool kept = false;
    Answers actual;
    const Matrix queries = hard_rows(DataKind::subnormal, Set::queries, 9, 4, Metric::squared_l2);
    const Matrix train = hard_rows(DataKind::subnormal, Set::train, 60, 4, Metric::squared_l2);
    {
      const HostileEnvironment hostile(setting);
      std::thread([&] {  // a new thread inherits the setting
        const Device opened = open_device(device_spec());
        actual = ask(opened, queries, train, Metric::squared_l2, {});
      })
          .join();
      kept = hostile.still_set();
    }
    CHECK(kept);
    CHECK(difference(actual.found, neighbors(Metric::squared_l2, queries, train, 7)) == "");
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
