#include "check/distance/terms_check.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "check/self_test_parts.hpp"

namespace kith {
namespace {

constexpr std::uint32_t rows_in_test = 77, queries_in_test = 19;
constexpr float open = std::numeric_limits<float>::infinity();

/// Returns parameters of columns: of a box with two open ones; one of each mixed term; or of canberra.
std::vector<float> terms_in_test(Terms kind) {
  if (kind == Terms::periodic) return {1, open, 0.3f, 0x1p-130f, open};
  if (kind == Terms::pairs) return {canberra_term, canberra_term, canberra_term};
  std::vector<float> terms{open, 0, 0.3f};
  for (int halves = 1; halves <= 16; ++halves) terms.push_back(static_cast<float>(-halves));
  return terms;
}

/// Returns a value for a column that is not periodic: some are equal, subnormal or large.
float hard_value(float unit, std::uint32_t kind) {
  const float sign = kind % 2 == 0 ? 1.0f : -1.0f;
  if (kind % 5 == 0) return sign * std::floor(4 * unit);
  if (kind % 5 == 1) return sign * unit * 0x1p-140f;
  return sign * unit * (kind % 7 == 3 ? 1e38f : 10.0f);
}

/// Returns rows, of periodic columns in their box: some are 0, some so far apart in the open columns that
/// their difference is infinite.
///   gaps  some are missing, from none of a row to all
std::vector<float> rows_of_terms(const std::vector<float>& terms, std::uint32_t rows, std::uint32_t salt,
                                 bool gaps) {
  std::vector<float> values(rows * terms.size());
  std::uint32_t state = 2357u + salt;
  for (std::size_t i = 0; i < values.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    const float unit = static_cast<float>(state >> 8) * 0x1p-24f, p = terms[i % terms.size()];
    if (gaps && (i * 7 + salt) % 12 < i / terms.size() % 13) {
      values[i] = std::numeric_limits<float>::quiet_NaN();
      continue;
    }
    if (p <= 0) {
      values[i] = hard_value(unit, (state >> 4) % 35);
      continue;
    }
    values[i] = (i / terms.size() % 7 == 3 ? 0 : unit) * (p == open ? 1 : p);
    if (p == open && i % 11 == 5) values[i] = i % 2 == 0 ? 3e38f : -3e38f;
  }
  return values;
}

bool is_right(spi::Device& device, Metric metric, Terms kind) {
  const std::vector<float> terms = terms_in_test(kind);
  const bool gaps = takes_gaps(metric);
  const std::vector<float> queries = rows_of_terms(terms, queries_in_test, 5, gaps),
                           train = rows_of_terms(terms, rows_in_test, 0, gaps);
  const auto columns = static_cast<std::uint32_t>(terms.size());
  return on_both(device,
                 [&](spi::StepRunner& there) {
                   spi::DistanceStep step{metric, there.queries({queries.data(), queries_in_test, columns}),
                                          there.train({train.data(), rows_in_test, columns}),
                                          there.output<float>(queries_in_test, rows_in_test)};
                   step.train.terms = there.put(terms.data(), terms.size() * sizeof(float));
                   step.train.mixed = kind != Terms::periodic;
                   return result_of(there, step, step.out);
                 })
      .same();
}

}  // namespace

std::string test_terms(Device::State& state, Metric metric, Terms kind) {
  const DeviceSession session(state);
  const std::pair key(metric, kind);
  if (const auto known = state.terms_refusals.find(key); known != state.terms_refusals.end())
    return known->second;
  std::string why;
  if (!is_right(*session, metric, kind))
    why = "distances by " + std::string(name(metric)) +
          (kind == Terms::periodic ? " in a periodic box" : " by terms of columns") +
          " were wrong in a test of " + std::to_string(rows_in_test) + " rows; " +
          (kind == Terms::pairs || is_of_sums(metric) ? "" : "choose boxes, or ") +
          "update the device's driver";
  return state.terms_refusals.emplace(key, why).first->second;
}

}  // namespace kith
