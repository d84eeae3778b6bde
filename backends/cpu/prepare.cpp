// prepare: rows moved by the centre and rounded, and bounds for how far that is from them.
// docs/certificate.md, section 2.
//
// The error of a subtraction is itself a float (TwoSum: Moller 1965, Knuth 1969), so nothing is
// estimated: sums are in double precision, where dims squares lose at most (dims + 2) 2^-53, and move
// to the safe side by a little more than that.
#include <algorithm>
#include <array>
#include <cstring>

#include "cpu/bounds.hpp"
#include "cpu/shadow_order.hpp"
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
  bool wide = false;    ///< x' - x~ is no float
};

/// Element 0 of the shadow; of gemm's that of the first row.
float* shadow_of(const spi::PrepareStep& step) {
  const spi::Grid<float>& rows = step.out.rows;
  auto* const memory = reinterpret_cast<float*>(bytes_of(*rows.memory));
  if (step.proposer == Proposer::gemm) return memory + rows.first;
  const std::size_t dims =
      (step.rows.dims + spi::shadow_dims - 1) / spi::shadow_dims * std::size_t{spi::shadow_dims};
  if (step.proposer == Proposer::dot) return memory + rows.first * step.rows.dims;
  return reinterpret_cast<float*>(reinterpret_cast<std::uint16_t*>(memory) + rows.first * dims);
}

void write_facts(const Squares& of, std::size_t dims, float* facts, std::size_t stride) {
  const double slack = static_cast<double>(dims + 8) * unit_of_double;
  const auto root_above = [&](double squares) { return float_above(std::sqrt(squares * (1 + slack))); };
  facts[spi::half_norm * stride] = float_below(of.moved * 0.5 * (1 - slack));
  facts[spi::norm * stride] = root_above(of.moved);
  facts[spi::shadow_norm * stride] = root_above(of.shadow);
  // For dot and gemm the residual is a float; for bf16 its distance from x' was rounded to double, as x' was.
  facts[spi::residual * stride] =
      float_above(static_cast<double>(root_above(of.residual)) +
                  (of.wide ? static_cast<double>(facts[spi::norm * stride]) * 0x1p-51 : 0.0));
}

/// Rows as they come, floats.
struct RowOrder {
  std::size_t stride;
  std::size_t place_of(std::size_t r, std::size_t d) const { return r * stride + d; }
};

/// Write x' where `order` wants it, and return what the shadow then is.
template <class Order>
float write(float* out, const Order& order, std::size_t r, std::size_t d, float moved) {
  out[order.place_of(r, d)] = moved;
  return moved;
}
float write(float* out, const TileOrder& order, std::size_t r, std::size_t d, float moved) {
  const std::uint16_t half = to_bf16(moved);
  reinterpret_cast<std::uint16_t*>(out)[order.place_of(r, d)] = half;
  return from_bf16(half);
}

/// Rows begin .. end - 1 of the step, which lie in one block; at most `lanes` of them.
template <class Order>
void prepare_rows(const spi::PrepareStep& step, const Order& order, std::size_t begin, std::size_t end) {
  const std::size_t dims = step.rows.dims, block = step.rows.block, first = step.rows.first + begin;
  const float* const rows = elements(step.rows) + first / block * dims * block + first % block;
  const float* const centre = elements(step.centre);
  float* const out = shadow_of(step);
  std::array<Squares, lanes> sums = {};
  for (std::size_t d = 0; d < dims; ++d)
    for (std::size_t r = 0; r < end - begin; ++r) {
      const float x = rows[d * block + r], c = centre[d];
      const float near = x - c, taken = x - near;
      const float error = (x - (near + taken)) - (c - taken);
      const double moved = static_cast<double>(near) + static_cast<double>(error);
      const auto shadow = static_cast<double>(write(out, order, begin + r, d, near));
      const double residual = static_cast<double>(near) - shadow + static_cast<double>(error);
      sums[r].moved += moved * moved;
      sums[r].shadow += shadow * shadow;
      sums[r].residual += residual * residual;
    }
  for (std::size_t r = begin; r < end; ++r) {
    sums[r - begin].wide = step.proposer == Proposer::bf16;
    write_facts(sums[r - begin], dims, elements(step.out.facts) + r, step.out.facts.stride);
  }
}

std::size_t rounded_up(std::size_t count, std::size_t unit) {
  return (count + unit - 1) / unit * unit;
}

}  // namespace

spi::Support check(const spi::PrepareStep& step, const Resources& with) {
  if (step.copy.rows > 0) return {"it reads single rows as fast from blocks; copy none", 0};
  const auto& has = with.proposers();
  if (step.proposer == Proposer::gemm || std::find(has.begin(), has.end(), step.proposer) != has.end())
    return {};
  return {"proposer " + std::string(name(step.proposer)) +
              " works on no shadow that this CPU prepares; choose gemm or dot",
          0};
}

namespace {

template <class Order>
void prepare_all(const spi::PrepareStep& step, const Resources& with, const Order& order) {
  const std::size_t rows = step.rows.rows, block = step.rows.block, width = std::min(block, lanes);
  if (rows == 0) return;
  // Tasks are cut where blocks are, in rows of the memory.
  const std::size_t first = step.rows.first, first_task = first / width;
  const std::size_t tasks = (first + rows + width - 1) / width - first_task;
  run_team(tasks, rows * step.rows.dims * 4, with.team, [&](std::size_t task, std::size_t) {
    const std::size_t begin = std::max(first, (first_task + task) * width);
    const std::size_t end = std::min(first + rows, (first_task + task + 1) * width);
    prepare_rows(step, order, begin - first, end - first);
  });
}

}  // namespace

void run(const spi::PrepareStep& step, const Resources& with) {
  const std::size_t dims = step.rows.dims, block = step.rows.block;
  switch (step.proposer) {
    case Proposer::dot: {
      // Rows beside those meant are multiplied, too, and a NaN there would hide a neighbour's product.
      const std::size_t whole = step.rows.rows / block * block;
      std::fill(shadow_of(step) + whole * dims,
                shadow_of(step) + rounded_up(step.rows.rows, spi::shadow_rows) * dims, 0.0f);
      return prepare_all(step, with, FloatOrder{block, dims});
    }
    case Proposer::bf16: {
      // Columns behind the last, and rows beside those meant, are multiplied, too.
      const std::size_t tiles = (dims + TileOrder::dims - 1) / TileOrder::dims;
      std::memset(
          shadow_of(step), 0,
          rounded_up(step.rows.rows, spi::shadow_rows) * tiles * TileOrder::dims * sizeof(std::uint16_t));
      return prepare_all(step, with, TileOrder{tiles, block == query_block});
    }
    default:
      return prepare_all(step, with, RowOrder{step.out.rows.stride});
  }
}

}  // namespace kith::cpu
