#include "index_file/index_body.hpp"

#include <fcntl.h>

#include <algorithm>
#include <exception>
#include <mutex>

#include "base/border.hpp"
#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "base/xxh64.hpp"
#include "host/parallel.hpp"
#include "index_file/index_blocks.hpp"
#include "kith/error.hpp"

namespace kith {

IndexFile::IndexFile(const std::string& path)
    : file_(open_file(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)), layout_(layout_in(file_.get())) {}

void IndexFile::read(std::uint64_t first, void* to, std::size_t bytes) const {
  read_exactly(file_.get(), first, to, bytes);
}

void IndexFile::expect(std::uint64_t first, std::uint64_t bytes) const {
  // This is only advice: if the system ignores it, the bytes are read later.
  ::posix_fadvise(file_.get(), static_cast<off_t>(first), static_cast<off_t>(bytes), POSIX_FADV_WILLNEED);
}

IndexBody::IndexBody(const IndexFile& file, const OpenOptions& options, const IndexPart& part)
    : file_(file), options_(options), sums_(checksums_in(file.descriptor(), file.layout())) {
  const std::uint64_t at = file_.layout().body_end();
  for (const IndexFileSection& section : file_.layout().info.sections) {
    const IndexFileSection some = section_of(file_.layout(), section, part);
    const auto pass_over = [&](std::uint64_t begin, std::uint64_t end) {
      if (begin == end) return;
      unneeded_.push_back(section);
      unneeded_.back().offset = begin;
      unneeded_.back().bytes = end - begin;
    };
    pass_over(section.offset, some.offset);
    pass_over(some.offset + some.bytes, section.offset + section.bytes);
  }
  for (std::uint64_t block = needed_from(next_); block < at; block = needed_from(block + index_block_bytes))
    needed_ += std::min(index_block_bytes, at - block);
  next_ = needed_from(next_);
}

std::uint64_t IndexBody::needed_from(std::uint64_t from) const {
  const std::uint64_t end = file_.layout().body_end();
  const auto is_needed = [this, end](std::uint64_t block) {
    const std::uint64_t behind = std::min(block + index_block_bytes, end);
    return std::none_of(unneeded_.begin(), unneeded_.end(), [&](const IndexFileSection& bytes) {
      return bytes.offset <= block && behind <= bytes.offset + bytes.bytes;
    });
  };
  while (from < end && !is_needed(from)) from += index_block_bytes;
  return std::min(from, end);
}

std::span<const unsigned char> IndexBody::next() {
  const std::uint64_t end = file_.layout().body_end();
  if (options_.stop.stop_requested())
    throw Error(Errc::interrupted, std::string(index_where) + ": stopped at byte " + std::to_string(next_) +
                                       ", as was asked; no index is made");
  tell_progress();
  offset_ = next_;
  const std::uint64_t bytes = std::min(index_block_bytes, end - offset_);
  if (bytes == 0) return {};
  block_.resize(static_cast<std::size_t>(bytes));
  const std::uint64_t pieces = (bytes + index_piece_bytes - 1) / index_piece_bytes;
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(pieces));
  std::exception_ptr failed;
  std::mutex failing;
  // Each piece is summed while it is still in the cache of the core that read it.
  parallel_for(static_cast<std::int64_t>(pieces), static_cast<std::int64_t>(bytes), options_.threads,
               [&](std::int64_t piece) {
                 const std::uint64_t first = static_cast<std::uint64_t>(piece) * index_piece_bytes;
                 const auto some = static_cast<std::size_t>(std::min(index_piece_bytes, bytes - first));
                 try {
                   file_.read(offset_ + first, block_.data() + first, some);
                   sums[size(piece)] = Xxh64::of(block_.data() + first, some);
                 } catch (...) {
                   const std::lock_guard lock(failing);
                   failed = std::current_exception();
                 }
               });
  if (failed) std::rethrow_exception(failed);
  check_block(offset_, bytes, sums, sums_[(offset_ - index_head_bytes) / index_block_bytes]);
  read_ += bytes;
  next_ = needed_from(offset_ + bytes);
  if (next_ < end) file_.expect(next_, std::min(index_block_bytes, end - next_));
  return block_;
}

void IndexBody::tell_progress() const {
  if (!options_.progress) return;
  // Volatile, since compilers would move the arithmetic past the guard; the callback runs in the caller's own
  // floating-point environment.
  volatile double part = 0;
  {
    const FloatGuard guard;
    const volatile std::uint64_t some = read_, all = needed_;
    part = static_cast<double>(some) / static_cast<double>(all);
  }
  call_back(options_.progress, part);
}

IndexFileInfo index_file_info(const std::string& path) try {
  IndexFileInfo info = about_index_file(path, [&] { return IndexFile(path).layout().info; });
  info.dims = given_columns(info.metric, info.dims);
  info.features = given_columns(info.metric, info.features);
  return info;
} catch (...) {
  rethrow_as_error();
}

void verify_index_file(const std::string& path, const OpenOptions& options) try {
  about_index_file(path, [&] {
    const IndexFile file(path);
    IndexBody body(file, options);
    while (!body.next().empty()) {
    }
  });
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
