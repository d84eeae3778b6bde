// Lists the defects of the devices of the back end `planted`: device planted:N has defect N.
#pragma once

#include <array>
#include <cstdint>

namespace kith::planted {

enum Defect : std::uint32_t {
  nothing,
  separate_multiply,  // rounds after the multiplication, too
  flushed,            // turns subnormal results into zero
  reversed,           // visits the dimensions from the last to the first
  ties_to_larger,     // sorts the larger row first among equal values
  loses_infinity,     // mistakes +infinity for "no key"
  merge_drops_last,   // ignores the last list
  fused_reads_padding,
  throws_when_opened,
  throws_when_used,
  coarse_products,  // multiplies matrices with 11 bits of each number
  masks_from_zero,  // takes the first row of a tile for row 0
  scores_backwards,
  loses_the_rest,  // keeps sums without their rounding errors
  loses_minus,   // in the fused step with many queries, negative_dot is 0 beyond the first vector of queries
  tensor_cores,  // has fp16, and no defect
  coarse_cores,  // cuts one place earlier than docs/certificate.md assumes
  separate_doubles,  // rounds after the multiplication, too, in double precision alone
  ignores_box,       // takes rows in a periodic box for rows that are in none
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
                                     "coarse cores",
                                     "separate doubles",
                                     "ignores box"};

}  // namespace kith::planted
