// Checks, merges and finishes lists of the keys that shards exchange, in any memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kith/key.hpp"
#include "kith/keys.hpp"
#include "kith/metric.hpp"

namespace kith {

/// Views a list for each query.
///   Code  ordered() of a raw value: 32 bits of floats, 64 bits of doubles
template <class Code>
struct ListsOf {
  std::int64_t queries = 0;
  std::int64_t k = 0;                   ///< keys per list if `first` is null
  const std::int64_t* first = nullptr;  ///< [queries + 1], the list of query q begins at first[q]
  const Code* value = nullptr;
  const std::int64_t* row = nullptr;

  std::size_t begin(std::int64_t q) const { return static_cast<std::size_t>(first ? first[q] : q * k); }
  std::size_t count(std::int64_t q) const { return begin(q + 1) - begin(q); }
};

using ShardLists = ListsOf<std::uint32_t>;
using DoubleLists = ListsOf<std::uint64_t>;

/// The code of a place without a row: no_value, or no_double.
template <class Code>
inline constexpr Code no_code = static_cast<Code>(~Code{0});

/// Views keys as lists. Throws invalid_argument: arrays of another length.
///   which  number of the list among those that are merged, for messages; -1: there is only one
template <class Code = std::uint32_t>
ListsOf<Code> lists_of(std::string_view where, const Keys& keys, std::int64_t which = -1);
template <class Code = std::uint32_t>
ListsOf<Code> lists_of(std::string_view where, const RadiusKeys& keys, std::int64_t which = -1);

/// Returns the vector of `keys`, Keys or RadiusKeys, that holds codes of this width.
template <class Code, class Lists>
auto& codes_of(Lists& keys) {
  if constexpr (sizeof(Code) == sizeof(std::uint32_t))
    return keys.value;
  else
    return keys.value64;
}

/// Returns lists of k places without a key.
Keys lists_of_none(std::int64_t queries, std::int64_t k);

/// Refuses lists that no search produces: keys that do not ascend, values of no distance, rows below 0, and
/// (no_value, -1) except at the end of lists of k. Throws invalid_argument: names the first place.
template <class Code>
void check_keys(std::string_view where, const ListsOf<Code>& lists, std::int64_t which = -1);

/// Merges `lists`, which have the same shape, and writes the k nearest to value and row, [m, k]. Throws
/// invalid_argument: there is no list, a shape differs, or check_keys() refuses a list.
template <class Code>
void merge_keys(std::span<const ListsOf<Code>> lists, Code* value, std::int64_t* row);
/// Merges lists in the same way without checks, since searches have just made them.
template <class Code>
void unite_keys(std::span<const ListsOf<Code>> lists, Code* value, std::int64_t* row);
/// Merges lists of radius searches, and keeps all keys.
template <class Code>
RadiusKeys merge_radius_keys(std::span<const ListsOf<Code>> lists);

/// Refuses a parameter that is not the metric's, and values of no distance, as one below 0 by cosine (names
/// the first).
template <class Code>
void check_shown(std::string_view where, ShownBy shown, std::span<const Code> values);

/// Writes distances as users see them, [count]; +infinity for no_value and no_double.
void finish_values(ShownBy shown, std::span<const std::uint32_t> values, float* distance);
void finish_values(ShownBy shown, std::span<const std::uint64_t> values, double* distance);
/// Writes distances as finish_values() does, and copies the row of each key. Both arrays are [count].
void finish_keys(ShownBy shown, const Keys& keys, float* distance, std::int64_t* row);

/// Writes each list of k without the row that `rows` names, or else without its last key, to value and row,
/// [m, k - 1]. Throws as leave_out() does.
template <class Code>
void leave_out_of(const ListsOf<Code>& lists, std::span<const std::int64_t> rows, Code* value,
                  std::int64_t* row);

template <class Code>
std::uint64_t digest_of(const ListsOf<Code>& lists);

}  // namespace kith
