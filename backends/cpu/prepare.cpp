// prepare: rows moved by the centre and rounded, and bounds for how far that is from them.
// docs/certificate.md, section 2.
//
// The error of a subtraction is itself a float (TwoSum: Moller 1965, Knuth 1969), so nothing is
// estimated: sums are in double precision, where dims squares lose at most (dims + 2) 2^-53, and move
// to the safe side by a little more than that.
#include <array>

#include "cpu/bounds.hpp"
#include "cpu/steps.hpp"
#include "parallel.hpp"

namespace kith::cpu {
namespace {

/// Rows side by side: neighbours in a block are neighbours in memory.
constexpr std::size_t lanes = 16;

/// Sums of squares of one row.
struct Squares {
  double moved = 0;     ///< of x' = x - c
  double shadow = 0;    ///< of x~ = x' rounded
  double residual = 0;  ///< of x' - x~
};

void write_facts(const Squares& of, std::size_t dims, float* facts, std::size_t stride) {
  const double slack = static_cast<double>(dims + 8) * unit_of_double;
  const auto root_above = [&](double squares) { return float_above(std::sqrt(squares * (1 + slack))); };
  facts[spi::half_norm * stride] = float_below(of.moved * 0.5 * (1 - slack));
  facts[spi::norm * stride] = root_above(of.moved);
  facts[spi::shadow_norm * stride] = root_above(of.shadow);
  facts[spi::residual * stride] = root_above(of.residual);
}

/// Rows begin .. end - 1 of the step, which lie in one block; at most `lanes` of them.
void prepare_rows(const spi::PrepareStep& step, std::size_t begin, std::size_t end) {
  const std::size_t dims = step.rows.dims, block = step.rows.block, first = step.rows.first + begin;
  const float* const rows = elements(step.rows) + first / block * dims * block + first % block;
  const float* const centre = elements(step.centre);
  float* const out = elements(step.out.rows) + begin * step.out.rows.stride;
  std::array<Squares, lanes> sums = {};
  for (std::size_t d = 0; d < dims; ++d)
    for (std::size_t r = 0; r < end - begin; ++r) {
      const float x = rows[d * block + r], c = centre[d];
      const float shadow = x - c, taken = x - shadow;
      const float error = (x - (shadow + taken)) - (c - taken);
      const double moved = static_cast<double>(shadow) + static_cast<double>(error);
      sums[r].moved += moved * moved;
      sums[r].shadow += static_cast<double>(shadow) * static_cast<double>(shadow);
      sums[r].residual += static_cast<double>(error) * static_cast<double>(error);
      out[r * step.out.rows.stride + d] = shadow;
    }
  for (std::size_t r = begin; r < end; ++r)
    write_facts(sums[r - begin], dims, elements(step.out.facts) + r, step.out.facts.stride);
}

}  // namespace

spi::Support check(const spi::PrepareStep& step, const Resources&) {
  if (step.proposer == Proposer::gemm) return {};
  return {
      "proposer " + std::string(name(step.proposer)) + " works on no shadow that a CPU prepares; choose gemm",
      0};
}

void run(const spi::PrepareStep& step, const Resources& with) {
  const std::size_t rows = step.rows.rows, block = step.rows.block, width = std::min(block, lanes);
  if (rows == 0) return;
  // Tasks are cut where blocks are, in rows of the memory.
  const std::size_t first = step.rows.first, first_task = first / width;
  const std::size_t tasks = (first + rows + width - 1) / width - first_task;
  run_team(tasks, rows * step.rows.dims * 4, with.team, [&](std::size_t task, std::size_t) {
    const std::size_t begin = std::max(first, (first_task + task) * width);
    const std::size_t end = std::min(first + rows, (first_task + task + 1) * width);
    prepare_rows(step, begin - first, end - first);
  });
}

}  // namespace kith::cpu
