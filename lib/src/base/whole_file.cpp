#include "base/whole_file.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <utility>

#include "base/writing.hpp"
#include "kith/error.hpp"

namespace kith {

int open_file(const char* path, int flags, int folder) {
  for (;;)
    if (const int fd = ::openat(folder, path, flags); fd >= 0 || errno != EINTR) return fd;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

std::size_t read_at(int fd, off_t first, void* to, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        ::pread(fd, static_cast<char*>(to) + done, bytes - done, first + static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      throw Error(Errc::bad_file,
                  std::string("it cannot be read: ") + std::strerror(errno) + "; copy it again");
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

WholeFile::WholeFile(std::string where, std::string path, mode_t mode)
    : where_(std::move(where)), path_(std::move(path)) {
  fd_ = open_beside(path_, mode, temporary_);
  if (fd_ < 0) fail(errno);
  unfinished_.remember(temporary_.c_str());
  struct stat before {};
  constexpr mode_t permissions = 07777;
  if (::stat(path_.c_str(), &before) == 0 && ::fchmod(fd_, before.st_mode & permissions) != 0) fail(errno);
}

WholeFile::~WholeFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void WholeFile::write(const void* bytes, std::size_t size) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t wrote = ::write(fd_, static_cast<const char*>(bytes) + done, size - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) fail(errno);
    done += static_cast<std::size_t>(wrote);
  }
}

void WholeFile::flush() {
  while (::fsync(fd_) != 0)
    if (errno != EINTR) fail(errno);
}

void WholeFile::commit() {
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail(errno);
  unfinished_.forget();
  temporary_.clear();
  ::close(std::exchange(fd_, -1));  // flush() has written it to the disk
  if (const int error = sync_folder_of(path_)) fail(error);
}

void WholeFile::fail(int error) const {
  throw Error(Errc::bad_file, where_ + ": " + path_ + ": cannot be written: " + std::strerror(error) + "; " +
                                  writing_advice(error));
}

}  // namespace kith
