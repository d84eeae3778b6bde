// Checks that all ranks were given the same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "communicator.hpp"
#include "kith/rows_view.hpp"

namespace kith::mpi {

/// Throws invalid_argument.
[[noreturn]] void refuse(const std::string& what);

/// Computes a digest of 64 bits that shows whether ranks were given the same: FNV-1a (Fowler, Noll, Vo 1991)
/// by words of 8 bytes. It need only catch mistakes, and byte by byte it would take as long as a search. It
/// has four sums, each of every fourth word, so that no product waits for the one before.
class Digest {
 public:
  void add(const void* data, std::size_t bytes);
  void add(const RowsView& rows);
  std::int64_t value() const;

 private:
  static constexpr std::size_t lanes = 4, word_bytes = sizeof(std::uint64_t);
  static constexpr std::uint64_t begin = 0xcbf29ce484222325u;

  static std::uint64_t mixed(std::uint64_t sum, std::uint64_t word) {
    sum = (sum ^ word) * 0x100000001b3u;
    return sum ^ sum >> 32;  // else the upper half of a word would never affect the lower one
  }
  void add(std::size_t lane, const unsigned char* from, std::size_t bytes);

  std::array<std::uint64_t, lanes> sums_ = {begin, begin, begin, begin};
};

/// Refuses facts that are not the same on all ranks; every rank throws, or none.
///   names  names of the facts; null: not compared
void require_same(const Communicator& ranks, std::span<const std::int64_t> facts,
                  std::span<const char* const> names);

}  // namespace kith::mpi
