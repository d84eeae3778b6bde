// merge_sort: merges runs of 1, 2, 4, ... keys in pairs, from one array into the other and back.
//
// Work: count * log2(count) comparisons, for any k. Source: von Neumann 1945, after Knuth, The Art of
// Computer Programming 3, 5.2.4; for k-NN the CPU side of knn03 (Batlle, Ballber; FIB-UPC 2020).
#include <algorithm>

#include "cpu/sorts/sorts.hpp"

namespace kith::cpu {
namespace {

void merge_runs(const Key* left, const Key* middle, const Key* end, Key* out) {
  const Key* right = middle;
  while (left < middle && right < end) *out++ = *left < *right ? *left++ : *right++;
  while (left < middle) *out++ = *left++;
  while (right < end) *out++ = *right++;
}

}  // namespace

void merge_sort(Key* keys, Key* spare, std::size_t count, std::size_t k, Key* out) {
  for (std::size_t run = 1; run < count; run *= 2) {
    for (std::size_t at = 0; at < count; at += 2 * run)
      merge_runs(keys + at, keys + std::min(count, at + run), keys + std::min(count, at + 2 * run),
                 spare + at);
    std::swap(keys, spare);
  }
  std::copy(keys, keys + k, out);
}

}  // namespace kith::cpu
