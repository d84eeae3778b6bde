#include "check/landing_check.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

#include "check/self_test_parts.hpp"
#include "kith/metric.hpp"
#include "rows/read_back.hpp"

namespace kith {
namespace {

// More rows than a block has, and more columns than a tile.
constexpr std::uint32_t landed_rows = 37, landed_dims = 35;

/// Returns elements in patterns that include subnormal numbers, both zeros and large numbers.
std::vector<unsigned char> hard_elements(Element element) {
  const auto bytes = static_cast<std::size_t>(element_bytes(element));
  std::vector<unsigned char> all(std::size_t{landed_rows} * landed_dims * bytes);
  for (std::size_t i = 0; i < all.size() / bytes; ++i) {
    const auto mixed = static_cast<std::uint32_t>(i * 2654435761u);
    const std::uint32_t sparse = i % 3 == 0 ? mixed & 0x800003FFu : mixed;
    const std::uint32_t pattern =
        element == Element::f32 ? sparse & 0xFF7FFFFFu : (sparse >> (i % 3 == 0 ? 0 : 16)) & 0xFBFFu;
    std::memcpy(all.data() + i * bytes, &pattern, bytes);
  }
  return all;
}

/// Returns whole numbers from 0 on that are on the grid of bytes; with `off`, one is 256.
std::vector<unsigned char> numbers_on_grid(bool off) {
  std::vector<float> all(std::size_t{landed_rows} * landed_dims);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(i % 256);
  if (off) all[all.size() / 2] = 256;
  std::vector<unsigned char> bytes(all.size() * sizeof(float));
  std::memcpy(bytes.data(), all.data(), bytes.size());
  return bytes;
}

/// Returns the converted rows, followed by the findings.
std::vector<float> landed(spi::StepRunner& there, Element element, const std::vector<unsigned char>& from,
                          const spi::FloatGrid& grid = {}) {
  const std::uint32_t block = there.device().info.train_block, blocks = (landed_rows + block - 1) / block;
  const spi::Grid<float> out = there.output<float>(std::size_t{blocks} * landed_dims, block);
  const std::vector<std::uint32_t> nothing = {0, no_row, 0};
  const spi::LandStep step{
      {there.put(from.data(), from.size()), element, 0, from.size() / landed_rows, landed_rows, landed_dims},
      {},
      {out.memory, 0, landed_rows, landed_dims, block},
      there.in_and_out(nothing, 1, spi::land_findings),
      0,
      {},
      grid};
  const std::vector<float> packed = result_of(there, step, out);
  std::vector<float> all(std::size_t{landed_rows} * landed_dims + spi::land_findings);
  unpack_rows(packed, block, landed_rows, landed_dims, all.data(), 1);
  const std::vector<std::uint32_t> found = there.read(step.found);
  std::memcpy(all.data() + std::size_t{landed_rows} * landed_dims, found.data(),
              sizeof(std::uint32_t) * found.size());
  return all;
}

/// Returns distances of values whose roots are nearly halfway between two floats, and of subnormal values.
std::vector<float> distances(spi::StepRunner& there) {
  constexpr std::uint32_t k = 4, count = 1024;
  std::vector<Key> keys;
  for (std::uint32_t i = 0; i < count; ++i) {
    const float between = 0x1.000001p0f + static_cast<float>(i) * 0x1p-23f;
    const float value = i % 8 == 7 ? static_cast<float>(i) * 0x1p-149f : between * between;
    keys.push_back(make_key(value, i));
  }
  const spi::FinishStep step{Metric::l2, there.input(keys, count / k, k), there.output<float>(count / k, k),
                             there.output<std::int64_t>(count / k, k)};
  return result_of(there, step, step.distance);
}

}  // namespace

std::string landing_check(spi::Device& device) {
  for (const Element element : {Element::f32, Element::f16}) {
    std::string why = landing_check(device, element);
    if (!why.empty()) return why;
  }
  if (!on_both(device, [](spi::StepRunner& there) { return distances(there); }).same())
    return "distances came out as others in a test of roots";
  return {};
}

std::string landing_check(spi::Device& device, Element element) {
  const auto same = [&](const std::vector<unsigned char>& from, const spi::FloatGrid& grid = {}) {
    return on_both(device, [&](spi::StepRunner& there) { return landed(there, element, from, grid); }).same();
  };
  constexpr spi::FloatGrid bytes = {128, 1, 1};
  const bool finds_grid =
      element != Element::f32 || (same(numbers_on_grid(false), bytes) && same(numbers_on_grid(true), bytes));
  if (same(hard_elements(element)) && finds_grid) return {};
  return "rows of " + std::string(name(element)) + " were landed as others in a test";
}

}  // namespace kith
