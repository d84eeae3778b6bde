// Tests class structure by prepared metrics, terms of columns and weights: docs/contract.md, section 11.
#include <numeric>

#include "common/parted/sets.hpp"
#include "kith/key.hpp"
#include "prepared/prepared_oracle.hpp"
#include "structure/structure_cases.hpp"

namespace kith::tests {
namespace {

constexpr std::int64_t n = 60, cols = 4, kinds = 3;

Labels kinds_of(std::int64_t rows) {
  Labels labels;
  for (std::int64_t row = 0; row < rows; ++row) labels.push_back(row * row % 7 % kinds);
  return labels;
}

/// The sum of section 11.
template <class Real>
struct TwoSum {
  Real high = 0, low = 0;

  void add(Real x) {
    const Real s = high + x;
    if (std::isfinite(s)) {
      const Real b = s - high;
      low = low + ((high - (s - b)) + (x - b));
    }
    high = s;
  }
  double value() const { return static_cast<double>(high) + static_cast<double>(low); }
};

/// The raw values of all pairs, by the keys of a search.
template <class Real>
std::vector<Real> raw_values(const Index& index, const RowsView& rows) {
  const Keys keys = index.search_keys(rows, n);
  std::vector<Real> raw(size(n * n));
  for (std::size_t i = 0; i < raw.size(); ++i) {
    const std::size_t at = i / size(n) * size(n) + size(keys.row[i]);
    if constexpr (sizeof(Real) == sizeof(float))
      raw[at] = unordered(keys.value[i]);
    else
      raw[at] = unordered_double(keys.value64[i]);
  }
  return raw;
}

/// Checks smallest, means and the class matrix by the formulas of section 11.
template <class Real>
void check_sums(const Structure& structure, const std::vector<Real>& raw) {
  const std::vector<std::uint32_t>& codes = structure.codes();
  const Numbers sizes = structure.sizes();
  std::vector<Real> smallest(size(n * kinds), std::numeric_limits<Real>::infinity());
  std::vector<TwoSum<Real>> sums(size(n * kinds));
  for (std::size_t i = 0; i < size(n); ++i)
    for (std::size_t j = 0; j < size(n); ++j) {
      const std::size_t at = i * size(kinds) + codes[j];
      sums[at].add(raw[i * size(n) + j]);
      smallest[at] = std::min(smallest[at], raw[i * size(n) + j]);
    }
  const SampleClasses found = structure.sample_classes();
  if constexpr (sizeof(Real) == sizeof(float))
    CHECK(bits(found.smallest) == bits(smallest));
  else
    CHECK(found.smallest64 == smallest);
  const ClassMatrix matrix = structure.class_matrix();
  for (std::size_t at = 0; at < sums.size(); ++at)
    CHECK(same_bits(found.mean[at], sums[at].value() / static_cast<double>(sizes[at % size(kinds)])));
  for (std::size_t a = 0; a < size(kinds); ++a)
    for (std::size_t b = a; b < size(kinds); ++b) {
      TwoSum<double> pairs;
      for (std::size_t i = 0; i < size(n); ++i)
        if (codes[i] == a) pairs.add(sums[i * size(kinds) + b].value());
      const std::int64_t others = a == b ? std::max<std::int64_t>(1, sizes[a] - 1) : sizes[b];
      CHECK(same_bits(matrix.mean[a * size(kinds) + b],
                      pairs.value() / (static_cast<double>(sizes[a]) * static_cast<double>(others))));
    }
}

/// Checks distances against those of the nearest n rows of each sample.
void check_distances(const SampleDistances& found, const Neighbors& right) {
  const bool doubles = right.arithmetic == Arithmetic::f64;
  for (std::size_t i = 0; i < right.row.size(); ++i) {
    const std::size_t at = i / size(n) * size(n) + size(right.row[i]);
    CHECK((doubles ? found.distance64[at] == right.distance64[i] : found.distance[at] == right.distance[i]));
  }
}

/// Classifies by the nearest of some samples.
template <class Real>
Labels nearest_labels(const std::vector<Real>& raw, const Numbers& prototypes) {
  const Labels labels = kinds_of(n);
  Labels found;
  for (std::size_t i = 0; i < size(n); ++i) {
    const auto nearer = [&](std::int64_t a, std::int64_t b) {
      return std::pair(raw[i * size(n) + size(a)], a) < std::pair(raw[i * size(n) + size(b)], b);
    };
    found.push_back(labels[size(*std::min_element(prototypes.begin(), prototypes.end(), nearer))]);
  }
  return found;
}

template <class Real>
void check_structure(const MetricAsked& asked, const IndexOptions& options, const DoubleMatrix& samples) {
  const Labels labels = kinds_of(n);
  const Index index(device(), samples, asked.metric, options);
  const std::vector<Real> raw = raw_values<Real>(index, samples);
  const Structure structure(device(), samples, labels, asked.metric, options);
  check_sums(structure, raw);
  check_distances(structure.distances(0, n), index.search(samples, n));
  CHECK(structure.nearest_other() == index.search(samples, 1, {.self = 0}));
  const Numbers prototypes{41, 3, 20, 7, 58};
  CHECK(structure.classify(samples, prototypes) == nearest_labels(raw, prototypes));
  Numbers all(size(n));
  std::iota(all.begin(), all.end(), 0);
  CHECK(structure.classify(samples) == nearest_labels(raw, all));
  const DoubleMatrix first{
      40, samples.cols, {samples.values.begin(), samples.values.begin() + 40 * samples.cols}},
      more{20, samples.cols, {samples.values.begin() + 40 * samples.cols, samples.values.end()}};
  const Structure some(device(), first, kinds_of(40), asked.metric, options);
  some.class_matrix();  // sums are there before more samples join
  const Structure grown = some.with(more, std::span(labels).subspan(40));
  CHECK(grown.distances(0, n) == structure.distances(0, n));
  check_equal(grown.class_matrix(), structure.class_matrix());
}

TEST_SUITE_BEGIN("device");

TEST_CASE("structure: prepared metrics, terms of columns and weights, in both precisions") {
  std::mt19937 random(448);
  for (MetricAsked& asked : all_prepared(cols, random)) {
    if (asked.metric == Metric::nan_gower) continue;
    CAPTURE(std::string(name(asked.metric)));
    const DoubleMatrix samples = rows_for(asked, n, cols, random);
    check_structure<double>(asked, asked.options(Arithmetic::f64), samples);
    const Matrix floats = rounded(samples);
    const Index index(device(), floats, asked.metric, asked.options(Arithmetic::f32));
    const Structure structure(device(), floats, kinds_of(n), asked.metric, asked.options(Arithmetic::f32));
    const std::vector<float> raw = raw_values<float>(index, floats.view());
    check_sums(structure, raw);
    check_distances(structure.distances(0, n), index.search(floats, n));
    CHECK(structure.classify(floats, Numbers{5, 17, 33}) == nearest_labels(raw, {5, 17, 33}));
  }
}

TEST_CASE("structure: places on a sphere, and parameters that are learned from all samples") {
  std::mt19937 random(449);
  const MetricAsked places{Metric::haversine};
  DoubleMatrix earth{n, 2, {}};
  std::uniform_real_distribution<double> radians(-1.5, 1.5);
  for (std::int64_t i = 0; i < 2 * n; ++i) earth.values.push_back(radians(random));
  check_structure<double>(places, {}, earth);
  const MetricAsked mixed{.metric = Metric::gower, .categorical = {1}};
  const DoubleMatrix samples = rows_for(mixed, n, cols, random);
  const Index index(device(), samples, Metric::gower, mixed.options());
  const Structure structure(device(), samples, kinds_of(n), Metric::gower, mixed.options());
  const std::vector<double> raw = raw_values<double>(index, samples);
  check_sums(structure, raw);
  CHECK(structure.classify(samples, Numbers{9, 2}) == nearest_labels(raw, {2, 9}));
}

TEST_CASE("structure: prepared metrics on a set of devices") {
  std::mt19937 random(450);
  const Device set = set_of(2);
  for (const MetricAsked& asked :
       {MetricAsked{.metric = Metric::minkowski, .p = 3}, MetricAsked{.metric = Metric::correlation},
        MetricAsked{.metric = Metric::gower, .categorical = {1}, .ranges = {9, 0, 4, 2}}}) {
    CAPTURE(std::string(name(asked.metric)));
    const DoubleMatrix samples = rows_for(asked, n, cols, random);
    for (const Arithmetic width : {Arithmetic::f32, Arithmetic::f64}) {
      const auto made = [&](const Device& on) {
        return width == Arithmetic::f32
                   ? Structure(on, rounded(samples), kinds_of(n), asked.metric, asked.options(width))
                   : Structure(on, samples, kinds_of(n), asked.metric, asked.options(width));
      };
      const Structure one = made(device()), several = made(set);
      CHECK(several.distances(0, n) == one.distances(0, n));
      check_equal(several.class_matrix(), one.class_matrix());
    }
  }
}

TEST_CASE("structure: what prepared metrics refuse") {
  const Matrix samples = matrix(2, {1, 2, 3, 5});
  CHECK(error_of([&] {
          class_matrices(device(), samples, Labels{1, 2}, Metric::canberra, {});
        }) ==
        "unsupported: structure: canberra is a prepared metric, by which several sets of columns are not "
        "compared; make a Structure of each, or choose squared_l2, l2, cosine, l1 or linf");
  CHECK(error_of([&] {
          Structure(device(), samples, Labels{1, 2}, Metric::minkowski);
        }) == "invalid_argument: index: minkowski without p; give one, such as 3");
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
