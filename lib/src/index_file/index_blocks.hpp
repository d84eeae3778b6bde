// The head of an index file that is open, and its blocks, each compared with its checksum before it is
// believed.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "index_file/index_layout.hpp"

namespace kith {

/// What the head of the file says. Throws bad_file: as read_head() does, or it cannot be read.
IndexLayout layout_in(int fd);

/// Exactly these bytes. Throws bad_file.
void read_exactly(int fd, std::uint64_t first, void* to, std::size_t bytes);

/// Of each block of the body, then of these.
/// Throws bad_file: they do not match.
std::vector<std::uint64_t> checksums_in(int fd, const IndexLayout& layout);

/// Throws bad_file: the block at `offset` of the file is not what was written.
///   sums  of the pieces of the block
///   sum   what the file has of them
void check_block(std::uint64_t offset, std::uint64_t bytes, std::span<const std::uint64_t> sums,
                 std::uint64_t sum);

/// For whoever reads bytes here and there. Any number of threads may ask at once.
class IndexBlocks {
 public:
  /// The descriptor stays open as long as this. Reads the checksums.
  /// Throws bad_file.
  IndexBlocks(int fd, const IndexLayout& layout);

  /// Compares each block that has some of these bytes of the file, where nobody has before.
  /// Throws bad_file.
  void check(std::uint64_t first, std::uint64_t bytes) const;

 private:
  void check_block_at(std::uint64_t block) const;

  const int fd_;
  const std::uint64_t end_;  ///< of the body
  const std::vector<std::uint64_t> sums_;
  const std::unique_ptr<std::once_flag[]> checked_;
};

}  // namespace kith
