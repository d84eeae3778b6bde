// boxes: finds the k nearest of each query by a walk through boxes, near ones first (docs/boxes.md).
//
//   queries  [q, dims]                blocks of 32 rows
//   order    [q]                      or null: queries in an order in which successive ones are close
//   rows     [n, dims]                in the order of the boxes, in blocks of 32; each block is a leaf
//   numbers  [n]                      the training row in each place
//   bounds   [blocks, 2, dims, 32]    level by level, leaves first: the minima of 32 boxes, then their maxima
//   filter   [1 or q, words]          or null: bit t % 32 of word t / 32 is 1 if training row t counts
//   within   [q]                      or null: farther rows do not count
//   terms    [dims]                   or null: parameters of the columns (metrics.def)
//   out      [q, k]                   ascending, padded with no_key
//   leaves   [q]                      number of leaves read; above most_leaves: the query gave up
//
// One warp handles one query. For each level, each lane keeps the bound of one of 32 boxes and whether that
// box is still unvisited; lane l also keeps which block of level l the warp is in. The warp goes down into
// the nearest unvisited box, and goes up when that box is farther than the k-th value so far. Bounds are
// compared without their last five bits, which hold the lane's number. In a leaf, each lane computes the
// chain of one row. The rows that pass are merged into the list by rank: the place of a row is the number of
// smaller keys, in the list and among those that passed. Shared memory per warp: 2 k keys, the query, 32
// keys, and 32 numbers per level. Only the warp synchronizes.
// Work per leaf: 32 chains, and k + 32 comparisons for each row that passes. Source: Friedman, Bentley,
// Finkel, An algorithm for finding best matches in logarithmic expected time, 1977.
#include "boxes/levels.cuh"
#include "common/rows.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t most_levels = spi::most_box_levels;
constexpr std::uint32_t most_columns_of_early_numbers = 4;
static_assert(width == 32);

struct Walking {
  Rows queries;
  const std::uint32_t* order;
  Rows rows;
  const std::uint32_t* numbers;
  const float* bounds;
  Matrix<const std::uint32_t> filter;
  Matrix<const float> within;
  const float* terms;
  Matrix<Key> out;
  Matrix<std::uint32_t> leaves;
  std::uint32_t k, most_leaves;
  Levels levels;
};

Walking walking_of(const spi::BoxesStep& step) {
  Walking walking{rows_of(step.queries),
                  matrix_of(step.order).data,
                  rows_of(step.train.rows),
                  matrix_of(step.train.numbers).data,
                  matrix_of(step.train.bounds).data,
                  input_of(step.filter),
                  input_of(step.within),
                  terms_of(step.train.rows),
                  matrix_of(step.out),
                  matrix_of(step.leaves),
                  step.k,
                  step.most_leaves,
                  levels_of(step.train.rows.rows)};
  if (step.filter.rows == 1) walking.filter.stride = 0;
  return walking;
}

/// Computes the chain of the gaps between the query and a box, which is at most the chain of any row inside.
///   box  minimum of the box in dimension 0; those of later dimensions follow, `width` apart
///   terms  parameters of the columns; not read if chains take differences
template <Metric metric, Terms kind>
__device__ __forceinline__ float gaps_of(const float* query, const float* box, std::uint32_t dims,
                                         const float* terms) {
  float acc = Chain<metric>::start();
  for (std::uint32_t d = 0; d < dims; ++d) {
    const float below = __ldg(box + std::size_t{d} * width) - query[d],
                above = query[d] - __ldg(box + std::size_t{dims + d} * width);
    float gap = fmaxf(fmaxf(below, above), 0.0f);
    if constexpr (kind != Terms::differences)
      gap = term_of<kind>(gap, fmaxf(-below, -above), __ldg(terms + d));
    acc = Chain<metric>::next(acc, gap, 0.0f);
  }
  return acc;
}

template <Metric metric, Terms kind>
__device__ __forceinline__ float chain_of(const float* query, const float* row, std::uint32_t dims,
                                          const float* terms) {
  float acc = Chain<metric>::start();
  for (std::uint32_t d = 0; d < dims; ++d) {
    const float value = __ldg(row + std::size_t{d} * width);
    if constexpr (kind != Terms::differences)
      acc = next_term<metric, kind>(acc, query[d], value, __ldg(terms + d));
    else
      acc = Chain<metric>::next(acc, query[d], value);
  }
  return acc;
}

constexpr unsigned nothing = 0xFFFFFFFFu;

/// Returns the smallest of the lanes' numbers.
__device__ __forceinline__ unsigned least_of(unsigned code) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(all_lanes, code);
#else
  for (std::uint32_t step = width / 2; step > 0; step /= 2)
    code = min(code, __shfl_xor_sync(all_lanes, code, step));
  return code;
#endif
}

/// The nearest keys so far, ascending. They move between two lists in shared memory.
struct Found {
  Key* list;
  Key* next;
  Key* passed;  ///< [32]
  std::uint32_t k, lane;

  /// Merges those of the lanes' keys that are below the last key; no_key never is. Returns whether there
  /// were any.
  __device__ __forceinline__ bool take(Key key) {
    const unsigned joining = __ballot_sync(all_lanes, key < list[k - 1]);
    if (joining == 0) return false;
    const std::uint32_t count = __popc(joining), mine = __popc(joining & ((1u << lane) - 1));
    if (joining >> lane & 1) passed[mine] = key;
    __syncwarp();
    for (std::uint32_t i = lane; i < k; i += width) {  // keys of the list move up
      const Key known = list[i];
      std::uint32_t to = i;
      for (std::uint32_t j = 0; j < count; ++j) to += passed[j] < known;
      if (to < k) next[to] = known;
    }
    if (joining >> lane & 1) {
      std::uint32_t to = 0;
      for (std::uint32_t end = k; to < end;) {
        const std::uint32_t middle = to + (end - to) / 2;
        if (list[middle] < key)
          to = middle + 1;
        else
          end = middle;
      }
      for (std::uint32_t j = 0; j < count; ++j) to += passed[j] < key;
      if (to < k) next[to] = key;
    }
    Key* const before = list;
    list = next;
    next = before;
    __syncwarp();
    return true;
  }
};

/// Number of keys whose space a warp takes in shared memory, for its query as well.
__host__ __device__ constexpr std::size_t warp_keys(std::uint32_t k, std::uint32_t dims) {
  return width + 2 * std::size_t{k} + (dims + 1) / 2;
}

template <Metric metric, Terms kind>
__global__ __launch_bounds__(warps* width) void walk_boxes(const Walking walking) {
  extern __shared__ Key shared_keys[];
  __shared__ float shared_gaps[warps][most_levels][width];
  const std::uint32_t lane = threadIdx.x % width, warp = threadIdx.x / width, dims = walking.rows.dims,
                      k = walking.k;
  const std::uint32_t turn = blockIdx.x * warps + warp;
  if (turn >= walking.queries.rows) return;
  const std::uint32_t q = walking.order ? walking.order[turn] : turn;
  float(&gaps)[most_levels][width] = shared_gaps[warp];
  Key* const shared = shared_keys + warp * warp_keys(k, dims);
  Found found{shared + width, shared + width + k, shared, k, lane};
  float* const query = reinterpret_cast<float*>(shared + width + 2 * std::size_t{k});
  const float* const packed = row_at(walking.queries, walking.queries.first + q);
  for (std::uint32_t d = lane; d < dims; d += width) query[d] = __ldg(packed + std::size_t{d} * rows_a_block);
  for (std::uint32_t i = lane; i < k; i += width) found.list[i] = no_key;
  const float limit =
      walking.within.data ? walking.within.data[q * walking.within.stride] : __int_as_float(0x7F800000);
  const std::uint32_t* const filter =
      walking.filter.data ? walking.filter.data + q * walking.filter.stride : nullptr;
  __syncwarp();

  // With few columns, most leaves that are read have rows that pass, so that row numbers are read together
  // with the leaf instead of after it. With more columns, few leaves have such rows.
  const bool early = dims <= most_columns_of_early_numbers;
  const std::size_t block_floats = std::size_t{2} * dims * width;
  std::uint32_t level = walking.levels.top, read = 0, block = 0;  // `block` belongs to `level`
  std::uint32_t own_block = 0;                                    // the block at level number `lane`
  std::uint32_t left = 0;  // bit l: this lane's box at level l is unvisited
  float most = limit;
  bool enters = true;
  while (true) {
    if (enters) {  // computes the bounds of the boxes of a block
      gaps[level][lane] = gaps_of<metric, kind>(
          query, walking.bounds + (walking.levels.blocks[level] + block) * block_floats + lane, dims,
          walking.terms);
      if (lane < walking.levels.counts[level] - block * width) left |= 1u << level;
      enters = false;
    }
    const float gap = gaps[level][lane];
    const bool may = (left >> level & 1) != 0 && gap <= most;
    const unsigned chosen = least_of(may ? (__float_as_uint(gap) & ~(width - 1)) | lane : nothing);
    if (chosen == nothing) {  // no unvisited box of this block can be near enough
      if (level == walking.levels.top) break;
      left &= ~(1u << level);
      ++level;
      block = __shfl_sync(all_lanes, own_block, level);
      continue;
    }
    const std::uint32_t nearest = chosen % width;
    if (lane == nearest) left &= ~(1u << level);
    const std::uint32_t box = block * width + nearest;
    if (level > 0) {
      if (lane == level) own_block = block;
      --level;
      block = box;
      enters = true;
      continue;
    }
    if (++read > walking.most_leaves) break;
    const std::uint32_t place = box * width + lane;
    Key key = no_key;
    if (place < walking.rows.rows) {
      std::uint32_t row = 0;
      if (early) row = __ldg(walking.numbers + place);
      const float value = chain_of<metric, kind>(
          query, walking.rows.data + std::size_t{box} * dims * width + lane, dims, walking.terms);
      if (value <= most) {
        if (!early) row = __ldg(walking.numbers + place);
        if (!filter || (filter[row / 32] >> row % 32 & 1) != 0) key = key_of(value, row);
      }
    }
    if (found.take(key)) most = fminf(limit, bound_value(found.list[k - 1]));
  }
  Key* const out = walking.out.data + q * walking.out.stride;
  for (std::uint32_t i = lane; i < k; i += width) out[i] = found.list[i];
  if (lane == 0) walking.leaves.data[q * walking.leaves.stride] = read;
}

}  // namespace

cudaError_t boxes(const Queue& queue, const spi::BoxesStep& step) {
  const std::size_t shared = warps * warp_keys(step.k, step.queries.dims) * sizeof(Key);
  return with_chain(step.metric, [&](auto chain) {
    constexpr Metric metric = decltype(chain)::value;
    auto* const walk = kernel_of_terms<metric>(
        step.train.rows, [](auto terms) { return walk_boxes<metric, decltype(terms)::value>; });
    return launch(queue, walk, divide_up(step.queries.rows, warps), warps * width, shared, walking_of(step));
  });
}

}  // namespace kith::cuda
