// quick_sort: splits parts around a middle key until they are short, and sorts these by insertion.
//
// Work: about 1.4 * count * log2(count) comparisons, for any k. The median of three keys makes the quadratic
// case rare; recursing into the shorter part first keeps the depth below log2(count). Source: Hoare 1961,
// with the median of three and the final insertion of Sedgewick 1978; for k-NN the sequential program of
// Batlle, Ballber (FIB-UPC 2020).
#include <algorithm>

#include "cpu/sorts/sorts.hpp"

namespace kith::cpu {
namespace {

constexpr std::ptrdiff_t short_part = 16;

void insertion_sort(Key* begin, Key* end) {
  for (Key* at = begin; at < end; ++at) {
    const Key key = *at;
    Key* to = at;
    for (; to > begin && key < to[-1]; --to) *to = to[-1];
    *to = key;
  }
}

Key median(Key a, Key b, Key c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

/// Exchanges keys until none in the first part is above the pivot, and none in the second part is below it.
Key* split(Key* begin, Key* end) {
  const Key pivot = median(*begin, begin[(end - begin) / 2], end[-1]);
  Key *left = begin, *right = end - 1;
  for (;;) {
    while (*left < pivot) ++left;
    while (pivot < *right) --right;
    if (left >= right) return left;
    std::swap(*left++, *right--);
  }
}

void sort_part(Key* begin, Key* end) {
  while (end - begin > short_part) {
    Key* const middle = split(begin, end);
    if (middle - begin < end - middle) {
      sort_part(begin, middle);
      begin = middle;
    } else {
      sort_part(middle, end);
      end = middle;
    }
  }
  insertion_sort(begin, end);
}

}  // namespace

void quick_sort(Key* keys, Key*, std::size_t count, std::size_t k, Key* out) {
  sort_part(keys, keys + count);
  std::copy(keys, keys + k, out);
}

}  // namespace kith::cpu
