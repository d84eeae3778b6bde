// Merges the results of searches in shards: docs/contract.md, section 13; docs/howto/shards.md.
//
// Shards are rows in several Index objects, on any devices of any machines. Each shard numbers its rows from
// IndexOptions::first_row and returns the keys of its k nearest. Merged in any order and any grouping, these
// are the keys that one Index of all rows returns, bit for bit. finish() makes the distances that users see
// at the end, since these are rounded once more (`sqrt`) and do not keep the order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kith/choices.hpp"
#include "kith/export.hpp"
#include "kith/metric.hpp"
#include "kith/neighbors.hpp"
#include "kith/rows_view.hpp"

namespace kith {

/// Holds the k nearest training rows of each query, ascending by value and then by row: the order of the
/// contract, section 2. A list of fewer than k rows is padded with (no_value, -1).
struct Keys {
  std::int64_t queries = 0;  ///< m
  std::int64_t k = 0;
  std::vector<std::uint32_t> value;         ///< [m, k], row-major: ordered() of the raw distance (key.hpp)
  std::vector<std::int64_t> row;            ///< [m, k], numbers among the rows of all shards
  Arithmetic arithmetic = Arithmetic::f32;  ///< f32, or f64: then values are in `value64`
  std::vector<std::uint64_t> value64 = {};  ///< [m, k], as `value`; without a row no_double

  bool operator==(const Keys&) const = default;
};

/// Holds all training rows within a radius of each query, in the same order. Those of query q are at first[q]
/// ... first[q + 1] - 1.
struct RadiusKeys {
  std::int64_t queries = 0;                 ///< m
  std::vector<std::int64_t> first;          ///< [m + 1], first[0] = 0
  std::vector<std::uint32_t> value;         ///< [first[m]]
  std::vector<std::int64_t> row;            ///< [first[m]]
  Arithmetic arithmetic = Arithmetic::f32;  ///< as in Keys
  std::vector<std::uint64_t> value64 = {};  ///< [first[m]], as `value`

  bool operator==(const RadiusKeys&) const = default;
};

/// Returns the k nearest of several lists, query by query. The result does not depend on the order of the
/// lists, nor on which of them were merged before. A key in several lists counts once, so that a shard may be
/// searched twice.
///   lists    at least one, all [m, k]
///   returns  [m, k]
/// Throws invalid_argument: no list; another m or k than that of the first, arrays of another length, or keys
///                          that no search returns, such as rows that do not ascend where values are equal
///                          (names the list and the first place).
KITH_API Keys merge(std::span<const Keys> lists);
/// Merges lists within a radius: all of their keys.
KITH_API RadiusKeys merge(std::span<const RadiusKeys> lists);

/// Returns what Index::search() of all rows returns: distances as users see them, and rows by their numbers.
///   shown  Index::shown() of each shard; its metric is enough but for those that shows_by_parameter() names
/// Throws invalid_argument: keys that no search returns, as for merge(); a parameter that is not the
///                          metric's.
KITH_API Neighbors finish(ShownBy shown, const Keys& keys);
/// Returns what Index::within() of all rows returns.
KITH_API RadiusNeighbors finish(ShownBy shown, const RadiusKeys& keys);

/// Leaves one row out of each list, for leave-one-out over shards; a list without that row loses its last
/// key. To have k neighbours, search every shard for k + 1, merge, and then leave out.
///   keys     [m, k + 1]
///   rows     [m]  the row that is no neighbour of each query, by its number; -1: none
///   returns  [m, k]
/// Throws invalid_argument: rows are not m, keys have k < 2, or no search returns such keys.
KITH_API Keys leave_out(const Keys& keys, std::span<const std::int64_t> rows);
/// Leaves rows out of lists within a radius; a list without its row does not change.
KITH_API RadiusKeys leave_out(const RadiusKeys& keys, std::span<const std::int64_t> rows);

/// Returns 64 bits that show whether two answers are equal, the same on every device and machine. They are
/// FNV-1a (Fowler, Noll, Vo 1991; 64 bits) over m, k, and then value and row of each key in turn; m, k and
/// rows as 8 bytes, values as 4, little-endian. It detects damage, but not a forged answer. Throws
/// invalid_argument: arrays that are not [m, k], keys that no search returns.
KITH_API std::uint64_t digest(const Keys& keys);

/// Returns max |element| of rows in the columns that count, for IndexOptions::largest: for all rows it is the
/// largest of those of the shards. That of doubles is rounded up.
///   features  as IndexOptions::features
/// Throws invalid_argument: a NaN or infinity, or a feature that Index would refuse.
KITH_API float largest_element(const RowsView& rows, const std::vector<std::int64_t>& features = {});

}  // namespace kith
