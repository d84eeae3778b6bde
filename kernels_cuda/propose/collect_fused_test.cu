// collect, fp16, for few dimensions: as collect_fp16.cu, but the test is part of the product
// (fused_test.cuh). Half an instruction per pair is left: the signs of three sums are combined at a time.
//
// First the training rows of the step are copied in the order of visits, with `low` in their last columns. If
// there is no row, or its terms are NaN, `low` is +infinity. Then a block of 8 warps handles 256 queries, 32
// per warp, which stay in registers with their thresholds, and, one after another, runs of tiles of 128 rows,
// which are copied to shared memory. A warp multiplies 16 rows at a time, which are 16 sums per thread. So
// few registers are needed that several blocks fit on a multiprocessor, and some multiply while others test.
// Warps wait for each other once per run.
// Work: 16 or 32 multiply-adds per pair, in steps of m16n8k16. Shared memory: 40 KiB. Source:
// docs/certificate.md, section 4.
#include <cuda_pipeline.h>

#include <cmath>

#include "common/tensor.cuh"
#include "prepare/prepare_quantized.cuh"
#include "propose/append_fp16.cuh"
#include "propose/collect_fp16.cuh"
#include "propose/fused_test.cuh"
#include "propose/fused_test.hpp"
#include "propose/largest_of_queries.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t fused_warps = 8, fused_threads = fused_warps * 32, warp_queries = 32,
                        block_queries = fused_warps * warp_queries;
constexpr std::uint32_t tile_rows = tile_of_halves, stages = 2, group_rows = 16;
constexpr std::uint32_t low_threads = 256;

/// The number of tiles of a run whose lines have `steps` steps of 16 columns.
template <std::uint32_t steps>
inline constexpr std::uint32_t run_tiles = 4 / steps;

/// Returns how many blocks fit on a multiprocessor, given the registers they need.
constexpr std::uint32_t blocks_at_once(std::uint32_t steps) {
  return steps == 1 ? 4 : 3;
}

/// A run of training rows in shared memory.
template <std::uint32_t steps>
using Run = uint4[run_tiles<steps>][tile_rows * 2 * steps];

/// Returns how many steps of 16 columns a row and its `low` take.
constexpr std::uint32_t steps_of(std::uint32_t dims) {
  return spi::fused_test_steps(dims);
}
static_assert(steps_of(spi::most_fused_test_dims) == 2);

/// Computes how far apart the bounds of a row are: the gap of the row, twice the part of the threshold that a
/// sum may lose, and the rounding errors of single precision.
struct GapWithSlack {
  Matrix<const float> threshold;
  float most, a_unit, least;

  __device__ __forceinline__ float of(const HalfCollection& collection, const Finding& found) const {
    const float size = fminf(fabsf(__ldg(threshold.data + found.query * threshold.stride)), most);
    return __fadd_ru(gap_at(collection.from, found.place), __fmaf_ru(size, a_unit, least));
  }
};

/// `low` of a training row, as two halves, and its gap.
struct Low {
  std::uint32_t parts;
  float gap;
};

__device__ __forceinline__ Low low_of_row(const ProductBound& bound, const ErrorTerms& errors,
                                          const FusedTestTerms& terms, const LargestOfQueries& largest,
                                          std::uint64_t t) {
  const auto row_term_of = [&](std::size_t which) {
    return __ldg(bound.train_terms.data + which * bound.train_terms.stride + t);
  };
  const float norm = row_term_of(spi::norm);
  const double error =
      row_error(errors, largest, row_term_of(spi::residual), norm, row_term_of(spi::quantized_norm));
  const double half_norm = bound.squared ? static_cast<double>(row_term_of(spi::half_norm)) : 0;
  const Parts parts = fused_test_low(terms, __dsub_rd(half_norm, error));
  const double low = parts.sum * terms.unit, lost = error + fused_test_error(terms, parts.sum) * terms.unit;
  return {parts.part[0] | std::uint32_t{parts.part[1]} << 16,
          row_gap(errors, bound.squared ? norm : 0, lost, low)};
}

/// One thread handles one place: it writes the line, with `low`, and the gap.
template <std::uint32_t steps>
__global__ __launch_bounds__(low_threads) void fused_test_rows(
    const ProductBound bound, const ErrorTerms errors, const FusedTestTerms terms, const LargestParts parts,
    const uint4* train, const HalfShape shape, uint4* lines, float* gap) {
  take_turn();
  const LargestOfQueries largest = largest_of_all(bound, parts);
  const std::uint32_t place = blockIdx.x * low_threads + threadIdx.x;
  if (place >= bound.columns) return;
  const std::uint64_t t = row_of_tile(bound.tiles, place / tile_rows) + place % tile_rows;
  const bool some = t < bound.rows;
  constexpr std::uint32_t infinity = 0x7C00, factor = 0x7800;  // factor: K
  Low low{infinity, 0};
  // fmin() would turn the result of terms that are NaN into a number.
  if (some && !isnan(__ldg(bound.train_terms.data + spi::norm * bound.train_terms.stride + t)))
    low = low_of_row(bound, errors, terms, largest, t);
  if (gap != nullptr) gap[place] = low.gap;
  uint4* const tile = lines + std::size_t{place / tile_rows} * tile_rows * 2 * steps;
#pragma unroll
  for (std::uint32_t p = 0; p < 2 * steps; ++p) {
    uint4 piece{};
    if (some && p < shape.pieces) piece = __ldcs(train + place_of(shape, static_cast<std::uint32_t>(t), p));
    if (p + 1 == 2 * steps) {
      piece.z = low.parts;
      piece.w = factor | factor << 16;
    }
    tile[line_place<2 * steps>(place % tile_rows, p)] = piece;
  }
}

/// All threads of a block copy `pieces` pieces, or the first `count` of them.
template <std::uint32_t pieces>
__device__ __forceinline__ void copy(uint4* to, const uint4* from, std::uint32_t count = pieces) {
  static_assert(pieces % fused_threads == 0);
#pragma unroll
  for (std::uint32_t i = 0; i < pieces; i += fused_threads)
    if (i + threadIdx.x < count)
      __pipeline_memcpy_async(to + i + threadIdx.x, from + i + threadIdx.x, sizeof(uint4));
}

/// What a lane multiplies with all training rows: four queries, eight apart, and their thresholds.
template <std::uint32_t steps>
struct Queries {
  std::uint32_t a[2][steps][4];
  float base[4];  // base - sum is a lower bound of the value that is compared with the threshold

  __device__ __forceinline__ Queries(const HalfCollection& collection, const FusedTestTerms& terms,
                                     const HalfShape& shape, std::uint32_t q0, std::uint32_t lane) {
    const auto* const words = static_cast<const std::uint32_t*>(collection.queries);
#pragma unroll
    for (std::uint32_t i = 0; i < 4; ++i) {
      const std::uint32_t q = q0 + 8 * i + lane / 4;
      const bool some = q < collection.rows;
#pragma unroll
      for (std::uint32_t p = 0; p < 2 * steps; ++p)
        a[i / 2][p / 2][i % 2 + p % 2 * 2] =
            some && p < shape.pieces ? __ldg(words + place_of(shape, q, p) * 4 + lane % 4) : 0;
      constexpr std::uint16_t minus_infinity = 0xFC00, minus_factor = 0xF800;
      Parts threshold{{minus_infinity, 0}, 0};
      if (some)
        threshold = fused_test_threshold(terms, collection.threshold.data[q * collection.threshold.stride]);
      base[i] = base_of(terms, threshold);
      std::uint32_t& last = a[i / 2][steps - 1][i % 2 + 2];
      if (lane % 4 == 2) last = minus_factor | std::uint32_t{minus_factor} << 16;
      if (lane % 4 == 3) last = threshold.part[0] | std::uint32_t{threshold.part[1]} << 16;
    }
  }
};

/// The sums of 32 queries by group_rows rows: sums[j][s][e] belongs to query 16 s + lane / 4 (plus 8 for e >=
/// 2) and row 8 j + 2 (lane % 4) + e % 2.
constexpr int sums_of_lane = group_rows;
using GroupSums = float[group_rows / 8][2][4];

/// The byte offsets in a tile at which a lane reads rows. They are computed once, because the order of pieces
/// repeats every 16 rows.
template <std::uint32_t steps>
struct Lines {
  std::uint32_t at[steps];

  __device__ __forceinline__ explicit Lines(std::uint32_t lane) {
    // The lanes address rows 0-7, the same rows 8 columns on, rows 8-15, and these 8 columns on.
    const std::uint32_t row = lane % 8 + lane / 16 * 8;
#pragma unroll
    for (std::uint32_t step = 0; step < steps; ++step)
      at[step] = line_place<2 * steps>(row, 2 * step + lane / 8 % 2) * sizeof(uint4);
  }
};

/// Computes the sums of group_rows rows from row `first` on.
///   tile  address in shared memory
template <std::uint32_t steps>
__device__ __forceinline__ void multiply_group(GroupSums& sums, const Queries<steps>& queries,
                                               const Lines<steps>& lines, std::uint32_t tile,
                                               std::uint32_t first) {
  constexpr std::uint32_t line_bytes = 2 * steps * sizeof(uint4);
#pragma unroll
  for (int i = 0; i < sums_of_lane; ++i) sums[i / 8][i / 4 % 2][i % 4] = 0;
#pragma unroll
  for (std::uint32_t step = 0; step < steps; ++step)
#pragma unroll
    for (std::uint32_t half = 0; half < group_rows / 16; ++half) {
      std::uint32_t b[4];
      load_matrices(b, tile + lines.at[step] + (first + 16 * half) * line_bytes);
#pragma unroll
      for (std::uint32_t s = 0; s < 2; ++s) {
        multiply(sums[2 * half][s], queries.a[s][step], b[0], b[1]);
        multiply(sums[2 * half + 1][s], queries.a[s][step], b[2], b[3]);
      }
    }
}

/// Returns a number whose first bit is set if all sums are negative.
__device__ __forceinline__ std::uint32_t join_signs(const GroupSums& sums) {
  std::uint32_t joined[2] = {~0u, ~0u};
#pragma unroll
  for (std::uint32_t j = 0; j < group_rows / 8; ++j)
#pragma unroll
    for (int s = 0; s < 2; ++s) {
      joined[0] &= __float_as_uint(sums[j][s][0]) & __float_as_uint(sums[j][s][1]);
      joined[1] &= __float_as_uint(sums[j][s][2]) & __float_as_uint(sums[j][s][3]);
    }
  return joined[0] & joined[1];
}

/// Finds which of group_rows rows pass; the first row is at `place`.
__device__ __forceinline__ void find(Findings<GapWithSlack>& findings, const HalfCollection& collection,
                                     const GroupSums& sums, const float (&base)[4], std::uint32_t q,
                                     std::uint32_t place, std::uint32_t row, std::uint32_t lane) {
  std::uint32_t negative = 0;  // its first bits belong to sums 0, 1, ...
  float flat[sums_of_lane];
#pragma unroll
  for (int i = 0; i < sums_of_lane; ++i) {
    flat[i] = sums[i / 8][i / 4 % 2][i % 4];
    negative = __funnelshift_l(__float_as_uint(flat[i]), negative, 1);
  }
  std::uint32_t pending = ~negative << (32 - sums_of_lane);
  while (__any_sync(whole_warp, pending != 0)) {
    const auto i = static_cast<std::uint32_t>(__clz(static_cast<int>(pending)));
    const float sum = pick<0, sums_of_lane>(flat, i);
    const std::uint32_t of = i / 2 % 4, column = i / 8 * 8 + lane % 4 * 2 + i % 2;
    findings.add(collection, pending != 0 && sum >= 0,
                 {q + 8 * of + lane / 4, place + column, row + column,
                  __fmaf_rd(-collection.unscale, sum, pick<0, 4>(base, of))});
    pending &= ~(0x80000000u >> i % 32);
  }
}

/// Block b handles queries from 256 (b % query_blocks) on, and part b / query_blocks of the tiles.
template <std::uint32_t steps>
__global__ __launch_bounds__(fused_threads, blocks_at_once(steps)) void collect_fused_test(
    const HalfCollection collection, const HalfWork work, const FusedTestTerms terms,
    const GapWithSlack slack, const HalfShape shape, const uint4* lines) {
  extern __shared__ uint4 memory[];
  __shared__ Finding found[fused_warps][findings_of_warp];
  __shared__ std::uint32_t row_of[stages][run_tiles<steps>];
  take_turn();
  constexpr std::uint32_t tile_pieces = tile_rows * 2 * steps;
  auto* const runs = reinterpret_cast<Run<steps>*>(memory);
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::uint32_t begin = blockIdx.x / work.query_blocks * work.a_part;
  const std::uint32_t end = min(begin + work.a_part, work.tiles);
  if (begin >= end) return;

  const auto load = [&](std::uint32_t run) {
    const std::uint32_t stage = run % stages, tile = begin + run * run_tiles<steps>;
    const std::uint32_t count = tile < end ? min(end - tile, run_tiles<steps>) : 0;
    copy<run_tiles<steps> * tile_pieces>(runs[stage][0], lines + std::size_t{tile} * tile_pieces,
                                         count * tile_pieces);
    if (threadIdx.x < count)
      row_of[stage][threadIdx.x] = collection.first_row + static_cast<std::uint32_t>(row_of_tile(
                                                              collection.tiles, tile + threadIdx.x));
    __pipeline_commit();
  };
  for (std::uint32_t run = 0; run < stages - 1; ++run) load(run);

  const std::uint32_t q0 = blockIdx.x % work.query_blocks * block_queries + warp * warp_queries;
  const Queries<steps> queries(collection, terms, shape, q0, lane);
  Findings<GapWithSlack> findings(found[warp], lane, slack);
  const Lines<steps> lines_of_lane(lane);
  const auto first_run = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
  for (std::uint32_t run = 0, tile = begin; tile < end; ++run) {
    __pipeline_wait_prior(stages - 2);
    __syncthreads();
    load(run + stages - 1);
    const std::uint32_t stage = run % stages, tiles = min(end - tile, run_tiles<steps>);
    std::uint32_t address = first_run + stage * static_cast<std::uint32_t>(sizeof(Run<steps>));
#pragma unroll 1
    for (std::uint32_t i = 0; i < tiles; ++i, ++tile, address += tile_pieces * sizeof(uint4)) {
#pragma unroll
      for (std::uint32_t first = 0; first < tile_rows; first += group_rows) {
        GroupSums sums;
        multiply_group<steps>(sums, queries, lines_of_lane, address, first);
        if (__any_sync(whole_warp, static_cast<std::int32_t>(join_signs(sums)) >= 0))
          find(findings, collection, sums, queries.base, q0, tile * tile_rows + first,
               row_of[stage][i] + first, lane);
      }
    }
  }
  findings.finish(collection);
}

/// The parts of scratch: the largest terms of the queries, lines, and gaps.
struct FusedTest {
  LargestParts largest;
  uint4* lines;
  float* gap;
};

template <std::uint32_t steps>
cudaError_t start(const Queue& queue, const HalfCollection& collection, const ProductBound& bound,
                  const FusedTestTerms& terms, const GapWithSlack& slack, const FusedTest& fused_test) {
  const HalfShape shape = half_shape(bound.dims);
  const cudaError_t error =
      launch_in_turn(queue, fused_test_rows<steps>, divide_up(bound.columns, low_threads), low_threads, 0,
                     bound, error_terms(bound), terms, fused_test.largest,
                     static_cast<const uint4*>(collection.train), shape, fused_test.lines, fused_test.gap);
  if (error != cudaSuccess) return error;
  HalfWork work{};
  work.query_blocks = divide_up(collection.rows, block_queries);
  work.tiles = divide_up(collection.columns, tile_rows);
  constexpr std::uint32_t at_once = blocks_at_once(steps), overhead = 16;
  work.a_part = divide_up(
      work.tiles, best_parts(work.query_blocks, at_once * queue.multiprocessors, work.tiles, overhead));
  const std::uint64_t blocks = std::uint64_t{work.query_blocks} * divide_up(work.tiles, work.a_part);
  return launch_in_turn(queue, collect_fused_test<steps>, blocks, fused_threads, stages * sizeof(Run<steps>),
                        collection, work, terms, slack, shape, fused_test.lines);
}

}  // namespace

std::size_t collect_fp16_fused_test_scratch(const spi::CollectStep& step) {
  const std::uint32_t steps = steps_of(count_of(step.train.rows.cols));
  return largest_bytes + std::size_t{places_of(step)} * (steps * 2 * sizeof(uint4) + sizeof(float));
}

cudaError_t collect_fp16_fused_test(const Queue& queue, const spi::CollectStep& step) {
  const std::uint32_t dims = count_of(step.train.rows.cols), steps = steps_of(dims);
  const ProductBound bound = bound_of(step);
  auto* const bytes = address_of<unsigned char>(step.scratch);
  auto* const lines = reinterpret_cast<uint4*>(bytes + largest_bytes);
  float* const gap = step.bounds.low.cols > 0
                         ? reinterpret_cast<float*>(lines + std::size_t{bound.columns} * 2 * steps)
                         : nullptr;
  FusedTest fused_test{{}, lines, gap};
  const double unit = spi::fused_test_factor * static_cast<double>(step.unscale);
  const FusedTestTerms terms{unit, 1 / unit, bound.b, static_cast<double>(bound.dims)};
  const cudaError_t error = find_largest_parts(queue, bound, bytes, &fused_test.largest);
  if (error != cudaSuccess) return error;
  const HalfCollection collection = collection_of(step, {nullptr, gap, nullptr});
  const GapWithSlack slack{
      collection.threshold,
      static_cast<float>(spi::most_fused_test_threshold * terms.dims * unit * (1 + 0x1p-10)),
      static_cast<float>(2 * terms.b * (1 + 0x1p-8) + 0x1p-22), static_cast<float>(unit * 0x1p-20)};
  return steps == 1 ? start<1>(queue, collection, bound, terms, slack, fused_test)
                    : start<2>(queue, collection, bound, terms, slack, fused_test);
}

}  // namespace kith::cuda
