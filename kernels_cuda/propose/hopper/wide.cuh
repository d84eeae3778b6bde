// collect, fp16 and int8, for compute capability 9.0 and rows of five to seven slabs: as collect_hopper.cu,
// but queries stay in shared memory, and two blocks share each copy of training rows.
//
// A block handles 128 queries; two groups of four warps multiply 64 of them with 128 training rows at a time.
// A group has two sets of sums, so that it tests those of one tile while the tensor cores multiply the next.
// Two blocks form a pair: they have other queries and the same rows; each copies half of the rows for both.
// In collect_hopper.cu, where a pair has the same queries and other rows, slabs of rows and queries have
// 48 KiB for as many products as 32 KiB are here. Samples are taken there.
// Work and source: as collect_hopper.cu. Shared memory: up to 227 KiB, of which queries take 80 to 112.
// No twin in kernels_cl: the OpenCL back end multiplies by mma.sync alone.
#pragma once

#include "propose/hopper/test.cuh"
#include "propose/hopper/tiles.cuh"

namespace kith::cuda::wide {

inline constexpr std::uint32_t groups = 2, stages = 6, low_places = 3;
inline constexpr std::uint32_t block_queries = groups * group_queries;
inline constexpr std::uint32_t least_slabs = resident_slabs + 1, most_slabs = 7;
inline constexpr std::uint32_t slab = tile_rows * 128, half_slab = slab / 2;  // bytes
inline constexpr std::uint32_t threads = (groups + 1) * group_threads;
// Registers of a thread. A block starts with 168 for each thread.
inline constexpr int registers_to_copy = 64, registers_to_multiply = 216;

/// The part of shared memory behind queries and stages.
struct Rest {
  FragmentRing rings[groups * group_warps];
  Finding found[append_warps][room_for_findings<append_each>];
  // Of successive tiles: `low`, or lifts, and their first rows. A tile is tested before slab 0 of the next is
  // released, and slab 0 of the third after it is not copied before.
  float low[low_places][tile_rows];
  std::uint32_t row[low_places];
  hopper::Barrier full[stages], empty[stages], queries;
};

constexpr std::uint32_t bytes_of(std::uint32_t slabs) {
  return alignment + (slabs + stages) * slab + static_cast<std::uint32_t>(sizeof(Rest));
}
static_assert(bytes_of(most_slabs) <= hopper_shared_bytes && stages <= (low_places - 1) * least_slabs);

/// The place of a tile's `low` and `row`.
__device__ __forceinline__ void next_low(std::uint32_t& low) {
  low = low + 1 == low_places ? 0 : low + 1;
}

/// One thread of each block copies its queries, and its half of the slabs of rows to both blocks.
template <std::uint32_t slabs>
__device__ void copy_slabs(const HalfCollection& collection, unsigned char* shared, Rest& rest,
                           Share<true> share, std::uint32_t query_block, std::uint32_t rank,
                           const float* lows) {
  constexpr std::size_t tile_bytes = std::size_t{slabs} * slab;
  const auto* const train = static_cast<const unsigned char*>(collection.train) + rank * half_slab;
  if (query_block * block_queries < collection.rows) {  // a block has none if the number of blocks is odd
    hopper::expect(&rest.queries, tile_bytes);
    const auto* const from = static_cast<const unsigned char*>(collection.queries) + query_block * tile_bytes;
    for (std::uint32_t s = 0; s < slabs; ++s)
      hopper::copy(shared + s * slab, from + s * slab, slab, &rest.queries);
  } else {
    hopper::arrive(&rest.queries);
  }
  Place place;
  std::uint32_t low = 0;
  for (std::uint32_t i = 0; i < share.count; ++i, share.next(collection), next_low(low)) {
    const std::uint64_t row = share.row(collection);
    const bool some =
        row != ~std::uint64_t{0};  // else the tile has `low` alone, so that nothing of it passes
    const unsigned char* const from = train + row / tile_rows * tile_bytes;  // only read if the tile has rows
    for (std::uint32_t s = 0; s < slabs; ++s, place.next(stages)) {
      hopper::wait(&rest.empty[place.stage], place.parity ^ 1);
      hopper::Barrier* const full = &rest.full[place.stage];
      if (s == 0) rest.row[low] = collection.first_row + static_cast<std::uint32_t>(row);
      hopper::expect(full, (some ? slab : 0) + (s == 0 ? sizeof rest.low[0] : 0));
      if (s == 0)
        hopper::copy(rest.low[low], lows + std::size_t{share.tile} * tile_rows, sizeof rest.low[0], full);
      if (some)
        hopper::copy_to_both(shared + (slabs + place.stage) * slab + rank * half_slab, from + s * slab,
                             half_slab, full);
    }
  }
}

/// A group of four warps multiplies 64 queries with all rows of the block.
template <class Sum, std::uint32_t slabs>
__device__ __forceinline__ void multiply_tiles(const HalfCollection& collection, const HalfWork& work,
                                               const unsigned char* shared, Rest& rest,
                                               const Share<true>& share, std::uint32_t query_block) {
  constexpr std::uint32_t steps_a_slab = 4;
  const std::uint32_t last_steps = work.used_pieces / 2 - (slabs - 1) * steps_a_slab;
  // The value is the same for all lanes; the shuffle tells the compiler so.
  const std::uint32_t group = __shfl_sync(whole_warp, threadIdx.x / group_threads, 0);
  std::uint32_t lane = threadIdx.x % 32;
  asm volatile("" : "+r"(lane));  // otherwise the number of the thread is read again for each tile
  const std::uint32_t q0 =
      query_block * block_queries + group * group_queries + threadIdx.x / 32 % 4 * 16 + lane / 4;
  constexpr bool lifted = std::is_same_v<Sum, int>;
  const Limits<lifted> limits(collection, q0);
  const std::uint64_t queries = hopper::matrix_at(shared + group * group_queries * 128, 128);
  const std::uint64_t first_stage = hopper::matrix_at(shared + slabs * slab, 128);
  FragmentWriter found(rest.rings[threadIdx.x / 32], lane);
  const std::uint32_t other_block = hopper::rank_in_cluster() ^ 1;
  const auto release_in_both = [&](std::uint32_t which) {
    if (lane != 0) return;
    hopper::arrive(&rest.empty[which]);
    hopper::arrive_at(&rest.empty[which], other_block);
  };
  hopper::wait(&rest.queries, 0);
  Place place;
  std::uint32_t last = 0, low = 0, low_before = 0, first_place = share.tile * tile_rows;
  const auto test = [&](const hopper::Sums<Sum>& sums) {  // of the tile before
    const Spot spot{q0, first_place - tile_rows, &rest.row[low_before], lane};
    if constexpr (lifted)
      test_lifted(found, sums, limits, spot);
    else
      test_sums<false>(found, collection, sums, rest.low[low_before], limits, spot);
    __syncwarp();  // all have read `low` before the next release
  };
  // Multiplies the next tile. While its first products run, tests the tile before if there is one.
  const auto multiply_tile = [&](hopper::Sums<Sum>& sums, const auto& finish_before,
                                 const auto& test_before) {
#pragma unroll
    for (std::uint32_t s = 0; s < slabs; ++s, place.next(stages)) {
      hopper::wait(&rest.full[place.stage], place.parity);
      if constexpr (lifted) {
        if (s == 0) start_from(sums, rest.low[low], lane);
      }
      multiply_slab<steps_a_slab>(sums, queries + s * (slab / 16), first_stage + place.stage * (slab / 16),
                                  lifted || s != 0, s + 1 == slabs ? last_steps : steps_a_slab);
      if (s == 0) {
        finish_before();
      } else {
        if (s == 1) test_before();
        hopper::wait_products<1>();
        release_in_both(last);
      }
      last = place.stage;
    }
    first_place += tile_rows;
    low_before = low;
    next_low(low);
  };
  const auto nothing = [] {};
  const auto finish_all = [&](hopper::Sums<Sum>& sums) {
    hopper::finish_products<0>(sums);
    release_in_both(last);
  };
  hopper::Sums<Sum> even, odd = {};
  if (share.count % 2 != 0) {
    multiply_tile(even, nothing, nothing);
    finish_all(even);
    test(even);
  }
#pragma unroll 1
  for (std::uint32_t i = 0; i < share.count / 2; ++i) {
    multiply_tile(even, nothing, [&] {
      if (i != 0) test(odd);
    });
    multiply_tile(
        odd,
        [&] {
          hopper::finish_products<1>(even);
          release_in_both(last);
        },
        [&] { test(even); });
    // With products unfinished at the end of a loop's body the compiler would wait for each of them.
    finish_all(odd);
  }
  if (share.count > 1) test(odd);
  found.publish(true);
}

/// Pair p handles queries from 256 (p % query_blocks) on, and part p / query_blocks of the tiles.
template <class Sum, std::uint32_t slabs>
__global__ __launch_bounds__(threads, 1) void collect_tiles_wide(const HalfCollection collection,
                                                                 const HalfWork work) {
  extern __shared__ unsigned char whole[];
  take_turn();
  unsigned char* const shared = whole + (alignment - hopper::shared_address(whole) % alignment) % alignment;
  auto& rest = *reinterpret_cast<Rest*>(shared + (slabs + stages) * slab);
  const std::uint32_t rank = hopper::rank_in_cluster(), pair = blockIdx.x / 2;
  const std::uint32_t query_block = pair % work.query_blocks * 2 + rank;
  const Share<true> share(collection, work, pair / work.query_blocks, 0);
  if (threadIdx.x == 0) {
    for (std::uint32_t s = 0; s < stages; ++s) {
      hopper::start(&rest.full[s], 1);
      hopper::start(&rest.empty[s], 2 * groups * group_warps);
    }
    hopper::start(&rest.queries, 1);
    hopper::publish_barriers();
    for (FragmentRing& ring : rest.rings) ring.written = ring.read = 0;
  }
  __syncthreads();
  hopper::meet_cluster();
  if (threadIdx.x >= groups * group_threads) {
    hopper::give_registers<registers_to_copy>();
    // The value is the same for all lanes; the shuffle tells the compiler so.
    const std::uint32_t warp = __shfl_sync(whole_warp, threadIdx.x / 32 - groups * group_warps, 0);
    if (warp != 0)
      append_found<Sum>(collection, rest.rings, rest.found[warp - 1], warp - 1, groups * group_warps);
    if (threadIdx.x == groups * group_threads)
      copy_slabs<slabs>(collection, shared, rest, share, query_block, rank,
                        lows_of<std::is_same_v<Sum, int>>(collection));
    __syncwarp();
  } else {
    hopper::take_registers<registers_to_multiply>();
    multiply_tiles<Sum, slabs>(collection, work, shared, rest, share, query_block);
  }
  // No block ends while the other may still copy to it or arrive at its barriers.
  hopper::meet_cluster();
}

template <class Sum, std::uint32_t slabs>
cudaError_t start(const Queue& queue, const HalfCollection& collection, HalfWork work) {
  work.query_blocks = divide_up(collection.rows, 2 * block_queries);  // of a pair
  const std::uint32_t at_once = std::max(queue.multiprocessors / 2, 1u);
  work.a_part = divide_up(work.tiles, best_parts(work.query_blocks, at_once, work.tiles, 4));
  const std::uint32_t parts = divide_up(work.tiles, work.a_part);  // no part is empty
  return launch_as({2, true}, queue, collect_tiles_wide<Sum, slabs>,
                   std::uint64_t{work.query_blocks} * parts * 2, threads, bytes_of(slabs), collection, work);
}

}  // namespace kith::cuda::wide
