// Keeps files of a back end for later processes, such as programs that its driver has compiled.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "kith/export.hpp"

namespace kith::spi {

/// Says where files of one kind are, and how many bytes they may take.
struct KeptFolder {
  const char* variable;    ///< environment variable: `off`, or an absolute folder in place of the
                           ///< user's cache
  const char* kind;        ///< the folder in the user's cache is kith/KIND; messages begin with it
  std::size_t most_bytes;  ///< bytes that all its files may take
};

/// Keeps contents for later processes by key, which is a text that says everything that a content depends
/// on. A file holds key, content and a checksum of both, appears complete or not at all, and only its owner
/// may read or write it (0600; folders 0700). A file that is damaged, or that others may have written,
/// counts as missing.
class KITH_API KeptFiles {
 public:
  /// Takes the folder, and looks for no file yet.
  explicit KeptFiles(const KeptFolder& folder);

  /// Returns the content that keep() was given for `key`, by this process or another one. Throws
  /// only std::bad_alloc.
  std::optional<std::string> find(std::string_view key) const;

  /// Keeps `content`, in place of a former one. Then it removes files, the least recently used first, until
  /// the others take at most the bytes of the folder. If this fails, nothing is kept: that costs the next
  /// process time, and is no error.
  void keep(std::string_view key, std::string_view content) const noexcept;

  /// Returns whether there is a folder: the environment names one, and it is not `off`.
  bool are_kept() const { return !folder_.empty(); }

  /// Returns the file of `key`; empty if nothing is kept.
  std::string path_of(std::string_view key) const;

 private:
  KeptFolder how_;
  std::string folder_;
};

}  // namespace kith::spi
