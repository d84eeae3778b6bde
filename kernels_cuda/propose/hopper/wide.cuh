// collect, fp16 and int8, for compute capability 9.0 and rows of five to seven slabs: as collect_hopper.cu,
// but queries stay in shared memory, and two blocks share each copy of training rows.
//
// A block handles 128 queries; two groups of four warps multiply 64 of them with 256 training rows at a time
// (m64n256k16, or m64n256k32 for bytes). Two blocks form a pair: they have other queries and the same rows;
// each copies half of the rows for both. In collect_hopper.cu, where a pair has the same queries and other
// rows, slabs of rows and queries have 48 KiB for as many products as 32 KiB are here, and queries are read
// from shared memory for half as many products. Samples are taken there.
// Work and source: as collect_hopper.cu. Shared memory: up to 227 KiB, of which queries take 80 to 112.
// No twin in kernels_cl: the OpenCL back end multiplies by mma.sync alone.
#pragma once

#include "propose/hopper/test.cuh"
#include "propose/hopper/tiles.cuh"

namespace kith::cuda::wide {

inline constexpr std::uint32_t groups = 2, tiles_at_once = 2, stages = 3;
inline constexpr std::uint32_t block_queries = groups * group_queries;
inline constexpr std::uint32_t rows_at_once = tiles_at_once * tile_rows;
inline constexpr std::uint32_t least_slabs = resident_slabs + 1, most_slabs = 7;
inline constexpr std::uint32_t slab = tile_rows * 128, stage = tiles_at_once * slab;  // bytes
inline constexpr std::uint32_t threads = (groups + 1) * group_threads;
// Registers of a thread. A block starts with 168 for each thread.
inline constexpr int registers_to_copy = 64, registers_to_multiply = 216;

/// The part of shared memory behind queries and stages.
struct Rest {
  FragmentRing rings[groups * group_warps];
  Finding found[append_warps][room_for_findings<append_each>];
  // Of successive pairs of tiles: `low`, or lifts, and their first rows. Since a pair has more slabs than
  // there are stages, the thread that copies is at most one pair ahead.
  float low[2][rows_at_once];
  std::uint32_t row[2][tiles_at_once];
  hopper::Barrier full[stages], empty[stages], queries;
};

constexpr std::uint32_t bytes_of(std::uint32_t slabs) {
  return alignment + slabs * slab + stages * stage + static_cast<std::uint32_t>(sizeof(Rest));
}
static_assert(bytes_of(most_slabs) <= hopper_shared_bytes && stages < least_slabs);

/// Two tiles of the step at a time, of part `part` of them.
class Pairs {
 public:
  __device__ __forceinline__ Pairs(const HalfCollection& collection, const HalfWork& work, std::uint32_t part)
      : count(divide_up(min(work.a_part, work.tiles - part * work.a_part), tiles_at_once)),
        first(part * work.a_part),
        tiles_(work.tiles),
        walk_(collection.tiles, first) {}

  /// Returns how many tiles pair i has.
  __device__ __forceinline__ std::uint32_t tiles(std::uint32_t i) const {
    return min(tiles_at_once, tiles_ - (first + i * tiles_at_once));
  }
  /// Returns the first row of the next tile.
  __device__ __forceinline__ std::uint64_t next(const HalfCollection& collection) {
    const std::uint64_t row = walk_.row(collection.tiles);
    walk_.next(collection.tiles);
    return row;
  }

  const std::uint32_t count, first;

 private:
  const std::uint32_t tiles_;
  Walk walk_;
};

/// One thread of each block copies its queries, and its half of the slabs of rows to both blocks.
template <std::uint32_t slabs>
__device__ void copy_slabs(const HalfCollection& collection, unsigned char* shared, Rest& rest, Pairs pairs,
                           std::uint32_t query_block, std::uint32_t rank, const float* lows) {
  constexpr std::size_t tile_bytes = std::size_t{slabs} * slab;
  const auto* const train = static_cast<const unsigned char*>(collection.train);
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
  for (std::uint32_t i = 0; i < pairs.count; ++i, low ^= 1) {
    const std::uint32_t tiles = pairs.tiles(i);
    const std::uint64_t row[tiles_at_once] = {pairs.next(collection), pairs.next(collection)};
    std::uint32_t copies = 0;  // of tiles that have rows; others have `low`, so that nothing of them passes
    for (std::uint32_t t = 0; t < tiles; ++t) copies += row[t] < collection.train_rows ? 1 : 0;
    for (std::uint32_t s = 0; s < slabs; ++s, place.next(stages)) {
      hopper::wait<true>(&rest.empty[place.stage], place.parity ^ 1);
      hopper::Barrier* const full = &rest.full[place.stage];
      const std::uint32_t low_bytes = s == 0 ? tiles * tile_rows * sizeof(float) : 0;
      if (s == 0)
        for (std::uint32_t t = 0; t < tiles_at_once; ++t)
          rest.row[low][t] = collection.first_row + static_cast<std::uint32_t>(row[t]);
      hopper::expect(full, copies * slab + low_bytes);
      if (s == 0)
        hopper::copy(rest.low[low], lows + std::size_t{pairs.first + i * tiles_at_once} * tile_rows,
                     low_bytes, full);
      if (rank < tiles && row[rank] < collection.train_rows)
        hopper::copy_to_both(shared + slabs * slab + place.stage * stage + rank * slab,
                             train + row[rank] / tile_rows * tile_bytes + s * slab, slab, full);
    }
  }
}

/// A group of four warps multiplies 64 queries with all rows of the block.
template <class Sum, std::uint32_t slabs>
__device__ __forceinline__ void multiply_tiles(const HalfCollection& collection, const HalfWork& work,
                                               const unsigned char* shared, Rest& rest, const Pairs& pairs,
                                               std::uint32_t query_block) {
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
  const std::uint32_t other = hopper::rank_in_cluster() ^ 1;
  const auto release_in_both = [&](std::uint32_t which) {
    if (lane != 0) return;
    hopper::arrive(&rest.empty[which]);
    hopper::arrive_at(&rest.empty[which], other);
  };
  hopper::wait<false>(&rest.queries, 0);
  Place place;
  std::uint32_t low = 0;
#pragma unroll 1
  for (std::uint32_t i = 0; i < pairs.count; ++i, low ^= 1) {
    std::uint32_t last = place.stage;
    hopper::Sums<Sum, 128> sums;
    hopper::wait<true>(&rest.full[place.stage], place.parity);
    if constexpr (lifted) start_from(sums, rest.low[low], lane);
#pragma unroll
    for (std::uint32_t s = 0; s < slabs; ++s, place.next(stages)) {
      if (s != 0) hopper::wait<true>(&rest.full[place.stage], place.parity);
      multiply_slab<steps_a_slab>(sums, queries + s * (slab / 16), first_stage + place.stage * (stage / 16),
                                  lifted || s != 0, s + 1 == slabs ? last_steps : steps_a_slab);
      if (s != 0) {
        hopper::wait_products<1>();
        release_in_both(last);
      }
      last = place.stage;
    }
    hopper::finish_products(sums);
    release_in_both(last);
    const Spot spot{q0, (pairs.first + i * tiles_at_once) * tile_rows, rest.row[low], pairs.tiles(i), lane};
    if constexpr (lifted)
      test_lifted(found, sums, limits, spot);
    else
      test_sums<false>(found, collection, sums, rest.low[low], limits, spot);
    __syncwarp();  // all have read `low` before the next release
  }
  found.publish(true);
}

/// Pair p handles queries from 256 (p % query_blocks) on, and part p / query_blocks of the tiles.
template <class Sum, std::uint32_t slabs>
__global__ __launch_bounds__(threads, 1) void collect_tiles_wide(const HalfCollection collection,
                                                                 const HalfWork work) {
  extern __shared__ unsigned char whole[];
  take_turn();
  unsigned char* const shared = whole + (alignment - hopper::shared_address(whole) % alignment) % alignment;
  auto& rest = *reinterpret_cast<Rest*>(shared + slabs * slab + stages * stage);
  const std::uint32_t rank = hopper::rank_in_cluster(), pair = blockIdx.x / 2;
  const std::uint32_t query_block = pair % work.query_blocks * 2 + rank;
  const Pairs pairs(collection, work, pair / work.query_blocks);
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
      copy_slabs<slabs>(collection, shared, rest, pairs, query_block, rank,
                        lows_of<std::is_same_v<Sum, int>>(collection));
    __syncwarp();
  } else {
    hopper::take_registers<registers_to_multiply>();
    multiply_tiles<Sum, slabs>(collection, work, shared, rest, pairs, query_block);
  }
  // No block ends while the other may still copy to it or arrive at its barriers.
  hopper::meet_cluster();
}

template <class Sum, std::uint32_t slabs>
cudaError_t start(const Queue& queue, const HalfCollection& collection, HalfWork work) {
  work.query_blocks = divide_up(collection.rows, 2 * block_queries);  // of a pair
  const std::uint32_t pairs = divide_up(work.tiles, tiles_at_once);
  const std::uint32_t at_once = std::max(queue.multiprocessors / 2, 1u);
  work.a_part = tiles_at_once * divide_up(pairs, best_parts(work.query_blocks, at_once, pairs, 2));
  const std::uint32_t parts = divide_up(work.tiles, work.a_part);  // no part is empty
  return launch_as({2, true}, queue, collect_tiles_wide<Sum, slabs>,
                   std::uint64_t{work.query_blocks} * parts * 2, threads, bytes_of(slabs), collection, work);
}

}  // namespace kith::cuda::wide
