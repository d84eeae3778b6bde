// What searches of shards return so that it can be merged: docs/contract.md, section 13;
// docs/howto/shards.md.
//
// Rows that lie in several Index objects, on any devices of any machines, are shards. Each shard numbers its
// rows from IndexOptions::first_row and gives the keys of its k nearest; merged in any order and any grouping
// they are the keys that one Index of all rows has, bit for bit. Distances as users see them are rounded once
// more (`sqrt`) and do not keep the order: they are made last, by finish().
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kith/export.hpp"
#include "kith/metric.hpp"
#include "kith/neighbors.hpp"
#include "kith/rows_view.hpp"

namespace kith {

/// The k nearest training rows of each query, by value and then by row, both ascending: the order of the
/// contract, section 2. A list of fewer than k rows ends in (no_value, -1).
struct Keys {
  std::int64_t queries = 0;  ///< m
  std::int64_t k = 0;
  std::vector<std::uint32_t> value;  ///< [m, k], row-major: ordered() of the raw distance (key.hpp)
  std::vector<std::int64_t> row;     ///< [m, k], numbers among the rows of all shards

  bool operator==(const Keys&) const = default;
};

/// All training rows within a radius of each query, in the same order. Those of query q are at first[q] ...
/// first[q + 1] - 1.
struct RadiusKeys {
  std::int64_t queries = 0;          ///< m
  std::vector<std::int64_t> first;   ///< [m + 1], first[0] = 0
  std::vector<std::uint32_t> value;  ///< [first[m]]
  std::vector<std::int64_t> row;     ///< [first[m]]

  bool operator==(const RadiusKeys&) const = default;
};

/// The k nearest of several lists, query by query. It does not matter in which order lists are given, nor
/// which of them were merged before. A key that is in several of them counts once, so that a shard may be
/// searched twice.
///   lists    at least one, all [m, k]
///   returns  [m, k]
/// Throws invalid_argument: no list; another m or k than that of the first, arrays of another length, or keys
///                          that no search has, such as rows that do not ascend where values are equal (names
///                          the list and the first place).
KITH_API Keys merge(std::span<const Keys> lists);
/// All of several lists; the same.
KITH_API RadiusKeys merge(std::span<const RadiusKeys> lists);

/// What Index::search() of all rows returns: distances as users see them, and rows by their numbers.
///   metric  of the shards
/// Throws invalid_argument: keys that no search has, as merge() does.
KITH_API Neighbors finish(Metric metric, const Keys& keys);
/// What Index::within() of all rows returns; the same.
KITH_API RadiusNeighbors finish(Metric metric, const RadiusKeys& keys);

/// Leave-one-out over shards: each list without one row, where it is not in the list without its last key. To
/// have k neighbours, search every shard for k + 1, merge, and then leave out.
///   keys     [m, k + 1]
///   rows     [m]  of each query the row that is no neighbour of it, by its number; -1: none
///   returns  [m, k]
/// Throws invalid_argument: rows are not m, keys have k < 2, or are such as no search has.
KITH_API Keys leave_out(const Keys& keys, std::span<const std::int64_t> rows);
/// The same for lists within a radius: a list that does not hold its row stays.
KITH_API RadiusKeys leave_out(const RadiusKeys& keys, std::span<const std::int64_t> rows);

/// 64 bits that tell whether two answers are the same: the same on every device and every machine. FNV-1a
/// (Fowler, Noll, Vo 1991; 64 bits) over m, k, and then value and row of each key in turn; m, k and rows as 8
/// bytes, values as 4, little-endian. It finds damage; it does not stop anyone from forging an answer.
/// Throws invalid_argument: arrays that are not [m, k], keys that no search finds.
KITH_API std::uint64_t digest(const Keys& keys);

/// max |element| of rows in the columns that count, for IndexOptions::largest: that of all rows is the
/// largest of those of the shards.
///   features  as IndexOptions::features
/// Throws invalid_argument: a NaN or infinity, or a feature, as Index does.
KITH_API float largest_element(const RowsView& rows, const std::vector<std::int64_t>& features = {});

}  // namespace kith
