// rerank, for exact products: computes the values of chains from products.
//
//   low [q, capacity]          the value that collect compared with the threshold
//   query_terms [4, q]         half_norm of the queries
//   candidates [q, capacity]   counts [q, 1] say how many are listed
//   out     [q, capacity]      keys, in the places of the candidates. Their values are 2 (low + half_norm)
//                              for squared distances, and `low` for inner products
//
// One thread handles one candidate at a time. Work: 16 bytes per candidate. No barrier, no shared memory.
// Source: docs/certificate.md, section 4.
#include "rerank/reranking.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t product_threads = 128;

/// Block b handles part b % across of the candidates of query b / across.
template <bool squared>
__global__ __launch_bounds__(product_threads) void rerank_by_products(const Reranking reranking,
                                                                      const Matrix<const float> low,
                                                                      const Matrix<const float> query_terms,
                                                                      const std::uint32_t across) {
  const Lists<const std::uint32_t>& lists = reranking.candidates;
  const std::size_t q = blockIdx.x / across;
  const std::uint32_t many = min(lists.counts.data[q * lists.counts.stride], lists.capacity);
  const float half_norm = squared ? query_terms.data[spi::half_norm * query_terms.stride + q] : 0.0f;
  for (std::size_t j = std::size_t{blockIdx.x % across} * product_threads + threadIdx.x; j < many;
       j += std::size_t{across} * product_threads) {
    const float place = low.data[q * low.stride + j];
    const float value = squared ? 2.0f * (place + half_norm) : place;
    reranking.out.data[q * reranking.out.stride + j] =
        key_of(value, lists.rows.data[q * lists.rows.stride + j]);
  }
}

}  // namespace

cudaError_t rerank_products(const Queue& queue, const spi::RerankStep& step) {
  const Reranking reranking = reranking_of(step);
  const Matrix<const float> low = input_of(step.products.low), terms = input_of(step.products.query_terms);
  auto* const kernel =
      step.metric == Metric::negative_dot ? rerank_by_products<false> : rerank_by_products<true>;
  constexpr std::uint32_t most_across = 32;
  const std::uint32_t across =
      std::clamp(divide_up(reranking.candidates.capacity, product_threads), 1u, most_across);
  return launch(queue, kernel, std::uint64_t{reranking.queries.rows} * across, product_threads, 0, reranking,
                low, terms, across);
}

}  // namespace kith::cuda
