// The selection called `threshold` on the CPU. A list keeps the candidates that were no farther than
// the k-th of those before them; when it is full, it is cut back to the k nearest.
//
// Rows arrive in ascending order, so a row as far as the k-th is behind it, and the test is a plain
// comparison of values. Until k rows are in, the threshold is NaN, with which "not at least the
// threshold" holds for every value, +infinity included.
//
// Between two cuts about as many rows pass as a list has room for; a list of 2k is cut
// log2(rows / k) times on rows in random order, so the work beside the scan is O(k log(rows / k)).
// Source: FAISS (Johnson, Douze, Jegou 2017), the reservoir of its CPU search, in idea.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kith::cpu {

/// Lists for several queries. Plain data (see kernels.hpp).
struct Shortlists {
  std::uint64_t* entries;  ///< [lists, capacity], in no order
  std::size_t capacity;
  std::size_t* counts;  ///< [lists]
  std::size_t* ranked;  ///< [lists] leading entries that are keys; the others are bits of value << 32 | row
  /// [lists] value of the k-th nearest, as of the last cut; NaN before the first. A tile that is not
  /// full reads up to 7 floats before and behind.
  float* thresholds;
  std::size_t k;
};

/// Entries a list needs so that a scan of `rows` rows, a block at a time, never lacks room.
std::size_t shortlist_capacity(std::size_t k, std::size_t rows);

/// Empty one list.
void clear(Shortlists& lists, std::size_t list);

/// Cut a list back to its k nearest and lower its threshold. Holds at least k entries.
void cut(Shortlists& lists, std::size_t list);

/// Write the k nearest of a list in order, padded with no_key.
///   out  [k]  keys
void finish(Shortlists& lists, std::size_t list, std::uint64_t* out);

}  // namespace kith::cpu
