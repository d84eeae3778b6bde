// mask: excludes the pairs that a filter leaves out, by writing a value that means "masked".
#include <algorithm>
#include <bit>

#include "cpu/steps/steps.hpp"
#include "host/parallel.hpp"

namespace kith::cpu {

spi::Support check(const spi::MaskStep&, const Resources&) {
  return {};
}

void run(const spi::MaskStep& step, const Resources& with) {
  const std::uint32_t* const filter = elements(step.filter);
  const std::size_t stride = step.filter.rows == 1 ? 0 : step.filter.stride;
  const float masked = std::bit_cast<float>(spi::masked_bits);
  run_team(step.distances.rows, step.distances.rows * step.distances.cols, with.team,
           [&](std::size_t q, std::size_t) {
             const std::uint32_t* const bits = filter + q * stride;
             float* const distances = elements(step.distances) + q * step.distances.stride;
             if (step.from.cols > 0)
               std::copy_n(elements(step.from) + q * step.from.stride, step.distances.cols, distances);
             for (std::size_t j = 0, count = 0; j < step.distances.cols; j += count) {
               const std::size_t t = step.first_row + j;  // up to the end of its word
               count = std::min(32 - t % 32, step.distances.cols - j);
               std::uint32_t out = ~bits[t / 32] >> t % 32;
               if (count < 32) out &= (1u << count) - 1;
               for (; out; out &= out - 1)
                 distances[j + static_cast<std::size_t>(std::countr_zero(out))] = masked;
             }
           });
}

}  // namespace kith::cpu
