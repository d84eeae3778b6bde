#include "index_file/index_blocks.hpp"

#include <errno.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "base/whole_file.hpp"
#include "base/xxh64.hpp"
#include "kith/error.hpp"

namespace kith {
namespace {

[[noreturn]] void refuse_to_read(const std::string& why) {
  throw Error(Errc::bad_file, why + "; name a file that kith wrote as .kidx");
}

std::uint64_t size_of(int fd) {
  if (fd < 0) refuse_to_read(std::string("it cannot be read: ") + std::strerror(errno));
  struct stat status {};
  if (::fstat(fd, &status) != 0) refuse_to_read(std::string("it cannot be read: ") + std::strerror(errno));
  if (!S_ISREG(status.st_mode)) refuse_to_read("it is no ordinary file");
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace

IndexLayout layout_in(int fd) {
  const std::uint64_t bytes = size_of(fd);
  std::vector<unsigned char> head(index_head_bytes);
  head.resize(read_at(fd, 0, head.data(), head.size()));
  return read_head(head, bytes);
}

void read_exactly(int fd, std::uint64_t first, void* to, std::size_t bytes) {
  const std::size_t got = read_at(fd, static_cast<off_t>(first), to, bytes);
  if (got < bytes)
    refuse_index_file(first + got, "the file ends here, though it was longer a moment ago; read it again");
}

std::vector<std::uint64_t> checksums_in(int fd, const IndexLayout& layout) {
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(layout.blocks()) + 1);
  const std::uint64_t at = layout.body_end(), last = sums.size() - 1;
  read_exactly(fd, at, sums.data(), sums.size() * sizeof(std::uint64_t));
  if (sums[last] != Xxh64::of(sums.data(), last * sizeof(std::uint64_t)))
    refuse_index_file(at, "the checksum of the checksums does not match; the file is damaged: copy it again");
  return sums;
}

void check_block(std::uint64_t offset, std::uint64_t bytes, std::span<const std::uint64_t> sums,
                 std::uint64_t sum) {
  if (sum != Xxh64::of(sums.data(), sums.size() * sizeof(std::uint64_t)))
    refuse_index_file(offset, "the checksum of the " + std::to_string(bytes) +
                                  " bytes from here on does not match; the file is damaged: copy it again");
}

IndexBlocks::IndexBlocks(int fd, const IndexLayout& layout)
    : fd_(fd),
      end_(layout.body_end()),
      sums_(checksums_in(fd, layout)),
      checked_(std::make_unique<std::once_flag[]>(sums_.size())) {}

void IndexBlocks::check(std::uint64_t first, std::uint64_t bytes) const {
  if (bytes == 0) return;
  const std::uint64_t last = (first + bytes - 1 - index_head_bytes) / index_block_bytes;
  for (std::uint64_t block = (first - index_head_bytes) / index_block_bytes; block <= last; ++block)
    std::call_once(checked_[block], [&] { check_block_at(block); });
}

void IndexBlocks::check_block_at(std::uint64_t block) const {
  const std::uint64_t offset = index_head_bytes + block * index_block_bytes,
                      bytes = std::min(index_block_bytes, end_ - offset);
  std::vector<unsigned char> piece(static_cast<std::size_t>(std::min(index_piece_bytes, bytes)));
  std::vector<std::uint64_t> sums;
  for (std::uint64_t done = 0; done < bytes; done += index_piece_bytes) {
    const auto some = static_cast<std::size_t>(std::min(index_piece_bytes, bytes - done));
    read_exactly(fd_, offset + done, piece.data(), some);
    sums.push_back(Xxh64::of(piece.data(), some));
  }
  check_block(offset, bytes, sums, sums_[block]);
}

}  // namespace kith
