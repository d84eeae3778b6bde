// Tests keys, each one number for value and row of a candidate: docs/contract.md, section 2.
#include "common/oracle.hpp"
#include "common/test.hpp"
#include "kith/key.hpp"

namespace kith::tests {
namespace {

TEST_CASE("key: smaller values first, then smaller rows, then none") {
  const std::vector<Key> in_order{make_key(-inf, 5),
                                  make_key(-flt_max, 0),
                                  make_key(-1, 9),
                                  make_key(-denormal, 0),
                                  make_key(-0.0f, 0),
                                  make_key(0.0f, 1),
                                  make_key(-0.0f, 2),
                                  make_key(denormal, 0),
                                  make_key(1, 0),
                                  make_key(1, 1),
                                  make_key(flt_max, 0),
                                  make_key(inf, 0),
                                  make_key(inf, 0xFFFFFFFDu),
                                  no_key};
  CHECK(std::is_sorted(in_order.begin(), in_order.end()));
  CHECK(std::adjacent_find(in_order.begin(), in_order.end()) == in_order.end());
}

TEST_CASE("key: value and row come back, and minus zero comes back as plus zero") {
  for (const float value : {-inf, -flt_max, -1.5f, -denormal, 0.0f, denormal, flt_min, 1.5f, flt_max, inf})
    for (const std::uint32_t row : {0u, 1u, 0x80000000u, 0xFFFFFFFDu}) {
      CHECK(bits(std::vector<float>{value_of(make_key(value, row))}) == bits(std::vector<float>{value}));
      CHECK(row_of(make_key(value, row)) == row);
      CHECK(make_key(value, row) == key({value, row}));  // computed by the oracle's own arithmetic
    }
  CHECK(make_key(-0.0f, 3) == make_key(0.0f, 3));
  CHECK(bits(std::vector<float>{value_of(make_key(-0.0f, 3))}) == bits(std::vector<float>{0.0f}));
}

TEST_CASE("key: none is at plus infinity, behind every candidate there can be") {
  CHECK(value_of(no_key) == inf);
  CHECK(row_of(no_key) == no_row);
  CHECK(make_key(inf, no_row - 1) < no_key);
}

TEST_CASE("key: ordered and unordered are inverse for all floats near every change of exponent") {
  for (std::uint32_t exponent = 0; exponent < 255; ++exponent)
    for (const std::uint32_t mantissa : {0u, 1u, 2u, 0x7FFFFEu, 0x7FFFFFu})
      for (const std::uint32_t sign : {0u, 0x80000000u}) {
        const std::uint32_t pattern = sign | exponent << 23 | mantissa;
        if (pattern == 0x80000000u) continue;
        const auto value = std::bit_cast<float>(pattern);
        REQUIRE(std::bit_cast<std::uint32_t>(unordered(ordered(value))) == pattern);
        if (mantissa + 1 < 0x800000u) {
          const auto next = std::bit_cast<float>(pattern + 1);  // the next value away from zero
          REQUIRE((sign ? ordered(next) < ordered(value) : ordered(next) > ordered(value)));
        }
      }
}

}  // namespace
}  // namespace kith::tests
