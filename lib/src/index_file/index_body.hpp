// The body of an index file, block by block, each compared with its checksum before anything is made of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/whole_file.hpp"
#include "index_file/index_layout.hpp"
#include "kith/error.hpp"

namespace kith {

/// A file whose head could be read. It may change meanwhile: every size is checked again where it is read,
/// and no memory is mapped.
class IndexFile {
 public:
  /// Throws bad_file: as read_head() does, or it cannot be read.
  explicit IndexFile(const std::string& path);

  const IndexLayout& layout() const { return layout_; }
  int descriptor() const { return file_.get(); }

  /// Exactly these bytes.
  /// Throws bad_file.
  void read(std::uint64_t first, void* to, std::size_t bytes) const;
  /// From now on the system may fetch these bytes.
  void expect(std::uint64_t first, std::uint64_t bytes) const;

 private:
  Descriptor file_;
  IndexLayout layout_;
};

class IndexBody {
 public:
  /// Reads the checksums.
  ///   part  of the rows; blocks that hold only other rows, or what is told of them, are passed over
  /// Throws bad_file.
  IndexBody(const IndexFile& file, const OpenOptions& options, const IndexPart& part);
  /// Of the whole file.
  IndexBody(const IndexFile& file, const OpenOptions& options)
      : IndexBody(file, options, {0, file.layout().info.rows}) {}

  /// The next block, until the next call; empty behind the last one.
  /// Throws bad_file: it is not what was written; interrupted.
  std::span<const unsigned char> next();
  /// Where the last block begins in the file.
  std::uint64_t offset() const { return offset_; }

 private:
  void tell_progress() const;
  /// The first byte of the next block that is needed, from the block at `from` on.
  std::uint64_t needed_from(std::uint64_t from) const;

  const IndexFile& file_;
  const OpenOptions& options_;
  std::vector<std::uint64_t> sums_;
  std::vector<unsigned char> block_;
  std::vector<IndexFileSection> unneeded_;  ///< bytes of sections that only other parts need
  std::uint64_t offset_ = 0, next_ = index_head_bytes, read_ = 0, needed_ = 0;
};

/// Calls take(bytes) with what of `section` is in a block of the file.
template <class Take>
void pass_section(const IndexFileSection& section, std::span<const unsigned char> block, std::uint64_t offset,
                  const Take& take) {
  const std::uint64_t first = std::max(offset, section.offset),
                      end = std::min(offset + block.size(), section.offset + section.bytes);
  if (first < end)
    take(block.subspan(static_cast<std::size_t>(first - offset), static_cast<std::size_t>(end - first)));
}

/// body(), whose errors about a file are then about `path`.
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
