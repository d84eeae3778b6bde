// Applies metrics.def to 16 training rows at once: fma, fabs, fmax, bits_apart and the operators are those of
// Lanes. Only kernels_*.cpp include this, after their lanes_*.hpp.
#pragma once

#include "cpu/isa/kernels.hpp"

namespace kith::cpu::KITH_ISA {
namespace {

/// The chain of one metric: Chain<metric>::first and Chain<metric>::next(acc, a, b).
template <Metric metric>
struct Chain;
#define KITH_METRIC(id, prepare, start, accumulate, finish)               \
  template <>                                                             \
  struct Chain<Metric::id> {                                              \
    static constexpr float first = start;                                 \
    static constexpr const char* text = #start ", " #accumulate;          \
    static Lanes next(Lanes acc, Lanes a, Lanes b) { return accumulate; } \
  };
#define KITH_PERIODIC(term)                                    \
  inline Lanes periodic(Lanes near, Lanes far, Lanes length) { \
    return term;                                               \
  }
#define KITH_CATEGORY(term)           \
  inline Lanes category(Lanes near) { \
    return term;                      \
  }
#define KITH_CANBERRA(code, term)           \
  inline Lanes canberra(Lanes a, Lanes b) { \
    return term;                            \
  }
#include "kith/metrics.def"
#undef KITH_CANBERRA
#undef KITH_CATEGORY
#undef KITH_PERIODIC
#undef KITH_METRIC

/// Returns a power of `near`. Tiles call it, since sixteen powers in each would make them large.
[[gnu::noinline]] Lanes power(Lanes near, int halves) {
  switch (halves) {
#include "kith/spi/power_cases.def"
  }
}

/// Returns the term of a column with the parameter p.
template <Terms kind>
[[gnu::always_inline]] inline Lanes term_of(Lanes near, Lanes far, float p) {
  if (kind == Terms::periodic || p > 0) return periodic(near, far, all(p));
  return p == 0 ? category(near) : power(near, static_cast<int>(-p));
}

/// Returns the term of a pair of values in a column with the parameter p.
template <Terms kind>
[[gnu::always_inline]] inline Lanes pair_term(Lanes a, Lanes b, float p) {
  if (kind == Terms::mixed && p == canberra_term) return canberra(a, b);
  const Lanes difference = fabs(a - b);
  return term_of<kind>(difference, difference, p);
}

/// Returns the chain after a row's value b of a column with the parameter p.
template <Metric metric, Terms kind>
[[gnu::always_inline]] inline Lanes next_term(Lanes acc, Lanes a, Lanes b, float p) {
  return Chain<metric>::next(acc, pair_term<kind>(a, b, p), all(0.0f));
}

constexpr bool same_text(const char* a, const char* b) {
  while (*a && *a == *b) ++a, ++b;
  return *a == *b;
}

/// Returns the first metric in the table with the same chain: l2 uses the code of squared_l2.
constexpr Metric with_same_chain(Metric metric) {
  constexpr struct {
    Metric metric;
    const char* text;
  } chains[] = {
#define KITH_METRIC(id, prepare, start, accumulate, finish) {Metric::id, Chain<Metric::id>::text},
#include "kith/metrics.def"
#undef KITH_METRIC
  };
  const char* text = nullptr;
  for (const auto& chain : chains)
    if (chain.metric == metric) text = chain.text;
  for (const auto& chain : chains)
    if (same_text(chain.text, text)) return chain.metric;
  return metric;
}

/// Memory to prefetch into the second-level cache, `step` bytes per dimension. An address behind the rows
/// does no harm.
struct Ahead {
  std::uintptr_t address;
  std::size_t step;
};

/// Computes the values of `queries` queries and `blocks` training blocks, one dimension at a time.
/// `fixed_dims` is the number of dimensions if the compiler knows it, else 0.
///   query  element (first query, dimension 0) of a block of 8
///   train  the first of the contiguous training blocks
///   ahead  what to prefetch
///   terms  parameters of the columns; not read if they are differences
template <Metric metric, int queries, int blocks, int fixed_dims, Terms kind>
[[gnu::always_inline]] inline void accumulate_tile(const float* query, const float* train, std::size_t dims,
                                                   Ahead ahead, const float* terms,
                                                   Lanes (&acc)[queries][blocks]) {
  if constexpr (fixed_dims > 0) dims = fixed_dims;
#pragma GCC unroll 8
  for (int q = 0; q < queries; ++q)
#pragma GCC unroll 4
    for (int b = 0; b < blocks; ++b) acc[q][b] = all(Chain<metric>::first);
  for (std::size_t d = 0; d < dims; ++d) {
    if constexpr (queries > 1 && fixed_dims == 0)
      __builtin_prefetch(reinterpret_cast<const void*>(ahead.address + d * ahead.step), 0, 2);
    Lanes rows[blocks];
#pragma GCC unroll 4
    for (int b = 0; b < blocks; ++b)
      rows[b] = load(train + (static_cast<std::size_t>(b) * dims + d) * train_block);
#pragma GCC unroll 8
    for (int q = 0; q < queries; ++q) {
      const Lanes value = all(query[d * query_block + static_cast<std::size_t>(q)]);
#pragma GCC unroll 4
      for (int b = 0; b < blocks; ++b)
        if constexpr (kind != Terms::differences)
          acc[q][b] = next_term<metric, kind>(acc[q][b], value, rows[b], terms[d]);
        else
          acc[q][b] = Chain<metric>::next(acc[q][b], value, rows[b]);
    }
  }
}

}  // namespace
}  // namespace kith::cpu::KITH_ISA
