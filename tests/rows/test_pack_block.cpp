// Tests that packed blocks of rows have the same values, whether a core or a device reads them next.
#include <random>

#include "common/data.hpp"
#include "common/test.hpp"
#include "rows/pack_block.hpp"

namespace kith::tests {
namespace {

TEST_CASE("pack block: what is packed for a device is what is packed for a core, any shape, any bits") {
  std::mt19937 random(7);
  constexpr float guard = 12345;
  for (const std::int64_t block : {1, 4, 6, 8, 16, 32})
    for (std::int64_t cols = 1; cols <= 13; ++cols)
      for (const std::int64_t gap : {0, 1, 5})
        for (const std::int64_t rows : {block - 1, block, block + 3}) {
          if (rows == 0) continue;
          CAPTURE_ALL(block, cols, rows);
          std::vector<float> values(size(rows * (cols + gap)));
          for (float& value : values) {
            const auto bits = static_cast<std::uint32_t>(random());  // NaNs and subnormal numbers among them
            std::memcpy(&value, &bits, sizeof value);
          }
          const MatrixView<const float> from(values.data(), rows, cols, cols + gap);
          for (std::int64_t r0 = 0; r0 < rows; r0 += block) {
            std::vector<float> expected(size(block * cols));
            for (std::int64_t b = 0; b < block && r0 + b < rows; ++b)
              for (std::int64_t d = 0; d < cols; ++d)
                std::memcpy(&expected[size(d * block + b)], from.row(r0 + b) + d, sizeof(float));
            for (const Reader reader : {Reader::core, Reader::device})
              for (const std::size_t shift : {0u, 1u}) {  // off a border of 16 bytes, too
                std::vector<float> out(expected.size() + 2, guard);
                pack_block(from, r0, block, out.data() + shift, reader);
                CHECK(std::memcmp(out.data() + shift, expected.data(), expected.size() * sizeof(float)) == 0);
                CHECK(out[shift == 0 ? expected.size() : 0] == guard);
                CHECK(out.back() == guard);
              }
          }
        }
}

}  // namespace
}  // namespace kith::tests
