// The inner loops, which are compiled for each instruction set. A file kernels_X.cpp defines KITH_ISA,
// includes its lanes_X.hpp, and then this file.
//
// A tile is up to 8 queries by up to 4 training blocks of 16 rows. A lane is a training row, so each pair has
// its own chain over dimensions 0, 1, ..., dims-1, in one register all the time. Training rows are read in
// slabs, which stay in the second-level cache while all queries of the task scan them.
//
// Functions of the standard library and inline functions of other headers may not be used here:
// see kernels.hpp.
#pragma once

#include "cpu/isa/boxes_source.hpp"
#include "cpu/isa/doubles_source.hpp"
#include "cpu/isa/kernels.hpp"
#include "cpu/isa/keys_source.hpp"
#include "cpu/isa/sinks_source.hpp"
#include "cpu/isa/sums_source.hpp"
#include "cpu/steps/chain.hpp"
#include "cpu/steps/class_sums.hpp"
#include "cpu/steps/propose/candidates.hpp"
#include "cpu/steps/propose/propose.hpp"
#include "cpu/steps/propose/row_bounds.hpp"
#include "cpu/steps/propose/row_bytes.hpp"

namespace kith::cpu::KITH_ISA {
namespace {

/// The size of a slab of training rows, which stays in the second-level cache together with the queries of a
/// task. Sizes from 256 to 1024 KiB were equally fast with a cache of 2 MiB; other caches have 512 KiB.
constexpr std::size_t slab_bytes = std::size_t{1} << 18;

/// Returns how many training blocks a tile of `queries` queries has.
constexpr int blocks_beside(int queries) {
  return most_accumulators / queries < 4 ? most_accumulators / queries : 4;
}

/// Returns what a tile of `blocks` blocks from `rows` on should prefetch: its share of the blocks at the same
/// place of the next slab.
inline Ahead ahead_of(const Pass& pass, const float* rows, std::size_t blocks) {
  if (pass.shares == 1) return {reinterpret_cast<std::uintptr_t>(rows), 0};  // one pass cannot prefetch it
  const std::size_t line = train_block * sizeof(float), step = blocks * line / pass.shares;
  const std::size_t offset = (pass.ahead_blocks * line + pass.share * step) * pass.operands.dims;
  return {reinterpret_cast<std::uintptr_t>(rows) + offset, step};
}

template <Metric metric, int queries, int fixed_dims, class Sink>
void run_pass(const Pass& pass, Sink& sink) {
  constexpr int blocks = blocks_beside(queries);
  const std::size_t dims = fixed_dims > 0 ? fixed_dims : pass.operands.dims;
  const std::size_t block_floats = dims * train_block;
  const float* const train = pass.operands.train;
  std::size_t block = pass.block;
  for (; block + blocks <= pass.end_block; block += blocks) {
    Lanes acc[queries][blocks];
    const float* const rows = train + block * block_floats;
    accumulate_tile<metric, queries, blocks, fixed_dims, Sink::terms>(
        pass.query, rows, dims, ahead_of(pass, rows, blocks), pass.operands.terms, acc);
    sink.take(pass, block, acc);
  }
  for (; block < pass.end_block; ++block) {
    Lanes acc[queries][1];
    const float* const rows = train + block * block_floats;
    accumulate_tile<metric, queries, 1, 0, Sink::terms>(pass.query, rows, dims, ahead_of(pass, rows, 1),
                                                        pass.operands.terms, acc);
    sink.take(pass, block, acc);
  }
}

template <class Sink>
using RunPass = void (*)(const Pass&, Sink&);

template <Metric metric, int queries, class Sink>
RunPass<Sink> pass_for(std::size_t dims) {
  if constexpr (most_fixed_dims >= 4 && !Sink::bound_by_memory) {
    if (dims == 1) return run_pass<metric, queries, 1, Sink>;
    if (dims == 2) return run_pass<metric, queries, 2, Sink>;
    if (dims == 3) return run_pass<metric, queries, 3, Sink>;
    if (dims == 4) return run_pass<metric, queries, 4, Sink>;
  }
  return run_pass<metric, queries, 0, Sink>;
}

template <Metric metric, class Sink>
RunPass<Sink> pass_for(std::size_t queries, std::size_t dims) {
  if constexpr ((Sink::terms == Terms::periodic && !takes_box(metric)) ||
                (Sink::terms == Terms::mixed && !takes_mixed_terms(metric)))
    return nullptr;
  else
    return queries == 1 ? pass_for<metric, 1, Sink>(dims) : pass_for<metric, most_queries, Sink>(dims);
}

template <class Sink>
RunPass<Sink> pass_for(Metric metric, std::size_t queries, std::size_t dims) {
  if constexpr (Sink::of_products) return pass_for<Metric::negative_dot, Sink>(queries, dims);
  switch (metric) {
#define KITH_METRIC(id, prepare, start, accumulate, finish) \
  case Metric::id:                                          \
    return pass_for<with_same_chain(Metric::id), Sink>(queries, dims);
#include "kith/metrics.def"
#undef KITH_METRIC
    default:
      break;  // prepared metrics have no chain
  }
  return nullptr;
}

/// Scans training blocks first .. end - 1 with all queries of one block.
template <class Sink>
void run_block(const Operands& o, std::size_t group, std::size_t first, std::size_t end, std::size_t ahead,
               Sink& sink) {
  const std::size_t base = group * query_block, first_group = o.query_begin / query_block;
  const std::size_t groups = (o.query_end + query_block - 1) / query_block - first_group;
  std::size_t lane = o.query_begin > base ? o.query_begin - base : 0;
  const std::size_t lanes_end = o.query_end - base < query_block ? o.query_end - base : query_block;
  while (lane < lanes_end) {
    // A tile that is not full includes earlier queries, or padding; this costs no time, because memory limits
    // the speed then.
    const std::size_t width = lanes_end - lane == 1 ? 1 : most_queries;
    const std::size_t from = lane + width <= query_block ? lane : query_block - width;
    const std::size_t until = from + width < lanes_end ? from + width : lanes_end;
    const Pass pass{o,
                    o.queries + base * o.dims + from,
                    base + from,
                    lane - from,
                    until - from,
                    first,
                    end,
                    ahead,
                    group - first_group,
                    groups};
    pass_for<Sink>(o.metric, width, o.dims)(pass, sink);
    lane = until;
  }
}

/// Handles every pair of the task; each query gets its training rows in ascending order.
template <class Sink>
void sweep(const Operands& o, Sink& sink) {
  const std::size_t first_group = o.query_begin / query_block;
  const std::size_t end_group = (o.query_end + query_block - 1) / query_block;
  const std::size_t end_block = (o.train_end + train_block - 1) / train_block;
  const std::size_t fitting = slab_bytes / (o.dims * train_block * sizeof(float)) / 4 * 4;
  const std::size_t slab = fitting < 4 ? 4 : fitting;
  for (std::size_t first = o.train_begin / train_block; first < end_block; first += slab) {
    const std::size_t end = end_block - first < slab ? end_block : first + slab;
    for (std::size_t group = first_group; group < end_group; ++group)
      run_block(o, group, first, end, end < end_block ? slab : 0, sink);
  }
}

void distance(const Operands& operands, float* out, std::size_t stride) {
  if (is_of_sums(operands.metric)) return distance_of_sums(operands, out, stride);
  if (operands.mixed) {
    ToMatrixOfTerms<Terms::mixed> sink{{out, stride}};
    return sweep(operands, sink);
  }
  if (operands.terms) {
    ToMatrixOfTerms<Terms::periodic> sink{{out, stride}};
    return sweep(operands, sink);
  }
  ToMatrix sink{out, stride};
  sweep(operands, sink);
}

void nearest(const Operands& operands, std::uint32_t row_offset, Shortlists& lists) {
  ToLists sink{lists, row_offset};
  sweep(operands, sink);
}

void propose(const Products& p) {
  const Operands operands{Metric::negative_dot,
                          static_cast<const float*>(p.queries),
                          static_cast<const float*>(p.train),
                          p.dims,
                          p.query_begin,
                          p.query_end,
                          p.train_begin,
                          p.train_end};
  ToCandidates sink{p};
  sweep(operands, sink);
}

void filter(const float* values, std::size_t count, std::uint32_t first_row, Shortlists& lists,
            std::size_t list) {
  const float& threshold = lists.thresholds[list];
  for (std::size_t t = 0; t < count; t += train_block) {
    const Sixteen block = sixteen_of(values + t, count - t);
    std::uint32_t passed = bits(passes(block.values, threshold)) & block.lanes;
    if (__builtin_expect(!passed, 1)) continue;
    passed &= bits(at_most(block.values, __builtin_inff()));  // a masked value, NaN, passes every threshold
    if (!passed) continue;
    alignas(64) float sixteen[train_block];
    store(sixteen, block.values);
    append(lists, list, sixteen, passed, first_row + static_cast<std::uint32_t>(t));
  }
}

constexpr Kernels table = {distance,
                           nearest,
                           filter,
                           collect,
                           rerank,
                           bound_rows,
                           rows_to_bytes,
                           propose,
                           accumulate,
                           values_of<LeafOfRows>,
                           values_of<LeafOfBoxes<false>>,
                           values_of<LeafOfBoxes<true>>,
                           values_at_most,
                           double_chains,
                           shared_double_chains,
                           sort_few};

}  // namespace
}  // namespace kith::cpu::KITH_ISA
