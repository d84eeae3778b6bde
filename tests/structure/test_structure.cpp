// Tests how classes of samples lie relative to one another: docs/contract.md, section 11.
#include "structure/structure_cases.hpp"

namespace kith::tests {
namespace {

/// Sums raw distances in long double and, for comparison, in float.
struct Oracle {
  std::vector<long double> exact;  ///< [n, classes]
  std::vector<float> plain, smallest;
  std::vector<std::size_t> sizes;

  Oracle(Metric metric, const Matrix& samples, const std::vector<std::uint32_t>& codes, std::size_t classes)
      : exact(codes.size() * classes),
        plain(codes.size() * classes),
        smallest(codes.size() * classes, inf),
        sizes(classes) {
    const std::vector<float> values = chains(metric, samples, samples);
    for (const std::uint32_t code : codes) ++sizes[code];
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t at = i / codes.size() * classes + codes[i % codes.size()];
      exact[at] += static_cast<long double>(values[i]);
      plain[at] += values[i];
      smallest[at] = std::min(smallest[at], values[i]);
    }
  }

  /// Returns the mean distance between two classes, from the sums of the samples.
  long double pair(const std::vector<std::uint32_t>& codes, std::size_t a, std::size_t b) const {
    long double sum = 0;
    for (std::size_t i = 0; i < codes.size(); ++i)
      if (codes[i] == a) sum += exact[i * sizes.size() + b];
    const std::size_t others = a == b ? std::max<std::size_t>(1, sizes[a] - 1) : sizes[b];
    return sum / static_cast<long double>(sizes[a] * others);
  }
};

double relative_error(double found, long double exact) {
  if (exact == 0) return std::fabs(found);
  return static_cast<double>(std::fabs((static_cast<long double>(found) - exact) / exact));
}

TEST_SUITE_BEGIN("device");

TEST_CASE("structure: seven points on a line, by hand") {
  const Structure structure = seven();
  CHECK(structure.classes() == Labels{10, 20, 30});
  CHECK(structure.sizes() == Numbers{1, 2, 4});
  CHECK(structure.codes() == std::vector<std::uint32_t>{1, 0, 2, 2, 1, 2, 2});
  const SampleClasses to = structure.sample_classes();
  CHECK(to.samples == 7);
  CHECK(to.classes == 3);
  CHECK(to.smallest == std::vector<float>{16,     0, 36, /**/ 0,   4,  100, /**/ 100, 36, 0, /**/ 169, 81, 0,
                                          /**/ 4, 0, 64, /**/ 100, 36, 0,   /**/ 169, 81, 0});
  CHECK(to.mean == std::vector<double>{16,   2,        58.5,     /**/ 0, 10,       134.5,  /**/ 100,
                                       50,   4.5,      /**/ 169, 101,    4.5,      /**/ 4, 2,
                                       92.5, /**/ 100, 50,       4.5,    /**/ 169, 101,    4.5});
  const ClassMatrix matrix = structure.class_matrix();
  CHECK(matrix.classes == 3);
  CHECK(matrix.mean == std::vector<double>{0, 10, 134.5, /**/ 10, 4, 75.5, /**/ 134.5, 75.5, 6});
  CHECK(matrix.informativeness == 22);
  const Neighbors nearest = structure.nearest_other();
  CHECK(nearest.row == Numbers{4, 4, 5, 6, 0, 2, 3});  // the point at 2 is as near to 0 as to 4
  CHECK(nearest.distance == std::vector<float>{4, 4, 0, 0, 4, 0, 0});
  CHECK(structure.errors() == std::vector<SampleError>{{1, 4}});
}

TEST_CASE("structure: other metrics: l2 averages squares, l1 and linf what they are") {
  CHECK(seven(Metric::l2).class_matrix().mean == seven().class_matrix().mean);
  CHECK(seven(Metric::l2).distances(1, 1).distance == std::vector<float>{4, 0, 10, 13, 2, 10, 13});
  for (const Metric metric : {Metric::l1, Metric::linf}) {
    const ClassMatrix matrix = seven(metric).class_matrix();
    CHECK(matrix.mean == std::vector<double>{0, 3, 11.5, /**/ 3, 2, 8.5, /**/ 11.5, 8.5, 2});
    CHECK(matrix.informativeness == 5.75);
  }
}

TEST_CASE("structure: distances by tiles are those of the contract") {
  const Matrix samples = hard_rows(DataKind::normal, Set::train, 83, 5, Metric::l2);
  const Labels labels = workloads::make_labels(3, 83, 4);
  for (const Metric metric : {Metric::squared_l2, Metric::l2, Metric::cosine, Metric::l1, Metric::linf}) {
    const Structure structure(device(), samples, labels, metric);
    std::vector<float> expected = chains(metric, samples, samples);
    for (float& value : expected) value = finished(metric, value);
    CHECK(difference(bits(structure.distances(0, 83).distance), bits(expected)) == "");
    const std::vector<float> part = structure.distances(20, 9, {.query_tile = 2, .train_tile = 7}).distance;
    const std::vector<float> middle(expected.begin() + 20 * 83, expected.begin() + 29 * 83);
    CHECK(difference(bits(part), bits(middle)) == "");
    CHECK(structure.distances(83, 0).distance.empty());
  }
}

TEST_CASE("structure: sums lose hardly anything, where plain floats lose much") {
  const std::int64_t n = 1500;
  Matrix samples = hard_rows(DataKind::uniform, Set::train, n, 3, Metric::squared_l2);
  // Makes small and large distances.
  for (std::int64_t i = 0; i < n; i += 3) samples.values[size(3 * i)] += 1000;
  const Labels labels = workloads::make_labels(9, n, 2);
  const Structure structure(device(), samples, labels);
  const Oracle oracle(Metric::squared_l2, samples, structure.codes(), 2);
  const SampleClasses to = structure.sample_classes();
  CHECK(difference(bits(to.smallest), bits(oracle.smallest)) == "");
  double worst = 0, worst_plain = 0;
  for (std::size_t i = 0; i < to.mean.size(); ++i) {
    worst = std::max(worst,
                     relative_error(to.mean[i] * static_cast<double>(oracle.sizes[i % 2]), oracle.exact[i]));
    worst_plain =
        std::max(worst_plain, relative_error(static_cast<double>(oracle.plain[i]), oracle.exact[i]));
  }
  CHECK(worst < 1e-10);
  CHECK(worst_plain > 1e-7);
  const ClassMatrix matrix = structure.class_matrix();
  for (std::size_t a = 0; a < 2; ++a)
    for (std::size_t b = 0; b < 2; ++b)
      CHECK(relative_error(matrix.mean[a * 2 + b],
                           oracle.pair(structure.codes(), std::min(a, b), std::max(a, b))) < 1e-10);
}

TEST_CASE("structure: the same bits by every device and every tile") {
  const std::int64_t n = 211;
  const Device cpu = open_device("cpu");
  for (const DataKind kind : {DataKind::normal, DataKind::clusters})
    for (const Metric metric : {Metric::l2, Metric::cosine, Metric::linf}) {
      const Matrix samples = hard_rows(kind, Set::train, n, 6, metric);
      const Labels labels = workloads::make_labels(4, n, 7);
      const Structure right(cpu, samples, labels, metric), structure(device(), samples, labels, metric);
      const SampleClasses to = right.sample_classes();
      const ClassMatrix matrix = right.class_matrix();
      CHECK(difference(structure.nearest_other(), right.nearest_other()) == "");
      CHECK(structure.errors({.query_tile = 17}) == right.errors());
      for (const SearchOptions& options : {SearchOptions{.query_tile = 0, .train_tile = 0},
                                           {.query_tile = 1, .train_tile = 211},
                                           {.query_tile = 50, .train_tile = 13},
                                           {.query_tile = 211, .train_tile = 100}}) {
        CAPTURE_ALL(options.query_tile, options.train_tile);
        check_equal(structure.sample_classes(options), to);
        check_equal(structure.class_matrix(options), matrix);
      }
      check_equal(structure.class_matrix({.memory_limit = 60000, .threads = 1}), matrix);
    }
}

TEST_CASE("structure: the nearest other sample is the oracle's, under duplicates, too") {
  const std::int64_t n = 120;
  const Matrix samples = hard_rows(DataKind::grid, Set::train, n, 2, Metric::l1);
  const Labels labels = workloads::make_labels(5, n, 3);
  const Structure structure(device(), samples, labels, Metric::l1);
  const std::vector<float> values = chains(Metric::l1, samples, samples);
  std::vector<SampleError> errors;
  Numbers nearest;
  for (std::int64_t i = 0; i < n; ++i) {
    auto list = sorted(std::span(values).subspan(size(i * n), size(n)), 0, size(n));
    std::erase_if(list, [&](const Candidate& other) { return other.second == i; });
    nearest.push_back(list[0].second);
    if (labels[size(i)] != labels[list[0].second]) errors.push_back({i, list[0].second});
  }
  CHECK(structure.nearest_other().row == nearest);
  CHECK(structure.errors() == errors);
}

TEST_CASE("structure: a mask's order does not matter, and an empty one means all columns") {
  const std::int64_t n = 90;
  const Matrix samples = hard_rows(DataKind::normal, Set::train, n, 6, Metric::squared_l2);
  const Labels labels = workloads::make_labels(6, n, 3);
  const Metric metric = Metric::squared_l2;
  const auto with_mask = [&](const Numbers& features) {
    return Structure(device(), samples, labels, metric, {features});
  };
  const Structure masked = with_mask({4, 1, 2}), kept(device(), columns_of(samples, {1, 2, 4}), labels);
  check_equal(masked.class_matrix(), kept.class_matrix());
  check_equal(masked.sample_classes(), with_mask({1, 2, 4}).sample_classes());
  CHECK(masked.distances(3, 4) == kept.distances(3, 4));
  CHECK(masked.errors() == kept.errors());
  const Matrix queries = hard_rows(DataKind::normal, Set::queries, 20, 6, metric);
  CHECK(masked.classify(queries, Numbers{7, 3, 50}) ==
        kept.classify(columns_of(queries, {1, 2, 4}), Numbers{7, 3, 50}));
  check_equal(with_mask({}).class_matrix(), Structure(device(), samples, labels).class_matrix());
  CHECK(error_of([&] {
          with_mask({1, 4, 1});
        }) == "invalid_argument: index: feature 1 is named twice; name each once");
}

TEST_CASE("structure: class matrices of many masks are those of each alone") {
  const std::int64_t n = 150;
  const Matrix samples = hard_rows(DataKind::clusters, Set::train, n, 5, Metric::squared_l2);
  const Labels labels = workloads::make_labels(2, n, 4);
  const std::vector<Numbers> sets = {{0}, {}, {3, 1}, {1, 3}, {4, 0, 2}, {2}};
  for (const Metric metric : {Metric::squared_l2, Metric::cosine, Metric::l1})
    for (const SearchOptions& options : {SearchOptions{}, SearchOptions{.query_tile = 40, .train_tile = 31},
                                         SearchOptions{.memory_limit = 40000}}) {
      const std::vector<ClassMatrix> found = class_matrices(device(), samples, labels, metric, sets, options);
      REQUIRE(found.size() == sets.size());
      for (std::size_t i = 0; i < sets.size(); ++i) {
        CAPTURE(i);
        check_equal(found[i], Structure(device(), samples, labels, metric, {sets[i]}).class_matrix());
      }
    }
  CHECK(class_matrices(device(), samples, labels, Metric::l1, {}).empty());
}

TEST_CASE(
    "structure: by cosine, sums are of unit rows, also of samples that came later, and of the columns that "
    "count") {
  const std::int64_t n = 90;
  const Matrix samples = hard_rows(DataKind::normal, Set::train, n, 5, Metric::cosine);
  const Labels labels = workloads::make_labels(6, n, 3);
  const Structure structure(device(), samples, labels, Metric::cosine);
  const Oracle oracle(Metric::cosine, samples, structure.codes(), 3);
  CHECK(difference(bits(structure.sample_classes().smallest), bits(oracle.smallest)) == "");
  const Structure some(device(), samples.view().slice(0, 50), std::span(labels).first(50), Metric::cosine);
  some.class_matrix();  // computed before more samples join
  check_equal(some.with(samples.view().slice(50, 40), std::span(labels).subspan(50)).class_matrix(),
              structure.class_matrix());
  Matrix gap = samples;
  gap.values[5 * 7 + 1] = gap.values[5 * 7 + 3] = 0;
  CHECK(error_of([&] {
          class_matrices(device(), gap, labels, Metric::cosine, std::vector<Numbers>{{0}, {3, 1}});
        }) ==
        "invalid_argument: structure: sample row 7 is all zeros in the columns that count, which has no "
        "direction; leave it out for cosine");
}

TEST_CASE("structure: class matrices look at no column that no mask names, and refuse what is not finite") {
  Matrix samples = matrix(2, {1, std::nanf(""), 2, 5, 4, 7});
  const Labels labels{1, 2, 1};
  const std::vector<Numbers> first{{0}}, both{{0}, {1}}, twice{{0, 0}}, none{{2}};
  const auto refusal = [&](const std::vector<Numbers>& sets) {
    return error_of([&] { class_matrices(device(), samples, labels, Metric::l1, sets); });
  };
  CHECK(class_matrices(device(), samples, labels, Metric::l1, first)[0].mean ==
        std::vector<double>{3, 1.5, 1.5, 0});
  CHECK(refusal(both) ==
        "invalid_argument: structure: sample row 0, column 1 holds NaN; make every value finite, or leave "
        "the row out");
  CHECK(refusal(twice) == "invalid_argument: index: feature 0 is named twice; name each once");
  CHECK(refusal(none) ==
        "invalid_argument: index: there is no feature 2, since rows have 2 columns; choose from 0 to 1");
  CHECK(error_of([&] {
          class_matrices(device(), Matrix{0, 2, {}}, {}, Metric::l1, first);
        }).starts_with("invalid_argument: structure: the samples are [0, 2]; give 1 to "));
}

TEST_CASE("structure: samples that are sorted by class lie on the device once") {
  const Matrix samples = matrix(1, {1, 2, 5, 6});
  const Structure structure(device(), samples, Labels{1, 1, 2, 2});
  const std::vector<double> mean{1, 16.5, 16.5, 1};
  CHECK(structure.class_matrix().mean == mean);
  CHECK(structure.with(matrix(1, {9}), Labels{3}).class_matrix().mean ==
        std::vector<double>{1, 16.5, 56.5, 16.5, 1, 12.5, 56.5, 12.5, 0});
}

TEST_CASE("structure: one class, one sample, no distance, infinite distances") {
  const auto matrix_of = [](const Matrix& samples, const Labels& labels) {
    return Structure(device(), samples, labels).class_matrix();
  };
  const ClassMatrix one_class = matrix_of(matrix(1, {1, 3}), {4, 4});
  CHECK(one_class.mean == std::vector<double>{4});
  CHECK(std::isnan(one_class.informativeness));
  const ClassMatrix one_sample = matrix_of(matrix(1, {1}), {4});
  CHECK(one_sample.mean == std::vector<double>{0});
  CHECK(std::isnan(one_sample.informativeness));
  CHECK(matrix_of(matrix(1, {1, 2}), {4, 5}).informativeness == std::numeric_limits<double>::infinity());
  CHECK(std::isnan(matrix_of(matrix(1, {1, 1}), {4, 5}).informativeness));
  const ClassMatrix far = matrix_of(matrix(1, {0, 1, 3e38f}), {4, 4, 5});
  CHECK(far.mean[0] == 1);
  CHECK(far.mean[1] == std::numeric_limits<double>::infinity());
  CHECK(far.mean[3] == 0);
  CHECK(far.informativeness == std::numeric_limits<double>::infinity());
  CHECK(std::isnan(matrix_of(matrix(1, {-3e38f, 1, 3e38f}), {4, 4, 5}).informativeness));
  CHECK(error_of([] { Structure(device(), matrix(1, {1}), Labels{4}).nearest_other(); }) ==
        "invalid_argument: search: the index holds 1 row, which is not its own neighbour; give more rows");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
