// The sequential selections of the systems that had a CPU side (docs/methods.md): plain, as published,
// one core a row. Each takes any k.
#pragma once

#include <cstddef>

#include "kith/key.hpp"

namespace kith::cpu {

/// Put the k smallest of `count` keys in order; 1 <= k <= count, no two keys are equal.
///   keys   [count]  may be changed
///   spare  [count]  may be used
///   out    [k]
using Sort = void(Key* keys, Key* spare, std::size_t count, std::size_t k, Key* out);

Sort rank_sort, merge_sort, selection_sort, quick_sort;

}  // namespace kith::cpu
