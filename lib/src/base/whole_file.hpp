// Files of the library itself: opened, read, and written whole or not at all.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <cstddef>
#include <string>

#include "kith/unfinished.hpp"

namespace kith {

/// openat(), again where it is interrupted.
int open_file(const char* path, int flags, int folder = AT_FDCWD);

/// Closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

/// Bytes of a file from `first` on, fewer only where it ends.
/// Throws bad_file: "it cannot be read: " and why.
std::size_t read_at(int fd, off_t first, void* to, std::size_t bytes);

/// Written beside its place and then renamed: a file that was there before stays until commit(), and the new
/// one vanishes without it, and with remove_unfinished().
/// Throws bad_file: WHERE: PATH: cannot be written, and why.
class WholeFile {
 public:
  ///   where  begins messages
  ///   mode   permissions, less the umask; those of a file that is there already stay
  WholeFile(std::string where, std::string path, mode_t mode);
  ~WholeFile();
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;

  void write(const void* bytes, std::size_t size);
  void flush();   ///< to the disk, which may take long
  void commit();  ///< after flush()

 private:
  [[noreturn]] void fail(int error) const;

  std::string where_, path_, temporary_;
  Unfinished unfinished_;
  int fd_ = -1;
};

}  // namespace kith
