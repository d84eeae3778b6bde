// Files that a back end keeps for later processes, such as programs that its driver has compiled.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "kith/export.hpp"

namespace kith::spi {

/// Where files of one kind are, and how many bytes they may take.
struct KeptFolder {
  const char* variable;    ///< of the environment: `off`, or an absolute folder in place of the user's cache
  const char* kind;        ///< the folder in the user's cache is kith/KIND; messages begin with it
  std::size_t most_bytes;  ///< of all its files
};

/// The contents that earlier processes kept, by key: any text that says all that a content depends on. A file
/// holds key, content and a checksum of both, appears complete or not at all, and only its owner may read or
/// write it (0600; folders 0700). One that is damaged, or that others may have written, counts as missing.
class KITH_API KeptFiles {
 public:
  /// Looks for nothing yet.
  explicit KeptFiles(const KeptFolder& folder);

  /// Returns what keep() was given for `key`, by this process or another one. Throws std::bad_alloc alone.
  std::optional<std::string> find(std::string_view key) const;

  /// Keeps `content`, in place of what is there. Then it removes files, those first that were not used for
  /// the longest time, until the others take at most the bytes of the folder. Where this fails, nothing is
  /// kept: that costs the next process its time, and is no error.
  void keep(std::string_view key, std::string_view content) const noexcept;

  /// Whether there is a folder: it is not `off`, and the environment names one.
  bool are_kept() const { return !folder_.empty(); }

  /// Returns the file of `key`; empty if nothing is kept.
  std::string path_of(std::string_view key) const;

 private:
  KeptFolder how_;
  std::string folder_;
};

}  // namespace kith::spi
