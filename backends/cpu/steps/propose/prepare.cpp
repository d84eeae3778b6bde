// prepare: subtracts the centre from rows and rounds them, and bounds the distance between the results and
// the rows. docs/certificate.md, section 2.
//
// The error of a subtraction is itself a float (TwoSum: Moller 1965, Knuth 1969), so that nothing is
// estimated. Sums are in double precision, where dims squares have a relative error of at most (dims + 2)
// 2^-53; they are moved to the safe side by slightly more.
#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "cpu/steps/propose/bounds.hpp"
#include "cpu/steps/propose/quantized_order.hpp"
#include "cpu/steps/steps.hpp"
#include "host/parallel.hpp"

namespace kith::cpu {
namespace {

/// Neighbouring rows of a block are neighbours in memory.
constexpr std::size_t lanes = 16;

/// The sums of squares of rows.
struct Squares {
  std::array<double, lanes> moved = {};      ///< squares of x' = x - c
  std::array<double, lanes> quantized = {};  ///< squares of x~ = x' rounded
  std::array<double, lanes> residual = {};   ///< squares of x' - x~
};

/// Returns the address of the first quantized row.
std::byte* quantized_of(const spi::PrepareStep& step) {
  const spi::Grid<float>& rows = step.out.rows;
  if (step.proposer == Proposer::gemm) return bytes_of(*rows.memory) + rows.first * sizeof(float);
  return bytes_of(*rows.memory) +
         rows.first * pitch_of(step.proposer, step.rows.dims) * element_bytes(step.proposer);
}

/// Writes the terms of row `begin + r` from the sums of lane r.
void write_row_terms(const spi::PrepareStep& step, const Squares& of, std::size_t begin, std::size_t r) {
  const double slack = static_cast<double>(step.rows.dims + 8) * unit_of_double;
  const auto root_above = [&](double squares) { return float_above(std::sqrt(squares * (1 + slack))); };
  const std::size_t stride = step.out.row_terms.stride;
  float* const row_terms = elements(step.out.row_terms) + begin + r;
  const float norm = root_above(of.moved[r]), quantized_norm = root_above(of.quantized[r]);
  // For dot and gemm the residual is a float. For others, the difference to x' was rounded to double, and so
  // were x', the reciprocal of the scale of int8, and each product with it.
  const bool exact = step.proposer == Proposer::dot || step.proposer == Proposer::gemm;
  const double inexact =
      exact ? 0 : static_cast<double>(norm) * 0x1p-51 + static_cast<double>(quantized_norm) * 0x1p-50;
  // A sum of squares of whole numbers of grid steps is exact.
  const bool on_grid = step.out.on_grid == spi::OnGrid::exactly && of.residual[r] == 0;
  row_terms[spi::half_norm * stride] = float_below(of.moved[r] * 0.5 * (on_grid ? 1 : 1 - slack));
  if (step.out.row_terms.rows == 1) return;
  row_terms[spi::norm * stride] = norm;
  row_terms[spi::quantized_norm * stride] = quantized_norm;
  row_terms[spi::residual * stride] =
      on_grid ? 0 : float_above(static_cast<double>(root_above(of.residual[r])) + inexact);
}

/// Returns whether all rows are on the grid, and only half norms are asked for.
bool wants_half_norms_alone(const spi::PrepareStep& step) {
  return step.out.on_grid == spi::OnGrid::exactly && step.out.row_terms.rows == 1;
}

/// Adds the squares of a row of `wants_half_norms_alone()`, which is moved and rounded without error.
void add_moved(const float* x, float c, std::size_t width, std::array<float, lanes>& near, Squares& sums) {
  for (std::size_t r = 0; r < width; ++r) {
    near[r] = x[r] - c;
    sums.moved[r] += static_cast<double>(near[r]) * static_cast<double>(near[r]);
  }
}

/// Copies the rows into contiguous memory, 16 dimensions of each at a time.
void copy_rows(const spi::PrepareStep& step, const float* rows, std::size_t begin, std::size_t count) {
  constexpr std::size_t at_once = 16;
  const std::size_t dims = step.rows.dims, block = step.rows.block;
  float* const copy = elements(step.copy) + begin * step.copy.stride;
  for (std::size_t first = 0; first < dims; first += at_once)
    for (std::size_t r = 0; r < count; ++r)
      for (std::size_t d = first; d < std::min(dims, first + at_once); ++d)
        copy[r * step.copy.stride + d] = rows[d * block + r];
}

/// Prepares rows begin .. begin + count - 1 of the step, which are in one block; at most `lanes` rows.
///   all               count is `lanes`, which the compiler then knows
///   half_norms_alone  see above
template <bool all, bool half_norms_alone, class Order>
void prepare_rows(const spi::PrepareStep& step, const Order& order, std::size_t begin, std::size_t count) {
  const std::size_t dims = step.rows.dims, block = step.rows.block, first = step.rows.first + begin;
  const float* const rows = elements(step.rows) + first / block * dims * block + first % block;
  const float* const centre = elements(step.centre);
  std::byte* const out = quantized_of(step);
  const std::size_t width = all ? lanes : count;
  Squares sums;
  for (std::size_t d = 0; d < dims; ++d) {
    const float* const x = rows + d * block;
    const float c = centre[d];
    std::array<float, lanes> near, error;
    std::array<double, lanes> quantized;
    if (half_norms_alone) {
      add_moved(x, c, width, near, sums);
      order.write(out, begin, width, d, near.data(), quantized.data());
      continue;
    }
    for (std::size_t r = 0; r < width; ++r) {
      near[r] = x[r] - c;
      const float taken = x[r] - near[r];
      error[r] = (x[r] - (near[r] + taken)) - (c - taken);
    }
    order.write(out, begin, width, d, near.data(), quantized.data());
    for (std::size_t r = 0; r < width; ++r) {
      const auto moved = static_cast<double>(near[r]), apart = static_cast<double>(error[r]);
      const double residual = moved - quantized[r] + apart;
      sums.moved[r] += (moved + apart) * (moved + apart);
      sums.quantized[r] += quantized[r] * quantized[r];
      sums.residual[r] += residual * residual;
    }
  }
  for (std::size_t r = 0; r < count; ++r) write_row_terms(step, sums, begin, r);
  if (step.copy.rows > 0) copy_rows(step, rows, begin, count);
}

/// Prepares a block of 16 training rows as bytes, by the instructions of this processor.
///   begin  of the step, a multiple of a block
void prepare_block(const spi::PrepareStep& step, const Kernels& kernels, const ByteOrder& order,
                   std::size_t begin) {
  static_assert(lanes == train_block && lanes == byte_train_block);
  const float* const rows = elements(step.rows) + (step.rows.first + begin) * step.rows.dims;
  Squares sums;
  kernels.rows_to_bytes({rows, elements(step.centre), step.rows.dims,
                         reinterpret_cast<std::int8_t*>(quantized_of(step)) + order.places.place_of(begin, 0),
                         order.scale, order.least, order.most, order.unscale, sums.moved.data(),
                         sums.quantized.data(), sums.residual.data()});
  for (std::size_t r = 0; r < lanes; ++r) write_row_terms(step, sums, begin, r);
  if (step.copy.rows > 0) copy_rows(step, rows, begin, lanes);
}

/// Returns whether rows begin ... begin + count - 1 are such a block.
bool is_block_of_bytes(const spi::PrepareStep& step, std::size_t begin, std::size_t count) {
  return step.proposer == Proposer::int8 && step.rows.block == train_block && count == train_block &&
         begin % train_block == 0 && (step.rows.first + begin) % train_block == 0;
}

std::size_t rounded_up(std::size_t count, std::size_t unit) {
  return (count + unit - 1) / unit * unit;
}

}  // namespace

/// Sets memory to 0. All threads do, since its pages are touched for the first time.
void clear(std::byte* memory, std::size_t bytes, const Resources& with) {
  constexpr std::size_t a_share = std::size_t{1} << 18;
  run_team((bytes + a_share - 1) / a_share, bytes / sizeof(std::uint64_t), with.team,
           [&](std::size_t share, std::size_t) {
             const std::size_t begin = share * a_share;
             std::memset(memory + begin, 0, std::min(a_share, bytes - begin));
           });
}

spi::Support check(const spi::PrepareStep& step, const Resources& with) {
  const auto& has = with.proposers();
  if (step.proposer == Proposer::gemm || std::find(has.begin(), has.end(), step.proposer) != has.end())
    return {};
  return {"proposer " + std::string(name(step.proposer)) +
              " works on no quantized rows that this CPU prepares; choose gemm or dot",
          0};
}

namespace {

template <bool half_norms_alone, class Order>
void prepare_all(const spi::PrepareStep& step, const Resources& with, const Order& order) {
  const std::size_t rows = step.rows.rows, block = step.rows.block, width = std::min(block, lanes);
  if (rows == 0) return;
  // Tasks are whole blocks of rows of the memory.
  const std::size_t first = step.rows.first, first_task = first / width;
  const std::size_t tasks = (first + rows + width - 1) / width - first_task;
  run_team(tasks, rows * step.rows.dims * 4, with.team, [&](std::size_t task, std::size_t) {
    const std::size_t begin = std::max(first, (first_task + task) * width);
    const std::size_t end = std::min(first + rows, (first_task + task + 1) * width);
    if constexpr (!half_norms_alone && std::is_same_v<Order, ByteOrder>)
      if (is_block_of_bytes(step, begin - first, end - begin))
        return prepare_block(step, *with.set.kernels, order, begin - first);
    if (end - begin == lanes)
      prepare_rows<true, half_norms_alone>(step, order, begin - first, lanes);
    else
      prepare_rows<false, half_norms_alone>(step, order, begin - first, end - begin);
  });
}

}  // namespace

void run(const spi::PrepareStep& step, const Resources& with) {
  const std::size_t dims = step.rows.dims, block = step.rows.block;
  const std::size_t pitch = pitch_of(step.proposer, dims) * element_bytes(step.proposer);
  const std::size_t padded = rounded_up(step.rows.rows, spi::quantized_block_rows);
  const bool of_queries = block == query_block;
  switch (step.proposer) {
    case Proposer::dot: {
      // Rows outside the step are also multiplied, and a NaN there would hide a neighbour's product.
      const std::size_t whole = step.rows.rows / block * block;
      std::memset(quantized_of(step) + whole * pitch, 0, (padded - whole) * pitch);
      return prepare_all<false>(step, with, FloatOrder{block, dims});
    }
    case Proposer::bf16:
    case Proposer::int8: {
      // Columns behind the last one, and rows outside the step, are also multiplied.
      clear(quantized_of(step), padded * pitch, with);
      if (step.proposer == Proposer::int8) {
        const SideBySide places = of_queries ? ByteOrder::places_of_queries(dims, with.set.bytes_in_tiles)
                                             : ByteOrder::places_of_train(dims);
        if (step.out.on_grid != spi::OnGrid::no) {
          const ByteOrder order(places, step.scale, spi::least_on_grid, spi::most_on_grid);
          return wants_half_norms_alone(step) ? prepare_all<true>(step, with, order)
                                              : prepare_all<false>(step, with, order);
        }
        const int most = of_queries ? with.set.most_query_byte : most_byte;
        return prepare_all<false>(step, with,
                                  ByteOrder(places, step.scale * share_of_scale(most), -most, most));
      }
      return prepare_all<false>(step, with, TileOrder(of_queries, pitch / sizeof(std::uint16_t)));
    }
    default:
      return prepare_all<false>(step, with, RowOrder{step.out.rows.stride});
  }
}

}  // namespace kith::cpu
