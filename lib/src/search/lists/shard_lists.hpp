// Lists of the keys that shards exchange, in whatever memory they lie: checked, merged, finished.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kith/key.hpp"
#include "kith/keys.hpp"

namespace kith {

/// What is nearer is smaller: the order of the contract, with rows of 64 bits.
struct ShardKey {
  std::uint32_t value = no_value;
  std::int64_t row = -1;

  // clang-tidy 14 takes the 0 that such an operator is compared with for a pointer.
  auto operator<=>(const ShardKey&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// A list for each query.
struct ShardLists {
  std::int64_t queries = 0;
  std::int64_t k = 0;                   ///< keys a list, where `first` is null
  const std::int64_t* first = nullptr;  ///< [queries + 1], that of query q begins at first[q]
  const std::uint32_t* value = nullptr;
  const std::int64_t* row = nullptr;

  std::size_t begin(std::int64_t q) const { return static_cast<std::size_t>(first ? first[q] : q * k); }
  std::size_t count(std::int64_t q) const { return begin(q + 1) - begin(q); }
  ShardKey at(std::size_t place) const { return {value[place], row[place]}; }
};

/// Keys as lists. Throws invalid_argument: arrays of another length.
///   which  place in what is merged; -1: there is one alone
ShardLists lists_of(std::string_view where, const Keys& keys, std::int64_t which = -1);
ShardLists lists_of(std::string_view where, const RadiusKeys& keys, std::int64_t which = -1);

/// Lists of k places without a key.
Keys lists_of_none(std::int64_t queries, std::int64_t k);

/// Refuse lists that no search has: keys that do not ascend, values of no distance, rows below 0, and, but at
/// the end of lists of k, (no_value, -1).
/// Throws invalid_argument: names the first place.
void check_keys(std::string_view where, const ShardLists& lists, std::int64_t which = -1);

/// The k nearest of `lists`, which are of the same shape, to value and row, [m, k].
/// Throws invalid_argument: there is none, a shape differs, or what check_keys() refuses.
void merge_keys(std::span<const ShardLists> lists, std::uint32_t* value, std::int64_t* row);
/// The same of lists that searches have just made: nothing is checked.
void unite_keys(std::span<const ShardLists> lists, std::uint32_t* value, std::int64_t* row);
/// All of `lists`.
RadiusKeys merge_radius_keys(std::span<const ShardLists> lists);

/// Refuse values of no distance by `metric`, such as one below 0 by cosine. Throws
/// invalid_argument: names the first.
void check_values(std::string_view where, Metric metric, std::span<const std::uint32_t> values);

/// Distances as users see them: [count]; +infinity for no_value.
void finish_values(Metric metric, std::span<const std::uint32_t> values, float* distance);
/// Writes distances as finish_values() does, and copies the row of each key. Both arrays are [count].
void finish_keys(Metric metric, const Keys& keys, float* distance, std::int64_t* row);

/// Each list of k without the row named, or without its last key: to value and row, [m, k - 1].
/// Throws as leave_out() does.
void leave_out_of(const ShardLists& lists, std::span<const std::int64_t> rows, std::uint32_t* value,
                  std::int64_t* row);

std::uint64_t digest_of(const ShardLists& lists);

}  // namespace kith
