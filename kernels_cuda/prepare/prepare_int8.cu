// prepare, int8: converts rows into scaled bytes, by prepare_turned.cuh.
//
//   quantized  [n, dims]   in the order of byte_shape(): x~ = byte / scale, where byte is the whole number
//                          nearest to scale (x - c), from -127 to 127, or from -128 for rows on a grid;
//                          padding is zeros
//
// Work: n * dims elements are read once, and a quarter as many bytes written; with a copy, one and a quarter
// times as many.
#include "prepare/prepare_turned.cuh"
#include "propose/int8.hpp"

namespace kith::cuda {
namespace {

struct Bytes {
  static constexpr std::uint32_t piece = sizeof(uint4);
  /// Both 1 / scale and each product with it are rounded to double.
  static constexpr double inexact = 0x1p-50;
  float scale;
  double unscale;
  float least;
  bool exact;  // c + x~ is computed without rounding

  __device__ __forceinline__ bool is_exact() const { return exact; }

  /// Returns the byte of x - c in the low bits.
  __device__ __forceinline__ std::uint32_t byte_of(float x, float c, Squares& sums) const {
    constexpr float most = 127;
    const int byte = __float2int_rn(fminf(fmaxf((x - c) * scale, least), most));
    const double wide = static_cast<double>(x), centre = static_cast<double>(c);
    const double quantized = static_cast<double>(byte) * unscale;
    if (exact)
      sums.add_exact(wide, centre, quantized);
    else
      sums.add(wide - centre, quantized);
    return static_cast<std::uint32_t>(byte) & 0xFFu;
  }

  __device__ __forceinline__ void put(float* quantized, const HalfShape& shape, std::uint32_t row,
                                      std::uint32_t d, const float4& x, const float4& c,
                                      Squares& sums) const {
    const std::uint32_t first = byte_of(x.x, c.x, sums), second = byte_of(x.y, c.y, sums);
    const std::uint32_t third = byte_of(x.z, c.z, sums), fourth = byte_of(x.w, c.w, sums);
    reinterpret_cast<std::uint32_t*>(quantized)[place_of(shape, row, d / piece) * 4 + d / 4 % 4] =
        first | second << 8 | third << 16 | fourth << 24;
  }
};

}  // namespace

cudaError_t prepare_int8(const Queue& queue, const spi::PrepareStep& step) {
  const spi::OnGrid on_grid = step.out.on_grid;
  const int least = on_grid == spi::OnGrid::no ? -spi::most_on_grid : spi::least_on_grid;
  const Bytes bytes{step.scale, 1.0 / static_cast<double>(step.scale), static_cast<float>(least),
                    on_grid == spi::OnGrid::exactly};
  return launch_turned(queue, preparation_of_lines(step), bytes, byte_shape(step.rows.dims));
}

}  // namespace kith::cuda
