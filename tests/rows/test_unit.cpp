// Tests the step unit: docs/contract.md, section 1, unit rows.
#include "common/device.hpp"
#include "common/elements.hpp"

namespace kith::tests {
namespace {

/// Returns values of all magnitudes and both signs, subnormal ones too; every fifth row of one magnitude.
std::vector<float> values_of(std::size_t rows, std::size_t dims) {
  std::vector<float> values;
  std::uint64_t state = rows + dims;
  for (std::size_t i = 0; i < rows * dims; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    auto bits = static_cast<std::uint32_t>(state >> 32) & 0xFF7FFFFFu;
    if (i / dims % 5 == 0) bits = (bits & 0x807FFFFFu) | 0x3F800000u;
    if (i / dims % 5 == 1) bits &= 0x807FFFFFu;
    values.push_back(std::bit_cast<float>(bits));
  }
  return values;
}

/// Divides the row by its norm as the contract defines it. Returns false if the norm is 0.
bool divide(std::vector<float>& row) {
  double sum = 0;
  for (const float value : row) sum += double{value} * double{value};
  const double norm = std::sqrt(sum);
  if (norm == 0) return false;
  for (float& value : row) value = static_cast<float>(double{value} / norm);
  return true;
}

/// Runs the step for rows behind `before` blocks; rows of `zeros` are all zeros.
void check_unit(std::size_t rows, std::size_t dims, std::size_t before,
                const std::vector<std::size_t>& zeros) {
  std::vector<float> values = values_of(rows, dims);
  for (const std::size_t r : zeros)
    std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(r * dims), dims, r % 2 == 0 ? 0.0f : -0.0f);
  spi::with_device(device(), [&](spi::Device& on) {
    const std::size_t block = on.info.train_block, blocks = before + (rows + block - 1) / block;
    std::vector<float> packed(blocks * block * dims, 3.5f);
    const auto place_of = [&](std::size_t r, std::size_t d) {
      return ((before + r / block) * dims + d) * block + r % block;
    };
    for (std::size_t i = 0; i < values.size(); ++i) packed[place_of(i / dims, i % dims)] = values[i];
    const GuardedMemory<float> memory(on, packed);
    const GuardedMemory<std::uint32_t> found(on, {7, 0, no_row, 7});
    const std::string refusal =
        run_step(on, spi::UnitStep{{memory.memory(), static_cast<std::uint32_t>(before * block),
                                    static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(dims),
                                    static_cast<std::uint32_t>(block)},
                                   {found.memory(), 1, 1, spi::unit_findings, spi::unit_findings},
                                   100});
    if (!refusal.empty()) return;
    std::uint32_t largest = 0, zero = no_row;
    const std::vector<float> got = memory.read();
    for (std::size_t r = 0; r < rows; ++r) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(r * dims);
      std::vector<float> row(begin, begin + static_cast<std::ptrdiff_t>(dims));
      if (!divide(row)) {
        zero = std::min(zero, 100 + static_cast<std::uint32_t>(r));
        for (std::size_t d = 0; d < dims; ++d) packed[place_of(r, d)] = got[place_of(r, d)];  // undefined
        continue;
      }
      for (std::size_t d = 0; d < dims; ++d) {
        packed[place_of(r, d)] = row[d];
        largest = std::max(largest, std::bit_cast<std::uint32_t>(row[d]) & 0x7FFFFFFFu);
      }
    }
    CHECK(bits(got) == bits(packed));  // the memory before and behind the rows is unchanged
    CHECK(found.read() == std::vector<std::uint32_t>{7, largest, zero, 7});
  });
}

TEST_SUITE_BEGIN("device");

TEST_CASE("unit: rows over their norms have the bits of the contract") {
  for (const std::size_t dims : {1u, 2u, 3u, 17u, 128u, 1000u}) {
    CAPTURE(dims);
    check_unit(300, dims, 0, {});
    check_unit(33, dims, 2, {});
  }
  check_unit(20000, 3, 0, {});
}

TEST_CASE("unit: the first row of zeros is found") {
  check_unit(100, 4, 1, {70, 41, 99});
  check_unit(1, 1, 0, {0});
}

TEST_SUITE_END();

}  // namespace
}  // namespace kith::tests
