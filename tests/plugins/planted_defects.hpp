// What devices of the back end `planted` are wrong in: device planted:N has defect N.
#pragma once

#include <array>
#include <cstdint>

namespace kith::planted {

enum Defect : std::uint32_t {
  nothing,
  separate_multiply,  // rounds after the multiplication, too
  flushed,            // subnormal results become zero
  reversed,           // visits the dimensions from the last to the first
  ties_to_larger,     // among equal values the larger row first
  loses_infinity,     // takes +infinity for "none"
  merge_drops_last,   // never looks at the last list
  fused_reads_padding,
  throws_when_opened,
  throws_when_used,
  coarse_products,  // multiplies matrices with 11 bits of each number
  masks_from_zero,  // takes the first row of a tile for row 0
  scores_backwards,
  loses_the_rest,  // keeps sums, but not what rounding takes from them
  loses_minus,     // of many queries, in the fused step, but for those of its first vector
  tensor_cores,    // right, and with fp16
  coarse_cores,    // whose tensor cores cut one place more than docs/certificate.md takes them to
};

inline constexpr std::array names = {"right",
                                     "separate multiply",
                                     "flushed",
                                     "reversed",
                                     "ties to larger",
                                     "loses infinity",
                                     "merge drops last",
                                     "fused reads padding",
                                     "throws when opened",
                                     "throws when used",
                                     "coarse products",
                                     "masks from zero",
                                     "scores backwards",
                                     "loses the rest",
                                     "loses minus",
                                     "tensor cores",
                                     "coarse cores"};

}  // namespace kith::planted
