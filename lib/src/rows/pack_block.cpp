#include "rows/pack_block.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace kith {
namespace {

#if defined(__SSE2__)

constexpr std::int64_t lanes = 4;  // floats of a vector

/// Transposes four elements of four rows.
///   to  [4, block], aligned to 16 bytes
void stream_square(const float* from, std::int64_t stride, float* to, std::int64_t block) {
  __m128 a = _mm_loadu_ps(from), b = _mm_loadu_ps(from + stride), c = _mm_loadu_ps(from + 2 * stride),
         d = _mm_loadu_ps(from + 3 * stride);
  _MM_TRANSPOSE4_PS(a, b, c, d);
  _mm_stream_ps(to, a);
  _mm_stream_ps(to + block, b);
  _mm_stream_ps(to + 2 * block, c);
  _mm_stream_ps(to + 3 * block, d);
}

/// Takes four columns at a time, so that few lines of memory are incomplete at once: a core can combine
/// writes to about ten.
void stream_block(MatrixView<const float> rows, std::int64_t r0, std::int64_t block, float* out) {
  const std::int64_t squares = rows.cols() / lanes * lanes;
  for (std::int64_t d = 0; d < squares; d += lanes)
    for (std::int64_t b = 0; b < block; b += lanes)
      stream_square(rows.row(r0 + b) + d, rows.stride(), out + d * block + b, block);
  for (std::int64_t d = squares; d < rows.cols(); ++d)
    for (std::int64_t b = 0; b < block; b += lanes)
      _mm_stream_ps(out + d * block + b, _mm_set_ps(rows(r0 + b + 3, d), rows(r0 + b + 2, d),
                                                    rows(r0 + b + 1, d), rows(r0 + b, d)));
  _mm_sfence();  // makes the block visible before anybody is told that it is ready
}

bool streams(MatrixView<const float> rows, std::int64_t r0, std::int64_t block, const float* out) {
  constexpr std::uintptr_t border = lanes * sizeof(float);
  return block % lanes == 0 && r0 + block <= rows.rows() &&
         reinterpret_cast<std::uintptr_t>(out) % border == 0;
}

#endif

}  // namespace

void pack_block(MatrixView<const float> rows, std::int64_t r0, std::int64_t block, float* out,
                [[maybe_unused]] Reader reader) {
#if defined(__SSE2__)
  if (reader == Reader::device && streams(rows, r0, block, out)) return stream_block(rows, r0, block, out);
#endif
  for (std::int64_t b = 0; b < block; ++b) {
    const float* row = r0 + b < rows.rows() ? rows.row(r0 + b) : nullptr;
    for (std::int64_t d = 0; d < rows.cols(); ++d) out[d * block + b] = row ? row[d] : 0.0f;
  }
}

}  // namespace kith
