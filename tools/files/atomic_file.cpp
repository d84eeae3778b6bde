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
    do {
      fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    } while (fd_ < 0 && errno == EINTR);
    if (fd_ < 0) fail("cannot be written", errno);
    return;
  }
  for (int attempt = 0; fd_ < 0; ++attempt) {
    temporary_ = target_;
    temporary_ += ".partial-" + std::to_string(::getpid()) + "-" + std::to_string(attempt);
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const bool again = errno == EEXIST || errno == EINTR;
    if (fd_ < 0 && (!again || attempt == 100)) fail("cannot be written", errno);
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
  for (std::size_t done = 0; done < buffer_.size();) {
    const ssize_t wrote = ::write(fd_, buffer_.data() + done, buffer_.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0 && errno == EPIPE) throw ClosedPipe{};
    if (wrote < 0) fail("cannot be written", errno);
    done += static_cast<std::size_t>(wrote);
  }
  buffer_.clear();
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
  while (!temporary_.empty() && ::fsync(fd_) != 0)
    if (errno != EINTR) fail("cannot be written", errno);
  const int fd = std::exchange(fd_, -1);
  // An interrupted close() has closed it.
  if (::close(fd) != 0 && errno != EINTR) fail("cannot be written", errno);
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
