// A file of a known size, written as its user asked: watched, stopped, and there whole or not at all.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/whole_file.hpp"
#include "kith/save_options.hpp"

namespace kith {

/// Throws bad_file as WholeFile does, and where `path` is no ordinary file; interrupted.
class SavedFile {
 public:
  ///   where  begins messages: `model`
  ///   bytes  of the whole file
  SavedFile(const std::string& where, const std::string& path, std::uint64_t bytes,
            const SaveOptions& options);

  void write(const void* bytes, std::size_t size);
  void commit();

 private:
  /// The file that `path` is a name of, and the permissions that its next version gets.
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
