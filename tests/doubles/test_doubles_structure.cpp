// Tests class structure in double precision against an oracle: docs/contract.md, section 11.
#include "common/environment.hpp"
#include "doubles/structure_oracle.hpp"

namespace kith::tests {
namespace {

/// Ways of a Structure whose answers must be the same bits.
std::vector<SearchOptions> ways_of_structure() {
  std::vector<SearchOptions> ways(5);
  ways[1].threads = 1;
  ways[2].threads = 3;
  ways[2].query_tile = 7;
  ways[2].train_tile = 5;
  ways[3].query_tile = 1;
  ways[3].train_tile = 64;
  ways[4].memory_limit = 6000;
  return ways;
}

TEST_SUITE("device") {
  TEST_CASE("doubles: class structure equals the oracle for every metric and kind of data") {
    std::mt19937 random(31);
    for (const Metric metric : structure_metrics)
      for (const DoubleData kind : all_double_data) {
        const std::int64_t n = 40 + static_cast<std::int64_t>(random() % 40),
                           cols = 1 + static_cast<std::int64_t>(random() % 5);
        CAPTURE_ALL(name(metric), static_cast<int>(kind), n, cols);
        const DoubleMatrix samples = double_rows(kind, n, cols, random);
        const StructureByOracle right(metric, samples, labels_by_chance(n, 5, random));
        const Structure structure(device(), samples, right.labels, metric);
        CHECK(structure.index().arithmetic() == Arithmetic::f64);
        check_structure(structure, right);
      }
  }

  TEST_CASE("doubles: class structure does not depend on threads, tiles or the memory limit") {
    std::mt19937 random(32);
    for (const Metric metric : {Metric::squared_l2, Metric::cosine, Metric::linf}) {
      const DoubleMatrix samples = double_rows(DoubleData::map, 301, 11, random);
      const StructureByOracle right(metric, samples, labels_by_chance(301, 4, random));
      const Structure structure(device(), samples, right.labels, metric);
      for (const SearchOptions& options : ways_of_structure()) {
        CAPTURE_ALL(name(metric), options.threads, options.query_tile, options.memory_limit);
        check_sums(structure, right, options);
        const std::vector<double> shown = right.distances();
        CHECK(structure.distances(20, 9, options).distance64 ==
              std::vector<double>(shown.begin() + 20 * 301, shown.begin() + 29 * 301));
      }
      CHECK(structure.distances(301, 0).distance64.empty());
    }
  }

  TEST_CASE("doubles: class structure of one class, of classes of one sample, and of equal samples") {
    std::mt19937 random(33);
    const DoubleMatrix samples = double_rows(DoubleData::one_ulp, 12, 2, random);
    std::vector<std::int64_t> own(12);
    std::iota(own.begin(), own.end(), -5);
    const DoubleMatrix equal{12, 2, std::vector<double>(24, 0.1)};
    for (const DoubleMatrix* rows : {&samples, &equal})
      for (const std::vector<std::int64_t>& labels : {std::vector<std::int64_t>(12, 9), own})
        check_structure(Structure(device(), *rows, labels), {Metric::squared_l2, *rows, labels});
    const DoubleMatrix one{1, 2, {1e200, 3}};
    check_structure(Structure(device(), one, own = {4}), {Metric::squared_l2, one, {4}});
  }

  TEST_CASE("doubles: class structure whose distances and sums overflow") {
    // Squares of 1e160 overflow, and so do sums of values near the largest double.
    const DoubleMatrix far{6, 1, {0, 1, 2, 1e160, 1.2e154, -1.2e154}};
    for (const std::vector<std::int64_t>& labels :
         {std::vector<std::int64_t>{1, 1, 1, 2, 3, 3}, {1, 2, 1, 2, 3, 3}, {1, 1, 1, 1, 1, 2}}) {
      const StructureByOracle right(Metric::squared_l2, far, labels);
      CHECK(
          std::any_of(right.mean.begin(), right.mean.end(), [](double value) { return std::isinf(value); }));
      check_structure(Structure(device(), far, labels), right);
    }
    const DoubleMatrix largest{5, 1, {0, 1.7e308, 1.6e308, 1.5e308, 1}};
    const std::vector<std::int64_t> labels = {1, 2, 2, 2, 1};
    check_structure(Structure(device(), largest, labels, Metric::l1), {Metric::l1, largest, labels});
  }

  TEST_CASE("doubles: sums of class structure keep what one double loses") {
    // The distances of sample 0 are 2^53, 1 and 1: a single double would lose the ones.
    const DoubleMatrix samples{4, 1, {0, 0x1p53, 1, -1}};
    const Structure structure(device(), samples, std::vector<std::int64_t>{1, 2, 2, 2}, Metric::l1);
    CHECK(structure.sample_classes().mean[1] == (0x1p53 + 2) / 3);
    CHECK((0x1p53 + 2) / 3 != 0x1p53 / 3);
    CHECK((0x1p53 + 1) + 1 == 0x1p53);
  }

  TEST_CASE("environment: class structure in double precision, whatever the host program has set") {
    std::mt19937 random(34);
    for (const DoubleData kind : {DoubleData::map, DoubleData::subnormal}) {
      const DoubleMatrix samples = double_rows(kind, 50, 3, random);
      const StructureByOracle right(Metric::l1, samples, labels_by_chance(50, 3, random));
      const std::vector<double> shown = right.distances();
      for (const HostileSetting setting : hostile_settings) {
        CAPTURE_ALL(static_cast<int>(kind), name(setting));
        SampleClasses sums;
        ClassMatrix matrix;
        std::vector<double> distances;
        std::vector<std::int64_t> labels;
        bool kept = false, kept_in_progress = true;
        {
          const HostileEnvironment hostile(setting);
          SearchOptions options;
          options.progress = [&](const Progress&) {
            kept_in_progress = kept_in_progress && hostile.still_set();
          };
          const Structure structure(device(), samples, right.labels, Metric::l1);
          sums = structure.sample_classes(options);
          matrix = structure.class_matrix(options);
          distances = structure.distances(0, 50, options).distance64;
          labels = structure.classify_distances(MatrixView<const double>(shown.data(), 50, 50));
          kept = hostile.still_set();
        }
        CHECK(kept);
        CHECK(kept_in_progress);
        CHECK(sums.smallest64 == right.smallest);
        CHECK(sums.mean == right.mean);
        check_matrix(matrix, right);
        CHECK(distances == shown);
        std::vector<std::int64_t> nearest;
        for (std::size_t i = 0; i < 50; ++i)
          nearest.push_back(right.labels[static_cast<std::size_t>(
              std::min_element(shown.begin() + static_cast<std::ptrdiff_t>(i * 50),
                               shown.begin() + static_cast<std::ptrdiff_t>(i * 50 + 50)) -
              (shown.begin() + static_cast<std::ptrdiff_t>(i * 50)))]);
        CHECK(labels == nearest);
      }
    }
  }
}

}  // namespace
}  // namespace kith::tests
