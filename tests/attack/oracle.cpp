// Computes the right answers by docs/contract.md, sections 1 and 5, without any code or header of kith.
// oracle.py calls it by ctypes. -ffp-contract=off makes the compiler round each operation once.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

enum Metric { squared_l2, l2, l1, linf, negative_dot, cosine };
enum Tie { smallest_label, nearest, smallest_distance, fewer_neighbors, abstain };

float chain(int metric, const float* a, const float* b, std::size_t dims) {
  float s = 0;
  for (std::size_t d = 0; d < dims; ++d) {
    const float gap = a[d] - b[d];
    switch (metric) {
      case l1:
        s = s + std::fabs(gap);
        break;
      case linf:
        s = std::fmax(s, std::fabs(gap));
        break;
      case negative_dot:
        s = std::fma(-a[d], b[d], s);
        break;
      default:
        s = std::fma(gap, gap, s);
    }
  }
  return s;
}

/// Holds the neighbours of a query, nearest first. Each votes for a class.
struct List {
  std::size_t k, classes;
  const float* distance;
  const std::int64_t* label;  // numbers of classes
  std::vector<float> weight;

  std::vector<float> scores(std::size_t among) const {
    std::vector<float> score(classes, 0.0f);
    for (std::size_t j = 0; j < among; ++j) {
      float& of = score[static_cast<std::size_t>(label[j])];
      of = of + weight[j];
    }
    return score;
  }

  /// Returns the classes with the highest score among the first neighbours; none if nobody has a vote.
  std::vector<std::int64_t> leaders(std::size_t among) const {
    const std::vector<float> score = scores(among);
    float most = 0;
    for (const float one : score) most = std::fmax(most, one);
    std::vector<std::int64_t> found;
    for (std::size_t c = 0; c < classes && most > 0; ++c)
      if (score[c] == most) found.push_back(static_cast<std::int64_t>(c));
    return found;
  }

  double sum_of_distances(std::int64_t of) const {
    double sum = 0;
    for (std::size_t j = 0; j < k; ++j)
      if (label[j] == of && weight[j] > 0) sum = sum + double{distance[j]};
    return sum;
  }

  std::int64_t by_distance(const std::vector<std::int64_t>& tied) const {
    std::int64_t best = tied[0];
    for (const std::int64_t one : tied)
      if (sum_of_distances(one) < sum_of_distances(best)) best = one;
    return best;
  }

  std::int64_t winner(int tie) const {
    const std::vector<std::int64_t> tied = leaders(k);
    if (tied.empty()) return -1;
    if (tied.size() == 1 || tie == smallest_label) return tied[0];
    if (tie == abstain) return -1;
    if (tie == smallest_distance) return by_distance(tied);
    if (tie == nearest)
      for (std::size_t j = 0; j < k; ++j)
        for (const std::int64_t one : tied)
          if (label[j] == one && weight[j] > 0) return one;
    for (std::size_t among = k; among-- > 1;)
      if (const std::vector<std::int64_t> left = leaders(among); left.size() == 1) return left[0];
    return tied[0];
  }
};

/// Returns the weight of each neighbour, [k], times its sample weight.
std::vector<float> weights(std::size_t k, const float* distance, const float* sample, bool by_distance) {
  constexpr float most = 0x1p95f;
  std::vector<float> weight(k, 1.0f);
  for (std::size_t j = 0; j < k; ++j) {
    if (by_distance && distance[0] == 0) weight[j] = distance[j] == 0 ? 1.0f : 0.0f;
    if (by_distance && distance[0] != 0) weight[j] = std::fmin(1.0f / distance[j], most);
    weight[j] = std::fmin(weight[j] * sample[j], most);
  }
  return weight;
}

}  // namespace

extern "C" {

/// Computes the raw values of all pairs, [m, n].
void oracle_chains(int metric, const float* queries, const float* rows, std::size_t m, std::size_t n,
                   std::size_t dims, float* raw) {
  for (std::size_t q = 0; q < m; ++q)
    for (std::size_t t = 0; t < n; ++t)
      raw[q * n + t] = chain(metric, queries + q * dims, rows + t * dims, dims);
}

/// Divides rows by their norms.
void oracle_unit_rows(const float* rows, std::size_t n, std::size_t dims, float* units) {
  for (std::size_t t = 0; t < n; ++t) {
    double squares = 0;
    for (std::size_t d = 0; d < dims; ++d) {
      const double x = rows[t * dims + d];
      squares = squares + x * x;
    }
    const double norm = std::sqrt(squares);
    for (std::size_t d = 0; d < dims; ++d)
      units[t * dims + d] = static_cast<float>(double{rows[t * dims + d]} / norm);
  }
}

/// Writes for m lists of k neighbours the class that wins, [m], or -1, and the share of each class,
/// [m, classes].
void oracle_vote(std::size_t m, std::size_t k, std::size_t classes, const float* distance,
                 const std::int64_t* label, const float* sample, int by_distance, int tie,
                 std::int64_t* winner, double* share) {
  for (std::size_t q = 0; q < m; ++q) {
    const float* const far = distance + q * k;
    const List list{k, classes, far, label + q * k, weights(k, far, sample + q * k, by_distance != 0)};
    winner[q] = list.winner(tie);
    const std::vector<float> score = list.scores(k);
    double sum = 0;
    for (const float one : score) sum = sum + double{one};
    for (std::size_t c = 0; c < classes; ++c) share[q * classes + c] = sum > 0 ? double{score[c]} / sum : 0;
  }
}

/// Writes for m lists of k neighbours the weighted mean of their values, [m].
void oracle_means(std::size_t m, std::size_t k, const float* distance, const double* value,
                  const float* sample, int by_distance, double* mean) {
  for (std::size_t q = 0; q < m; ++q) {
    const std::vector<float> weight = weights(k, distance + q * k, sample + q * k, by_distance != 0);
    double sum = 0, of_weights = 0;
    for (std::size_t j = 0; j < k; ++j) {
      const double product = double{weight[j]} * value[q * k + j];
      sum = sum + product;
      of_weights = of_weights + double{weight[j]};
    }
    mean[q] = of_weights > 0 ? sum / of_weights : std::numeric_limits<double>::quiet_NaN();
  }
}
}
