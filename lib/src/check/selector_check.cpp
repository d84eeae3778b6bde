// Tests whether a selector selects the right rows. A device has ten selectors, and compiling all when it is
// opened would take long, so each is tested when a search first uses it.
#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "check/selector_check.hpp"
#include "check/self_test_parts.hpp"
#include "device/device_state.hpp"
#include "kith/error.hpp"

namespace kith {
namespace {

// More columns than a kernel that reads them step by step takes at once; and as many as a selector needs that
// sorts long lists by kernels of their own. The k of the search is tested in the former, since kernels may be
// compiled for it; of the latter nine tenths, so that no masked pair is among them.
constexpr std::uint32_t queries = 2, short_list = 2100, long_list = 8200, first_listed = 45, most_k = 64;
constexpr std::uint32_t most_of_long = long_list - long_list / 10;

/// Returns ties, both infinities, both zeros, subnormal numbers and masked pairs; those of the first query
/// mostly descend.
std::vector<float> hard_values(std::uint32_t distances_a_list) {
  std::vector<float> values;
  std::uint32_t state = 977;
  for (std::uint32_t i = 0; i < queries * distances_a_list; ++i) {
    state = state * 1664525u + 1013904223u;
    const std::uint32_t chosen = state >> 27;
    const std::uint32_t half = i / 2;  // each value twice
    float value = static_cast<float>(static_cast<std::int32_t>(state >> 8 & 1023) - 300);
    if (i < distances_a_list) value = static_cast<float>(distances_a_list - half);
    if (chosen == 0) value = INFINITY;
    if (chosen == 1) value = state & 256 ? 0.0f : -0.0f;
    if (chosen == 2) value = 0x1p-140f * static_cast<float>(state >> 8 & 7);
    if (chosen == 3) value = std::bit_cast<float>(spi::masked_bits);
    if (chosen == 4 && i % 700 == 0) value = -INFINITY;
    values.push_back(value);
  }
  return values;
}

bool selects(spi::Device& device, Selector selector, std::uint32_t distances_a_list, std::uint32_t k) {
  const std::vector<float> values = hard_values(distances_a_list);
  return on_both(device,
                 [&](spi::StepRunner& there) {
                   const spi::SelectStep step{selector,
                                              there.input(values, queries, distances_a_list),
                                              first_listed,
                                              k,
                                              1,
                                              there.output<Key>(queries, k),
                                              {}};
                   return result_of(there, step, step.out);
                 })
      .same();
}

}  // namespace

std::string test_selector(Device::State& state, Selector selector, std::int64_t k) {
  const DeviceSession session(state);
  if (const auto known = state.selector_refusals.find(selector); known != state.selector_refusals.end())
    return known->second;
  std::string why;
  const auto some = static_cast<std::uint32_t>(std::clamp<std::int64_t>(k, 1, most_k));
  const auto try_list = [&](std::uint32_t distances, std::uint32_t wanted) {
    if (selects(*session, selector, distances, wanted)) return;
    why = "selector " + std::string(name(selector)) + " selected other rows in a test of " +
          std::to_string(distances) + " distances; choose another selector, or update the device's driver";
  };
  try_list(short_list, some);
  if (why.empty() && selector == Selector::radix) try_list(long_list, most_of_long);
  return state.selector_refusals.emplace(selector, why).first->second;
}

}  // namespace kith
