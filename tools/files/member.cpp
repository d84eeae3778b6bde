// Sources that read a part of a file: a member of a .zip.
#include <errno.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "source.hpp"

namespace kith::files {

void Source::read_at(std::uint64_t offset, void* to, std::size_t size) {
  constexpr std::size_t piece = std::size_t{1} << 30;
  for (std::size_t done = 0; done < size;) {
    const ssize_t got = ::pread(fd_, static_cast<char*>(to) + done, std::min(size - done, piece),
                                static_cast<off_t>(begin_ + offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot be read: " + std::string(std::strerror(errno)) + "; check the disk");
    if (got == 0) fail("became shorter while it was read; copy or download it again");
    done += static_cast<std::size_t>(got);
  }
}

void Source::enter(const Member& member, std::uint64_t data) {
  name_ += ": " + printable(member.name);
  if (::lseek(fd_, static_cast<off_t>(begin_ + data), SEEK_SET) < 0)
    fail("cannot be read: " + std::string(std::strerror(errno)) + "; check the disk");
  head_used_ = head_size_;
  file_bytes_ = member.packed;
  file_read_ = bytes_read_ = 0;
  member_ = member;
  if (member.deflated) begin_inflating(-15);  // the largest window; below 0: without a header
}

/// More of a member was read.
void Source::check_member(const char* from, std::size_t size) {
  checksum_ =
      static_cast<std::uint32_t>(crc32_z(checksum_, reinterpret_cast<const unsigned char*>(from), size));
  if (bytes_read_ > member_->bytes)
    fail("unpacks to more than the " + count_of(member_->bytes, "byte") +
         " that the .zip says; it is damaged: copy or download it again");
}

/// The end of a member: it was as long as the .zip says, and has that checksum.
void Source::require_member_end() const {
  if (bytes_read_ != member_->bytes || file_read_ != file_bytes_ || (gzip_ && gzip_->avail_in > 0))
    fail("is " + count_of(bytes_read_, "byte") + " long, packed in " + std::to_string(file_read_) +
         ", where the .zip says " + std::to_string(member_->bytes) + " in " +
         std::to_string(member_->packed) + "; it is damaged: copy or download it again");
  if (checksum_ != member_->checksum)
    fail("has the checksum " + std::to_string(checksum_) + " and the .zip says " +
         std::to_string(member_->checksum) + "; it is damaged: copy or download it again");
}

}  // namespace kith::files
