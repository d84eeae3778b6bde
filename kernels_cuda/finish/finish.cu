// finish: keys as the caller sees them.
//
//   keys      [q, k or more]  row-major, stride in elements
//   distance  [q, k]          the value of the key by the last column of metrics.def
//   numbers   [q, k]          its row; -1 where there is none
//
// A thread a neighbour. The root is __fsqrt_rn, which is rounded correctly. Work: each key is read once. No
// barrier, no shared memory.
#include "common/common.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t threads = 256;

/// What metrics.def calls sqrt.
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
  std::uint64_t k, cells;
};

template <Metric metric>
__global__ __launch_bounds__(threads) void finish_keys(const Finishing finishing) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= finishing.cells) return;
  const std::uint64_t q = i / finishing.k, j = i % finishing.k;
  const Key key = finishing.keys.data[q * finishing.keys.stride + j];
  finishing.distance.data[q * finishing.distance.stride + j] = Finish<metric>::of(bound_value(key));
  finishing.numbers.data[q * finishing.numbers.stride + j] =
      key == no_key ? -1 : static_cast<std::int64_t>(static_cast<std::uint32_t>(key));
}

}  // namespace

cudaError_t finish(const Queue& queue, const spi::FinishStep& step) {
  const std::uint64_t k = step.distance.cols, cells = step.distance.rows * k;
  const Finishing finishing{input_of(step.keys), matrix_of(step.distance), matrix_of(step.rows), k, cells};
  const std::uint64_t blocks = divide_up<std::uint64_t>(cells, threads);
  switch (step.metric) {
#define KITH_METRIC(id, prepare, start, accumulate, finish) \
  case Metric::id:                                          \
    return launch(queue, finish_keys<Metric::id>, blocks, threads, 0, finishing);
#include "kith/metrics.def"
#undef KITH_METRIC
  }
  return cudaErrorInvalidValue;
}

}  // namespace kith::cuda
