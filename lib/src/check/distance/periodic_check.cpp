#include "check/distance/periodic_check.hpp"

#include <array>
#include <limits>
#include <vector>

#include "check/self_test_parts.hpp"

namespace kith {
namespace {

constexpr std::uint32_t rows_in_test = 77, queries_in_test = 19, columns_of_box = 5;

/// The lengths of a box with two open columns.
constexpr std::array<float, columns_of_box> box_lengths{1, std::numeric_limits<float>::infinity(), 0.3f,
                                                        0x1p-130f, std::numeric_limits<float>::infinity()};

/// Returns rows in the box: some are 0, some so far apart in the open columns that their difference
/// is infinite.
std::vector<float> rows_in_box(std::uint32_t rows, std::uint32_t salt) {
  std::vector<float> values(std::size_t{rows} * columns_of_box);
  std::uint32_t state = 2357u + salt;
  for (std::size_t i = 0; i < values.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    const float unit = static_cast<float>(state >> 8) * 0x1p-24f, length = box_lengths[i % columns_of_box];
    const bool open = length == std::numeric_limits<float>::infinity();
    values[i] = (i / columns_of_box % 7 == 3 ? 0 : unit) * (open ? 1 : length);
    if (open && i % 11 == 5) values[i] = i % 2 == 0 ? 3e38f : -3e38f;
  }
  return values;
}

bool is_right(spi::Device& device, Metric metric) {
  const std::vector<float> queries = rows_in_box(queries_in_test, 5), train = rows_in_box(rows_in_test, 0);
  return on_both(device,
                 [&](spi::StepRunner& there) {
                   spi::DistanceStep step{metric,
                                          there.queries({queries.data(), queries_in_test, columns_of_box}),
                                          there.train({train.data(), rows_in_test, columns_of_box}),
                                          there.output<float>(queries_in_test, rows_in_test)};
                   step.train.lengths = there.put(box_lengths.data(), box_lengths.size() * sizeof(float));
                   return result_of(there, step, step.out);
                 })
      .same();
}

}  // namespace

std::string test_periodic(Device::State& state, Metric metric) {
  const DeviceSession session(state);
  if (const auto known = state.periodic_refusals.find(metric); known != state.periodic_refusals.end())
    return known->second;
  std::string why;
  if (!is_right(*session, metric))
    why = "distances by " + std::string(name(metric)) + " in a periodic box were wrong in a test of " +
          std::to_string(rows_in_test) + " rows; choose boxes, or update the device's driver";
  return state.periodic_refusals.emplace(metric, why).first->second;
}

}  // namespace kith
