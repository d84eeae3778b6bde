#include "check/boxes_check.hpp"

#include <vector>

#include "boxes/box_order.hpp"
#include "boxes/packed_boxes.hpp"
#include "check/self_test_parts.hpp"

namespace kith {
namespace {

// Two levels of boxes, the last leaf not full.
constexpr std::uint32_t n = 2100, m = 37, dims = 3, k = 9, words = (n + 31) / 32;

/// Rows on a grid, so that many tie; some are subnormal, some so far that squares are infinite.
std::vector<float> hard_rows(std::uint32_t rows, std::uint32_t salt) {
  std::vector<float> values(std::size_t{rows} * dims);
  std::uint32_t state = 4711u + salt;
  for (std::size_t i = 0; i < values.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    const auto step = static_cast<float>(state >> 27);
    const std::size_t kind = i / dims % 16;
    values[i] = kind == 0 ? step * 0x1p-140f : kind == 1 ? 3e20f * step : kind < 6 ? step + 0.1f : step;
  }
  return values;
}

bool finds(spi::Device& device, Metric metric, bool filtered) {
  const std::vector<float> rows = hard_rows(n, 0), queries = hard_rows(m, 5);
  const MatrixView<const float> view(rows.data(), n, dims);
  const BoxOrder order(view, 1, [] {});
  const PackedBoxes packed = packed_boxes(view, order.numbers(), 1);
  std::vector<std::uint32_t> turn, filter(words);
  for (std::uint32_t q = 0; q < m; ++q) turn.push_back((q * 7 + 3) % m);
  for (std::uint32_t t = 0; t < n; ++t)
    if (t * 7 % 5 < 2) filter[t / 32] |= 1u << t % 32;
  return on_both(device,
                 [&](spi::StepRunner& there) {
                   const std::size_t block = std::size_t{2} * dims * spi::box_rows;
                   const spi::Boxes boxes{{there.put(packed.rows.data(), packed.rows.size() * sizeof(float)),
                                           0, n, dims, spi::box_rows},
                                          there.input(order.numbers(), 1, n),
                                          there.input(packed.bounds, spi::box_blocks(n), block)};
                   spi::BoxesStep step{metric,
                                       there.queries({queries.data(), m, dims}),
                                       there.input(turn, 1, m),
                                       boxes,
                                       k,
                                       {},
                                       {},
                                       n,
                                       there.output<Key>(m, k),
                                       there.output<std::uint32_t>(m, 1),
                                       {}};
                   if (filtered)
                     step.filter = there.input(filter, 1, words);
                   else
                     step.within = there.input(std::vector<float>(m, 40.0f), m, 1);
                   return result_of(there, step, step.out);
                 })
      .same();
}

}  // namespace

std::string test_boxes(Device::State& state, Metric metric) {
  const DeviceSession session(state);
  if (const auto known = state.boxes_refusals.find(metric); known != state.boxes_refusals.end())
    return known->second;
  std::string why;
  if (!finds(*session, metric, false) || !finds(*session, metric, true))
    why = "a search by boxes found other rows in a test of " + std::to_string(n) + " rows by " +
          std::string(name(metric)) + "; choose no boxes, or update the device's driver";
  return state.boxes_refusals.emplace(metric, why).first->second;
}

}  // namespace kith
