// nearest, for few queries: computes distances and selects in one step.
//
//   queries [q, dims]   train [t, dims]   blocks of 32 rows
//   out     [q, lists * k]   keys, ascending in each list, padded with no_key
//
// Block b computes the distances of query batch b % batches from the rows of list b / batches. In each step
// a thread takes several rows (rows.cuh), and offers the chains to a shortlist for each query. The plan
// chooses as many lists as fill the GPU; each reads its rows once, and nothing else is read. A block has one
// of three shapes. If a list has few rows, the slowest access and the slowest block would determine the
// time. A single query then gets large blocks, whose threads read all their rows at once, and a batch of 16
// gets enough threads, with two rows each, to finish in one step.
// Work: q * t * dims multiply-adds; each batch reads t * dims floats, from the cache except for the
// first; one barrier per step; of rows in random order, each list keeps k (1 + ln(t / (lists k))) keys.
// Shared memory: capacity * batch keys, and a batch of 16 queries if they have up to 256 dimensions.
// Source: see shortlist.cuh.
#include "nearest/row_shapes.cuh"

namespace kith::cuda {
namespace {

template <Metric metric, class S>
__global__ __launch_bounds__(S::most_threads, S::blocks) void nearest_of_rows(
    const Rows queries, const Rows train, const std::uint32_t shift, const std::uint32_t k,
    const std::uint32_t lists, const std::uint32_t batches, const std::uint32_t capacity,
    const Matrix<Key> out) {
  constexpr int batch = S::batch, each = S::each;
  extern __shared__ __align__(16) Key buffers[];
  __shared__ ShortlistState<batch> state;
  take_turn();
  Shortlist<batch> shortlist(state, buffers, capacity, k);
  const std::uint32_t query = (queries.first / batch + blockIdx.x % batches) * batch;
  const std::uint32_t list = blockIdx.x / batches;
  const auto is_query = [&](std::uint32_t q) {
    return query + q >= queries.first && query + q < queries.first + queries.rows;
  };
  auto* const staged = reinterpret_cast<float*>(buffers + batch * capacity);
  if (staged_bytes(batch, queries.dims) > 0) stage_queries<batch>(staged, queries, query);
  shortlist.start(is_query);

  const Columns columns = columns_of(list, lists, train.rows);
  const std::uint32_t begin = train.first + columns.begin, end = train.first + columns.end;
  const std::uint32_t first = begin / S::width * S::width, step = blockDim.x * each;
  bool seeded = false;
  for (std::uint32_t row0 = first; row0 < end && begin < end; row0 += step) {
    const std::uint32_t r = row0 + threadIdx.x * S::width;
    const auto row_of = [&](int j) {
      return r + static_cast<std::uint32_t>(j / S::width) * blockDim.x * S::width + j % S::width;
    };
    const auto in_list = [&](int j) { return row_of(j) >= begin && row_of(j) < end; };
    float acc[batch][each];
    if (r < end) {
      const float* row[S::pieces];
      place_pieces<S>(row, train, r, end);
      shape_chains<metric, S>(acc, queries, query, staged, row);
    }
    const auto key_at = [&](int q, int j) { return key_of(acc[q][j], row_of(j) + shift); };
    const auto least_at = [&](int q) {
      std::uint32_t least = no_value;
#pragma unroll
      for (int j = 0; j < each; ++j)
        if (in_list(j)) least = min(least, ordered_bits(acc[q][j]));
      return least;
    };
    if (!seeded) shortlist.seed(least_at);
    seeded = true;

    std::conditional_t<(batch * each > 32), std::uint64_t, std::uint32_t> pending = 0;
#pragma unroll
    for (int q = 0; q < batch; ++q) {
      const float limit = shortlist.value(q);
#pragma unroll
      for (int j = 0; j < each; ++j)
        if (in_list(j) && acc[q][j] <= limit) pending |= static_cast<decltype(pending)>(1) << (q * each + j);
    }
    shortlist.template offer<each>(pending, key_at);
    // Several lists are sorted after 1, 2, 4, 8 ... steps: a better bound costs less time than the keys that
    // it refuses.
    const std::uint32_t steps = (row0 - first) / step + 1;
    if (batch > 1 && (steps & (steps - 1)) == 0 && end - row0 > step) shortlist.tighten();
  }

  shortlist.deliver([&](std::uint32_t q, std::uint32_t j, Key key) {
    if (is_query(q))
      out.data[(query + q - queries.first) * out.stride + static_cast<std::size_t>(list) * k + j] = key;
  });
}

template <class S>
cudaError_t nearest_by(const Queue& queue, const spi::NearestStep& step, std::uint32_t threads) {
  const std::uint32_t shift = step.first_row - step.train.first;  // wraps around, and back when it is added
  const Rows queries = rows_of(step.queries);
  const std::uint32_t batches = batches_of(queries, S::batch);
  return with_chain(step.metric, [&](auto chain) {
    return launch_in_turn(queue, nearest_of_rows<decltype(chain)::value, S>,
                          std::uint64_t{batches} * step.lists, threads, shared_bytes<S>(step), queries,
                          rows_of(step.train), shift, step.k, step.lists, batches, capacity_for(step),
                          matrix_of(step.out));
  });
}

}  // namespace

cudaError_t nearest_rows(const Queue& queue, const spi::NearestStep& step) {
  const std::uint32_t rows = divide_up(step.train.rows, step.lists);  // rows of a list
  return with_query_batch(step.queries.rows, [&](auto size) {
    constexpr int batch = decltype(size)::value;
    if constexpr (batch == Wide::batch) {
      const bool alone = step.lists <= queue.multiprocessors;  // each block has a multiprocessor to itself
      if (alone && rows > Wide::most_threads) return nearest_by<Wide>(queue, step, Wide::most_threads);
    }
    if constexpr (batch == Short::batch) {
      // Devices of compute capability 7.5 have 64 KiB, which is too little for 16 long lists.
      const std::size_t needed = shared_bytes<Plain<batch>>(step) + sizeof(ShortlistState<batch>);
      if (needed > queue.shared_bytes) return nearest_by<Plain<4>>(queue, step, row_threads);
      const std::uint32_t threads = threads_for<Short>(rows);
      if (rows < Short::most_threads * Short::width) return nearest_by<Short>(queue, step, threads);
    }
    return nearest_by<Plain<batch>>(queue, step, row_threads);
  });
}

}  // namespace kith::cuda
