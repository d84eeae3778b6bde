// Computes metrics of two sums. A lane is a training row; a tile is a few queries by one block of 16 rows,
// whose sums stay in registers. The rows of a block stay in the first-level cache while all queries of the
// task read them.
#pragma once

#include <bit>

#include "cpu/isa/kernels.hpp"
#include "cpu/steps/chain.hpp"
#include "kith/spi.hpp"

namespace kith::cpu::KITH_ISA {
namespace {

/// The queries of a tile.
constexpr int sums_queries = most_queries >= 8 ? 4 : most_queries >= 4 ? 2 : 1;

// metrics.def calls these.
inline Lanes ones_apart(Lanes a, Lanes b) {
  return bits_apart(a, b);
}
inline float share(float p, float q) {
  return p == 0 ? 0 : q == 0 || p == __builtin_inff() ? __builtin_inff() : p / q;
}
inline float share_code(float p, float q) {
  // A quotient that is not whole is 2^-16 or more away from whole ones, which rounding does not cross.
  const double code = static_cast<double>(p) * 0x7F7FFFFE / static_cast<double>(p == 0 ? 1 : q);
  return std::bit_cast<float>(0xFF7FFFFFu - static_cast<std::uint32_t>(static_cast<std::int32_t>(code)));
}
inline float rescaled(float x, float n, float y) {
  const auto quotient =
      static_cast<float>(static_cast<double>(x) * static_cast<double>(n) / static_cast<double>(y));
  return y == 0 ? std::bit_cast<float>(spi::masked_bits) : quotient;
}

/// The two sums of a metric after a column, and their quotient.
template <Metric metric>
struct Sums;
#define KITH_METRIC(...)
#define KITH_SUMS(id, rows, first, second, key, floats, shown)                                            \
  template <>                                                                                             \
  struct Sums<Metric::id> {                                                                               \
    static Lanes next_first(Lanes acc, Lanes a, Lanes b) { return first; }                                \
    static Lanes next_second(Lanes acc, Lanes a, Lanes b) { return second; }                              \
    static float quotient([[maybe_unused]] float x, [[maybe_unused]] float y, [[maybe_unused]] float n) { \
      return key;                                                                                         \
    }                                                                                                     \
  };
#include "kith/metrics.def"
#undef KITH_SUMS
#undef KITH_METRIC

/// Writes the raw values of 16 pairs. Tiles call it, since its divisions in each would make them large.
template <Metric metric>
[[gnu::noinline]] void quotients_of(const float (&x)[train_block], const float (&y)[train_block], float n,
                                    bool codes, float (&values)[train_block]) {
  if (codes)
    for (std::size_t t = 0; t < train_block; ++t) values[t] = share_code(y[t], x[t] + y[t]);
  else
    for (std::size_t t = 0; t < train_block; ++t) values[t] = Sums<metric>::quotient(x[t], y[t], n);
}

/// Writes the quotients of `queries` neighbouring queries and a training block.
///   kind   differences, or mixed: sums are then of terms, which take the place of the query's values
///   query  element (first query, dimension 0) of a block of query_block
///   train  the block
template <Metric metric, int queries, Terms kind>
[[gnu::always_inline]] inline void tile_of_sums(const Operands& o, const float* query, const float* train,
                                                float (&values)[queries][train_block]) {
  Lanes firsts[queries], seconds[queries];
#pragma GCC unroll 4
  for (int q = 0; q < queries; ++q) firsts[q] = seconds[q] = all(0);
  for (std::size_t d = 0; d < o.dims; ++d) {
    const Lanes rows = load(train + d * train_block);
#pragma GCC unroll 4
    for (int q = 0; q < queries; ++q) {
      const Lanes value = all(query[d * query_block + static_cast<std::size_t>(q)]);
      Lanes a = value, b = rows;
      if constexpr (kind == Terms::mixed) a = pair_term<kind>(value, rows, o.terms[d]), b = all(0);
      firsts[q] = Sums<metric>::next_first(firsts[q], a, b);
      seconds[q] = Sums<metric>::next_second(seconds[q], a, b);
    }
  }
  const auto n = static_cast<float>(o.summed);
#pragma GCC unroll 4
  for (int q = 0; q < queries; ++q) {
    alignas(64) float x[train_block], y[train_block];
    store(x, firsts[q]);
    store(y, seconds[q]);
    quotients_of<metric>(x, y, n, has_codes(metric, o.summed), values[q]);
  }
}

/// Handles `queries` neighbouring queries, from `query` on, and the rows of a training block that count.
template <Metric metric, int queries, Terms kind>
void run_sums(const Operands& o, std::size_t query, std::size_t block, float* out, std::size_t stride) {
  alignas(64) float values[queries][train_block];
  tile_of_sums<metric, queries, kind>(
      o, o.queries + query / query_block * query_block * o.dims + query % query_block,
      o.train + block * train_block * o.dims, values);
  const std::size_t first = block * train_block;
  for (std::size_t q = 0; q < queries; ++q) {
    float* const row = out + (query + q - o.query_begin) * stride;
    for (std::size_t t = 0; t < train_block; ++t)
      if (first + t >= o.train_begin && first + t < o.train_end)
        row[first + t - o.train_begin] = values[q][t];
  }
}

template <Metric metric, Terms kind>
void sweep_sums(const Operands& o, float* out, std::size_t stride) {
  const std::size_t end_block = (o.train_end + train_block - 1) / train_block;
  for (std::size_t block = o.train_begin / train_block; block < end_block; ++block)
    for (std::size_t q = o.query_begin; q < o.query_end;) {
      const bool whole = q % query_block + sums_queries <= query_block && q + sums_queries <= o.query_end;
      (whole ? run_sums<metric, sums_queries, kind> : run_sums<metric, 1, kind>)(o, q, block, out, stride);
      q += whole ? sums_queries : 1;
    }
}

template <Metric metric>
void sums_of(const Operands& o, float* out, std::size_t stride) {
  if constexpr (takes_mixed_terms(metric))
    if (o.mixed) return sweep_sums<metric, Terms::mixed>(o, out, stride);
  sweep_sums<metric, Terms::differences>(o, out, stride);
}

/// Is Kernels::distance for metrics of two sums.
void distance_of_sums(const Operands& operands, float* out, std::size_t stride) {
  switch (operands.metric) {
#define KITH_METRIC(...)
#define KITH_SUMS(id, ...) \
  case Metric::id:         \
    return sums_of<Metric::id>(operands, out, stride);
#include "kith/metrics.def"
#undef KITH_SUMS
#undef KITH_METRIC
    default:
      return;  // the others have chains
  }
}

}  // namespace
}  // namespace kith::cpu::KITH_ISA
