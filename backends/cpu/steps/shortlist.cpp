#include "cpu/steps/shortlist.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "cpu/isa/kernels.hpp"
#include "kith/key.hpp"

namespace kith::cpu {
namespace {

/// With less spare room between two cuts, cutting costs more than the rows that it excludes.
constexpr std::size_t least_spare = 8;

/// Makes keys of the entries that were appended since the last call.
Key* rank(Shortlists& lists, std::size_t list) {
  Key* const entries = lists.entries + list * lists.capacity;
  for (std::size_t i = lists.ranked[list]; i < lists.counts[list]; ++i)
    entries[i] = make_key(std::bit_cast<float>(static_cast<std::uint32_t>(entries[i] >> 32)),
                          static_cast<std::uint32_t>(entries[i]));
  lists.ranked[list] = lists.counts[list];
  return entries;
}

}  // namespace

std::size_t shortlist_capacity(std::size_t k, std::size_t rows) {
  return std::min(rows, k + std::max(k, least_spare)) + train_block;
}

void clear(Shortlists& lists, std::size_t list) {
  lists.counts[list] = 0;
  lists.ranked[list] = 0;
  lists.thresholds[list] = std::numeric_limits<float>::quiet_NaN();
}

void cut(Shortlists& lists, std::size_t list) {
  Key* const entries = rank(lists, list);
  Key* const last = entries + lists.k - 1;
  if (!lists.sort_few(entries, lists.counts[list]))
    std::nth_element(entries, last, entries + lists.counts[list]);
  lists.counts[list] = lists.ranked[list] = lists.k;
  lists.thresholds[list] = value_of(*last);
}

void finish(Shortlists& lists, std::size_t list, std::uint64_t* out) {
  Key* const entries = rank(lists, list);
  const std::size_t count = std::min(lists.counts[list], lists.k);
  if (!lists.sort_few(entries, lists.counts[list])) {
    if (lists.counts[list] > lists.k) cut(lists, list);
    std::sort(entries, entries + count);
  }
  std::fill(std::copy(entries, entries + count, out), out + lists.k, no_key);
}

}  // namespace kith::cpu
