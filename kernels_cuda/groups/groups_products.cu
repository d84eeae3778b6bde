// groups, by products: finds the k nearest rows of each query in its group, for squared distances over many
// columns.
//
//   queries [q, dims]   train [t, dims]   blocks of 32 rows
//   query_borders, row_borders [groups + 1]
//   out [q, k]   keys, ascending, padded with no_key
//
// A block takes 32 neighbouring queries, those of one group at a time, and 1024 rows of the group at a time.
// Tensor cores compute near distances of all pairs, whose codes stay in shared memory. Then a warp takes a
// query. The k-th smallest of the least codes of parts, found by halving, bounds that of the k-th neighbour;
// from it follows a limit that no neighbour is beyond (docs/certificate.md, section 8). The rows within it,
// mostly 2 to 6 more than k, are ranked by their chains. Rows are multiplied as quantize_groups() made them;
// a lane loads 8 of their columns at once, and columns are multiplied in the order that follows from it.
// Shared memory: 83 or 99 KiB, and 192 bytes a column.
// Source: docs/certificate.md; minima of parts as a bound after Alabi and others, Fast k-selection
// algorithms for graphics processing units, 2012; the sorting network of Batcher, Sorting networks and their
// applications, 1968.
// No twin in kernels_cl: OpenCL computes the chains of all rows of a group.
#include "groups/groups_ranking.cuh"
#include "kith/spi/product_error.hpp"

namespace kith::cuda {
namespace {

constexpr int query_tiles = 2;  // of 16 queries
constexpr std::uint32_t queries_a_block = 16 * query_tiles, warps_a_block = 4 * query_tiles;
constexpr std::uint32_t most_columns = 2048;  // for which norm_above() is above; shared memory ends before

/// A warp finds the group of query q of the step, by 32 borders at a time.
__device__ __forceinline__ std::uint32_t group_of_warp(const Groups& step, std::uint32_t q) {
  const std::uint32_t number = step.first_query + q;
  std::uint32_t group = 0, count = step.groups;  // the group is one of group ... group + count - 1
  while (count > 1) {
    const std::uint32_t a_part = divide_up(count, 32u), mine = group + threadIdx.x % 32 * a_part;
    const bool reached = mine < group + count && __ldg(step.query_borders + mine) <= number;
    const std::uint32_t parts = __popc(__ballot_sync(all_lanes, reached));
    const std::uint32_t end = group + count;
    group += (parts - 1) * a_part;
    count = min(a_part, end - group);
  }
  return group;
}

/// A block takes 16 `tiles` queries.
template <int keys, int tiles, int copies>
__global__ __launch_bounds__(128 * tiles) void nearest_by_products(const Groups step,
                                                                   const QuantizedGroups rows,
                                                                   const ProductErrors errors) {
  constexpr std::uint32_t queries = 16 * tiles, threads = 128 * tiles, warps = threads / 32;
  extern __shared__ __align__(16) unsigned char memory[];
  take_turn();
  const Staged staged(memory, queries, rows.columns, step.queries.dims, warps * copies);
  const std::uint32_t warp = threadIdx.x / 32;
  const std::uint32_t first = blockIdx.x * queries, end = min(first + queries, step.queries.rows);
  for (std::uint32_t q0 = first; q0 < end;) {
    const std::uint32_t group = group_of_warp(step, q0);
    const std::uint32_t count = min(end, __ldg(step.query_borders + group + 1) - step.first_query) - q0;
    const Range range(step, group);
    const GroupTerms terms = rows.terms[group];
    const Limits limits(terms, errors);
    __syncthreads();
    stage_queries<queries, threads>(step, rows, terms, errors, group, q0, count, staged);
    ChunkOfGroup chunk{range.begin, 0, range.begin - step.train.first};
    do {
      chunk.rows = min(range.end - chunk.first, chunk_rows);
      __syncthreads();
      write_codes<tiles, warps>(rows, chunk, staged);
      __syncthreads();
      for (std::uint32_t q = warp; q < count; q += warps)
        rank_rows<keys, copies>(step, rows, range, chunk, limits, terms.wild, staged, q, q0 + q,
                                staged.copied + warp * copies);
      chunk.first += chunk.rows;
      chunk.place += chunk.rows;
    } while (chunk.first < range.end);
    q0 += count;
  }
}

/// Where the parts of the scratch memory begin, in bytes.
struct ScratchParts {
  std::size_t rows, halves, squares, residuals, centres, terms, end;
  ScratchParts(std::uint32_t count, std::uint32_t groups, std::uint32_t dims) {
    const std::size_t n = count, columns = divide_up(dims, piece_of_halves) * piece_of_halves;
    const auto after = [](std::size_t begin, std::size_t bytes) { return begin + (bytes + 15) / 16 * 16; };
    rows = 0;
    halves = after(rows, n * QuantizedGroups::float_columns(dims) * sizeof(float));
    squares = after(halves, n * columns * sizeof(__half));
    residuals = after(squares, n * sizeof(float));
    centres = after(residuals, n * sizeof(float));
    terms = after(centres, groups * columns * sizeof(float));
    end = after(terms, groups * sizeof(GroupTerms));
  }
};

ProductErrors errors_of(std::uint32_t dims, std::uint32_t columns) {
  const double g = spi::chain_error(dims);
  // Products add up in groups of eight; sums of squares, and the near distance, are rounded.
  const double product = (12.0 * (columns / 8) * (1 + 0x1p-10) + columns + 8) * 0x1p-24;
  return {spi::float_above(product), spi::float_above(1 + g), spi::float_above(1 / (1 - g)),
          spi::float_above(2 * spi::chain_underflow(dims))};
}

template <int keys, int copies>
cudaError_t products_by(const Queue& queue, const Groups& step, const QuantizedGroups& rows) {
  const std::size_t shared =
      Staged::bytes(queries_a_block, rows.columns, step.queries.dims, warps_a_block * copies);
  return launch_in_turn(queue, nearest_by_products<keys, query_tiles, copies>,
                        divide_up(step.queries.rows, queries_a_block), warps_a_block * 32, shared, step, rows,
                        errors_of(step.queries.dims, rows.columns));
}

template <int keys>
cudaError_t products_by(const Queue& queue, const Groups& step, const QuantizedGroups& rows) {
  // Two blocks that wait for what they copy are better than one that does not.
  constexpr std::size_t of_block = 1024;
  const std::size_t half = (queue.shared_bytes + of_block) / 2 - of_block;
  const auto bytes = [&](std::uint32_t copies) {
    return Staged::bytes(queries_a_block, rows.columns, step.queries.dims, warps_a_block * copies);
  };
  const bool one = bytes(2) > queue.shared_bytes || (bytes(2) > half && bytes(1) <= half);
  return one ? products_by<keys, 1>(queue, step, rows) : products_by<keys, 2>(queue, step, rows);
}

}  // namespace

QuantizedGroups quantized_groups(const Groups& step, void* scratch) {
  const ScratchParts parts(step.train.rows, step.groups, step.train.dims);
  auto* const bytes = static_cast<unsigned char*>(scratch);
  return {divide_up(step.train.dims, piece_of_halves) * piece_of_halves,
          reinterpret_cast<__half*>(bytes + parts.halves),
          reinterpret_cast<float*>(bytes + parts.rows),
          reinterpret_cast<float*>(bytes + parts.squares),
          reinterpret_cast<float*>(bytes + parts.residuals),
          reinterpret_cast<float*>(bytes + parts.centres),
          reinterpret_cast<GroupTerms*>(bytes + parts.terms)};
}

bool products_fit(const Queue& queue, const spi::GroupsStep& step) {
  constexpr std::uint32_t first_capability = 80;  // multiplies halves, and reduces over a warp
  const std::uint32_t columns = divide_up(step.train.dims, piece_of_halves) * piece_of_halves;
  return queue.capability >= first_capability && sums_squares(step.metric) && step.k <= groups_max_k &&
         step.train.dims <= most_columns &&
         Staged::bytes(queries_a_block, columns, step.train.dims, warps_a_block) <= queue.shared_bytes;
}

std::size_t scratch_of_products(std::uint32_t rows, std::uint32_t groups, std::uint32_t dims) {
  return ScratchParts(rows, groups, dims).end;
}

cudaError_t search_groups_by_products(const Queue& queue, const Groups& step, void* scratch) {
  const QuantizedGroups rows = quantized_groups(step, scratch);
  const cudaError_t error = quantize_groups(queue, step, rows);
  if (error != cudaSuccess) return error;
  return step.k <= 32 ? products_by<32>(queue, step, rows) : products_by<64>(queue, step, rows);
}

}  // namespace kith::cuda
