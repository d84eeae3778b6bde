#include "source.hpp"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "formats.hpp"
#include "host/host_memory.hpp"
#include "shown.hpp"

namespace kith::files {
namespace {

constexpr std::size_t packed_bytes = std::size_t{1} << 16;
constexpr std::size_t largest_read = std::size_t{1} << 20;  // so that a stop is seen soon
constexpr std::uint64_t deflate_limit = 1032;               // 258 bytes from 2 bits: zlib's technical notes

std::string advice(int error) {
  switch (error) {
    case ENOENT:
      return "check the name";
    case EACCES:
      return "ask its owner for permission to read it";
    default:
      return "check the path";
  }
}

}  // namespace

bool is_stdin(std::string_view path) {
  return path == "-" || path == "/dev/stdin" || path == "/dev/fd/0" || path == "/proc/self/fd/0";
}

std::string shown_name(const std::filesystem::path& path) {
  return path == "-" ? "stdin" : path.string();
}

Source::Source(const std::filesystem::path& path, const FileOptions& options)
    : name_(shown_name(path)),
      encoding_(options.encoding),
      limits_(options.limits),
      stop_(options.stop),
      progress_(options.progress) {
  try {
    open(path);
    std::array<char, 3> head{};
    std::size_t size = 0;
    for (std::size_t got = 1; got > 0 && size < head.size(); size += got)
      got = read_file(head.data() + size, head.size() - size);
    if (size == 0) fail("is empty; a file of data has at least one row");
    head_ = head;
    head_size_ = size;
    constexpr std::string_view gzip_magic = "\x1f\x8b\x08";  // the third: deflate, the only method there is
    if (is_gzip_name(name_) || std::string_view(head_.data(), size) == gzip_magic)
      begin_inflating(15 + 16);  // the largest window; +16: gzip, not zlib
  } catch (...) {
    if (fd_ >= 0) ::close(fd_);
    throw;
  }
}

void Source::open(const std::filesystem::path& path) {
  const auto failed = [&] {
    fail("cannot be read: " + std::string(std::strerror(errno)) + "; " + advice(errno));
  };
  struct stat status {};
  const bool standard = is_stdin(path.native());
  if ((standard ? ::fstat(STDIN_FILENO, &status) : ::stat(path.c_str(), &status)) != 0) failed();
  if (S_ISDIR(status.st_mode)) fail("is a folder; name a file in it");
  sized_ = S_ISREG(status.st_mode);
  do {
    fd_ = standard ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  } while (fd_ < 0 && errno == EINTR);
  if (fd_ < 0) failed();
  if (!sized_) return;
  const off_t begin = std::max<off_t>(0, standard ? ::lseek(fd_, 0, SEEK_CUR) : 0);
  begin_ = static_cast<std::uint64_t>(begin);
  file_bytes_ = status.st_size > begin ? static_cast<std::uint64_t>(status.st_size - begin) : 0;
}

void Source::begin_inflating(int window) {
  packed_.resize(packed_bytes);
  auto gzip = std::make_unique<z_stream_s>();
  if (inflateInit2(gzip.get(), window) != Z_OK)
    throw Error(Errc::out_of_memory, name_ + ": zlib cannot start; free memory");
  gzip_ = std::move(gzip);
}

Source::~Source() {
  if (gzip_) inflateEnd(gzip_.get());
  if (fd_ >= 0) ::close(fd_);
  if (program_ <= 0) return;
  ::kill(program_, SIGKILL);  // it writes for nobody any more
  while (::waitpid(program_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Source::fail(const std::string& text) const {
  throw Error(Errc::bad_file, name_ + ": " + text);
}

std::size_t Source::read_file(void* to, std::size_t size) {
  if (stop_.stop_requested())
    throw Error(Errc::interrupted, name_ + ": stopped while reading, as asked; nothing is returned");
  if (head_used_ < head_size_) {
    const std::size_t some = std::min(size, head_size_ - head_used_);
    std::memcpy(to, head_.data() + head_used_, some);
    head_used_ += some;
    return some;
  }
  for (;;) {
    if (member_) size = std::min<std::uint64_t>(size, file_bytes_ - file_read_);
    const ssize_t got = ::read(fd_, to, std::min(size, largest_read));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot be read: " + std::string(std::strerror(errno)) + "; check the disk");
    file_read_ += static_cast<std::uint64_t>(got);
    if (got == 0 && program_ > 0) end_program();
    if (progress_ && !was_passed_ && file_bytes_ > 0)
      progress_(std::min(1.0, static_cast<double>(file_read_) / static_cast<double>(file_bytes_)));
    return static_cast<std::size_t>(got);
  }
}

void Source::skip(std::uint64_t bytes) {
  const std::uint64_t from_head = std::min<std::uint64_t>(bytes, head_size_ - head_used_);
  head_used_ += static_cast<std::size_t>(from_head);
  if (::lseek(fd_, static_cast<off_t>(bytes - from_head), SEEK_CUR) < 0)
    fail("cannot be read: " + std::string(std::strerror(errno)) + "; check the disk");
  file_read_ += bytes - from_head;
  bytes_read_ += bytes;
}

std::string Source::truncated(std::string_view what) const {
  return "ends after " + count_of(bytes_read_, "byte") + ", within " + std::string(what) +
         "; it is truncated: copy or download it again";
}

/// After the end of a gzip member: nothing, zeros as tar pads with, or another member.
void Source::next_member() {
  for (;;) {
    if (gzip_->avail_in == 0) {
      gzip_->next_in = packed_.data();
      gzip_->avail_in = static_cast<unsigned>(read_file(packed_.data(), packed_.size()));
      if (gzip_->avail_in == 0) {
        ended_ = true;
        return;
      }
    }
    if (*gzip_->next_in != 0) break;
    ++gzip_->next_in;
    --gzip_->avail_in;
  }
  if (inflateReset(gzip_.get()) != Z_OK) fail("zlib cannot go on; this is a defect of kith");
}

void Source::fail_unpacking(const std::string& why, std::uint64_t at) const {
  const std::string place = why + " after " + count_of(at, "byte");
  if (member_) fail("its packed data is damaged (" + place + "); copy or download it again");
  fail("is no gzip file, or a damaged one (" + place +
       "); copy or download it again, or take .gz off its name if it is not compressed");
}

std::size_t Source::inflate_some(void* to, std::size_t size) {
  gzip_->next_out = static_cast<unsigned char*>(to);
  gzip_->avail_out = static_cast<unsigned>(std::min(size, largest_read));
  const unsigned room = gzip_->avail_out;
  while (!ended_ && gzip_->avail_out == room) {
    if (gzip_->avail_in == 0) {
      gzip_->next_in = packed_.data();
      gzip_->avail_in = static_cast<unsigned>(read_file(packed_.data(), packed_.size()));
      if (gzip_->avail_in == 0) fail(truncated("its compressed data"));
    }
    const int state = inflate(gzip_.get(), Z_NO_FLUSH);
    if (state == Z_STREAM_END && member_)
      ended_ = true;
    else if (state == Z_STREAM_END)
      next_member();
    else if (state == Z_MEM_ERROR)
      throw Error(Errc::out_of_memory, name_ + ": zlib has no memory left; free memory");
    else if (state != Z_OK && state != Z_BUF_ERROR)
      fail_unpacking(gzip_->msg ? gzip_->msg : zError(state), bytes_read_ + room - gzip_->avail_out);
  }
  return room - gzip_->avail_out;
}

std::size_t Source::read(void* to, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    char* at = static_cast<char*>(to) + done;
    const std::size_t got = gzip_ ? inflate_some(at, size - done) : read_file(at, size - done);
    if (got == 0) break;
    done += got;
    bytes_read_ += got;
    if (member_) check_member(at, got);
    const std::uint64_t values = multiply(bytes_read_, sizeof(float));
    if (gzip_ && grows_beyond_limit(values))
      fail("unpacks to more than " + std::to_string(bytes_read_ - 1) + " bytes, too much for " +
           growth_advice(values));
  }
  return done;
}

void Source::read_exactly(void* to, std::size_t size, std::string_view what) {
  if (read(to, size) < size) fail(truncated(what));
}

void Source::require_bytes(std::uint64_t bytes, std::string_view what) const {
  if (!sized_) return;
  const std::uint64_t packed = gzip_ ? multiply(file_bytes_, deflate_limit) : file_bytes_;
  const std::uint64_t most = member_ ? std::min(packed, member_->bytes) : packed;
  const std::uint64_t left = most - std::min(most, bytes_read_);
  if (bytes <= left) return;
  const std::string need =
      bytes == std::numeric_limits<std::uint64_t>::max() ? "more than 2^64" : std::to_string(bytes);
  fail("its header announces " + std::string(what) + ", " + need + " bytes, but " +
       (gzip_ && !member_ ? "so small a .gz cannot hold them"
                          : count_of(left, "byte") + (left == 1 ? " follows" : " follow")) +
       "; it is truncated or no such file: copy or download it again");
}

void Source::require_length(std::uint64_t bytes, std::string_view what) const {
  require_bytes(bytes, what);
  if (sized_ && !gzip_ && file_bytes_ - bytes_read_ > bytes)
    fail("its header announces " + std::string(what) + ", " + count_of(bytes, "byte") + ", but " +
         std::to_string(file_bytes_ - bytes_read_) +
         " follow; it is damaged or no such file: copy or download it again");
}

void Source::require_end() {
  char byte = 0;
  if (read(&byte, 1) != 0)
    fail("goes on after byte " + std::to_string(bytes_read_ - 1) +
         ", where its header says it ends; it is damaged or no such file: copy or download it again");
  if (member_) require_member_end();
}

void Source::require_memory(std::uint64_t bytes) const {
  const HostMemory memory = host_memory();
  if (bytes <= memory.bytes) return;
  throw Error(
      Errc::out_of_memory,
      name_ + ": its values need " +
          (bytes == std::numeric_limits<std::uint64_t>::max() ? "more than 2^64" : std::to_string(bytes)) +
          " bytes as float32, " + std::string(memory.whose) + " " + std::to_string(memory.bytes) +
          "; take fewer rows or columns");
}

bool Source::grows_beyond_limit(std::uint64_t bytes) const {
  return bytes > limits_.free_growth && bytes / std::max<std::uint64_t>(limits_.growth, 1) > on_disk();
}

/// Of a file that would grow so.
std::string Source::growth_advice(std::uint64_t bytes) const {
  return "a file of " + count_of(on_disk(), "byte") + ", of which each stands for " +
         std::to_string(limits_.growth) +
         " bytes of values at most; if it is not damaged, allow more: --read max-growth=" +
         std::to_string(2 * (bytes / std::max<std::uint64_t>(on_disk(), 1) + 1));
}

void Source::require_room(std::uint64_t bytes) const {
  if (grows_beyond_limit(bytes))
    fail("its values need " + std::to_string(bytes) + " bytes as float32, too much for " +
         growth_advice(bytes));
  require_memory(bytes);
}

std::uint64_t Source::plausible_bytes() const {
  if (!sized_) return std::numeric_limits<std::uint64_t>::max();
  constexpr std::uint64_t usual_ratio = 64;  // images compress to about a tenth; more is left to growing
  return multiply(file_bytes_, gzip_ ? usual_ratio : 1);
}

std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max() : product;
}

std::string printable(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::size_t end = std::min(text.size(), longest);
  while (end > longest - 4 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;  // no half of a UTF-8 sequence
  const std::string result = shown_in_line(text.substr(0, end));
  return end < text.size() ? result + "..." : result;
}

std::string in_quotes(std::string_view text) {
  return "\"" + printable(text) + "\"";
}

std::string count_of(std::uint64_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

}  // namespace kith::files
