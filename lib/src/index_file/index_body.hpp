// Reads the body of an index file block by block; each is compared with its checksum before use.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/whole_file.hpp"
#include "index_file/index_layout.hpp"
#include "kith/error.hpp"

namespace kith {

/// Holds an open file with a valid head. The file may change meanwhile: every size is checked again when it
/// is read, and no memory is mapped.
class IndexFile {
 public:
  /// Throws bad_file if it cannot be read, and as read_head() does.
  explicit IndexFile(const std::string& path);

  const IndexLayout& layout() const { return layout_; }
  int descriptor() const { return file_.get(); }

  /// Reads exactly these bytes. Throws bad_file.
  void read(std::uint64_t first, void* to, std::size_t bytes) const;
  /// Advises the system to fetch these bytes from now on.
  void expect(std::uint64_t first, std::uint64_t bytes) const;

 private:
  Descriptor file_;
  IndexLayout layout_;
};

class IndexBody {
 public:
  /// Reads the checksums.
  ///   part  a part of the rows; skips blocks that hold only other rows, or numbers of these
  /// Throws bad_file.
  IndexBody(const IndexFile& file, const OpenOptions& options, const IndexPart& part);
  /// Reads the whole file.
  IndexBody(const IndexFile& file, const OpenOptions& options)
      : IndexBody(file, options, {0, file.layout().info.rows}) {}

  /// Returns the next block, valid until the next call; empty after the last one. Throws bad_file if it is
  /// not what was written; interrupted.
  std::span<const unsigned char> next();
  /// Returns where the last block begins in the file.
  std::uint64_t offset() const { return offset_; }

 private:
  void tell_progress() const;
  /// Returns the offset of the next block that is needed, from the block at `from` on.
  std::uint64_t needed_from(std::uint64_t from) const;

  const IndexFile& file_;
  const OpenOptions& options_;
  std::vector<std::uint64_t> sums_;
  std::vector<unsigned char> block_;
  std::vector<IndexFileSection> unneeded_;  ///< bytes of sections that belong to other parts
  std::uint64_t offset_ = 0, next_ = index_head_bytes, read_ = 0, needed_ = 0;
};

/// Calls take(bytes) with the bytes of `section` that are in a block of the file.
template <class Take>
void pass_section(const IndexFileSection& section, std::span<const unsigned char> block, std::uint64_t offset,
                  const Take& take) {
  const std::uint64_t first = std::max(offset, section.offset),
                      end = std::min(offset + block.size(), section.offset + section.bytes);
  if (first < end)
    take(block.subspan(static_cast<std::size_t>(first - offset), static_cast<std::size_t>(end - first)));
}

/// Runs body(), and puts `path` before its messages about the file.
template <class Body>
auto about_index_file(const std::string& path, const Body& body) {
  try {
    return body();
  } catch (const Error& error) {
    if (error.code() != Errc::bad_file) throw;
    throw Error(Errc::bad_file, std::string(index_where) + ": " + path + ": " + error.what());
  }
}

}  // namespace kith
