#include "file_calls.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "hooks.hpp"

#define KITH_IN_PLACE_OF extern "C" [[gnu::visibility("default")]]

namespace {

constexpr int file_call = static_cast<int>(kith::tests::faults::Site::file_call);
constexpr std::size_t path_bytes = 512;

/// A file that is being written, by descriptor.
struct Written {
  std::array<char, path_bytes> path{};
  std::atomic<bool> open{false}, synchronised{true};
};
std::array<Written, 256> files;
std::atomic<long> unsynchronised{0};

Written* written(int fd) {
  return fd >= 0 && static_cast<std::size_t>(fd) < files.size() ? &files[static_cast<std::size_t>(fd)]
                                                                : nullptr;
}

/// Returns whether the call fails. Sets errno if so.
bool fails(int kind) {
  if (kind <= 0) return false;
  errno = kind;
  return true;
}

std::size_t shortened(int kind, std::size_t bytes) {
  return kind == kith::tests::faults::short_count ? std::max<std::size_t>(bytes / 2, 1) : bytes;
}

int open_file(int folder, const char* path, int flags, mode_t mode) {
  if (fails(kith_fault(file_call))) return -1;
  const int fd = static_cast<int>(::syscall(SYS_openat, folder, path, flags, mode));
  Written* const file = written(fd);
  if (!file || (flags & O_ACCMODE) == O_RDONLY || strlen(path) >= path_bytes) return fd;
  strcpy(file->path.data(), path);
  file->synchronised = true;
  file->open = true;
  return fd;
}

/// Returns whether the disk accepts writes but fails to keep them: with KITH_FAULT_SYNC this is so for files,
/// but not for folders.
bool is_lost(int fd) {
  static const bool loses = ::getenv("KITH_FAULT_SYNC") != nullptr;
  struct stat status {};
  return loses && ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

int synchronise(long call, int fd) {
  if (fails(kith_fault(file_call)) || (is_lost(fd) && fails(EIO))) return -1;
  const auto status = static_cast<int>(::syscall(call, fd));
  if (Written* const file = written(fd); file && status == 0) file->synchronised = true;
  return status;
}

}  // namespace

KITH_IN_PLACE_OF int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_file(AT_FDCWD, path, flags, mode);
}

KITH_IN_PLACE_OF int openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_file(folder, path, flags, mode);
}

/// Used by the C++ library's streams, which call read() on the file.
KITH_IN_PLACE_OF FILE* fopen64(const char* path, const char* mode) {
  using Function = FILE*(const char*, const char*);
  static auto* const real = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, "fopen64"));
  return fails(kith_fault(file_call)) ? nullptr : real(path, mode);
}

KITH_IN_PLACE_OF ssize_t read(int fd, void* to, size_t bytes) {
  const int kind = kith_fault(file_call);
  return fails(kind) ? -1 : ::syscall(SYS_read, fd, to, shortened(kind, bytes));
}

KITH_IN_PLACE_OF ssize_t pread(int fd, void* to, size_t bytes, off_t first) {
  const int kind = kith_fault(file_call);
  return fails(kind) ? -1 : ::syscall(SYS_pread64, fd, to, shortened(kind, bytes), first);
}

KITH_IN_PLACE_OF ssize_t write(int fd, const void* from, size_t bytes) {
  const int kind = kith_fault(file_call);
  if (fails(kind)) return -1;
  if (Written* const file = written(fd)) file->synchronised = false;
  return ::syscall(SYS_write, fd, from, shortened(kind, bytes));
}

KITH_IN_PLACE_OF int fsync(int fd) {
  return synchronise(SYS_fsync, fd);
}

KITH_IN_PLACE_OF int fdatasync(int fd) {
  return synchronise(SYS_fdatasync, fd);
}

/// The descriptor is closed even if close() fails, as on Linux.
KITH_IN_PLACE_OF int close(int fd) {
  const int kind = kith_fault(file_call);
  if (Written* const file = written(fd)) file->open = false;
  const auto status = static_cast<int>(::syscall(SYS_close, fd));
  return fails(kind) ? -1 : status;
}

/// Like mkdir(), rename() is never interrupted.
KITH_IN_PLACE_OF int rename(const char* from, const char* to) noexcept {
  if (const int kind = kith_fault(file_call); kind != EINTR && fails(kind)) return -1;
  for (Written& file : files)
    if (strcmp(file.path.data(), from) == 0) {
      if (!file.synchronised && kith_is_watched()) ++unsynchronised;
      file.path[0] = '\0';
    }
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

KITH_IN_PLACE_OF int mkdir(const char* path, mode_t mode) noexcept {
  if (const int kind = kith_fault(file_call); kind != EINTR && fails(kind)) return -1;
  return static_cast<int>(::syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

namespace kith::tests::faults {

long renamed_unsynchronised() {
  return unsynchronised;
}

int open_descriptors() {
  DIR* const folder = ::opendir("/proc/self/fd");
  int count = -1;  // does not count the folder itself
  if (!folder) return 0;
  while (const dirent* const entry = ::readdir(folder))
    if (entry->d_name[0] != '.') ++count;
  ::closedir(folder);
  return count;
}

}  // namespace kith::tests::faults
