// Makes files that appear whole or not at all.
#include "output.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "base/writing.hpp"
#include "kith/error.hpp"
#include "shown.hpp"

namespace kith::files {
namespace {

constexpr std::size_t written_at_once = std::size_t{1} << 18;

std::filesystem::path resolved(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  return error ? path : target;
}

}  // namespace

bool is_stdout(std::string_view path) {
  return path == "-" || path == "/dev/stdout" || path == "/dev/fd/1" || path == "/proc/self/fd/1";
}

void AtomicFile::fail(std::string_view what, int error) const {
  throw Error(Errc::bad_file, path_.string() + ": " + std::string(what) + ": " + std::strerror(error) + "; " +
                                  writing_advice(error));
}

/// A pipe that is there before its reader: opening it would wait for ever.
int AtomicFile::open_stream(bool is_pipe, std::chrono::milliseconds patience) const {
  constexpr std::chrono::milliseconds pause{20};
  for (auto waited = pause;; waited += pause) {
    const int fd = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | (is_pipe ? O_NONBLOCK : 0));
    if (fd >= 0 && is_pipe) (void)::fcntl(fd, F_SETFL, O_WRONLY);
    if (fd >= 0) return fd;
    if (errno == EINTR) continue;
    if (!is_pipe || errno != ENXIO) fail("cannot be written", errno);
    if (waited >= patience)
      throw Error(Errc::bad_file, path_.string() + ": is a pipe that no process has opened to read within " +
                                      std::to_string(patience.count() / 1000) + " s; start its reader first");
    std::this_thread::sleep_for(pause);
  }
}

AtomicFile::AtomicFile(const std::filesystem::path& path, std::string format,
                       std::chrono::milliseconds patience)
    : path_(path), format_(std::move(format)), target_(resolved(path)) {
  if (is_stdout(path.native())) {
    buffer_.reserve(written_at_once);
    fd_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (fd_ < 0) fail("cannot be written", errno);
    return;
  }
  struct stat old {};
  const bool exists = ::stat(path.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode))
    throw Error(Errc::bad_file, path.string() + ": is a folder; name a file in it");
  buffer_.reserve(written_at_once);
  if (exists && !S_ISREG(old.st_mode)) {
    fd_ = open_stream(S_ISFIFO(old.st_mode), patience);
    return;
  }
  std::string name;
  fd_ = open_beside(target_.string(), 0666, name);
  if (fd_ < 0) fail("cannot be written", errno);
  temporary_ = name;
  unfinished_.remember(temporary_.c_str());
  if (exists) (void)::fchmod(fd_, old.st_mode & 07777);  // where that is not allowed, the usual mode stays
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::flush() {
  // A terminal gets what it would obey written out. A full buffer may end within a character; what follows
  // its last line stays, unless that is all.
  const bool terminal = ::isatty(fd_) != 0;
  const bool full = terminal && buffer_.size() == written_at_once;
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
    const std::size_t some = std::min(size, written_at_once - buffer_.size());
    buffer_.append(from, some);
    from += some;
    size -= some;
    if (buffer_.size() == written_at_once) flush();
  }
}

void AtomicFile::commit() {
  flush();
  while (!temporary_.empty() && ::fsync(fd_) != 0)
    if (errno != EINTR) fail("cannot be written", errno);
  const bool renames = !temporary_.empty();
  if (renames) {
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot be put in its place", errno);
    unfinished_.forget();
    temporary_.clear();
  }
  const int fd = std::exchange(fd_, -1);
  // An interrupted close() has closed it; what was renamed is on the disk.
  if (::close(fd) != 0 && errno != EINTR && !renames) fail("cannot be written", errno);
  if (!renames) return;
  if (const int error = sync_folder_of(target_.string())) fail("cannot be written", error);
}

}  // namespace kith::files
