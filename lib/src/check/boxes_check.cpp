#include "check/boxes_check.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "boxes/box_order.hpp"
#include "boxes/curve.hpp"
#include "boxes/packed_boxes.hpp"
#include "check/self_test_parts.hpp"

namespace kith {
namespace {

// Makes two levels of boxes; the last leaf is not full.
constexpr std::uint32_t n = 2100, m = 37, dims = 3, k = 9, words = (n + 31) / 32;

/// Returns rows on a grid, so that many tie; some are subnormal, some so large that squares are infinite.
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

/// The parameters of columns: of a periodic box, whose middle column is open; or of mixed terms.
constexpr std::array<float, dims> lengths{32.3f, std::numeric_limits<float>::infinity(), 32},
    mixed{0, -3, std::numeric_limits<float>::infinity()};

/// Returns hard rows; in a periodic box if terms are periodic.
std::vector<float> test_rows(std::uint32_t rows, std::uint32_t salt, Terms kind) {
  std::vector<float> values = hard_rows(rows, salt);
  for (std::size_t i = 0; kind == Terms::periodic && i < values.size(); ++i)
    if (std::isfinite(lengths[i % dims])) values[i] = std::fmod(values[i], lengths[i % dims]);
  return values;
}

/// Holds hard rows in boxes, and queries of them.
struct Boxed {
  const Terms kind;
  const std::vector<float> rows = test_rows(n, 0, kind), queries = test_rows(m, 5, kind);
  const MatrixView<const float> view{rows.data(), n, dims};
  const BoxOrder order{view, 1, [] {}};
  const PackedBoxes packed = packed_boxes(view, order.numbers(), 1);
  std::vector<std::uint32_t> turn = {}, filter = std::vector<std::uint32_t>(words);

  explicit Boxed(Terms of) : kind(of) {
    for (std::uint32_t q = 0; q < m; ++q) turn.push_back((q * 7 + 3) % m);
    for (std::uint32_t t = 0; t < n; ++t)
      if (t * 7 % 5 < 2) filter[t / 32] |= 1u << t % 32;
  }

  spi::Allocation* parameters(spi::StepRunner& there) const {
    if (kind == Terms::differences) return nullptr;
    const auto& of = kind == Terms::periodic ? lengths : mixed;
    return there.put(of.data(), of.size() * sizeof(float));
  }

  spi::Boxes boxes(spi::StepRunner& there) const {
    const std::size_t block = std::size_t{2} * dims * spi::box_rows;
    return {{there.put(packed.rows.data(), packed.rows.size() * sizeof(float)), 0, n, dims, spi::box_rows,
             parameters(there), kind == Terms::mixed},
            there.input(order.numbers(), 1, n),
            there.input(packed.bounds, spi::box_blocks(n), block)};
  }
};

bool finds(spi::Device& device, Metric metric, Terms kind, bool filtered) {
  const Boxed boxed(kind);
  return on_both(device,
                 [&](spi::StepRunner& there) {
                   spi::BoxesStep step{metric,
                                       there.queries({boxed.queries.data(), m, dims}),
                                       there.input(boxed.turn, 1, m),
                                       boxed.boxes(there),
                                       k,
                                       {},
                                       {},
                                       n,
                                       there.output<Key>(m, k),
                                       there.output<std::uint32_t>(m, 1),
                                       {}};
                   if (filtered)
                     step.filter = there.input(boxed.filter, 1, words);
                   else
                     step.within = there.input(std::vector<float>(m, 40.0f), m, 1);
                   return result_of(there, step, step.out);
                 })
      .same();
}

/// Returns whether the device counts right by boxes, or does not count at all.
bool counts(spi::Device& device, Metric metric, Terms kind, bool filtered) {
  const Boxed boxed(kind);
  const std::vector<float> bounds{-1, 0, 40, 40, 3000};
  const auto step_of = [&](spi::StepRunner& there) {
    spi::CountStep step{metric,
                        there.queries({boxed.queries.data(), m, dims}),
                        there.input(boxed.turn, 1, m),
                        boxed.boxes(there),
                        there.input(bounds, 1, bounds.size()),
                        {},
                        there.output<std::uint32_t>(m, bounds.size()),
                        there.output<std::uint32_t>(m, 1),
                        {}};
    if (filtered) step.filter = there.input(boxed.filter, 1, words);
    return step;
  };
  const spi::RowBlocks none{nullptr, 0, 1, dims, device.info.query_block};
  const spi::Boxes boxes{{nullptr, 0, 1, dims, spi::box_rows}, {}, {}};
  const spi::CountStep asked{metric, none, {}, boxes, {nullptr, 0, 1, 1, 1}, {}, {}, {}, {}};
  if (!device.check({asked}).refusal.empty()) return true;
  return on_both(device,
                 [&](spi::StepRunner& there) {
                   const spi::CountStep step = step_of(there);
                   return result_of(there, step, step.counts);
                 })
      .same();
}

/// Puts the rows on the device in two parts, as chunks of an Index are.
std::vector<spi::RowBlocks> two_parts(spi::StepRunner& there, const std::vector<float>& rows) {
  constexpr std::uint32_t of_first = 1001;
  const float* const rest = rows.data() + std::size_t{of_first} * dims;
  return {there.train({rows.data(), of_first, dims}), there.train({rest, n - of_first, dims})};
}

/// Returns whether the device orders rows right, by the highest `bits` bits of a place, or by cuts.
bool orders(spi::Device& device, std::uint32_t bits, const std::vector<spi::Cut>& cuts) {
  const std::vector<float> rows = hard_rows(n, 0), frame = curve_frame({rows.data(), n, dims});
  return on_both(device,
                 [&](spi::StepRunner& there) {
                   const spi::OrderStep step{two_parts(there, rows),
                                             there.input(frame, 1, frame.size()),
                                             bits,
                                             cuts,
                                             there.output<std::uint32_t>(1, n),
                                             {}};
                   return result_of(there, step, step.out);
                 })
      .same();
}

/// Sets the unused boxes at the end of each level to zero, so that only real boxes are compared.
std::vector<float> of_boxes(std::vector<float> bounds) {
  const std::size_t leaf = spi::box_rows, block = 2 * (dims * leaf);
  for (std::uint32_t level = 0; level < spi::box_levels(n); ++level)
    for (std::size_t box = spi::boxes_of_level(n, level); box % leaf != 0; ++box) {
      float* const last = bounds.data() + (spi::blocks_before_level(n, level) + box / leaf) * block;
      for (std::size_t line = 0; line < std::size_t{2} * dims; ++line) last[line * leaf + box % leaf] = 0;
    }
  return bounds;
}

/// Returns whether the device packs rows in their places, halves parts of them, and makes the boxes
/// around them.
bool packs(spi::Device& device) {
  const std::vector<float> rows = hard_rows(n, 0);
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < n; ++i) numbers.push_back(i * 11 % n);  // 11 and n have no common divisor
  return on_both(device,
                 [&](spi::StepRunner& there) {
                   const std::size_t line = std::size_t{dims} * spi::box_rows;
                   const spi::PackBoxesStep step{two_parts(there, rows), there.input(numbers, 1, n),
                                                 there.output<float>(spi::boxes_of_level(n, 0), line),
                                                 there.output<float>(spi::box_blocks(n), 2 * line)};
                   std::vector<float> made = result_of(there, step, step.packed);
                   const std::vector<float> bounds = of_boxes(there.read(step.bounds));
                   made.insert(made.end(), bounds.begin(), bounds.end());
                   for (const std::uint32_t number : there.read(step.numbers))
                     made.push_back(static_cast<float>(number));
                   return made;
                 })
      .same();
}

/// Says what a device that makes boxes itself does wrong; empty if nothing, or if it makes none.
std::string test_making(spi::Device& device) {
  const spi::RowBlocks one{nullptr, 0, 1, dims, device.info.train_block};
  if (!device.check({spi::OrderStep{{one}, {}, 1, {}, {nullptr, 0, 1, 1, 1}, {}}}).refusal.empty()) return "";
  const std::string where =
      " in a test of " + std::to_string(n) + " rows; choose no boxes, or update the device's driver";
  if (!orders(device, 64, {}) || !orders(device, 12, {}) || !orders(device, 0, {{2, 1}, {0, 1}}))
    return "rows were put in another order" + where;
  return packs(device) ? "" : "boxes were made around other rows" + where;
}

}  // namespace

std::string test_boxes(Device::State& state, Metric metric, Terms kind) {
  const DeviceSession session(state);
  const std::pair key(metric, kind);
  if (const auto known = state.boxes_refusals.find(key); known != state.boxes_refusals.end())
    return known->second;
  const std::string where = " in a test of " + std::to_string(n) + " rows by " + std::string(name(metric)) +
                            (kind == Terms::periodic ? " in a periodic box"
                             : kind == Terms::mixed  ? " by terms of columns"
                                                     : "") +
                            "; choose no boxes, or update the device's driver";
  const auto holds = [&](auto test) {
    return test(*session, metric, kind, false) && test(*session, metric, kind, true);
  };
  std::string why = test_making(*session);
  if (why.empty() && !holds(finds)) why = "a search by boxes found other rows" + where;
  if (why.empty() && !holds(counts)) why = "boxes counted other rows" + where;
  return state.boxes_refusals.emplace(key, why).first->second;
}

}  // namespace kith
