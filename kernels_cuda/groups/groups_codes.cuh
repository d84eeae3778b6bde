// Near distances of a block's queries to 1024 rows of their group, as codes: the upper 16 bits of each
// float, which are in its order (docs/certificate.md, section 8).
// No twin in kernels_cl: OpenCL computes the chains of all rows of a group.
#pragma once

#include <cuda_bf16.h>

#include "common/tensor.cuh"
#include "groups/groups_products.cuh"

namespace kith::cuda {

inline constexpr std::uint32_t all_lanes = 0xFFFFFFFFu, chunk_rows = 1024, words = chunk_rows / 64;
inline constexpr std::uint32_t pitch =
    chunk_rows / 2 + 16;  // words of codes: two lines are in different banks
inline constexpr std::uint32_t no_code = 0x7FFF, far_code = 0x7F80;  // NaN, and +infinity
inline constexpr std::uint32_t row_tiles = 4, rows_a_pass = 8 * row_tiles;

/// Numbers of the proof, which the host computes, rounded to the safe side.
struct ProductErrors {
  float product;  ///< error of a near distance, relative to (|q~| + |x~|)^2
  float above;    ///< 1 + g
  float below;    ///< 1 / (1 - g)
  float lost;     ///< 2 eta
};

/// Rows that a warp copies at once: 16 columns of 32 rows, in pieces of 4. Piece p of row r is at place
/// p ^ (r / 2 % 4), so that eight lanes, each with its row, conflict in no bank.
using Copied = float4[32][copied_columns / 4];

/// Memory of a block: what its warps copy, halves of queries [queries / 2, half_pitch], their floats
/// [queries, float_pitch], codes [queries, pitch], and numbers of queries. A line of halves has queries q and
/// q + 8, by turns two columns of each, as multiply() takes them; two lines are in different banks.
struct Staged {
  std::uint32_t half_pitch, float_columns, float_pitch;  // of a line, in halves and floats
  Copied* copied;                                        // one or two for each warp
  __half* halves;
  float* floats;
  std::uint32_t* codes;
  float* square;  // |q~|^2 and the error of near distances
  float* error;
  float* residual;

  static constexpr __host__ __device__ std::uint32_t half_pitch_of(std::uint32_t columns) {
    return 2 * columns + 8;
  }
  static __host__ std::size_t bytes(std::uint32_t queries, std::uint32_t columns, std::uint32_t dims,
                                    std::uint32_t copies) {
    return copies * sizeof(Copied) +
           std::size_t{queries} *
               (half_pitch_of(columns) / 2 * sizeof(__half) + float_pitch_of(dims) * sizeof(float) +
                pitch * sizeof(std::uint32_t) + 3 * sizeof(float));
  }
  static constexpr __host__ __device__ std::uint32_t float_pitch_of(std::uint32_t dims) {
    return QuantizedGroups::float_columns(dims) + 4;
  }
  __device__ Staged(unsigned char* memory, std::uint32_t queries, std::uint32_t columns, std::uint32_t dims,
                    std::uint32_t copies)
      : half_pitch(half_pitch_of(columns)),
        float_columns(QuantizedGroups::float_columns(dims)),
        float_pitch(float_pitch_of(dims)) {
    copied = reinterpret_cast<Copied*>(memory);
    halves = reinterpret_cast<__half*>(copied + copies);
    floats = reinterpret_cast<float*>(halves + queries / 2 * half_pitch);
    codes = reinterpret_cast<std::uint32_t*>(floats + queries * float_pitch);
    square = reinterpret_cast<float*>(codes + queries * pitch);
    error = square + queries;
    residual = error + queries;
  }
};

/// The rows of a group that a block handles at once.
struct ChunkOfGroup {
  std::uint32_t first;  // row of the memory
  std::uint32_t rows;
  std::uint32_t place;  // of the first among quantized rows
};

/// Stages queries q0 ... q0 + count - 1 of the step, which are of one group; zeros stand behind them.
template <std::uint32_t queries, std::uint32_t threads>
__device__ __forceinline__ void stage_queries(const Groups& step, const QuantizedGroups& group_rows,
                                              const GroupTerms& terms, const ProductErrors& errors,
                                              std::uint32_t group, std::uint32_t q0, std::uint32_t count,
                                              const Staged& to) {
  for (std::uint32_t i = threadIdx.x; i < queries * to.float_columns; i += threads) {
    const std::uint32_t q = i % queries, d = i / queries;
    const bool inside = q < count && d < step.queries.dims;
    to.floats[q * to.float_pitch + d] = inside ? __ldg(row_at(step.queries, step.queries.first + q0 + q) +
                                                       static_cast<std::size_t>(d) * rows_a_block)
                                               : 0.0f;
  }
  __syncthreads();
  // Eight lanes take a query.
  static_assert(threads == 8 * queries);
  const float* const centre = group_rows.centres + static_cast<std::size_t>(group) * group_rows.columns;
  const float scale = terms.scale();
  const std::uint32_t q = threadIdx.x / 8, line = q / 16 * 8 + q % 8;
  __half2* const halves = reinterpret_cast<__half2*>(to.halves + line * to.half_pitch) + q / 8 % 2;
  HalfNorms norms;
  for (std::uint32_t d = threadIdx.x % 8 * 4; d < group_rows.columns; d += 32) {
    const bool inside = q < count && d < to.float_columns;
    const float4 x = inside ? *reinterpret_cast<const float4*>(to.floats + q * to.float_pitch + d) : float4{};
    const float4 c = inside ? __ldg(reinterpret_cast<const float4*>(centre + d)) : float4{};
    halves[d] = __halves2half2(norms.add((x.x - c.x) * scale), norms.add((x.y - c.y) * scale));
    halves[d + 2] = __halves2half2(norms.add((x.z - c.z) * scale), norms.add((x.w - c.w) * scale));
  }
#pragma unroll
  for (std::uint32_t distance = 1; distance < 8; distance *= 2) {
    norms.squares += __shfl_xor_sync(all_lanes, norms.squares, distance);
    norms.rest += __shfl_xor_sync(all_lanes, norms.rest, distance);
  }
  if (threadIdx.x % 8 != 0) return;
  const float length = __fadd_ru(aligned_norm(norms.squares, group_rows.columns), terms.norm);
  to.error[q] = __fmul_ru(errors.product, __fmul_ru(length, length));
  to.square[q] = norms.squares + to.error[q];
  to.residual[q] = residual_above(norms);
}

/// Multiplies all staged queries with 32 rows, from row r0 of the chunk on.
template <int tiles>
__device__ __forceinline__ void multiply_rows(float (&acc)[row_tiles][tiles][4], const QuantizedGroups& rows,
                                              const ChunkOfGroup& chunk, std::uint32_t r0,
                                              const Staged& staged) {
  const std::uint32_t lane = threadIdx.x % 32, g = lane / 4, i = lane % 4;
  const __half* from[row_tiles];
#pragma unroll
  for (std::uint32_t t = 0; t < row_tiles; ++t)
    from[t] =
        rows.halves + std::size_t{chunk.place + min(r0 + 8 * t + g, chunk.rows - 1)} * rows.columns + 8 * i;
  const __half* query = staged.halves + g * staged.half_pitch + 16 * i;
#pragma unroll 2
  for (std::uint32_t d = 0; d < rows.columns; d += piece_of_halves) {
    uint4 b[row_tiles];
#pragma unroll
    for (std::uint32_t t = 0; t < row_tiles; ++t) b[t] = __ldg(reinterpret_cast<const uint4*>(from[t] + d));
#pragma unroll
    for (int m = 0; m < tiles; ++m) {
      const auto* const eight = reinterpret_cast<const uint4*>(query + m * 8 * staged.half_pitch + 2 * d);
      const uint4 first = eight[0], second = eight[1];
      const std::uint32_t one[4] = {first.x, first.y, first.z, first.w};
      const std::uint32_t other[4] = {second.x, second.y, second.z, second.w};
#pragma unroll
      for (std::uint32_t t = 0; t < row_tiles; ++t) {
        multiply(acc[t][m], one, b[t].x, b[t].y);
        multiply(acc[t][m], other, b[t].z, b[t].w);
      }
    }
  }
}

/// Returns the codes of two near distances, of which the first is in the lower half.
__device__ __forceinline__ std::uint32_t codes_of(float first, float second) {
  return __byte_perm(__float_as_uint(first), __float_as_uint(second), 0x7632);
}

/// Writes the codes of all staged queries with the rows of a chunk. Of 32 rows, lane i of 4 has the codes of
/// rows 8 t + 2 i and 8 t + 2 i + 1 in word 4 i + t.
template <int tiles, std::uint32_t warps>
__device__ __forceinline__ void write_codes(const QuantizedGroups& rows, const ChunkOfGroup& chunk,
                                            const Staged& staged) {
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32, g = lane / 4, i = lane % 4;
  float square[tiles][2];
#pragma unroll
  for (int m = 0; m < tiles; ++m) {
    square[m][0] = staged.square[m * 16 + g];
    square[m][1] = staged.square[m * 16 + 8 + g];
  }
  const float* const squares = rows.squares + chunk.place;
  for (std::uint32_t r0 = warp * rows_a_pass; r0 < chunk.rows; r0 += warps * rows_a_pass) {
    float of_row[row_tiles][2];
#pragma unroll
    for (std::uint32_t t = 0; t < row_tiles; ++t)
#pragma unroll
      for (std::uint32_t e = 0; e < 2; ++e) {
        const std::uint32_t r = r0 + 8 * t + 2 * i + e;
        of_row[t][e] = r < chunk.rows ? __ldg(squares + r) : not_a_candidate();
      }
    float acc[row_tiles][tiles][4] = {};
    multiply_rows(acc, rows, chunk, r0, staged);
#pragma unroll
    for (int m = 0; m < tiles; ++m)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        std::uint32_t four[row_tiles];
#pragma unroll
        for (std::uint32_t t = 0; t < row_tiles; ++t)
          four[t] = codes_of(fmaf(-2.0f, acc[t][m][2 * h], square[m][h] + of_row[t][0]),
                             fmaf(-2.0f, acc[t][m][2 * h + 1], square[m][h] + of_row[t][1]));
        *reinterpret_cast<uint4*>(staged.codes + (m * 16 + h * 8 + g) * pitch + r0 / 2 + 4 * i) = {
            four[0], four[1], four[2], four[3]};
      }
  }
}

/// Returns the row of a chunk whose code is in a half of a word.
__device__ __forceinline__ std::uint32_t row_of_code(std::uint32_t word, std::uint32_t half) {
  return word / 16 * 32 + word % 4 * 8 + word / 4 % 4 * 2 + half;
}
/// Returns the place, in halves, of the code of a row.
__device__ __forceinline__ std::uint32_t place_of_code(std::uint32_t row) {
  return row / 32 * 32 + row / 2 % 4 * 8 + row / 8 % 4 * 2 + row % 2;
}

__device__ __forceinline__ __nv_bfloat162 two_of(std::uint32_t codes) {
  return *reinterpret_cast<const __nv_bfloat162*>(&codes);
}
__device__ __forceinline__ std::uint32_t bits_of(__nv_bfloat162 two) {
  return *reinterpret_cast<const std::uint32_t*>(&two);
}

/// The codes of one query that a lane holds: words 4 lane ... 4 lane + 3 of every 128.
struct Codes {
  std::uint32_t word[words];

  __device__ __forceinline__ Codes(const std::uint32_t* from, std::uint32_t rows) {
#pragma unroll
    for (std::uint32_t j = 0; j < words; j += 4) {
      const std::uint32_t first = 32 * j + 4 * (threadIdx.x % 32);
      uint4 four = {no_code * 0x10001u, no_code * 0x10001u, no_code * 0x10001u, no_code * 0x10001u};
      if (first / 16 * 32 < rows) four = *reinterpret_cast<const uint4*>(from + first);
      word[j] = four.x;
      word[j + 1] = four.y;
      word[j + 2] = four.z;
      word[j + 3] = four.w;
    }
  }

  /// Returns a code that at least k codes of all lanes are up to, and few more; +infinity if there are fewer.
  /// It is the k-th smallest of the least codes of parts of 8 rows (of 4, above 32 lists).
  ///   each   words with the least codes of a lane
  ///   known  no code is below 0
  template <int each>
  __device__ __forceinline__ std::uint32_t kth(std::uint32_t k, bool known) const {
    __nv_bfloat162 least[each];
#pragma unroll
    for (int i = 0; i < each; ++i) {
      least[i] = two_of(word[i]);
#pragma unroll
      for (std::uint32_t j = i + each; j < words; j += each) least[i] = __hmin2(least[i], two_of(word[j]));
    }
    std::uint32_t low = 0, high = far_code;
    if (known) {
      std::uint32_t first = bits_of(least[0]) & 0xFFFFu;
#pragma unroll
      for (int i = 0; i < each; ++i)
        first = min(first, min(bits_of(least[i]) & 0xFFFFu, bits_of(least[i]) >> 16));
      low = least_of_lanes(first);
      if (k <= 32) high = min(high, most_of_lanes(first));
    }
    while (low < high) {
      const std::uint32_t middle = (low + high) / 2;
      const __nv_bfloat162 limit = two_of(middle * 0x10001u);
      std::uint32_t count = 0;
#pragma unroll
      for (int i = 0; i < each; ++i) count += __hle2_mask(least[i], limit) & 0x00010001u;
      count = sum_of_lanes(count);
      if ((count & 0xFFFFu) + (count >> 16) >= k)
        high = middle;
      else
        low = middle + 1;
    }
    return min(low, far_code);
  }

  /// Returns which codes are up to `limit`: bit j for the lower half of word j, bit 16 + j for the upper.
  __device__ __forceinline__ std::uint32_t up_to(std::uint32_t limit) const {
    const __nv_bfloat162 two = two_of(limit * 0x10001u);
    std::uint32_t within = 0;
#pragma unroll
    for (std::uint32_t j = 0; j < words; ++j)
      within |= (__hle2_mask(two_of(word[j]), two) & 0x00010001u) << j;
    return within;
  }
};
static_assert(words == 16);

}  // namespace kith::cuda
