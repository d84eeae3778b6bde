#include "check/unit_check.hpp"

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "base/numbers.hpp"
#include "base/split_mix.hpp"
#include "check/self_test_parts.hpp"
#include "metric/chain.hpp"

namespace kith {
namespace {

constexpr std::uint32_t tested_rows = 2048, tested_dims = 7;

/// Returns rows, row-major: values of all magnitudes, of about one magnitude, subnormal ones, and rows with a
/// single value, whose quotients are nearly 1.
std::vector<float> rows_to_divide() {
  std::vector<float> values(std::size_t{tested_rows} * tested_dims);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t r = i / tested_dims, d = i % tested_dims;
    const auto mixed = static_cast<std::uint32_t>(split_mix((i + 1) * split_mix_step) >> 32);
    std::uint32_t bits = mixed & 0x807FFFFFu;  // a subnormal number
    if (r % 4 == 0) bits |= mixed >> 8 & 0x7F000000u;
    if (r % 4 == 1) bits |= 0x3F000000u;
    if (r % 4 == 3 && d != r % tested_dims) bits = 0;
    values[i] = std::bit_cast<float>(bits);
  }
  return values;
}

/// Returns the rows that the device divided, followed by its findings.
std::vector<float> divided(spi::StepRunner& there) {
  const std::vector<float> values = rows_to_divide();
  const std::uint32_t block = there.device().info.train_block, blocks = (tested_rows + block - 1) / block;
  std::vector<float> packed(std::size_t{blocks} * tested_dims * block);
  const auto place_of = [&](std::size_t r, std::size_t d) {
    return (r / block * tested_dims + d) * block + r % block;
  };
  for (std::size_t i = 0; i < values.size(); ++i)
    packed[place_of(i / tested_dims, i % tested_dims)] = values[i];
  const spi::Grid<float> rows = there.in_and_out(packed, std::size_t{blocks} * tested_dims, block);
  const spi::UnitStep step{{rows.memory, 0, tested_rows, tested_dims, block},
                           there.in_and_out(std::vector<std::uint32_t>{0, no_row}, 1, spi::unit_findings),
                           5};
  const std::vector<float> made = result_of(there, step, rows);
  std::vector<float> all;
  for (std::size_t i = 0; i < values.size(); ++i)
    all.push_back(made[place_of(i / tested_dims, i % tested_dims)]);
  for (const std::uint32_t word : there.read(step.found)) all.push_back(std::bit_cast<float>(word));
  return all;
}

std::string why_not(spi::Device& device) {
  const spi::RowBlocks one{nullptr, 0, 1, 1, device.info.train_block};
  const spi::Support support = device.check({spi::UnitStep{one, {}, 0}});
  if (!support.refusal.empty()) return support.refusal;
  if (on_both(device, [](spi::StepRunner& there) { return divided(there); }).same()) return "";
  return "rows divided by their norms came out as others in a test";
}

}  // namespace

std::string test_unit_rows(Device::State& state) {
  const DeviceSession session(state);
  if (!state.unit_refusal) state.unit_refusal = why_not(*session);
  return *state.unit_refusal;
}

bool prepares_on_device(Device::State& state, Metric metric) {
  return lands_as_given(metric) ||
         (prepare_of(metric) == Prepare::unit_rows && test_unit_rows(state).empty());
}

}  // namespace kith
