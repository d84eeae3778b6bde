#include "check/distance/sums_check.hpp"

#include <bit>
#include <limits>
#include <vector>

#include "check/self_test_parts.hpp"

namespace kith {
namespace {

constexpr std::uint32_t rows_of_shares = 77, queries_of_shares = 19, bits_of_shares = 653, wide_bits = 5005;

std::uint32_t next_drawn(std::uint32_t& state) {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

constexpr std::uint32_t words_of(std::uint32_t bits) {
  return bits / 32 + 1;
}

/// Returns rows of bits, from few ones to many; some have none, and some repeat.
std::vector<float> rows_of_bits(std::uint32_t rows, std::uint32_t bits, std::uint32_t salt) {
  std::vector<float> values;
  std::uint32_t state = 2357u + salt;
  for (std::uint32_t r = 0; r < rows; ++r)
    for (std::uint32_t w = 0; w < words_of(bits); ++w) {
      std::uint32_t word = next_drawn(state) << 16 ^ next_drawn(state);
      for (std::uint32_t fewer = r % 5; fewer > 1; --fewer)
        word &= next_drawn(state) << 16 ^ next_drawn(state);
      if (r % 5 == 0) word = r % 10 == 0 ? 0 : ~0u;
      if (w + 1 == words_of(bits)) word &= (1u << bits % 32) - 1;
      values.push_back(std::bit_cast<float>(word));
    }
  return values;
}

/// Returns rows of numbers: whole ones, fractions, subnormal ones, huge ones whose sums overflow, and zeros.
///   gaps  some are missing, from none of a row to all
std::vector<float> rows_of_numbers(std::uint32_t rows, std::uint32_t cols, std::uint32_t salt, bool gaps) {
  constexpr float scales[] = {0x1p-24f, 0x1p-20f, 0x1p-149f, 0x1p104f, 0};
  std::vector<float> values;
  std::uint32_t state = 2357u + salt;
  for (std::uint32_t i = 0; i < rows * cols; ++i) {
    const float unit = static_cast<float>(next_drawn(state)), sign = i % 3 == 0 ? -1.0f : 1.0f;
    const bool missing = gaps && (i * 7 + salt) % 12 < i / cols % 13;
    values.push_back(missing ? std::numeric_limits<float>::quiet_NaN() : sign * unit * scales[i / cols % 5]);
  }
  return values;
}

///   bits  of a row; numbers have as many columns as these have words
bool shares_are_right(spi::Device& device, Metric metric, std::uint32_t queries, std::uint32_t bits) {
  const std::uint32_t dims = words_of(bits);
  const auto rows = [&](std::uint32_t count, std::uint32_t salt) {
    return compares_bits(metric) ? rows_of_bits(count, bits, salt)
                                 : rows_of_numbers(count, dims, salt, takes_gaps(metric));
  };
  const std::vector<float> train = rows(rows_of_shares, 0), asked = rows(queries, 5);
  return on_both(device,
                 [&](spi::StepRunner& there) {
                   spi::DistanceStep step{metric, there.queries({asked.data(), queries, dims}),
                                          there.train({train.data(), rows_of_shares, dims}),
                                          there.output<float>(queries, rows_of_shares)};
                   step.train.bits = compares_bits(metric) ? bits : 0;
                   return result_of(there, step, step.out);
                 })
      .same();
}

}  // namespace

std::string test_sums(Device::State& state, Metric metric) {
  const DeviceSession session(state);
  if (const auto known = state.sums_refusals.find(metric); known != state.sums_refusals.end())
    return known->second;
  std::string why;
  const auto is_right = [&](std::uint32_t queries, std::uint32_t bits) {
    return shares_are_right(*session, metric, queries, bits);
  };
  if (!is_right(queries_of_shares, bits_of_shares) || !is_right(1, bits_of_shares) ||
      (has_codes(metric, wide_bits) && !is_right(queries_of_shares, wide_bits)))
    why = "distances by " + std::string(name(metric)) + " were wrong in a test of " +
          std::to_string(rows_of_shares) + " rows; choose another device, or update the device's driver";
  return state.sums_refusals.emplace(metric, why).first->second;
}

}  // namespace kith
