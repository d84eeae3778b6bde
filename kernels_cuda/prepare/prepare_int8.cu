// prepare, int8: rows as scaled bytes, by prepare_turned.cuh.
//
//   quantized  [n, dims]   in the order of byte_shape(): x~ = byte / scale, byte the nearest whole number to
//                          scale (x - c) from -127 to 127; padding is zeros
//
// Work: n * dims elements, read once, and a quarter as many bytes written, with a copy five quarters.
#include "prepare/prepare_turned.cuh"
#include "propose/int8.hpp"

namespace kith::cuda {
namespace {

struct Bytes {
  static constexpr std::uint32_t piece = sizeof(uint4);
  /// One over the scale was rounded to double, and so was each product with it.
  static constexpr double inexact = 0x1p-50;
  float scale;
  double unscale;

  /// The byte of x - c, in the low bits.
  __device__ __forceinline__ std::uint32_t byte_of(float x, float c, Squares& sums) const {
    constexpr float most = 127;
    const int byte = __float2int_rn(fminf(fmaxf((x - c) * scale, -most), most));
    sums.add(static_cast<double>(x) - static_cast<double>(c), static_cast<double>(byte) * unscale);
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
  const Bytes bytes{step.scale, 1.0 / static_cast<double>(step.scale)};
  return launch_turned(queue, preparation_of_lines(step), bytes, byte_shape(step.rows.dims));
}

}  // namespace kith::cuda
