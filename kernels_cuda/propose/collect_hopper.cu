// collect, fp16 and int8, for compute capability 9.0: as collect_fp16.cu, but groups of four warps multiply
// (wgmma). Lines of bytes have the layout of lines of 16-bit floats, and twice as many dimensions.
//
// A block handles 256 queries and, one after another, tiles of 128 training rows. It has twenty warps. One of
// them copies slabs unchanged, with one bulk copy each, into a ring of stages. Sixteen form four groups; each
// group multiplies 64 queries with every tile and tests the sums, 64 per thread, so that some groups multiply
// while others test. If queries stay in shared memory (`resident`, up to 256 dimensions), only training rows
// are copied. Otherwise slabs of queries are copied with them, and two blocks form a pair: both take the same
// queries, each takes every other tile, and each copies half of the queries' slabs for both.
// Work: q * t * dims multiply-adds in steps of m64n128k16, or m64n128k32 for bytes, and two instructions per
// pair, one for bytes. Shared memory: up to 227 KiB. A slab of 16 KiB keeps the tensor cores busy for 1024
// cycles; so do 48 KiB, 16 of which come from the other block. Source: docs/certificate.md; one warp that
// copies while others multiply: CUTLASS 3 (NVIDIA, 2023).
// No twin in kernels_cl: the OpenCL back end multiplies by mma.sync alone.
#include <type_traits>

#include "propose/collect_hopper.cuh"
#include "propose/int8.hpp"

namespace kith::cuda {
namespace {

constexpr std::uint32_t threads = (groups + 1) * group_threads;
// Registers of a thread. A block starts with 96 for each thread, 61,440 in total, which are
// then redistributed.
constexpr int registers_to_copy = 32, registers_to_multiply = 112;

/// Adds `steps` times 32 bytes of the rows to the sums of 64 queries. steps is at most most_steps; no branch
/// lies between the products.
template <std::uint32_t most_steps, class Sum>
__device__ __forceinline__ void multiply_slab(hopper::Sums<Sum>& sums, std::uint64_t a, std::uint64_t b,
                                              bool add, std::uint32_t steps) {
  if constexpr (most_steps > 1) {
    if (steps < most_steps) {
      multiply_slab<most_steps - 1>(sums, a, b, add, steps);
      return;
    }
  }
  hopper::begin_products();
#pragma unroll
  for (std::uint32_t step = 0; step < most_steps; ++step)
    hopper::multiply(sums, a + step * 2, b + step * 2, add || step != 0);  // advances by 32 bytes
  hopper::commit_products();
}

/// Returns the values that sums are tested with, one per place. They are floats, or ints in memory typed
/// as floats.
template <bool lifted>
__device__ __forceinline__ const float* lows_of(const HalfCollection& collection) {
  return lifted ? reinterpret_cast<const float*>(collection.from.lift) : collection.from.low;
}

/// A group of four warps multiplies 64 queries with all tiles of the block.
template <class Sum, std::uint32_t line_bytes, bool resident, bool sample>
__device__ __forceinline__ void multiply_tiles(const HalfCollection& collection, const HalfWork& work,
                                               const Memory& memory, const unsigned char* shared, Rest& rest,
                                               Share<resident> share, std::uint32_t query_block) {
  constexpr std::uint32_t steps_a_slab = line_bytes / 32;
  // The value is the same for all lanes; the shuffle tells the compiler so.
  const std::uint32_t group = __shfl_sync(whole_warp, threadIdx.x / group_threads, 0);
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t q0 =
      query_block * block_queries + group * group_queries + threadIdx.x / 32 % 4 * 16 + lane / 4;
  constexpr bool lifted = std::is_same_v<Sum, int> && !sample;
  const Limits<lifted> limits(collection, q0);
  const unsigned char* const stages = shared + memory.queries;
  // Offset of this group's queries in a slab of 128.
  const std::uint32_t half = group % 2 * group_queries * line_bytes;
  Findings<std::conditional_t<lifted, SumOfPlace, GapOfPlace>> findings(rest.found[threadIdx.x / 32], lane);
  const auto release = [&](std::uint32_t stage) {
    if (lane != 0) return;
    hopper::arrive(&rest.empty[stage]);
    if (!resident) hopper::arrive_at(&rest.empty[stage], hopper::rank_in_cluster() ^ 1);
  };
  if (resident) hopper::wait<!resident>(&rest.queries, 0);
  Place place;
  LowPlace low_place;
#pragma unroll 1
  for (std::uint32_t i = 0; i < share.count; ++i, share.next(collection), low_place.next(memory.stages)) {
    std::uint32_t last = place.stage;
    hopper::Sums<Sum> sums;
    if constexpr (lifted) {
      hopper::wait<!resident>(&rest.full[place.stage], place.parity);
      start_from(sums, rest.low[low_place.at], lane);
    }
#pragma unroll 1
    for (std::uint32_t s = 0; s < work.slabs; ++s, place.next(memory.stages)) {
      hopper::wait<!resident>(&rest.full[place.stage], place.parity);
      const unsigned char* const train = stages + place.stage * memory.stage;
      const unsigned char* const queries = resident ? shared + (group / 2 * work.slabs + s) * memory.slab
                                                    : train + (1 + group / 2) * memory.slab;
      multiply_slab<steps_a_slab>(sums, hopper::matrix_at(queries + half, line_bytes),
                                  hopper::matrix_at(train, line_bytes), lifted || s != 0,
                                  min(steps_a_slab, work.used_pieces / 2 - s * steps_a_slab));
      if (s != 0) {
        hopper::wait_products<1>();
        release(last);
      }
      last = place.stage;
    }
    hopper::wait_products<0>();
    hopper::settle(sums);
    release(last);
    const std::uint64_t row = share.row(collection);
    const bool some = row != ~std::uint64_t{0};
    if (some || (sample && share.is_inside())) {  // a sample also reports tiles without rows
      const Spot spot{q0, share.tile * tile_rows, collection.first_row + static_cast<std::uint32_t>(row),
                      lane};
      if constexpr (lifted)
        test_lifted(findings, collection, sums, limits, spot);
      else
        test_sums<sample>(findings, collection, sums, rest.low[low_place.at], limits, spot);
    }
    __syncwarp();  // all have read `low` before the next release
  }
  findings.finish(collection);
}

/// Block or pair b handles queries from 256 (b % query_blocks) on, and part b / query_blocks of the tiles.
template <class Sum, std::uint32_t line_bytes, bool resident, bool sample>
__global__ __launch_bounds__(threads, 1) void collect_tiles_hopper(const HalfCollection collection,
                                                                   const HalfWork work) {
  extern __shared__ unsigned char whole[];
  take_turn();
  const Memory memory = memory_of<resident>(line_bytes, work.slabs);
  unsigned char* const shared = whole + (alignment - hopper::shared_address(whole) % alignment) % alignment;
  auto& rest = *reinterpret_cast<Rest*>(shared + memory.queries + memory.stages * memory.stage);
  const std::uint32_t rank = resident ? 0 : hopper::rank_in_cluster();
  const std::uint32_t number = resident ? blockIdx.x : blockIdx.x / 2;
  const std::uint32_t query_block = number % work.query_blocks;
  const Share<resident> share(collection, work, number / work.query_blocks, rank);
  if (threadIdx.x == 0) {
    constexpr std::uint32_t warps = groups * group_warps;
    for (std::uint32_t s = 0; s < memory.stages; ++s) {
      hopper::start(&rest.full[s], 1);
      hopper::start(&rest.empty[s], resident ? warps : 2 * warps);
    }
    hopper::start(&rest.queries, 1);
    hopper::publish_barriers();
  }
  __syncthreads();
  if (!resident) hopper::meet_cluster();
  if (threadIdx.x >= groups * group_threads) {
    hopper::give_registers<registers_to_copy>();
    if (threadIdx.x == groups * group_threads)
      copy_slabs<resident>(collection, work, memory, shared, rest, share, query_block, rank,
                           lows_of < std::is_same_v<Sum, int> && !sample > (collection));
    __syncwarp();
  } else {
    hopper::take_registers<registers_to_multiply>();
    multiply_tiles<Sum, line_bytes, resident, sample>(collection, work, memory, shared, rest, share,
                                                      query_block);
  }
  // No block ends while the other may still copy to it or arrive at its barriers.
  if (!resident) hopper::meet_cluster();
}

template <class Sum, std::uint32_t line_bytes, bool resident>
cudaError_t start(const Queue& queue, const HalfCollection& collection, HalfWork work) {
  const Memory memory = memory_of<resident>(line_bytes, work.slabs);
  const std::uint32_t at_once = std::max(queue.multiprocessors / (resident ? 1 : 2), 1u);
  work.a_part = divide_up(work.tiles, best_parts(work.query_blocks, at_once, work.tiles, 2));
  const std::uint32_t parts = divide_up(work.tiles, work.a_part);  // no part is empty
  const std::uint64_t blocks = std::uint64_t{work.query_blocks} * parts * (resident ? 1 : 2);
  const auto kernel = collection.sample.data != nullptr
                          ? collect_tiles_hopper<Sum, line_bytes, resident, true>
                          : collect_tiles_hopper<Sum, line_bytes, resident, false>;
  return launch_as({resident ? 1u : 2u, true}, queue, kernel, blocks, threads, memory.bytes, collection,
                   work);
}

template <class Sum>
cudaError_t start(const Queue& queue, const HalfCollection& collection, const HalfShape& shape,
                  std::uint32_t dims_a_step) {
  HalfWork work{};
  work.slabs = shape.slabs;
  work.used_pieces = divide_up(collection.dims, dims_a_step) * 2;
  work.query_blocks = divide_up(collection.rows, block_queries);
  work.tiles = divide_up(collection.columns, tile_rows);
  if (shape.pieces == 2) return start<Sum, 32, true>(queue, collection, work);
  if (shape.pieces == 4) return start<Sum, 64, true>(queue, collection, work);
  return shape.slabs <= resident_slabs ? start<Sum, 128, true>(queue, collection, work)
                                       : start<Sum, 128, false>(queue, collection, work);
}

}  // namespace

cudaError_t collect_hopper(const Queue& queue, const spi::CollectStep& step) {
  const HalfCollection collection = collection_of(step, low_of(step));
  return step.proposer == Proposer::int8 ? start<int>(queue, collection, byte_shape(collection.dims), 32)
                                         : start<float>(queue, collection, half_shape(collection.dims), 16);
}

}  // namespace kith::cuda
