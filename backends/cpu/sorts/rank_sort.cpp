// rank_sort: places each key by the number of smaller keys.
//
// Work: count^2 comparisons, for any k. Source: enumeration sort, Knuth, The Art of Computer Programming
// 3, 5.2; for k-NN in CUDA Ajorian, Bastan, Montazeri (Isfahan University of Technology), whose CPU side
// this is.
#include "cpu/sorts/sorts.hpp"

namespace kith::cpu {

void rank_sort(Key* keys, Key*, std::size_t count, std::size_t k, Key* out) {
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t place = 0;
    for (std::size_t j = 0; j < count; ++j) place += keys[j] < keys[i];
    if (place < k) out[place] = keys[i];
  }
}

}  // namespace kith::cpu
