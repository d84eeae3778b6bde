// Opens, reads and writes files of the library; they are written wholly or not at all.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <cstddef>
#include <string>
#include <utility>

#include "kith/unfinished.hpp"

namespace kith {

/// Calls openat(), and repeats it if a signal interrupts it.
int open_file(const char* path, int flags, int folder = AT_FDCWD);

/// Owns a file descriptor and closes it.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

/// Reads `bytes` bytes of a file from `first` on. Returns how many it has read, which are fewer only at the
/// end of the file. Throws bad_file: "it cannot be read: " and why.
std::size_t read_at(int fd, off_t first, void* to, std::size_t bytes);

/// Writes a temporary file beside `path`, which commit() renames to `path`. Until then an existing file is
/// kept. Without commit() the destructor, or remove_unfinished(), removes the temporary file. Throws
/// bad_file: "WHERE: PATH: cannot be written", and why.
class WholeFile {
 public:
  ///   where  beginning of messages
  ///   mode   permissions of a new file, before the umask; an existing file keeps its own
  WholeFile(std::string where, std::string path, mode_t mode);
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void write(const void* bytes, std::size_t size);
  void flush();   ///< writes to the disk, which may take long
  void commit();  ///< call it after flush()

 private:
  [[noreturn]] void fail(int error) const;

  std::string where_, path_, temporary_;
  Unfinished unfinished_;
  int fd_ = -1;
};

}  // namespace kith
