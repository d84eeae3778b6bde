// nearest, for few queries: distance and select in one step.
//
//   queries [q, dims]   train [t, dims]   blocks of 32 rows
//   out     [q, groups * k]   keys, ascending in each list, padded with no_key
//
// Block b folds batch b % batches of queries with the rows of group b / batches, 1024 of them a
// step, a thread 4 of them (rows.cuh), and offers the chains to a shortlist for each query. The
// groups of the plan fill the GPU; each reads its rows once, which is all there is to read.
// Work: q * t * dims folds; t * dims floats read once a batch, from the cache for the second and later
// ones; one barrier a step and k (1 + ln(t / (groups k))) keys kept a list, on data in random order.
// Shared memory: capacity * batch keys, and a batch of 16 queries of up to 256 dimensions. Source: see
// shortlist.cuh.
#include "rows.cuh"
#include "shortlist.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t staged_dims = 256;  // up to here queries stand in shared memory

/// Bytes of shared memory for the queries of a batch; 0 where they stay where they are.
__host__ __device__ constexpr std::size_t staged_bytes(int batch, std::uint32_t dims) {
  return batch >= 16 && dims <= staged_dims ? batch * dims * sizeof(float) : 0;
}

/// Copy queries query .. query + batch - 1 to shared memory, [dims, batch]. Needs a barrier.
template <int batch>
__device__ void stage_queries(float* staged, const Rows& queries, std::uint32_t query) {
  const float* from = row_at(queries, query);
  for (std::uint32_t i = threadIdx.x; i < batch * queries.dims; i += row_threads)
    staged[i] = from[i / batch * rows_a_block + i % batch];
}

template <Metric metric, int batch>
__global__ __launch_bounds__(row_threads, batch >= 16 ? 2 : 4) void nearest_of_rows(
    const Rows queries, const Rows train, const std::uint32_t shift, const std::uint32_t k,
    const std::uint32_t groups, const std::uint32_t batches, const std::uint32_t capacity,
    const Matrix<Key> out) {
  extern __shared__ __align__(16) Key buffers[];
  __shared__ ShortlistState<batch> state;
  Shortlist<batch> shortlist(state, buffers, capacity, k);
  const std::uint32_t query = (queries.first / batch + blockIdx.x % batches) * batch;
  const std::uint32_t group = blockIdx.x / batches;
  const auto is_query = [&](std::uint32_t q) {
    return query + q >= queries.first && query + q < queries.first + queries.rows;
  };
  auto* const staged = reinterpret_cast<float*>(buffers + batch * capacity);
  if (staged_bytes(batch, queries.dims) > 0) stage_queries<batch>(staged, queries, query);
  shortlist.start(is_query);

  const Columns columns = columns_of(group, groups, train.rows);
  const std::uint32_t begin = train.first + columns.begin, end = train.first + columns.end;
  bool seeded = false;
  for (std::uint32_t row0 = begin / rows_a_block * rows_a_block; row0 < end && begin < end;
       row0 += row_step) {
    const std::uint32_t r = first_of_four((row0 + threadIdx.x / 32 * warp_rows) / rows_a_block);
    const auto in_group = [&](int j) { return r + j >= begin && r + j < end; };
    float acc[batch][4];
    if (r < end && staged_bytes(batch, queries.dims) > 0) {
      staged_chains<metric>(acc, staged, row_at(train, r), queries.dims);
    } else if (r < end) {
      row_chains<metric>(acc, row_at(queries, query), row_at(train, r), queries.dims);
    }
    const auto key_at = [&](int q, int j) { return key_of(acc[q][j], r + j + shift); };
    const auto least_at = [&](int q) {
      std::uint32_t least = no_value;
#pragma unroll
      for (int j = 0; j < 4; ++j)
        if (in_group(j)) least = min(least, ordered_bits(acc[q][j]));
      return least;
    };
    if (!seeded) shortlist.seed(least_at);
    seeded = true;

    std::conditional_t<(batch * 4 > 32), std::uint64_t, std::uint32_t> pending = 0;
#pragma unroll
    for (int q = 0; q < batch; ++q) {
      const float limit = shortlist.value(q);
#pragma unroll
      for (int j = 0; j < 4; ++j)
        if (in_group(j) && acc[q][j] <= limit) pending |= static_cast<decltype(pending)>(1) << (q * 4 + j);
    }
    shortlist.template offer<4>(pending, key_at);
    // Several lists are sorted after 1, 2, 4, 8 ... steps: a better bound costs less than the keys that
    // it refuses.
    const std::uint32_t steps = (row0 - begin / rows_a_block * rows_a_block) / row_step + 1;
    if (batch > 1 && (steps & (steps - 1)) == 0 && end - row0 > row_step) shortlist.tighten();
  }

  shortlist.finish();
  for (std::uint32_t i = threadIdx.x; i < batch * k; i += row_threads) {
    const std::uint32_t q = i / k, j = i % k;
    if (is_query(q))
      out.data[(query + q - queries.first) * out.stride + static_cast<std::size_t>(group) * k + j] =
          shortlist.at(q, j);
  }
}

}  // namespace

cudaError_t nearest_rows(const Queue& queue, const Search& search) {
  const std::uint32_t shift = search.first_row - search.train.first;  // wraps around, and back
  const std::uint32_t capacity = search.k <= 64 ? 256 : 512;
  static_assert(nearest_max_k < 512);
  return with_chain(search.metric, [&](auto chain) {
    return with_query_batch(search.queries.rows, [&](auto size) {
      constexpr int batch = decltype(size)::value;
      const std::uint32_t batches = batches_of(search.queries, batch);
      return launch(queue, nearest_of_rows<decltype(chain)::value, batch>,
                    std::uint64_t{batches} * search.groups, row_threads,
                    batch * capacity * sizeof(Key) + staged_bytes(batch, search.queries.dims), search.queries,
                    search.train, shift, search.k, search.groups, batches, capacity, search.out);
    });
  });
}

}  // namespace kith::cuda
