// unit: divides rows by their norms, in place.
#include <atomic>
#include <bit>
#include <cmath>

#include "cpu/steps/steps.hpp"
#include "host/parallel.hpp"
#include "kith/key.hpp"

namespace kith::cpu {
namespace {

/// Divides the row by its norm, and returns the norm.
///   step  distance from one value to the next
double divide(float* row, std::size_t dims, std::size_t step) {
  double sum = 0;
  for (std::size_t d = 0; d < dims; ++d) {
    const double value = row[d * step];
    sum += value * value;
  }
  const double norm = std::sqrt(sum);
  for (std::size_t d = 0; d < dims; ++d)
    row[d * step] = static_cast<float>(static_cast<double>(row[d * step]) / norm);
  return norm;
}

}  // namespace

spi::Support check(const spi::UnitStep&, const Resources&) {
  return {};
}

void run(const spi::UnitStep& step, const Resources& with) {
  const std::size_t block = step.rows.block, dims = step.rows.dims;
  std::uint32_t* const found = elements(step.found);
  std::atomic<std::uint32_t> largest = found[spi::largest_unit_bits], zero = found[spi::zero_row];
  run_team(step.rows.rows, step.rows.rows * dims, with.team, [&](std::size_t r, std::size_t) {
    const std::size_t at = step.rows.first + r;
    float* const row =
        reinterpret_cast<float*>(bytes_of(*step.rows.memory)) + at / block * block * dims + at % block;
    if (divide(row, dims, block) > 0) {
      std::uint32_t most = 0;
      for (std::size_t d = 0; d < dims; ++d)
        most = std::max(most, std::bit_cast<std::uint32_t>(row[d * block]) & 0x7FFFFFFFu);
      raise_to(largest, most);
    } else {
      lower_to(zero, step.first_row + static_cast<std::uint32_t>(r));
    }
  });
  found[spi::largest_unit_bits] = largest;
  found[spi::zero_row] = zero;
}

}  // namespace kith::cpu
