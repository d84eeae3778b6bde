// Ranks the rows of a chunk whose codes are within a limit: a lane computes the chain of a candidate, and a
// warp sorts the keys.
// No twin in kernels_cl: OpenCL computes the chains of all rows of a group.
#pragma once

#include <cuda_pipeline.h>

#include <cfloat>

#include "groups/groups_codes.cuh"

namespace kith::cuda {

/// Returns at least the root of a number of at least 0.
__device__ __forceinline__ float root_above(float value) {
  float root;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(value));  // with an error of 2^-23
  return __fmaf_ru(root, 0x1p-20f, root);
}

/// Turns codes of queries of a group into limits.
struct Limits {
  float residual, above, below, lost, square_of_scale;
  float most;  // chains of rows beyond may be +infinity

  __device__ __forceinline__ Limits(const GroupTerms& terms, const ProductErrors& errors)
      : residual(terms.residual), above(errors.above), below(errors.below) {
    const float scale = terms.scale();
    square_of_scale = scale * scale;
    lost = __fmul_ru(errors.lost, square_of_scale);
    most = __fmul_rd(FLT_MAX, square_of_scale);
  }

  /// Returns the code up to which rows may be among the k nearest.
  ///   code   k rows that are not wild have near distances up to this code
  ///   kth    chain of the k-th neighbour so far, +infinity if there is none
  __device__ __forceinline__ std::uint32_t limit_of(float residual_of_query, float error, std::uint32_t code,
                                                    float kth) const {
    const float apart = __fadd_ru(residual_of_query, residual);
    const float distance = __fadd_ru(root_above(__uint_as_float(min(code + 1, far_code) << 16)), apart);
    const float of_codes = __fadd_ru(__fmul_ru(__fmul_ru(distance, distance), above), lost);
    const float bound = of_codes < most ? of_codes : INFINITY;
    const float chain = __fadd_ru(fminf(bound, __fmul_ru(kth, square_of_scale)), lost);
    const float reach = __fadd_ru(root_above(__fmul_ru(chain, below)), apart);
    const float limit = __fmaf_ru(reach, reach, 2 * error);
    return limit < INFINITY ? __float_as_uint(limit) >> 16 : far_code;
  }
};

/// Sorts the 32 keys of a warp if they are bitonic by runs of `from` lanes.
template <int from>
__device__ __forceinline__ void sort_runs(Key& key) {
  const std::uint32_t lane = threadIdx.x % 32;
#pragma unroll
  for (int run = from; run <= 32; run *= 2)
#pragma unroll
    for (int distance = run / 2; distance > 0; distance /= 2) {
      const Key other = __shfl_xor_sync(all_lanes, key, distance);
      const bool keeps_less = ((lane & distance) == 0) == ((lane & run) == 0);
      key = (key < other) == keeps_less ? key : other;
    }
}

/// Keeps the `keys` smallest keys of a query, ascending: lane l has keys l, l + 32, ...
template <int keys>
struct WarpList {
  static constexpr int each = keys / 32;
  Key key[each];

  /// Puts the 32 keys of all lanes in.
  ///   empty  there are no keys so far
  __device__ __forceinline__ void insert(Key more, bool empty) {
    sort_runs<2>(more);
    if (empty) {
      key[0] = more;
      return;
    }
#pragma unroll
    for (int j = each - 1; j >= 0; --j) {
      const Key turned = __shfl_sync(all_lanes, more, 31 - threadIdx.x % 32);
      const Key less = min(key[j], turned), rest = max(key[j], turned);
      key[j] = less;
      sort_runs<32>(key[j]);
      if (j + 1 < each) {
        key[j + 1] = rest;
        sort_runs<32>(key[j + 1]);
      }
      more = key[j];
    }
  }
  /// Returns key i of the list.
  __device__ __forceinline__ Key at(std::uint32_t i) const {
    Key chosen = key[0];
#pragma unroll
    for (int j = 1; j < each; ++j) chosen = i / 32 == static_cast<std::uint32_t>(j) ? key[j] : chosen;
    return __shfl_sync(all_lanes, chosen, i % 32);
  }
};

/// Copies 16 columns of 32 candidates; four lanes copy one row at once.
///   row  [4]  where the pieces of this lane begin, of candidates lane / 4, lane / 4 + 8, ..., in pieces
__device__ __forceinline__ void copy_columns(Copied& to, const float4* rows, const std::uint32_t (&row)[4],
                                             std::uint32_t d) {
  const std::uint32_t piece = threadIdx.x % 4, r = threadIdx.x % 32 / 4;
  float4* const line = &to[r][piece ^ r / 2 % 4];
#pragma unroll
  for (std::uint32_t s = 0; s < 4; ++s)
    if (row[s] != no_row)
      __pipeline_memcpy_async(line + s * 8 * (copied_columns / 4), rows + (row[s] + d / 4), sizeof(float4));
  __pipeline_commit();
}

/// Goes on with the chains of a staged query and the candidate of each lane, over 16 columns.
__device__ __forceinline__ void accumulate_columns(float& acc, const float* query, const Copied& copied) {
  const std::uint32_t lane = threadIdx.x % 32;
#pragma unroll
  for (std::uint32_t piece = 0; piece < copied_columns / 4; ++piece) {
    const float4 a = *reinterpret_cast<const float4*>(query + 4 * piece);
    const float4 b = copied[lane][piece ^ lane / 2 % 4];
    acc = Chain<Metric::squared_l2>::next(acc, a.x, b.x);
    acc = Chain<Metric::squared_l2>::next(acc, a.y, b.y);
    acc = Chain<Metric::squared_l2>::next(acc, a.z, b.z);
    acc = Chain<Metric::squared_l2>::next(acc, a.w, b.w);
  }
}

/// Returns the chains of a staged query and the candidate of each lane.
///   rows     of the chunk
///   i        row of the chunk that is the candidate; no_row: none
///   copied   memory of this warp, of which the next columns come while some are accumulated
template <int copies>
__device__ __forceinline__ float chain_of(const float* query, const float4* rows, std::uint32_t i,
                                          std::uint32_t columns, Copied* copied) {
  std::uint32_t row[4];
#pragma unroll
  for (std::uint32_t s = 0; s < 4; ++s) {
    const std::uint32_t from = __shfl_sync(all_lanes, i, threadIdx.x % 32 / 4 + 8 * s);
    row[s] = from == no_row ? no_row : from * (columns / 4) + threadIdx.x % 4;
  }
  float acc = Chain<Metric::squared_l2>::start();
  copy_columns(copied[0], rows, row, 0);
#pragma unroll 2
  for (std::uint32_t d = 0, at = 0; d < columns; d += copied_columns) {
    const bool more = d + copied_columns < columns;
    const std::uint32_t next = copies == 2 ? at ^ 1 : at;
    if (copies == 2 && more) copy_columns(copied[next], rows, row, d + copied_columns);
    if (copies == 2 && more)
      __pipeline_wait_prior(1);
    else
      __pipeline_wait_prior(0);
    __syncwarp();
    accumulate_columns(acc, query + d, copied[at]);
    __syncwarp();
    if (copies == 1 && more) copy_columns(copied[next], rows, row, d + copied_columns);
    at = next;
  }
  return acc;
}

/// Writes the places of a query's candidates over its codes, and returns their number.
///   within  as Codes::up_to() returns it
__device__ __forceinline__ std::uint32_t list_places(std::uint32_t within, std::uint16_t* places) {
  const std::uint32_t lane = threadIdx.x % 32, own = __popc(within);
  std::uint32_t until = own;
#pragma unroll
  for (std::uint32_t distance = 1; distance < 32; distance *= 2) {
    const std::uint32_t before = __shfl_up_sync(all_lanes, until, distance);
    if (lane >= distance) until += before;
  }
  for (std::uint32_t at = until - own; within != 0; within &= within - 1, ++at) {
    const std::uint32_t bit = __ffs(within) - 1;
    const std::uint32_t j = bit % 16;
    places[at] = static_cast<std::uint16_t>(row_of_code(j / 4 * 128 + 4 * lane + j % 4, bit / 16));
  }
  __syncwarp();
  return __shfl_sync(all_lanes, until, 31);
}

/// Ranks the rows of a chunk for a staged query, beside those in its list so far.
///   q       staged query     number   of the step
///   wild    number of wild rows
///   copied  memory of this warp
template <int keys, int copies>
__device__ __forceinline__ void rank_rows(const Groups& step, const QuantizedGroups& rows, const Range& range,
                                          const ChunkOfGroup& chunk, const Limits& limits, std::uint32_t wild,
                                          const Staged& staged, std::uint32_t q, std::uint32_t number,
                                          Copied* copied) {
  const std::uint32_t lane = threadIdx.x % 32;
  std::uint32_t* const codes_of_query = staged.codes + q * pitch;
  auto* const places = reinterpret_cast<std::uint16_t*>(codes_of_query);
  const std::uint32_t own = own_row(step, number) - chunk.first;
  if (own < chunk.rows && lane == 0) places[place_of_code(own)] = no_code;
  __syncwarp();
  Key* const out = step.out.data + number * step.out.stride;
  const bool begins = chunk.first == range.begin;
  WarpList<keys> list;
#pragma unroll
  for (int j = 0; j < list.each; ++j)
    list.key[j] = !begins && lane + 32 * j < step.k ? out[lane + 32 * j] : no_key;
  const Codes codes(codes_of_query, chunk.rows);
  const float kth = begins ? INFINITY : bound_value(list.at(step.k - 1));
  const std::uint32_t code = codes.kth<keys / 16>(step.k + wild, wild == 0);
  const std::uint32_t within = codes.up_to(limits.limit_of(staged.residual[q], staged.error[q], code, kth));
  __syncwarp();
  const std::uint32_t count = list_places(within, places);
  for (std::uint32_t c = 0; c < count; c += 32) {
    const std::uint32_t i = c + lane < count ? places[c + lane] : no_row;
    const auto* const of_chunk = reinterpret_cast<const float4*>(
        rows.rows + static_cast<std::size_t>(chunk.place) * staged.float_columns);
    const float chain =
        chain_of<copies>(staged.floats + q * staged.float_pitch, of_chunk, i, staged.float_columns, copied);
    list.insert(i == no_row ? no_key : key_of(chain, chunk.first + i + range.shift), begins && c == 0);
  }
#pragma unroll
  for (int j = 0; j < list.each; ++j)
    if (lane + 32 * j < step.k) out[lane + 32 * j] = list.key[j];
}

}  // namespace kith::cuda
