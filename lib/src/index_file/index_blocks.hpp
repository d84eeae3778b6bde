// Reads the head of an open index file, and its blocks, each of which is compared with its checksum
// before use.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "index_file/index_layout.hpp"

namespace kith {

/// Reads the head of the file. Throws bad_file if it cannot be read, and as read_head() does.
IndexLayout layout_in(int fd);

/// Reads exactly these bytes. Throws bad_file.
void read_exactly(int fd, std::uint64_t first, void* to, std::size_t bytes);

/// Reads the checksum of each block of the body, followed by one of these checksums. Throws bad_file if they
/// do not match.
std::vector<std::uint64_t> checksums_in(int fd, const IndexLayout& layout);

/// Throws bad_file if the block at `offset` of the file is not what was written.
///   sums  checksums of the pieces of the block
///   sum   the checksum of these in the file
void check_block(std::uint64_t offset, std::uint64_t bytes, std::span<const std::uint64_t> sums,
                 std::uint64_t sum);

/// Checks blocks for readers of scattered bytes. Safe from any number of threads.
class IndexBlocks {
 public:
  /// Reads the checksums. The descriptor must stay open while this lives. Throws bad_file.
  IndexBlocks(int fd, const IndexLayout& layout);

  /// Checks each block that holds some of these bytes of the file, unless it was checked before.
  /// Throws bad_file.
  void check(std::uint64_t first, std::uint64_t bytes) const;

 private:
  void check_block_at(std::uint64_t block) const;

  const int fd_;
  const std::uint64_t end_;  ///< end of the body
  const std::vector<std::uint64_t> sums_;
  const std::unique_ptr<std::once_flag[]> checked_;
};

}  // namespace kith
