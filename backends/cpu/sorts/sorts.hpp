// The sequential selections of published systems with a CPU side (docs/methods.md): plain, as published, with
// one core per row. Each works for any k.
#pragma once

#include <cstddef>

#include "kith/key.hpp"

namespace kith::cpu {

/// Writes the k smallest of `count` keys in order; 1 <= k <= count, and no two keys are equal.
///   keys   [count]  may be changed
///   spare  [count]  may be used
///   out    [k]
using Sort = void(Key* keys, Key* spare, std::size_t count, std::size_t k, Key* out);

Sort rank_sort, merge_sort, selection_sort, quick_sort;

}  // namespace kith::cpu
