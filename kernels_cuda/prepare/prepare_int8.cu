// prepare, int8 and int4: converts rows into scaled bytes or half bytes, by prepare_turned.cuh.
//
//   quantized  [n, dims]   int8: in the order of byte_shape(): x~ = byte / scale, where byte is the whole
//                          number nearest to scale (x - c), from -127 to 127, or from -128 for rows on a
//                          grid; padding is zeros
//                          int4: in the order of half_byte_shape(): x~ = 16 j / scale, where j is the whole
//                          number nearest to scale (x - c) / 16, from -7 to 7
//
// Work: n * dims elements are read once, and a quarter (an eighth) as many bytes written; with a copy, as
// many floats more.
#include "prepare/prepare_turned.cuh"
#include "propose/int8.hpp"

namespace kith::cuda {
namespace {

/// Turns elements into whole numbers: rows are these over `scale`.
struct WholeNumbers {
  /// Both 1 / scale and each product with it are rounded to double.
  static constexpr double inexact = 0x1p-50;
  float scale;
  double unscale;
  float least, most;
  bool exact;  // c + x~ is computed without rounding

  __device__ __forceinline__ bool is_exact() const { return exact; }

  /// Returns the number for x - c in the low byte.
  __device__ __forceinline__ std::uint32_t byte_of(float x, float c, Squares& sums) const {
    const int byte = __float2int_rn(fminf(fmaxf((x - c) * scale, least), most));
    const double wide = static_cast<double>(x), centre = static_cast<double>(c);
    const double quantized = static_cast<double>(byte) * unscale;
    if (exact)
      sums.add_exact(wide, centre, quantized);
    else
      sums.add(wide - centre, quantized);
    return static_cast<std::uint32_t>(byte) & 0xFFu;
  }

  __device__ __forceinline__ std::uint32_t four_of(const float4& x, const float4& c, Squares& sums) const {
    const std::uint32_t first = byte_of(x.x, c.x, sums), second = byte_of(x.y, c.y, sums);
    const std::uint32_t third = byte_of(x.z, c.z, sums), fourth = byte_of(x.w, c.w, sums);
    return first | second << 8 | third << 16 | fourth << 24;
  }
};

struct Bytes : WholeNumbers {
  static constexpr std::uint32_t piece = sizeof(uint4);

  __device__ __forceinline__ void put(float* quantized, const HalfShape& shape, std::uint32_t row,
                                      std::uint32_t d, const float4& x, const float4& c,
                                      Squares& sums) const {
    reinterpret_cast<std::uint32_t*>(quantized)[place_of(shape, row, d / piece) * 4 + d / 4 % 4] =
        four_of(x, c, sums);
  }
};

/// Lanes 4 i ... 4 i + 3 have 16 neighbouring dimensions of a row. The first two of them write 8 each.
struct HalfBytes : WholeNumbers {
  static constexpr std::uint32_t piece = half_bytes_a_piece;

  __device__ __forceinline__ void put(float* quantized, const HalfShape& shape, std::uint32_t row,
                                      std::uint32_t d, const float4& x, const float4& c,
                                      Squares& sums) const {
    const std::uint32_t mine = four_of(x, c, sums) & 0x0F0F0F0Fu,
                        upper = __shfl_xor_sync(turned::all_lanes, mine, 2);
    if (d / 8 % 2 == 0)
      reinterpret_cast<std::uint32_t*>(
          quantized)[place_of(shape, row, d / piece) * 4 + d / 16 % 2 * 2 + d / 4 % 2] = mine | upper << 4;
  }
};

WholeNumbers bytes_of(const spi::PrepareStep& step) {
  const spi::OnGrid on_grid = step.out.on_grid;
  const int least = on_grid == spi::OnGrid::no ? -spi::most_on_grid : spi::least_on_grid;
  return {step.scale, 1.0 / static_cast<double>(step.scale), static_cast<float>(least),
          static_cast<float>(spi::most_on_grid), on_grid == spi::OnGrid::exactly};
}

WholeNumbers half_bytes_of(const spi::PrepareStep& step) {
  constexpr auto most = static_cast<float>(spi::most_half_byte),
                 unit = static_cast<float>(spi::half_byte_unit);
  return {step.scale / unit, static_cast<double>(unit) / static_cast<double>(step.scale), -most, most, false};
}

}  // namespace

cudaError_t prepare_bytes(const Queue& queue, const spi::PrepareStep& step) {
  const Preparation preparation = preparation_of_lines(step);
  if (step.proposer == Proposer::int4)
    return launch_turned(queue, preparation, HalfBytes{half_bytes_of(step)}, half_byte_shape(step.rows.dims));
  return launch_turned(queue, preparation, Bytes{bytes_of(step)}, byte_shape(step.rows.dims));
}

}  // namespace kith::cuda
