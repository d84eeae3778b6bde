// selection_sort: moves the smallest of the remaining keys to the front, k times.
//
// Work: k * (count - k / 2) comparisons.
// Source: Knuth, The Art of Computer Programming 3, 5.2.3; for k-NN the CPU side of knn00 ... knn02
// (Batlle, Ballber; FIB-UPC 2020).
#include <utility>

#include "cpu/sorts/sorts.hpp"

namespace kith::cpu {

void selection_sort(Key* keys, Key*, std::size_t count, std::size_t k, Key* out) {
  for (std::size_t place = 0; place < k; ++place) {
    std::size_t smallest = place;
    for (std::size_t i = place + 1; i < count; ++i)
      if (keys[i] < keys[smallest]) smallest = i;
    std::swap(keys[place], keys[smallest]);
    out[place] = keys[place];
  }
}

}  // namespace kith::cpu
