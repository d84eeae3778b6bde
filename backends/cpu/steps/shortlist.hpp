// The selection `threshold` on the CPU. A list keeps the candidates that are no farther than the k-th of
// those before them. When it is full, only the k nearest are kept, which is a cut.
//
// Rows arrive in ascending order, so a row at the same distance as the k-th comes after it, and comparing
// values is enough. Until there are k rows, the threshold is NaN: "not at least the threshold" is then true
// for every value, including +infinity.
//
// Between two cuts about as many rows pass as a list has room for. If rows are in random order, a list of 2k
// is cut log2(rows / k) times, so that the work beside the scan is O(k log(rows / k)). Source: the idea of
// the reservoir in the CPU search of FAISS (Johnson, Douze, Jegou 2017).
#pragma once

#include <cstddef>
#include <cstdint>

namespace kith::cpu {

/// Lists of several queries. It is plain data (see kernels.hpp).
struct Shortlists {
  std::uint64_t* entries;  ///< [lists, capacity], in any order
  std::size_t capacity;
  std::size_t* counts;  ///< [lists]
  /// [lists] number of leading entries that are keys; the others are bits of value << 32 | row
  std::size_t* ranked;
  /// [lists] value of the k-th nearest at the last cut; NaN before the first cut. A tile that is not full
  /// reads up to 7 floats before and behind.
  float* thresholds;
  std::size_t k;
  bool (*sort_few)(std::uint64_t* keys, std::size_t count);  ///< of Kernels
};

/// Returns how many entries a list needs so that a scan of `rows` rows, one block at a time, never
/// lacks room.
std::size_t shortlist_capacity(std::size_t k, std::size_t rows);

/// Empties one list.
void clear(Shortlists& lists, std::size_t list);

/// Cuts a list to its k nearest, in any order, and lowers its threshold. The list must have at least k
/// entries.
void cut(Shortlists& lists, std::size_t list);

/// Writes the k nearest of a list in order, padded with no_key.
///   out  [k]  keys
void finish(Shortlists& lists, std::size_t list, std::uint64_t* out);

}  // namespace kith::cpu
