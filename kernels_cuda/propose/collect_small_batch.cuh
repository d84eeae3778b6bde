// collect, fp16, int8 and int4, for up to 64 queries: streams the quantized training rows once.
//
//   queries   [q, dims]   train [t, dims]   quantized rows of 16-bit floats or of bytes (half_shape.hpp); or
//                                           queries of bytes and training rows of half bytes (int8.hpp)
//   threshold [q, 1]      row terms of both, [4, q] and [4, t]
//   out       [q, capacity]   training rows with bounds, in any order
//   counts    [q, 1]          grow, even beyond the capacity
//   sample    [q, places / 16]   instead of `out`: the least bound of each 16 places
//
// A warp takes 4 KiB of the quantized rows at a time: the lines of 32 rows, or of 64 or 128 if lines are
// short. A lane reads whole pieces of its rows, lane / 4 of every 8, straight into registers, and the next
// ones into the same registers as soon as these are multiplied. So 128 bytes per lane are always being
// loaded, and nothing else has to be fast; what has no part in it, `low` and the test, comes after the
// loads. Training rows are the rows of a matrix product; its columns are the 8, 16, 32 or 64 queries, whose
// pieces are in shared memory if they fit. The order of dimensions within an mma does not matter if it is
// the same on both sides: half a piece, 4 halves or 8 bytes, is a lane's part of one step of 16 or 32
// dimensions. A half byte j becomes the byte 16 j where it is multiplied. `low` is computed here, from 12
// bytes of terms per row, because writing it and reading it again would take longer. What passes is appended
// later (findings.cuh). Work: the quantized rows and three terms per row are read once; q / 8 mma for 16
// rows and 32 bytes of each. There is a single barrier. Source: docs/certificate.md, sections 3 and 4.
#pragma once

#include <cuda_pipeline.h>

#include <type_traits>

#include "common/tensor.cuh"
#include "propose/small_batch_test.cuh"

namespace kith::cuda {

inline constexpr std::uint32_t threads = 128, warps = threads / 32;
inline constexpr std::uint32_t group_rows = 32;  // rows tested at once: two products, or four times 8 rows
inline constexpr std::size_t most_shared = 96 * 1024;

/// Returns how many blocks fit on a multiprocessor, given the registers they need.
constexpr int blocks_at_once(int across) {
  return across == 1 ? 5 : across <= 4 ? 4 : 3;
}

/// The layout of lines of `pieces` pieces.
template <int pieces>
struct Line {
  using Piece = std::conditional_t<pieces == 2, uint2, uint4>;    // what a lane reads from a row
  static constexpr int parts = pieces == 8 ? 2 : 1;               // parts of a line; each is read by 4 lanes
  static constexpr int groups = 8 / pieces;                       // groups of rows in 4 KiB
  static constexpr std::uint32_t rows = groups * group_rows;      // rows in 4 KiB
  static constexpr std::uint32_t chunks = tile_of_halves / rows;  // chunks of 4 KiB in a tile
  static constexpr std::uint32_t slab = tile_of_halves * pieces * (sizeof(uint4) / sizeof(Piece));
  static constexpr std::uint32_t chunk = slab / chunks;

  /// Returns where a lane reads its piece of row 8 i + lane / 4, in units of Piece.
  static __device__ __forceinline__ std::uint32_t place_of(std::uint32_t i, std::uint32_t part,
                                                           std::uint32_t lane) {
    const std::uint32_t row = 8 * i + lane / 4, turn = lane / 4 * pieces / 8, at = lane % 4;
    if constexpr (pieces == 2) return (row * pieces + (at / 2 ^ turn)) * 2 + at % 2;
    return row * pieces + ((4 * part + at) ^ turn);
  }
};

__device__ __forceinline__ uint4 read_once(const uint4* from) {
  uint4 to = {};
#if __CUDA_ARCH__ >= 800
  asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(to.x), "=r"(to.y), "=r"(to.z), "=r"(to.w)
               : "l"(__cvta_generic_to_global(from)));
#endif
  return to;
}

__device__ __forceinline__ uint2 read_once(const uint2* from) {
  uint2 to = {};
#if __CUDA_ARCH__ >= 800
  asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v2.u32 {%0,%1}, [%2];"
               : "=r"(to.x), "=r"(to.y)
               : "l"(__cvta_generic_to_global(from)));
#endif
  return to;
}

/// The elements of training rows. A piece of a row meets `pieces` pieces of a query.
struct OfHalves {
  using Sum = float;
  static constexpr int pieces = 1;
};
struct OfBytes {
  using Sum = int;
  static constexpr int pieces = 1;
};
struct OfHalfBytes {
  using Sum = int;
  static constexpr int pieces = 2;
};

/// Multiplies a lane's pieces of 8 rows, and of 8 others, with its piece of the queries, in both steps or the
/// only one.
template <class Sum>
__device__ __forceinline__ void multiply_pieces(Sum (&sums)[4], const uint4& upper, const uint4& lower,
                                                const uint4 (&query)[1]) {
  multiply(sums, {upper.x, lower.x, upper.y, lower.y}, query[0].x, query[0].y);
  multiply(sums, {upper.z, lower.z, upper.w, lower.w}, query[0].z, query[0].w);
}

template <class Sum>
__device__ __forceinline__ void multiply_pieces(Sum (&sums)[4], const uint2& upper, const uint2& lower,
                                                const uint2 (&query)[1]) {
  multiply(sums, {upper.x, lower.x, upper.y, lower.y}, query[0].x, query[0].y);
}

/// Return 16 times the lower, and the upper, half of each byte, as signed bytes.
__device__ __forceinline__ std::uint32_t lower_halves(std::uint32_t word) {
  return word << 4 & 0xF0F0F0F0u;
}
__device__ __forceinline__ std::uint32_t upper_halves(std::uint32_t word) {
  return word & 0xF0F0F0F0u;
}

/// Does the same with pieces of half bytes, whose 32 dimensions meet two pieces of bytes.
__device__ __forceinline__ void multiply_pieces(int (&sums)[4], const uint4& upper, const uint4& lower,
                                                const uint4 (&query)[2]) {
  const auto multiply_words = [&](std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d,
                                  const uint4& with) {
    multiply(sums, {lower_halves(a), lower_halves(b), lower_halves(c), lower_halves(d)}, with.x, with.y);
    multiply(sums, {upper_halves(a), upper_halves(b), upper_halves(c), upper_halves(d)}, with.z, with.w);
  };
  multiply_words(upper.x, lower.x, upper.y, lower.y, query[0]);
  multiply_words(upper.z, lower.z, upper.w, lower.w, query[1]);
}

/// Goes through the chunks of a warp, slab by slab. It stays at the last one.
template <int pieces, bool sample>
class Cursor {
 public:
  using Of = Line<pieces>;

  const typename Of::Piece* from = nullptr;
  std::uint32_t t0 = 0;  // first row
  std::uint32_t slab = 0;
  std::uint32_t chunk;

  /// Begins at chunk `first`. From there on every `gridDim.x * warps`-th is of this warp: always the same
  /// part of its tile, since the chunks of a tile divide `warps`.
  __device__ __forceinline__ Cursor(const HalfCollection& collection, std::uint32_t first)
      : chunk(first), walk_(collection.tiles, first / Of::chunks) {}

  /// Finds the first chunk, from this one on, that contains rows.
  __device__ __forceinline__ bool seek(const HalfCollection& collection, const Few& few) {
    for (; chunk < few.chunks; skip(collection, few)) {
      const std::uint64_t tile = walk_.row(collection.tiles);
      const std::uint64_t first = tile + chunk % Of::chunks * Of::rows;
      if (first >= collection.train_rows) {
        if (sample) leave_out(collection);
        continue;
      }
      t0 = static_cast<std::uint32_t>(first);
      from = static_cast<const typename Of::Piece*>(collection.train) +
             tile / tile_of_halves * few.slabs * Of::slab + chunk % Of::chunks * Of::chunk;
      return true;
    }
    return false;
  }

  __device__ __forceinline__ bool advance(const HalfCollection& collection, const Few& few) {
    if (slab + 1 < few.slabs) {
      ++slab;
      from += Of::slab;
      return true;
    }
    skip(collection, few);
    const bool more = seek(collection, few);
    if (more) slab = 0;
    return more;
  }

 private:
  __device__ __forceinline__ void skip(const HalfCollection& collection, const Few& few) {
    chunk += gridDim.x * warps;
    walk_.next(collection.tiles, few.step);
  }

  /// Writes to a sample that these places have no rows.
  __device__ void leave_out(const HalfCollection& collection) const {
    constexpr std::uint32_t groups = Of::rows / spi::sample_rows;
    for (std::uint32_t i = threadIdx.x % 32; i < collection.rows * groups; i += 32)
      collection.sample.data[i / groups * collection.sample.stride + chunk * groups + i % groups] =
          ordered_bits(no_high());
  }

  Walk walk_;
};

/// Returns where the piece of the queries is that meets a lane's piece of rows: of queries 8 j + lane / 4, in
/// part `part` of all parts of a line. Of half bytes, a line has twice as many columns as one of bytes, or
/// more, and the last may have no such piece: then it returns `none`.
///   turn  the first or the second of the pieces of OfHalfBytes
inline constexpr std::uint32_t none = 0xFFFFFFFFu;

template <class Elements, int pieces>
__device__ __forceinline__ std::uint32_t place_of_query(std::uint32_t part, std::uint32_t j,
                                                        std::uint32_t turn, std::uint32_t lane,
                                                        const HalfShape& queries) {
  if constexpr (Elements::pieces == 1) {
    using Of = Line<pieces>;
    return part / Of::parts * Of::slab + Of::place_of(j, part % Of::parts, lane);
  } else {
    const std::uint32_t row = 8 * j + lane / 4, piece = 2 * (lane % 4) + turn;
    if (part >= queries.slabs || piece >= queries.pieces) return none;
    return (part * tile_of_halves + row) * queries.pieces + (piece ^ lane / 4 * queries.pieces / 8);
  }
}

/// Begins to copy the pieces that lanes read of the queries: [slabs, parts, across, Elements::pieces, 32].
template <class Elements, int pieces, int across>
__device__ __forceinline__ void stage_queries(typename Line<pieces>::Piece* to,
                                              const typename Line<pieces>::Piece* queries, const Few& few,
                                              std::uint32_t slabs) {
  using Of = Line<pieces>;
  constexpr std::uint32_t turns = Elements::pieces;
  for (std::uint32_t i = threadIdx.x; i < slabs * Of::parts * across * turns * 32; i += threads) {
    const std::uint32_t part = i / 32 / turns / across, j = i / 32 / turns % across;
    const std::uint32_t from = place_of_query<Elements, pieces>(part, j, i / 32 % turns, i % 32, few.queries);
    if (from == none)
      to[i] = {};
    else
      __pipeline_memcpy_async(to + i, queries + from, sizeof(*to));
  }
  __pipeline_commit();
}

/// Warp w of the grid handles chunks w, w + warps, ...
template <class Elements, int pieces, int across, bool resident, bool sample>
__global__ __launch_bounds__(threads, blocks_at_once(across)) void collect_small_batch(
    const HalfCollection collection, const __grid_constant__ Few few) {
  using Of = Line<pieces>;
  using Piece = typename Of::Piece;
  using Sum = typename Elements::Sum;
  constexpr int turns = Elements::pieces;
  extern __shared__ uint4 memory[];
  __shared__ Finding found[warps][findings_of_warp];
  auto* const staged = reinterpret_cast<Piece*>(memory);
  const auto* const queries = static_cast<const Piece*>(collection.queries);
  const std::uint32_t lane = threadIdx.x % 32, slabs = pieces == 8 ? few.slabs : 1;

  take_turn();
  Cursor<pieces, sample> next(collection, blockIdx.x * warps + threadIdx.x / 32);
  bool more = next.seek(collection, few);
  Piece train[Of::groups][Of::parts][4];
  RowTerms row_terms[Of::groups];
  if (more) {
#pragma unroll
    for (int s = 0; s < Of::groups; ++s) {
#pragma unroll
      for (int part = 0; part < Of::parts; ++part)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          train[s][part][i] = read_once(next.from + Of::place_of(4 * s + i, part, lane));
      row_terms[s].load(few, std::uint64_t{next.t0} + s * group_rows + lane);
    }
  }
  if constexpr (resident) stage_queries<Elements, pieces, across>(staged, queries, few, slabs);
  const LargestOfQueries largest = largest_of_queries(few.bound, lane);
  const Limits<across> limits(collection, lane);
  if constexpr (resident) {
    __pipeline_wait_prior(0);
    __syncthreads();
  }

  Findings<GapOfRow> findings(found[threadIdx.x / 32], lane, {&few, largest});
  Sums<Sum, across> sums;
  while (more) {
    const std::uint32_t t0 = next.t0, place = next.chunk * Of::rows, slab = pieces == 8 ? next.slab : 0;
    more = next.advance(collection, few);
#pragma unroll
    for (int s = 0; s < Of::groups; ++s) {
      if (slab == 0)
#pragma unroll
        for (int j = 0; j < across; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e) sums[0][j][e] = sums[1][j][e] = 0;
#pragma unroll
      for (int part = 0; part < Of::parts; ++part) {
#pragma unroll
        for (int j = 0; j < across; ++j) {
          Piece query[turns];
#pragma unroll
          for (int turn = 0; turn < turns; ++turn) {
            const std::uint32_t all = slab * Of::parts + part;
            if constexpr (resident) {
              query[turn] = staged[((all * across + j) * turns + turn) * 32 + lane];
            } else {
              const std::uint32_t place = place_of_query<Elements, pieces>(all, j, turn, lane, few.queries);
              query[turn] = place == none ? Piece{} : __ldg(queries + place);
            }
          }
#pragma unroll
          for (int i = 0; i < 2; ++i)
            multiply_pieces(sums[i][j], train[s][part][2 * i], train[s][part][2 * i + 1], query);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i)  // behind the last chunk, reading some of it again is cheaper than a test
          train[s][part][i] = read_once(next.from + Of::place_of(4 * s + i, part, lane));
      }
      if (slab + 1 == slabs) {  // the next terms are on their way before these are used
        const RowTerms terms = row_terms[s];
        row_terms[s].load(few, std::uint64_t{next.t0} + s * group_rows + lane);
        test_group<sample, Sum, across>(findings, collection, few, largest, sums, limits,
                                        terms.low(few, largest), t0 + s * group_rows, place + s * group_rows,
                                        lane);
      }
    }
  }
  findings.finish(collection);
}

template <class Elements, int pieces, int across, bool sample>
cudaError_t launch_few(const Queue& queue, const HalfCollection& collection, Few few) {
  const std::size_t wanted = std::size_t{few.slabs} * pieces * Elements::pieces * across * 8 * sizeof(uint4);
  constexpr std::size_t findings = sizeof(Finding) * warps * findings_of_warp;
  const bool resident = wanted <= most_shared && wanted + findings <= queue.shared_bytes;
  const std::size_t shared = resident ? wanted : 0;
  // The grid has as many blocks as run at once: 200 KiB of shared memory, and registers, limit them.
  const std::size_t most = blocks_at_once(across), room = 200 * 1024 / (shared + findings);
  const std::uint64_t at_once = std::min(most, room) * queue.multiprocessors;
  auto* kernel = collect_small_batch<Elements, pieces, across, true, sample>;
  if constexpr (pieces == 8)
    if (!resident) kernel = collect_small_batch<Elements, pieces, across, false, sample>;
  const auto blocks = std::min<std::uint64_t>(divide_up(few.chunks, warps), at_once);
  few.step =
      Walk::step_of(collection.tiles, static_cast<std::uint32_t>(blocks) * (warps / Line<pieces>::chunks));
  return launch_in_turn(queue, kernel, blocks, threads, shared, collection, few);
}

template <class Elements, int pieces, int across>
cudaError_t launch_few(const Queue& queue, const HalfCollection& collection, const Few& few) {
  return collection.sample.data != nullptr
             ? launch_few<Elements, pieces, across, true>(queue, collection, few)
             : launch_few<Elements, pieces, across, false>(queue, collection, few);
}

template <class Elements, int pieces>
cudaError_t launch_few(const Queue& queue, const HalfCollection& collection, Few few) {
  few.chunks = divide_up(collection.columns, tile_of_halves) * Line<pieces>::chunks;
  if (collection.rows <= 8) return launch_few<Elements, pieces, 1>(queue, collection, few);
  if (collection.rows <= 16) return launch_few<Elements, pieces, 2>(queue, collection, few);
  if (collection.rows <= 32) return launch_few<Elements, pieces, 4>(queue, collection, few);
  return launch_few<Elements, pieces, 8>(queue, collection, few);
}

/// Launches the kernel for lines of this length. `bound.b` is for products in this order.
///   queries  the lines of queries
template <class Elements>
cudaError_t launch_few(const Queue& queue, const HalfCollection& collection, const ProductBound& bound,
                       const HalfShape& shape, const HalfShape& queries) {
  const Few few{bound, RowTermsAt(bound), error_terms(bound), shape.slabs, queries, 0, {}};
  if constexpr (Elements::pieces == 1)
    if (shape.pieces == 2) return launch_few<Elements, 2>(queue, collection, few);
  return shape.pieces == 4 ? launch_few<Elements, 4>(queue, collection, few)
                           : launch_few<Elements, 8>(queue, collection, few);
}

}  // namespace kith::cuda
