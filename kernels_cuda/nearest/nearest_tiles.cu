// nearest, for many queries: computes distances and selects in one step. Only candidates are written
// in between.
//
//   queries [q, dims]   train [t, dims]   blocks of 32 rows
//   out     [q, lists * k]   keys, ascending in each list, padded with no_key
//
// The rows of a list are cut into tiles of 128, which are read in phases: first every 512th tile, then every
// 64th of the others, then every 8th, then the rest; there are fewer phases if there are few tiles. Each
// phase launches two kernels:
//   scan     A block computes the distances of 128 queries from the tiles of one of `parts` parts of the
//            phase (tile.cuh), compares them with the query's bound, and appends the few keys below it to the
//            buffer of (query, list, part). Up to 8 dimensions and k = 32 a warp does this, with tiles of 32
//            (nearest_low_dim.cu); the first phase then has every 4096th tile.
//   tighten  A block merges the buffers of a (query, list) with the k smallest so far, in `out`; the k-th of
//            them is the bound of the next phase.
// In each phase about 8 k keys per list pass the bound, whatever the order of the rows, if tiles are alike.
// If they are not, a scan sorts a buffer that is nearly full, and lowers its own bound: nothing is lost, and
// rows in descending order cost time, not memory.
// Work: q * t * dims multiply-adds, two instructions each, and one comparison per pair. Shared memory: 34
// KiB. Scratch: bounds [q, lists]; for every block of a scan, counts [128] and buffers [128, capacity].
// Source: geometric phases after the sampled thresholds of top-k selection (Alabi and others, Fast
// k-selection algorithms for graphics processing units, 2012); for tiles see tile.cuh.
#include "common/phases.cuh"
#include "common/sort.cuh"
#include "common/tile.cuh"

namespace kith::cuda {
namespace {

/// The bounds of a block's queries, in shared memory.
struct Bounds {
  alignas(16) float value[tile_rows];  // bound_value(key)
  Key key[tile_rows];
  std::uint32_t count[tile_rows];  // number of keys in the buffer
};

/// A warp sorts the buffer of query `place`, keeps the k smallest, and lowers the bound.
template <int each>
__device__ __forceinline__ void shrink(Bounds& bounds, std::uint32_t place, Key* buffer, std::uint32_t k) {
  const std::uint32_t lane = threadIdx.x % 32, count = bounds.count[place];
  const Key before = bounds.key[place];
  Key key[each];
#pragma unroll
  for (int e = 0; e < each; ++e) key[e] = e * 32 + lane < count ? buffer[e * 32 + lane] : no_key;
  sort_warp(key, lane);
#pragma unroll
  for (int e = 0; e < each; ++e) {
    const std::uint32_t j = lane * each + e;
    if (j < k) buffer[j] = key[e];
    if (j == k - 1 && key[e] < before) {
      bounds.key[place] = key[e];
      bounds.value[place] = bound_value(key[e]);
    }
  }
  if (lane == 0) bounds.count[place] = min(count, k);
  __syncwarp();
}

template <Metric metric, int each>
__global__ __launch_bounds__(tile_threads, 2) void scan_for_survivors(const Scan scan) {
  constexpr std::uint32_t capacity = 32 * each;
  __shared__ TileMemory memory;
  __shared__ Bounds bounds;
  const std::uint32_t list = blockIdx.x / scan.query_tiles;
  const std::uint32_t g = list / scan.parts, part = list % scan.parts;
  const std::uint32_t query_block =
      scan.queries.first / rows_a_block + blockIdx.x % scan.query_tiles * tile_blocks;
  const std::uint32_t first_query = query_block * rows_a_block - scan.queries.first;  // may wrap around
  const auto list_of = [&](std::uint32_t q) { return static_cast<std::size_t>(q) * scan.lists + g; };
  Key* const buffers = scan.survivors.buffers + std::size_t{blockIdx.x} * (tile_rows * capacity);
  if (threadIdx.x < tile_rows) {
    const std::uint32_t q = first_query + threadIdx.x;
    Key key = 0;  // no key is below it
    if (q < scan.queries.rows) key = scan.phase.first ? no_key : scan.survivors.bounds[list_of(q)];
    bounds.key[threadIdx.x] = key;
    bounds.value[threadIdx.x] = bound_value(key);
    bounds.count[threadIdx.x] = 0;
  }

  const ListRows rows(scan.train, g, scan.lists, tile_rows);
  const std::uint64_t all = scan.phase.count(rows.tiles);
  const auto begin = static_cast<std::uint32_t>(all * part / scan.parts);
  const std::uint32_t tiles = static_cast<std::uint32_t>(all * (part + 1) / scan.parts) - begin;
  const auto block_of = [&](std::uint32_t i) {
    return rows.first_block + scan.phase.tile(begin + i) * tile_blocks;
  };

  scan_tiles<metric>(
      memory, scan.queries, query_block, scan.train, tiles, block_of,
      [&](std::uint32_t i, float(&acc)[8][8]) {
        const std::uint32_t tile_begin = block_of(i) * rows_a_block, r = tile_begin + row_place();
        if (tile_begin < rows.begin || rows.end - tile_begin < tile_rows) {
#pragma unroll
          for (int j = 0; j < 8; ++j) {
            const bool outside = place(r, j) < rows.begin || place(r, j) >= rows.end;
#pragma unroll
            for (int e = 0; e < 8; ++e)
              if (outside) acc[e][j] = not_a_candidate();
          }
        }

        const std::uint32_t my_queries = query_place();
        float limit[8];
        *reinterpret_cast<float4*>(limit) = *reinterpret_cast<const float4*>(&bounds.value[my_queries]);
        *reinterpret_cast<float4*>(limit + 4) =
            *reinterpret_cast<const float4*>(&bounds.value[my_queries + 64]);
        bool any = false;
#pragma unroll
        for (int e = 0; e < 8; ++e)
#pragma unroll
          for (int j = 0; j < 8; ++j) any |= acc[e][j] <= limit[e];
        if (any) {
#pragma unroll
          for (int e = 0; e < 8; ++e) {
            const std::uint32_t at = place(my_queries, e);
#pragma unroll
            for (int j = 0; j < 8; ++j) {
              if (!(acc[e][j] <= limit[e])) continue;
              const Key key = key_of(acc[e][j], place(r, j) + scan.shift);
              if (key < bounds.key[at]) buffers[at * capacity + atomicAdd(&bounds.count[at], 1u)] = key;
            }
          }
        }

        __syncthreads();
        if (i + 1 == tiles) return;
        // A tile may add 128 keys per query. Each warp checks the buffers of 16 queries.
        const std::uint32_t first = threadIdx.x / 32 * 16, lane = threadIdx.x % 32;
        std::uint32_t full =
            __ballot_sync(0xFFFFFFFFu, lane < 16 && bounds.count[first + lane % 16] > capacity - tile_rows);
        for (; full != 0; full &= full - 1) {
          const std::uint32_t at = first + __ffs(full) - 1;
          shrink<each>(bounds, at, buffers + at * capacity, scan.k);
        }
      });

  if (threadIdx.x < tile_rows)
    scan.survivors.counts[std::size_t{blockIdx.x} * tile_rows + threadIdx.x] = bounds.count[threadIdx.x];
}

cudaError_t scan_tiles_of(const Queue& queue, Metric metric, const Scan& scan, std::uint32_t capacity) {
  const std::uint64_t blocks = std::uint64_t{scan.query_tiles} * scan.lists * scan.parts;
  return with_chain(metric, [&](auto chain) {
    constexpr Metric chosen = decltype(chain)::value;
    return capacity == 256 ? launch(queue, scan_for_survivors<chosen, 8>, blocks, tile_threads, 0, scan)
                           : launch(queue, scan_for_survivors<chosen, 16>, blocks, tile_threads, 0, scan);
  });
}

constexpr std::uint32_t tighten_threads = 128;
constexpr std::uint32_t tighten_capacity = 1024;  // k keys and one buffer fit

/// Block b merges the buffers of query b / lists and list b % lists with the k keys found before, in
/// `out`. Work: all these keys, sorted 1024 at a time.
__global__ __launch_bounds__(tighten_threads) void tighten(const Scan scan, const std::uint32_t capacity,
                                                           const Matrix<Key> out) {
  __shared__ Key keys[tighten_capacity];
  __shared__ std::uint32_t counts[tighten_threads];
  const std::uint32_t q = blockIdx.x / scan.lists, g = blockIdx.x % scan.lists, k = scan.k;
  const std::uint32_t in_tiles = scan.queries.first % rows_a_block + q;  // place among all queries of tiles
  Key* best = out.data + q * out.stride + std::size_t{g} * k;

  const auto sort_up_to = [&](std::uint32_t filled) {
    const std::uint32_t length = max(2u, power_of_two(max(filled, k)));
    for (std::uint32_t i = filled + threadIdx.x; i < length; i += tighten_threads) keys[i] = no_key;
    sort_lists(keys, 1, length, length);
  };
  std::uint32_t filled = 0;
  if (!scan.phase.first) {
    for (std::uint32_t j = threadIdx.x; j < k; j += tighten_threads) keys[j] = best[j];
    filled = k;
  }
  for (std::uint32_t part0 = 0; part0 < scan.parts; part0 += tighten_threads) {
    const std::uint32_t parts = min(tighten_threads, scan.parts - part0);
    const auto buffer_of = [&](std::uint32_t part) {
      const std::size_t list =
          (std::size_t{g} * scan.parts + part0 + part) * scan.query_tiles + in_tiles / tile_rows;
      return list * tile_rows + in_tiles % tile_rows;
    };
    __syncthreads();
    if (threadIdx.x < parts) counts[threadIdx.x] = scan.survivors.counts[buffer_of(threadIdx.x)];
    __syncthreads();
    for (std::uint32_t part = 0; part < parts; ++part) {
      const std::uint32_t count = counts[part];
      if (filled + count > tighten_capacity) {
        sort_up_to(filled);
        filled = k;
      }
      if (threadIdx.x / 32 == part % (tighten_threads / 32))
        for (std::uint32_t i = threadIdx.x % 32; i < count; i += 32)
          keys[filled + i] = scan.survivors.buffers[buffer_of(part) * capacity + i];
      filled += count;
    }
  }
  sort_up_to(filled);
  for (std::uint32_t j = threadIdx.x; j < k; j += tighten_threads) best[j] = keys[j];
  if (threadIdx.x == 0) scan.survivors.bounds[blockIdx.x] = keys[k - 1];
}

struct Search {
  Metric metric;
  Rows queries;
  Rows train;
  std::uint32_t first_row;  // training row of train.first
  std::uint32_t k;
  std::uint32_t lists;
  Matrix<Key> out;  // [queries.rows, lists * k]
  bool of_points;   // nearest_low_dim.cu scans
};

Search search_of(const spi::NearestStep& step, bool of_points) {
  return {step.metric,
          rows_of(step.queries),
          rows_of(step.train),
          step.first_row,
          step.k,
          step.lists,
          matrix_of(step.out),
          of_points};
}

/// Returns how many keys a buffer holds.
std::uint32_t tile_capacity(const Search& search) {
  if (search.of_points) return points_capacity;
  return search.k <= 64 ? 256 : 512;
}

/// Returns the number of tiles of the first list.
std::uint32_t tiles_of(const Search& search) {
  return ListRows(search.train, 0, search.lists, search.of_points ? points_tile : tile_rows).tiles;
}

constexpr std::size_t aligned(std::size_t bytes) {
  return divide_up<std::size_t>(bytes, 256) * 256;
}

std::uint32_t query_tiles_of(const Search& search) {
  return divide_up(search.queries.first % rows_a_block + search.queries.rows, tile_rows);
}

std::size_t bounds_bytes(const Search& search) {
  return aligned(std::size_t{search.queries.rows} * search.lists * sizeof(Key));
}

/// Returns the bytes of counts and buffers for one part of every list.
std::size_t part_bytes(const Search& search) {
  const std::size_t buffers = std::size_t{query_tiles_of(search)} * tile_rows * search.lists;
  return buffers * (sizeof(std::uint32_t) + tile_capacity(search) * sizeof(Key));
}

/// Returns the number of parts of each list's tiles. Blocks of a scan run in waves, and the last wave should
/// be full; beside its tiles, each part costs about as much as `overhead` tiles.
std::uint32_t parts_for(const Queue& queue, const Search& search, std::size_t scratch_bytes) {
  constexpr std::uint64_t most_waves = 4, most_parts = 1024;
  const std::uint64_t overhead = search.of_points ? 32 : 3;
  const std::uint64_t tiles = tiles_of(search);
  const std::uint64_t blocks = std::uint64_t{query_tiles_of(search)} * search.lists;
  const std::uint64_t wave = (search.of_points ? points_warps : 2ull) * queue.multiprocessors;
  const std::size_t for_bounds = bounds_bytes(search);
  const std::uint64_t fitting =
      scratch_bytes > for_bounds ? (scratch_bytes - for_bounds) / part_bytes(search) : 1;
  std::uint64_t best = 1, best_cost = divide_up(blocks, wave) * (tiles + overhead);
  for (std::uint64_t waves = 1; waves <= most_waves; ++waves) {
    const std::uint64_t parts = std::min({waves * wave / blocks, tiles, most_parts, fitting});
    if (parts <= best) continue;
    const std::uint64_t cost = divide_up(blocks * parts, wave) * (divide_up(tiles, parts) + overhead);
    if (cost >= best_cost) continue;
    best = parts;
    best_cost = cost;
  }
  return static_cast<std::uint32_t>(best);
}

constexpr std::size_t most_scratch = std::size_t{1} << 30;

std::size_t scratch_bytes(const Queue& queue, const Search& search) {
  return bounds_bytes(search) + parts_for(queue, search, most_scratch) * part_bytes(search);
}

cudaError_t scan_in_phases(const Queue& queue, const Search& search, const spi::Scratch& scratch) {
  const std::uint32_t parts = parts_for(queue, search, scratch.bytes), capacity = tile_capacity(search);
  const std::uint64_t blocks = std::uint64_t{query_tiles_of(search)} * search.lists * parts;
  auto* memory = address_of<unsigned char>(scratch);
  Survivors survivors{};
  survivors.bounds = reinterpret_cast<Key*>(memory);
  memory += bounds_bytes(search);
  survivors.counts = reinterpret_cast<std::uint32_t*>(memory);
  memory += blocks * tile_rows * sizeof(std::uint32_t);
  survivors.buffers = reinterpret_cast<Key*>(memory);

  // Sampling first pays if chains are short. It needs a tile for every part; a warp that scans points has
  // nothing to sort before its second tile.
  const std::uint32_t tiles = tiles_of(search);
  const std::uint32_t fewest = search.of_points ? 4 : std::max(8u, parts);
  const std::uint32_t most_stride = search.of_points ? 4096 : 512;
  std::uint32_t stride = 1;
  while (search.train.dims <= 256 && stride < most_stride && tiles / (stride * phase_ratio) >= fewest)
    stride *= phase_ratio;

  for (bool first = true; stride > 0; stride /= phase_ratio, first = false) {
    const Scan scan{search.queries,
                    search.train,
                    search.first_row - search.train.first,
                    search.k,
                    search.lists,
                    parts,
                    query_tiles_of(search),
                    {stride, first},
                    survivors};
    cudaError_t error = search.of_points ? scan_points(queue, search.metric, scan)
                                         : scan_tiles_of(queue, search.metric, scan, capacity);
    if (error == cudaSuccess)
      error = launch(queue, tighten, std::uint64_t{search.queries.rows} * search.lists, tighten_threads, 0,
                     scan, capacity, search.out);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // namespace

std::size_t nearest_tiles_scratch(const Queue& queue, const spi::NearestStep& step) {
  return scratch_bytes(queue, search_of(step, false));
}

cudaError_t nearest_tiles(const Queue& queue, const spi::NearestStep& step) {
  return scan_in_phases(queue, search_of(step, false), step.scratch);
}

std::size_t nearest_low_dim_scratch(const Queue& queue, const spi::NearestStep& step) {
  return scratch_bytes(queue, search_of(step, true));
}

cudaError_t nearest_low_dim(const Queue& queue, const spi::NearestStep& step) {
  return scan_in_phases(queue, search_of(step, true), step.scratch);
}

}  // namespace kith::cuda
