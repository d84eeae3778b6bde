// The inner loops of collect and rerank. Only kernels_source.hpp includes this.
#pragma once

#include "cpu/isa/kernels.hpp"
#include "cpu/steps/chain.hpp"

namespace kith::cpu::KITH_ISA {
namespace {

/// The values of 16 rows, or of those that are left, and a mask of these.
struct Sixteen {
  Lanes values;
  std::uint32_t lanes;
};

inline Sixteen sixteen_of(const float* values, std::size_t left) {
  if (left >= train_block) return {load(values), 0xFFFFu};
  alignas(64) float padded[train_block] = {};
  __builtin_memcpy(padded, values, left * sizeof(float));
  return {load(padded), 0xFFFFu >> (train_block - left)};
}

std::size_t collect(const float* values, std::size_t count, float threshold, std::uint32_t first_row,
                    std::uint32_t* kept) {
  std::size_t found = 0;
  for (std::size_t t = 0; t < count; t += train_block) {
    const Sixteen block = sixteen_of(values + t, count - t);
    std::uint32_t passed = bits(at_most(block.values, threshold)) & block.lanes;
    const std::uint32_t row = first_row + static_cast<std::uint32_t>(t);
    if (passed == 0xFFFFu) {  // the threshold may be +infinity; then all of them pass
      for (std::uint32_t lane = 0; lane < train_block; ++lane) kept[found + lane] = row + lane;
      found += train_block;
      continue;
    }
    for (; passed; passed &= passed - 1)
      kept[found++] = row + static_cast<std::uint32_t>(__builtin_ctz(passed));
  }
  return found;
}

/// The block that contains a candidate, and its lane.
struct Place {
  const float* block;
  std::size_t lane;
};

/// Returns the place of candidate j, or of the last one if there are fewer.
inline Place place_of(const Candidates& c, std::size_t j) {
  const std::uint32_t row = c.rows[j < c.count ? j : c.count - 1] + c.row_offset;
  return {c.train + row / train_block * (c.dims * train_block), row % train_block};
}

/// Computes the chains of all rows in the block of each candidate, of which one is used: the same cache lines
/// are read, and no values have to be gathered.
template <Metric metric, int width>
void rerank_blocks(const Candidates& c, float* values) {
  for (std::size_t j = 0; j < c.count; j += width) {
    Place places[width];
    Lanes acc[width];
#pragma GCC unroll 8
    for (int i = 0; i < width; ++i) {
      places[i] = place_of(c, j + static_cast<std::size_t>(i));
      acc[i] = all(Chain<metric>::first);
    }
    for (std::size_t d = 0; d < c.dims; ++d) {
      const Lanes value = all(c.query[d * query_block]);
#pragma GCC unroll 8
      for (int i = 0; i < width; ++i)
        acc[i] = Chain<metric>::next(acc[i], value, load(places[i].block + d * train_block));
    }
    for (std::size_t i = 0; i < width && j + i < c.count; ++i) {
      alignas(64) float sixteen[train_block];
      store(sixteen, acc[i]);
      values[j + i] = sixteen[places[i].lane];
    }
  }
}

/// Gathers 16 candidates, so that no chain is computed in vain; for processors on which a multiply-add is a
/// function call.
template <Metric metric>
void rerank_gathered(const Candidates& c, float* values) {
  for (std::size_t j = 0; j < c.count; j += train_block) {
    Place places[train_block];
    for (std::size_t i = 0; i < train_block; ++i) places[i] = place_of(c, j + i);
    Lanes acc = all(Chain<metric>::first);
    alignas(64) float sixteen[train_block];
    for (std::size_t d = 0; d < c.dims; ++d) {
      for (std::size_t i = 0; i < train_block; ++i)
        sixteen[i] = places[i].block[d * train_block + places[i].lane];
      acc = Chain<metric>::next(acc, all(c.query[d * query_block]), load(sixteen));
    }
    store(sixteen, acc);
    for (std::size_t i = 0; i < train_block && j + i < c.count; ++i) values[j + i] = sixteen[i];
  }
}

/// Handles 16 candidates at a time, from contiguous rows, and transposes 16 dimensions at a time.
template <Metric metric>
void rerank_rows(const Candidates& c, float* values) {
  constexpr std::size_t at_once = 16;
  for (std::size_t j = 0; j < c.count; j += train_block) {
    const float* rows[train_block];
    for (std::size_t i = 0; i < train_block; ++i)
      rows[i] = c.train + (c.rows[j + i < c.count ? j + i : c.count - 1] + c.row_offset) * c.dims;
    Lanes acc = all(Chain<metric>::first);
    alignas(64) float turned[at_once][train_block];
    for (std::size_t begin = 0; begin < c.dims; begin += at_once) {
      const std::size_t some = c.dims - begin < at_once ? c.dims - begin : at_once;
      for (std::size_t i = 0; i < train_block; ++i)
        for (std::size_t d = 0; d < some; ++d) turned[d][i] = rows[i][begin + d];
      for (std::size_t d = 0; d < some; ++d)
        acc = Chain<metric>::next(acc, all(c.query[(begin + d) * query_block]), load(turned[d]));
    }
    alignas(64) float sixteen[train_block];
    store(sixteen, acc);
    for (std::size_t i = 0; i < train_block && j + i < c.count; ++i) values[j + i] = sixteen[i];
  }
}

template <Metric metric>
void rerank_by(const Candidates& c, float* values) {
  if (c.block == 1) return rerank_rows<metric>(c, values);
  constexpr int width = most_accumulators < 8 ? most_accumulators : 8;
  if constexpr (width > 1)
    rerank_blocks<metric, width>(c, values);
  else
    rerank_gathered<metric>(c, values);
}

void rerank(const Candidates& candidates, float* values) {
  switch (candidates.metric) {
#define KITH_METRIC(id, prepare, start, accumulate, finish) \
  case Metric::id:                                          \
    return rerank_by<with_same_chain(Metric::id)>(candidates, values);
#include "kith/metrics.def"
#undef KITH_METRIC
    default:
      break;  // prepared metrics have no chain
  }
}

}  // namespace
}  // namespace kith::cpu::KITH_ISA
