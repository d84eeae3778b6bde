// What class structure in double precision must be, written from docs/contract.md, section 11, alone.
#pragma once

#include "doubles/doubles_oracle.hpp"
#include "kith/structure.hpp"

namespace kith::tests {

/// A sum as the contract has it: a pair of doubles.
class OracleSum {
 public:
  void add(double x) {
    const double s = high_ + x;
    if (std::isfinite(s)) {
      const double b = s - high_;
      low_ = low_ + ((high_ - (s - b)) + (x - b));
    }
    high_ = s;
  }
  double value() const { return high_ + low_; }

 private:
  double high_ = 0, low_ = 0;
};

/// All answers about samples that have labels.
struct StructureByOracle {
  Metric metric;
  std::size_t n, classes;
  std::vector<std::int64_t> labels, names;  ///< of the samples; of the classes, ascending
  std::vector<std::size_t> codes, sizes;
  std::vector<double> chains;          ///< [n, n]
  std::vector<double> smallest, mean;  ///< [n, classes]
  std::vector<double> means;           ///< [classes, classes]
  double informativeness = 0;

  StructureByOracle(Metric by, const DoubleMatrix& samples, std::vector<std::int64_t> given)
      : metric(by), n(given.size()), classes(0), labels(std::move(given)) {
    const std::set<std::int64_t> distinct(labels.begin(), labels.end());
    names.assign(distinct.begin(), distinct.end());
    classes = names.size();
    sizes.resize(classes);
    for (const std::int64_t label : labels) {
      codes.push_back(
          static_cast<std::size_t>(std::lower_bound(names.begin(), names.end(), label) - names.begin()));
      ++sizes[codes.back()];
    }
    const DoubleMatrix rows = prepared_by_oracle(metric, samples);
    for (std::size_t i = 0; i < n * n; ++i) {
      const auto row = [&](std::size_t at) {
        return rows.values.data() + static_cast<std::int64_t>(at) * rows.cols;
      };
      chains.push_back(chain_by_oracle(metric, row(i / n), row(i % n), rows.cols));
    }
    sum();
  }

  std::vector<double> distances() const {
    std::vector<double> shown;
    for (const double value : chains) shown.push_back(shown_by_oracle(metric, value));
    return shown;
  }

  /// Returns the nearest of some samples to each sample; not the sample itself.
  std::vector<std::size_t> nearest_others() const {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < n; ++i) {
      std::size_t best = i == 0 ? 1 : 0;
      for (std::size_t j = 0; j < n; ++j)
        if (j != i && chains[i * n + j] < chains[i * n + best]) best = j;
      all.push_back(best);
    }
    return all;
  }

 private:
  void sum() {
    std::vector<double> of_samples;  // S  [n, classes]
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t c = 0; c < classes; ++c) {
        OracleSum all;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < n; ++j) {
          if (codes[j] != c) continue;
          all.add(chains[i * n + j]);
          least = std::min(least, chains[i * n + j]);
        }
        of_samples.push_back(all.value());
        smallest.push_back(least);
        mean.push_back(all.value() / static_cast<double>(sizes[c]));
      }
    OracleSum between, within;
    means.resize(classes * classes);
    for (std::size_t a = 0; a < classes; ++a)
      for (std::size_t b = a; b < classes; ++b) {
        OracleSum pairs;
        for (std::size_t i = 0; i < n; ++i)
          if (codes[i] == a) pairs.add(of_samples[i * classes + b]);
        const std::size_t others = a == b ? std::max<std::size_t>(1, sizes[a] - 1) : sizes[b];
        const double one = pairs.value() / (static_cast<double>(sizes[a]) * static_cast<double>(others));
        means[a * classes + b] = means[b * classes + a] = one;
        (a == b ? within : between).add(one);
      }
    informativeness = 2 * between.value() / (static_cast<double>(classes - 1) * within.value());
  }
};

/// Returns the bits of doubles, so that NaN equals itself.
inline std::vector<std::uint64_t> double_bits(const std::vector<double>& values) {
  std::vector<std::uint64_t> bits;
  for (const double value : values)
    bits.push_back(std::isnan(value) ? ~std::uint64_t{0} : std::bit_cast<std::uint64_t>(value));
  return bits;
}

inline void check_matrix(const ClassMatrix& found, const StructureByOracle& right) {
  CHECK(found.arithmetic == Arithmetic::f64);
  CHECK(found.classes == static_cast<std::int64_t>(right.classes));
  CHECK(double_bits(found.mean) == double_bits(right.means));
  CHECK(double_bits({found.informativeness}) == double_bits({right.informativeness}));
}

inline void check_sums(const Structure& structure, const StructureByOracle& right,
                       const SearchOptions& options = {}) {
  const SampleClasses found = structure.sample_classes(options);
  CHECK(found.arithmetic == Arithmetic::f64);
  CHECK(found.smallest.empty());
  CHECK(double_bits(found.smallest64) == double_bits(right.smallest));
  CHECK(double_bits(found.mean) == double_bits(right.mean));
  check_matrix(structure.class_matrix(options), right);
}

/// Checks all that a Structure tells about its own samples.
inline void check_structure(const Structure& structure, const StructureByOracle& right,
                            const SearchOptions& options = {}) {
  check_sums(structure, right, options);
  CHECK(structure.classes() == right.names);
  const auto n = static_cast<std::int64_t>(right.n);
  const SampleDistances all = structure.distances(0, n, options);
  CHECK(all.arithmetic == Arithmetic::f64);
  CHECK(all.distance.empty());
  CHECK(double_bits(all.distance64) == double_bits(right.distances()));
  if (n < 2) return;
  const std::vector<std::size_t> nearest = right.nearest_others();
  const Neighbors found = structure.nearest_other(options);
  std::vector<SampleError> errors;
  std::vector<std::int64_t> rows;
  std::vector<double> distances;
  for (std::size_t i = 0; i < right.n; ++i) {
    rows.push_back(static_cast<std::int64_t>(nearest[i]));
    distances.push_back(shown_by_oracle(right.metric, right.chains[i * right.n + nearest[i]]));
    if (right.codes[i] != right.codes[nearest[i]])
      errors.push_back({static_cast<std::int64_t>(i), rows.back()});
  }
  CHECK(found.arithmetic == Arithmetic::f64);
  CHECK(found.row == rows);
  CHECK(double_bits(found.distance64) == double_bits(distances));
  CHECK(structure.errors(options) == errors);
}

/// Returns labels by chance: `classes` of them, not all neighbours as numbers, and one of a single sample.
inline std::vector<std::int64_t> labels_by_chance(std::int64_t n, std::int64_t classes,
                                                  std::mt19937& random) {
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < n; ++i)
    labels.push_back(static_cast<std::int64_t>(random()) % std::max<std::int64_t>(1, classes - 1) * 7 - 3);
  if (classes > 1) labels[static_cast<std::size_t>(n / 2)] = 2;
  return labels;
}

/// The metrics of class structure.
inline constexpr std::array structure_metrics = {Metric::squared_l2, Metric::l2, Metric::cosine, Metric::l1,
                                                 Metric::linf};

}  // namespace kith::tests
