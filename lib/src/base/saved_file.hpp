// Writes a file of a known size, either completely or not at all, and heeds SaveOptions: it reports progress
// and can be stopped.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/whole_file.hpp"
#include "kith/save_options.hpp"

namespace kith {

/// Throws bad_file as WholeFile does, or if `path` is not an ordinary file, or if commit() finds that other
/// than `bytes` bytes were written; interrupted if it was asked to stop.
class SavedFile {
 public:
  ///   where  beginning of messages, such as `model`
  ///   bytes  size of the whole file
  SavedFile(const std::string& where, const std::string& path, std::uint64_t bytes,
            const SaveOptions& options);

  void write(const void* bytes, std::size_t size);
  void commit();

 private:
  /// The file to replace, with links followed, and the permissions of its new version.
  struct Target {
    std::string path;
    mode_t mode;
  };
  static Target target_of(const std::string& where, const std::string& path);
  SavedFile(const std::string& where, const std::string& path, const Target& target, std::uint64_t bytes,
            const SaveOptions& options);
  void stop_if_asked() const;
  double part() const;

  std::string where_, path_;
  WholeFile file_;
  std::uint64_t bytes_, done_ = 0;
  const SaveOptions& options_;
};

}  // namespace kith
