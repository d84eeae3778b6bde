// finish: turns keys into the distances and row numbers that the caller gets.
//
//   keys      [q, width]      each list ascending, row-major, stride in elements
//   distance  [q, k]          the key's value, after the function in the last column of metrics.def
//   numbers   [q, k]          the key's row; -1 if there is none or the pair is masked
//   places    [rows of keys]  the place of the row of a key; null: the row itself
//   named     [places]        the number of a place; null: the place itself
//   own       the place that the list of query 0 leaves out; query q leaves out own + q; -1: nothing is
//             left out
//
// A block of 256 threads handles as many queries as it has threads for, at least one. It first finds the key
// to leave out of each list; then each thread computes one answer after another. The root is __fsqrt_rn,
// which is correctly rounded.
// Work: each key is read twice. One barrier, two with `own`. Shared memory: 1 KiB.
#include "common/common.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t finish_threads = 256;

/// The function that metrics.def calls sqrt.
struct Root {
  __device__ float operator()(float s) const { return __fsqrt_rn(s); }
};

template <Metric metric>
struct Finish;

#define KITH_METRIC(id, prepare, start, accumulate, finish) \
  template <>                                               \
  struct Finish<Metric::id> {                               \
    static __device__ float of(float acc) {                 \
      [[maybe_unused]] constexpr Root sqrt{};               \
      return finish;                                        \
    }                                                       \
  };
#include "kith/metrics.def"
#undef KITH_METRIC

struct Finishing {
  Matrix<const Key> keys;
  Matrix<float> distance;
  Matrix<std::int64_t> numbers;
  const std::uint32_t* places;
  const std::int64_t* named;
  std::int64_t own;
  std::uint64_t queries;
  std::uint32_t width, k, queries_a_block;
};

__device__ __forceinline__ bool is_none(Key key) {
  return static_cast<std::uint32_t>(key >> 32) == no_value;
}

/// Returns the place of the row of a key.
__device__ __forceinline__ std::int64_t place_of(const Finishing& finishing, Key key) {
  const auto row = static_cast<std::uint32_t>(key);
  return finishing.places ? finishing.places[row] : row;
}

template <Metric metric>
__global__ __launch_bounds__(finish_threads) void finish_keys(const Finishing finishing) {
  __shared__ std::uint32_t leaves[finish_threads];  // the place in the list of the key that is left out
  const std::uint32_t width = finishing.width, k = finishing.k;
  const bool leaves_own = finishing.own >= 0;
  const std::uint64_t q0 = std::uint64_t{blockIdx.x} * finishing.queries_a_block;
  const auto count =
      static_cast<std::uint32_t>(min(std::uint64_t{finishing.queries_a_block}, finishing.queries - q0));
  const Key* const keys = finishing.keys.data + q0 * finishing.keys.stride;
  if (threadIdx.x < count) leaves[threadIdx.x] = width;
  __syncthreads();
  if (leaves_own) {
    for (std::uint32_t i = threadIdx.x; i < count * width; i += finish_threads) {
      const std::uint32_t q = i / width, j = i - q * width;
      const Key key = keys[q * finishing.keys.stride + j];
      const std::int64_t own = finishing.own + static_cast<std::int64_t>(q0 + q);
      if (!is_none(key) && place_of(finishing, key) == own) leaves[q] = j;
    }
    __syncthreads();
  }
  for (std::uint32_t i = threadIdx.x; i < count * k; i += finish_threads) {
    const std::uint32_t q = i / k, j = i - q * k, at = j + (leaves_own && leaves[q] <= j ? 1 : 0);
    const Key key = at < width ? keys[q * finishing.keys.stride + at] : no_key;
    std::int64_t number = -1;
    if (!is_none(key)) {
      number = place_of(finishing, key);
      if (finishing.named) number = finishing.named[number];
    }
    finishing.distance.data[(q0 + q) * finishing.distance.stride + j] = Finish<metric>::of(bound_value(key));
    finishing.numbers.data[(q0 + q) * finishing.numbers.stride + j] = number;
  }
}

}  // namespace

cudaError_t finish(const Queue& queue, const spi::FinishStep& step) {
  const std::uint32_t width = count_of(step.keys.cols), k = count_of(step.distance.cols),
                      at_once = std::max(1u, finish_threads / std::max(width, k));
  const Finishing finishing{input_of(step.keys),
                            matrix_of(step.distance),
                            matrix_of(step.rows),
                            matrix_of(step.places).data,
                            matrix_of(step.numbers).data,
                            step.own,
                            step.distance.rows,
                            width,
                            k,
                            at_once};
  const std::uint64_t blocks = divide_up<std::uint64_t>(step.distance.rows, at_once);
  switch (step.metric) {
#define KITH_METRIC(id, prepare, start, accumulate, finish) \
  case Metric::id:                                          \
    return launch(queue, finish_keys<Metric::id>, blocks, finish_threads, 0, finishing);
#include "kith/metrics.def"
#undef KITH_METRIC
    default:
      break;  // prepared metrics have no chain
  }
  return cudaErrorInvalidValue;
}

}  // namespace kith::cuda
