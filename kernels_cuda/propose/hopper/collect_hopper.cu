// collect, fp16 and int8, for compute capability 9.0: as collect_fp16.cu, but groups of four warps multiply
// (wgmma). Lines of bytes have the layout of lines of 16-bit floats, and twice as many dimensions.
//
// A block handles 256 queries and, one after another, tiles of 128 training rows. It has twenty warps.
// Sixteen form four groups; each group multiplies 64 queries with every tile and tests the sums, 64 per
// thread, so that some groups multiply while others test. One warp copies slabs unchanged, with one bulk copy
// each, into a ring of stages, and three append what is found (fragments.cuh). If queries stay in shared
// memory (`resident`, up to 512 bytes of each), only training rows are copied. Otherwise slabs of queries are
// copied with them, and two blocks form a pair: both take the same queries, each takes every other tile, and
// each copies half of the queries' slabs for both. Rows of five to seven slabs go there for samples alone;
// otherwise see wide.cuh.
// Work: q * t * dims multiply-adds in steps of m64n128k16, or m64n128k32 for bytes, and two instructions per
// pair, one for bytes. What a warp does beside these for each tile decides the time, so the number of steps
// of a short row is known when kernels are compiled. Shared memory: up to 227 KiB. A slab of 16 KiB keeps the
// tensor cores busy for 1024 cycles; so do 48 KiB, 16 of which come from the other block.
// Source: docs/certificate.md; one warp that copies while others multiply: CUTLASS 3 (NVIDIA, 2023).
// No twin in kernels_cl: the OpenCL back end multiplies by mma.sync alone.
#include <type_traits>

#include "propose/hopper/test.cuh"
#include "propose/hopper/tiles.cuh"
#include "propose/hopper/wide.cuh"
#include "propose/int8.hpp"

namespace kith::cuda {
namespace {

constexpr std::uint32_t threads = (groups + 1) * group_threads;
// Registers of a thread. A block starts with 96 for each, 61,440 in total, which are then redistributed.
constexpr int registers_to_copy = 64, registers_to_multiply = 104;

/// The slabs of a row of so many steps.
template <std::uint32_t line_bytes, std::uint32_t steps>
inline constexpr std::uint32_t slabs_of = (steps * 32 + line_bytes - 1) / line_bytes;

/// A group of four warps multiplies 64 queries with all tiles of the block.
///   steps  of 32 bytes that a row has, if this is known; else 0
template <class Sum, std::uint32_t line_bytes, std::uint32_t steps, bool resident, bool sample>
__device__ __forceinline__ void multiply_tiles(const HalfCollection& collection, const HalfWork& work,
                                               const Memory& memory, const unsigned char* shared, Rest& rest,
                                               Share<resident> share, std::uint32_t query_block) {
  constexpr std::uint32_t steps_a_slab = line_bytes / 32,
                          at_once = steps == 0 ? 1 : slabs_of<line_bytes, steps>;
  const std::uint32_t slabs = steps == 0 ? work.slabs : at_once;
  const std::uint32_t steps_of_row = steps == 0 ? work.used_pieces / 2 : steps;
  // The value is the same for all lanes; the shuffle tells the compiler so.
  const std::uint32_t group = __shfl_sync(whole_warp, threadIdx.x / group_threads, 0);
  std::uint32_t lane = threadIdx.x % 32;
  asm volatile("" : "+r"(lane));  // otherwise the number of the thread is read again for each tile
  const std::uint32_t q0 =
      query_block * block_queries + group * group_queries + threadIdx.x / 32 % 4 * 16 + lane / 4;
  constexpr bool lifted = std::is_same_v<Sum, int> && !sample;
  const Limits<lifted> limits(collection, q0);
  // Matrices in shared memory are told by their address, in units of 16 bytes.
  const std::uint64_t first_stage = hopper::matrix_at(shared + memory.queries, line_bytes);
  const std::uint64_t queries =
      hopper::matrix_at(shared + (resident ? group / 2 * slabs : 1 + group / 2) * memory.slab +
                            group % 2 * group_queries * line_bytes,
                        line_bytes);
  FragmentWriter found(rest.rings[threadIdx.x / 32], lane);
  const auto release = [&](std::uint32_t stage) {
    if (lane != 0) return;
    hopper::arrive(&rest.empty[stage]);
    if (!resident) hopper::arrive_at(&rest.empty[stage], hopper::rank_in_cluster() ^ 1);
  };
  if (resident) hopper::wait(&rest.queries, 0);
  Place place;
  LowPlace low_place;
#pragma unroll 1
  for (std::uint32_t i = 0; i < share.count; ++i, share.next(collection), low_place.next(memory.stages)) {
    std::uint32_t last = place.stage;
    hopper::Sums<Sum> sums;
    hopper::wait(&rest.full[place.stage], place.parity);
    if constexpr (lifted) start_from(sums, rest.low[low_place.at], lane);
#pragma unroll at_once
    for (std::uint32_t s = 0; s < slabs; ++s, place.next(memory.stages)) {
      if (s != 0) hopper::wait(&rest.full[place.stage], place.parity);
      const std::uint32_t stage = place.stage * (memory.stage / 16);
      multiply_slab<steps_a_slab>(sums, queries + (resident ? s * (memory.slab / 16) : stage),
                                  first_stage + stage, lifted || s != 0,
                                  min(steps_a_slab, steps_of_row - s * steps_a_slab));
      if (s != 0) {
        hopper::wait_products<1>();
        release(last);
      }
      last = place.stage;
    }
    hopper::finish_products<0>(sums);
    release(last);
    if (resident || share.is_inside()) {
      const Spot spot{q0, share.tile * tile_rows, &rest.row[low_place.at], lane};
      if constexpr (lifted)
        test_lifted(found, sums, limits, spot);
      else
        test_sums<sample>(found, collection, sums, rest.low[low_place.at], limits, spot);
    }
    __syncwarp();  // all have read `low` before the next release
  }
  if (!sample) found.publish(true);
}

/// Block or pair b handles queries from 256 (b % query_blocks) on, and part b / query_blocks of the tiles.
template <class Sum, std::uint32_t line_bytes, std::uint32_t steps, bool resident, bool sample>
__global__ __launch_bounds__(threads, 1) void collect_tiles_hopper(const HalfCollection collection,
                                                                   const HalfWork work) {
  constexpr bool lifted = std::is_same_v<Sum, int> && !sample;
  extern __shared__ unsigned char whole[];
  take_turn();
  const Memory memory =
      memory_of<resident>(line_bytes, steps == 0 ? work.slabs : slabs_of<line_bytes, steps>);
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
    for (FragmentRing& ring : rest.rings) ring.written = ring.read = 0;
  }
  __syncthreads();
  if (!resident) hopper::meet_cluster();
  if (threadIdx.x >= groups * group_threads) {
    hopper::give_registers<registers_to_copy>();
    // The value is the same for all lanes; the shuffle tells the compiler so.
    const std::uint32_t warp = __shfl_sync(whole_warp, threadIdx.x / 32 - groups * group_warps, 0);
    if (!sample && warp != 0)
      append_found<Sum>(collection, rest.rings, rest.found[warp - 1], warp - 1, groups * group_warps);
    if (threadIdx.x == groups * group_threads)
      copy_slabs<resident>(collection, work, memory, shared, rest, share, query_block, rank,
                           lows_of<lifted>(collection));
    __syncwarp();
  } else {
    hopper::take_registers<registers_to_multiply>();
    multiply_tiles<Sum, line_bytes, steps, resident, sample>(collection, work, memory, shared, rest, share,
                                                             query_block);
  }
  // No block ends while the other may still copy to it or arrive at its barriers.
  if (!resident) hopper::meet_cluster();
}

template <class Sum, std::uint32_t line_bytes, std::uint32_t steps, bool resident>
cudaError_t start(const Queue& queue, const HalfCollection& collection, HalfWork work) {
  const Memory memory = memory_of<resident>(line_bytes, work.slabs);
  const std::uint32_t at_once = std::max(queue.multiprocessors / (resident ? 1 : 2), 1u);
  work.a_part = divide_up(work.tiles, best_parts(work.query_blocks, at_once, work.tiles, 2));
  const std::uint32_t parts = divide_up(work.tiles, work.a_part);  // no part is empty
  const std::uint64_t blocks = std::uint64_t{work.query_blocks} * parts * (resident ? 1 : 2);
  const auto kernel = collection.sample.data != nullptr
                          ? collect_tiles_hopper<Sum, line_bytes, 0, resident, true>
                          : collect_tiles_hopper<Sum, line_bytes, steps, resident, false>;
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
  if (shape.pieces == 2) return start<Sum, 32, 1, true>(queue, collection, work);
  if (shape.pieces == 4) return start<Sum, 64, 2, true>(queue, collection, work);
  if (collection.sample.data == nullptr) {
    if (shape.slabs == 5) return wide::start<Sum, 5>(queue, collection, work);
    if (shape.slabs == 6) return wide::start<Sum, 6>(queue, collection, work);
    if (shape.slabs == 7) return wide::start<Sum, 7>(queue, collection, work);
  }
  switch (work.used_pieces / 2) {
    case 3:
      return start<Sum, 128, 3, true>(queue, collection, work);
    case 4:
      return start<Sum, 128, 4, true>(queue, collection, work);
    case 5:
      return start<Sum, 128, 5, true>(queue, collection, work);
    case 6:
      return start<Sum, 128, 6, true>(queue, collection, work);
    case 7:
      return start<Sum, 128, 7, true>(queue, collection, work);
    case 8:
      return start<Sum, 128, 8, true>(queue, collection, work);
    case 12:
      return start<Sum, 128, 12, true>(queue, collection, work);
    case 16:
      return start<Sum, 128, 16, true>(queue, collection, work);
    default:
      return shape.slabs <= resident_slabs ? start<Sum, 128, 0, true>(queue, collection, work)
                                           : start<Sum, 128, 0, false>(queue, collection, work);
  }
}

}  // namespace

cudaError_t collect_hopper(const Queue& queue, const spi::CollectStep& step) {
  const HalfCollection collection = collection_of(step, low_of(step));
  return step.proposer == Proposer::int8 ? start<int>(queue, collection, byte_shape(collection.dims), 32)
                                         : start<float>(queue, collection, half_shape(collection.dims), 16);
}

}  // namespace kith::cuda
