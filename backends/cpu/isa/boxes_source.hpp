// Computes the chains of leaves and boxes; kernels_source.hpp includes this after the lanes of an instruction
// set: docs/boxes.md. The same restrictions hold as there.
#pragma once

#include "cpu/isa/kernels.hpp"
#include "cpu/steps/chain.hpp"

namespace kith::cpu::KITH_ISA {
namespace {

/// Computes both blocks of a leaf at once. `fixed_dims` is the number of dimensions if the compiler knows it,
/// else 0.
template <class Next, int fixed_dims>
[[gnu::always_inline]] inline std::uint32_t fold_leaf(std::size_t dims, float first, float most,
                                                      float* values, const Next& next) {
  if constexpr (fixed_dims > 0) dims = fixed_dims;
  Lanes low = all(first), high = all(first);
  for (std::size_t d = 0; d < dims; ++d) {
    low = next(low, d, std::size_t{0});
    high = next(high, d, train_block);
  }
  store(values, low);
  store(values + train_block, high);
  return bits(at_most(low, most)) | bits(at_most(high, most)) << train_block;
}

template <class Next>
[[gnu::always_inline]] inline std::uint32_t fold_leaf(std::size_t dims, float first, float most,
                                                      float* values, const Next& next) {
  if (dims == 2) return fold_leaf<Next, 2>(dims, first, most, values, next);
  if (dims == 3) return fold_leaf<Next, 3>(dims, first, most, values, next);
  return fold_leaf<Next, 0>(dims, first, most, values, next);
}

struct LeafOfRows {
  template <Metric metric, Terms kind>
  static std::uint32_t values(const Walker& of, const float* rows, float most, float* values) {
    const float *const query = of.query, *const terms = of.terms;
    return fold_leaf(of.dims, Chain<metric>::first, most, values,
                     [=](Lanes acc, std::size_t d, std::size_t lane) {
                       const Lanes a = all(query[d]), b = load(rows + d * leaf_rows + lane);
                       if constexpr (kind != Terms::differences)
                         return next_term<metric, kind>(acc, a, b, terms[d]);
                       return Chain<metric>::next(acc, a, b);
                     });
  }
};

/// Computes the chain of gaps, which is at most the chain of any row inside, or of far sides, which is at
/// least that: docs/boxes.md.
template <bool far_sides>
struct LeafOfBoxes {
  template <Metric metric, Terms kind>
  static std::uint32_t values(const Walker& of, const float* bounds, float most, float* values) {
    const float *const query = of.query, *const terms = of.terms,
                       *const largest = bounds + of.dims * leaf_rows;
    return fold_leaf(
        of.dims, Chain<metric>::first, most, values, [=](Lanes acc, std::size_t d, std::size_t lane) {
          const Lanes q = all(query[d]), none = all(0.0f);
          const Lanes low = load(bounds + d * leaf_rows + lane), high = load(largest + d * leaf_rows + lane);
          if constexpr (!far_sides && kind == Terms::differences)
            return Chain<metric>::next(acc, fmax(fmax(low - q, q - high), none), none);
          const Lanes far = fmax(q - low, high - q);
          if constexpr (kind == Terms::differences) return Chain<metric>::next(acc, far, none);
          const Lanes near = fmax(fmax(low - q, q - high), none);
          const Lanes bound =
              far_sides ? term_of<kind>(far, near, terms[d]) : term_of<kind>(near, far, terms[d]);
          return Chain<metric>::next(acc, bound, none);
        });
  }
};

std::uint32_t values_at_most(const float* values, float most) {
  return bits(at_most(load(values), most)) | bits(at_most(load(values + train_block), most)) << train_block;
}

/// Is a function of its own, so that the registers that its powers need are saved for no other terms.
template <Metric metric, class Leaf>
[[gnu::noinline]] std::uint32_t values_of_mixed(const Walker& of, const float* leaf, float most,
                                                float* values) {
  return Leaf::template values<metric, Terms::mixed>(of, leaf, most, values);
}

template <Metric metric, class Leaf>
std::uint32_t values_by(const Walker& of, const float* leaf, float most, float* values) {
  if constexpr (takes_mixed_terms(metric))
    if (of.mixed) return values_of_mixed<metric, Leaf>(of, leaf, most, values);
  if constexpr (takes_box(metric))
    if (of.terms) return Leaf::template values<metric, Terms::periodic>(of, leaf, most, values);
  return Leaf::template values<metric, Terms::differences>(of, leaf, most, values);
}

template <class Leaf>
std::uint32_t values_of(const Walker& of, const float* leaf, float most, float* values) {
  switch (of.metric) {
#define KITH_METRIC(id, prepare, start, accumulate, finish) \
  case Metric::id:                                          \
    return values_by<with_same_chain(Metric::id), Leaf>(of, leaf, most, values);
#include "kith/metrics.def"
#undef KITH_METRIC
    default:
      break;  // prepared metrics have no chain
  }
  return 0;
}

}  // namespace
}  // namespace kith::cpu::KITH_ISA
