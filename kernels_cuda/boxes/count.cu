// count: counts the rows within bounds of each query by a walk through boxes (docs/boxes.md, section 3).
//
//   queries  [q, dims]                blocks of 32 rows
//   order    [q]                      or null: queries in an order in which successive ones are close
//   rows     [n, dims]                in the order of the boxes, in blocks of 32; each block is a leaf
//   numbers  [n]                      the training row in each place; read only for a filter
//   boxes    [blocks, 2, dims, 32]    level by level, leaves first: the minima of 32 boxes, then their maxima
//   bounds   [1 or q, r]              ascending
//   filter   [1 or q, words]          or null: bit t % 32 of word t / 32 is 1 if training row t counts
//   terms    [dims]                   or null: parameters of the columns (metrics.def)
//   counts   [q, r]
//   leaves   [q]                      number of leaves read
//
// One warp handles one query, and each lane one of 32 boxes, or one row of a leaf. A box that is beyond all
// bounds is left out; a box within a bound counts whole, unless a filter says which of its rows count; the
// warp goes into those that a bound cuts. Lane l keeps a mask of the boxes of level l that it has yet to go
// into, and their block. By one bound each lane counts in a register. By several, shared memory has the
// differences between the counts of neighbouring bounds, and for each box of a level which bounds cut it.
// Shared memory per warp: the query; by several bounds 2 r + 1 + 32 per level numbers more. A launch takes up
// to 256 bounds. Only the warp synchronizes.
// Work: 64 chains for each block of boxes, 32 for each leaf that is read; by several bounds a binary search
// for each. Source: Bentley, Multidimensional binary search trees used for associative searching, 1975.
#include "boxes/levels.cuh"
#include "common/rows.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t most_bounds = 256;  // of a launch
constexpr std::uint32_t ahead = 4;          // columns that are loaded before the first of them is folded
static_assert(width == 32);

struct Counting {
  Rows queries;
  const std::uint32_t* order;
  Rows rows;
  const std::uint32_t* numbers;
  const float* boxes;
  const float* terms;
  Matrix<const float> bounds;
  Matrix<const std::uint32_t> filter;
  Matrix<std::uint32_t> counts, leaves;
  std::uint32_t many;  ///< number of bounds
  bool adds;           ///< whether `leaves` has what other bounds read
  Levels levels;
};

Counting counting_of(const spi::CountStep& step) {
  Counting counting{rows_of(step.queries),
                    matrix_of(step.order).data,
                    rows_of(step.train.rows),
                    matrix_of(step.train.numbers).data,
                    matrix_of(step.train.bounds).data,
                    terms_of(step.train.rows),
                    input_of(step.bounds),
                    input_of(step.filter),
                    matrix_of(step.counts),
                    matrix_of(step.leaves),
                    count_of(step.bounds.cols),
                    false,
                    levels_of(step.train.rows.rows)};
  if (step.bounds.rows == 1) counting.bounds.stride = 0;
  if (step.filter.rows == 1) counting.filter.stride = 0;
  return counting;
}

/// Bounds of the chains of all rows in a box: from below, of its gaps, and from above, of its far sides.
struct Reach {
  float near, far;
};

/// Calls fold(d, load(d)) for each column, in order. Several columns are loaded first.
template <class Load, class Fold>
__device__ __forceinline__ void each_column(std::uint32_t dims, const Load& load, const Fold& fold) {
  for (std::uint32_t first = 0; first < dims; first += ahead) {
    decltype(load(0u)) values[ahead];
#pragma unroll
    for (std::uint32_t j = 0; j < ahead; ++j)
      if (first + j < dims) values[j] = load(first + j);
#pragma unroll
    for (std::uint32_t j = 0; j < ahead; ++j)
      if (first + j < dims) fold(first + j, values[j]);
  }
}

/// Computes the reach of a box.
///   box  minimum of the box in dimension 0; those of later dimensions follow, `width` apart
template <Metric metric, Terms kind>
__device__ __forceinline__ Reach reach_of(const Counting& of, const float* query, const float* box) {
  struct Side {
    float low, high;
  };
  const std::uint32_t dims = of.rows.dims;
  Reach reach{Chain<metric>::start(), Chain<metric>::start()};
  each_column(
      dims,
      [&](std::uint32_t d) {
        return Side{__ldg(box + std::size_t{d} * width), __ldg(box + std::size_t{dims + d} * width)};
      },
      [&](std::uint32_t d, const Side& side) {
        const float below = side.low - query[d], above = query[d] - side.high;
        float near = fmaxf(fmaxf(below, above), 0.0f), far = fmaxf(-below, -above);
        if constexpr (kind != Terms::differences) {
          const float p = __ldg(of.terms + d), gap = near;
          near = term_of<kind>(gap, far, p);
          far = term_of<kind>(far, gap, p);
        }
        reach = {Chain<metric>::next(reach.near, near, 0.0f), Chain<metric>::next(reach.far, far, 0.0f)};
      });
  return reach;
}

template <Metric metric, Terms kind>
__device__ __forceinline__ float chain_of(const Counting& of, const float* query, const float* row) {
  float acc = Chain<metric>::start();
  each_column(
      of.rows.dims, [&](std::uint32_t d) { return __ldg(row + std::size_t{d} * width); },
      [&](std::uint32_t d, float value) {
        if constexpr (kind != Terms::differences)
          acc = next_term<metric, kind>(acc, query[d], value, __ldg(of.terms + d));
        else
          acc = Chain<metric>::next(acc, query[d], value);
      });
  return acc;
}

/// Counts rows by the bounds of one query. Bounds begin ... end - 1 are a number, begin | end << 16.
template <bool several>
class Tally;

template <>
class Tally<false> {
 public:
  static constexpr std::size_t words(std::uint32_t) { return 0; }

  __device__ Tally(const Counting& of, std::uint32_t q, unsigned*, std::uint32_t lane)
      : bound_(__ldg(of.bounds.data + q * of.bounds.stride)), lane_(lane) {}

  static __device__ unsigned all() { return 1u << 16; }
  /// Returns those of `bounds` that cut a box, 0 if none does. Counts its rows by bounds that have them all.
  __device__ unsigned cut(unsigned bounds, const Reach& reach, std::uint32_t rows, bool whole) {
    const bool within = whole && reach.far <= bound_;
    if (within) count_ += rows;
    return reach.near <= bound_ && !within ? bounds : 0;
  }
  /// Counts a row of each lane for which `counts`.
  __device__ void take(unsigned, float value, bool counts) { count_ += counts && value <= bound_; }
  __device__ bool may_have(unsigned, float value) const { return value <= bound_; }
  /// Keep what cut() returned of the box of each lane, and return it.
  __device__ void keep(std::uint32_t, unsigned) {}
  __device__ unsigned kept(std::uint32_t, std::uint32_t) const { return all(); }
  /// Writes the counts.
  __device__ void write(std::uint32_t* counts) {
    for (std::uint32_t step = width / 2; step > 0; step /= 2)
      count_ += __shfl_xor_sync(all_lanes, count_, step);
    if (lane_ == 0) *counts = count_;
  }

 private:
  const float bound_;
  const std::uint32_t lane_;
  std::uint32_t count_ = 0;
};

template <>
class Tally<true> {
 public:
  /// Returns how many words of shared memory a warp takes.
  static constexpr std::size_t words(std::uint32_t many) {
    return std::size_t{2} * many + 1 + spi::most_box_levels * width;
  }

  __device__ Tally(const Counting& of, std::uint32_t q, unsigned* shared, std::uint32_t lane)
      : many_(of.many),
        lane_(lane),
        kept_(shared),
        bounds_(reinterpret_cast<float*>(shared + spi::most_box_levels * width)),
        counts_(shared + spi::most_box_levels * width + of.many) {
    for (std::uint32_t r = lane; r < many_; r += width)
      bounds_[r] = __ldg(of.bounds.data + q * of.bounds.stride + r);
    for (std::uint32_t r = lane; r <= many_; r += width) counts_[r] = 0;
  }

  __device__ unsigned all() const { return many_ << 16; }
  __device__ unsigned cut(unsigned bounds, const Reach& reach, std::uint32_t rows, bool whole) {
    const std::uint32_t begin = bounds & 0xFFFFu, end = bounds >> 16;
    const std::uint32_t from = first_of(reach.near, begin, end),
                        to = whole ? first_of(reach.far, from, end) : end;
    if (to < end) {
      atomicAdd(counts_ + to, rows);
      atomicSub(counts_ + end, rows);
    }
    return from < to ? from | to << 16 : 0;
  }
  __device__ void take(unsigned bounds, float value, bool counts) {
    const std::uint32_t end = bounds >> 16, at = first_of(value, bounds & 0xFFFFu, end);
    const bool joins = counts && at < end;
    const unsigned joining = __ballot_sync(all_lanes, joins);
    if (joins) atomicAdd(counts_ + at, 1u);
    if (lane_ == 0 && joining != 0) atomicSub(counts_ + end, __popc(joining));
  }
  __device__ bool may_have(unsigned bounds, float value) const {
    return value <= bounds_[(bounds >> 16) - 1];
  }
  __device__ void keep(std::uint32_t level, unsigned bounds) {
    kept_[level * width + lane_] = bounds;
    __syncwarp();
  }
  __device__ unsigned kept(std::uint32_t level, std::uint32_t box) const {
    return kept_[level * width + box];
  }
  __device__ void write(std::uint32_t* counts) {
    __syncwarp();
    std::uint32_t before = 0;  // the count of the last bound before these 32
    for (std::uint32_t first = 0; first < many_; first += width) {
      std::uint32_t sum = first + lane_ < many_ ? counts_[first + lane_] : 0;
      for (std::uint32_t step = 1; step < width; step *= 2) {
        const std::uint32_t other = __shfl_up_sync(all_lanes, sum, step);
        if (lane_ >= step) sum += other;
      }
      sum += before;
      if (first + lane_ < many_) counts[first + lane_] = sum;
      before = __shfl_sync(all_lanes, sum, width - 1);
    }
  }

 private:
  /// Returns the first of these bounds that is not below `value`; `end` if all are.
  __device__ std::uint32_t first_of(float value, std::uint32_t begin, std::uint32_t end) const {
    while (begin < end) {
      const std::uint32_t middle = begin + (end - begin) / 2;
      if (bounds_[middle] < value)
        begin = middle + 1;
      else
        end = middle;
    }
    return begin;
  }

  const std::uint32_t many_, lane_;
  unsigned* const kept_;    ///< [most_box_levels, 32]
  float* const bounds_;     ///< [many]
  unsigned* const counts_;  ///< [many + 1], modulo 2^32
};

/// Returns how many rows a box has.
__device__ __forceinline__ std::uint32_t rows_of_box(const Counting& of, std::uint32_t level,
                                                     std::uint32_t box) {
  const std::uint32_t shift = 5 * (level + 1);  // at most 30
  return min(1u << shift, of.rows.rows - (box << shift));
}

/// Counts the rows of a leaf, one each lane.
///   filter  of the query; null: all rows count
template <Metric metric, Terms kind, bool several>
__device__ __forceinline__ void count_leaf(const Counting& of, const float* query,
                                           const std::uint32_t* filter, std::uint32_t leaf, unsigned bounds,
                                           std::uint32_t lane, Tally<several>& tally) {
  const std::uint32_t place = leaf * width + lane;
  const float value =
      chain_of<metric, kind>(of, query, of.rows.data + std::size_t{leaf} * of.rows.dims * width + lane);
  bool counts = place < of.rows.rows;
  if (filter && counts && tally.may_have(bounds, value)) {
    const std::uint32_t row = __ldg(of.numbers + place);
    counts = (filter[row / 32] >> row % 32 & 1) != 0;
  }
  tally.take(bounds, value, counts);
}

/// Returns how many words of shared memory a warp takes.
template <bool several>
constexpr std::size_t warp_words(std::uint32_t dims, std::uint32_t many) {
  return dims + Tally<several>::words(many);
}

template <Metric metric, Terms kind, bool several>
__global__ __launch_bounds__(warps* width) void count_in_boxes(const Counting of, std::uint32_t words) {
  extern __shared__ unsigned shared_words[];
  const std::uint32_t lane = threadIdx.x % width, warp = threadIdx.x / width, dims = of.rows.dims;
  const std::uint32_t turn = blockIdx.x * warps + warp;
  if (turn >= of.queries.rows) return;
  const std::uint32_t q = of.order ? of.order[turn] : turn;
  float* const query = reinterpret_cast<float*>(shared_words + warp * words);
  const float* const packed = row_at(of.queries, of.queries.first + q);
  for (std::uint32_t d = lane; d < dims; d += width) query[d] = __ldg(packed + std::size_t{d} * rows_a_block);
  const std::uint32_t* const filter = of.filter.data ? of.filter.data + q * of.filter.stride : nullptr;
  Tally<several> tally(of, q, shared_words + warp * words + dims, lane);
  __syncwarp();

  std::uint32_t level = of.levels.top, block = 0, read = 0;
  std::uint32_t own_left = 0, own_block = 0;  // of the level with this lane's number
  unsigned bounds = tally.all();              // that cut what the block is in
  while (true) {
    unsigned cutting = 0;
    const std::uint32_t box = block * width + lane;
    if (box < of.levels.counts[level]) {
      const float* const sides = of.boxes + (of.levels.blocks[level] + block) * 2 * dims * width + lane;
      cutting = tally.cut(bounds, reach_of<metric, kind>(of, query, sides), rows_of_box(of, level, box),
                          filter == nullptr);
    }
    std::uint32_t left = __ballot_sync(all_lanes, cutting != 0);
    if (level == 0) {
      read += __popc(left);
      for (; left != 0; left &= left - 1) {
        const std::uint32_t leaf = __ffs(left) - 1;
        count_leaf<metric, kind>(of, query, filter, block * width + leaf,
                                 __shfl_sync(all_lanes, cutting, leaf), lane, tally);
      }
    } else {
      tally.keep(level, cutting);
      if (lane == level) own_left = left, own_block = block;
    }
    const unsigned open = __ballot_sync(all_lanes, own_left != 0);  // bit l: boxes of level l are left
    if (open == 0) break;
    level = __ffs(open) - 1;
    const std::uint32_t next = __ffs(__shfl_sync(all_lanes, own_left, level)) - 1;
    if (lane == level) own_left &= own_left - 1;
    bounds = tally.kept(level, next);
    block = __shfl_sync(all_lanes, own_block, level) * width + next;
    --level;
  }
  tally.write(of.counts.data + q * of.counts.stride);
  std::uint32_t* const leaves = of.leaves.data + q * of.leaves.stride;
  if (lane == 0) *leaves = of.adds ? *leaves + read : read;
}

template <bool several>
cudaError_t count_by(const Queue& queue, const spi::CountStep& step, const Counting& counting) {
  return with_chain(step.metric, [&](auto chain) {
    constexpr Metric metric = decltype(chain)::value;
    auto* const count = kernel_of_terms<metric>(
        step.train.rows, [](auto terms) { return count_in_boxes<metric, decltype(terms)::value, several>; });
    const std::size_t words = warp_words<several>(step.queries.dims, counting.many);
    return launch(queue, count, divide_up(step.queries.rows, warps), warps * width,
                  warps * words * sizeof(unsigned), counting, count_of(words));
  });
}

}  // namespace

cudaError_t count(const Queue& queue, const spi::CountStep& step) {
  Counting counting = counting_of(step);
  for (std::size_t first = 0; first < step.bounds.cols; first += most_bounds) {
    counting.many = count_of(std::min<std::size_t>(most_bounds, step.bounds.cols - first));
    const cudaError_t error =
        counting.many > 1 ? count_by<true>(queue, step, counting) : count_by<false>(queue, step, counting);
    if (error != cudaSuccess) return error;
    counting.bounds.data += counting.many;
    counting.counts.data += counting.many;
    counting.adds = true;
  }
  return cudaSuccess;
}

}  // namespace kith::cuda
