// Files that appear whole or not at all.
#include "output.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <utility>

#include "kith/error.hpp"
#include "shown.hpp"

namespace kith::files {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;

// Names of temporaries, for a signal handler: a slot belongs to one AtomicFile from the change of `used`
// to true until that to false; `name` is null while there is nothing to remove.
struct Slot {
  std::atomic<bool> used{false};
  std::atomic<const char*> name{nullptr};
};
std::array<Slot, 16> slots;
static_assert(std::atomic<const char*>::is_always_lock_free);

int take_slot(const char* name) {
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (!slots[i].used.exchange(true)) {
      slots[i].name = name;
      return static_cast<int>(i);
    }
  return -1;
}

std::filesystem::path resolved(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  return error ? path : target;
}

std::string advice(int error) {
  switch (error) {
    case ENOENT:
      return "make the folder first";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose a folder that you may write to";
    case ENOSPC:
    case EDQUOT:
      return "free some space";
    default:
      return "choose another place";
  }
}

}  // namespace

bool is_stdout(std::string_view path) {
  return path == "-" || path == "/dev/stdout" || path == "/dev/fd/1" || path == "/proc/self/fd/1";
}

void AtomicFile::fail(std::string_view what, int error) const {
  throw Error(Errc::bad_file,
              path_.string() + ": " + std::string(what) + ": " + std::strerror(error) + "; " + advice(error));
}

AtomicFile::AtomicFile(const std::filesystem::path& path, std::string format)
    : path_(path), format_(std::move(format)), target_(resolved(path)) {
  if (is_stdout(path.native())) {
    buffer_.reserve(buffer_bytes);
    fd_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (fd_ < 0) fail("cannot be written", errno);
    return;
  }
  struct stat old {};
  const bool exists = ::stat(path.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode))
    throw Error(Errc::bad_file, path.string() + ": is a folder; name a file in it");
  buffer_.reserve(buffer_bytes);
  if (exists && !S_ISREG(old.st_mode)) {
    fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd_ < 0) fail("cannot be written", errno);
    return;
  }
  for (int attempt = 0; fd_ < 0; ++attempt) {
    temporary_ = target_;
    temporary_ += ".partial-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0 && (errno != EEXIST || attempt == 100)) fail("cannot be written", errno);
  }
  slot_ = take_slot(temporary_.c_str());
  if (exists) (void)::fchmod(fd_, old.st_mode & 07777);  // where that is not allowed, the usual mode stays
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  if (slot_ >= 0) {
    Slot& slot = slots[static_cast<std::size_t>(slot_)];
    slot.name = nullptr;
    slot.used = false;
  }
}

void AtomicFile::flush() {
  // A terminal gets what it would obey written out. A full buffer may end within a character; what follows
  // its last line stays, unless that is all.
  const bool terminal = ::isatty(fd_) != 0;
  const bool full = terminal && buffer_.size() == buffer_bytes;
  const std::size_t line_end = full ? buffer_.rfind('\n') : std::string::npos;
  const std::size_t ready = line_end == std::string::npos ? buffer_.size() : line_end + 1;
  const std::string safe = terminal ? shown(std::string_view(buffer_).substr(0, ready)) : std::string();
  const std::string_view text = terminal ? std::string_view(safe) : std::string_view(buffer_);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t wrote = ::write(fd_, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0 && errno == EPIPE) throw ClosedPipe{};
    if (wrote < 0) fail("cannot be written", errno);
    done += static_cast<std::size_t>(wrote);
  }
  buffer_.erase(0, ready);
}

void AtomicFile::write(const void* bytes, std::size_t size) {
  const char* from = static_cast<const char*>(bytes);
  while (size > 0) {
    const std::size_t some = std::min(size, buffer_bytes - buffer_.size());
    buffer_.append(from, some);
    from += some;
    size -= some;
    if (buffer_.size() == buffer_bytes) flush();
  }
}

void AtomicFile::commit() {
  flush();
  if (!temporary_.empty() && ::fsync(fd_) != 0) fail("cannot be written", errno);
  const int fd = std::exchange(fd_, -1);
  if (::close(fd) != 0) fail("cannot be written", errno);
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot be put in its place", errno);
  if (slot_ >= 0) slots[static_cast<std::size_t>(slot_)].name = nullptr;
  temporary_.clear();
}

void remove_unfinished() noexcept {
  for (Slot& slot : slots)
    if (const char* name = slot.name.exchange(nullptr)) ::unlink(name);
}

}  // namespace kith::files
