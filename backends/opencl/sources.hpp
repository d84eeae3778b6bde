// The text of the kernels, which is built in or read from a folder.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

namespace kith::opencl {

struct EmbeddedFile {
  const char* name;
  const char* text;
};

extern const EmbeddedFile embedded_files[];
extern const std::size_t embedded_file_count;

/// The kernel files. They are built in, unless the environment variable KITH_CL_DIR names a folder: then
/// every .cl file is read from there. metrics.def is always that of this build.
class Sources {
 public:
  Sources();

  /// Returns the text of a file in which its includes are replaced by their text, each file once. Throws
  /// unavailable: the folder lacks a file that is needed.
  std::string read(const std::string& name) const;

 private:
  std::string text_of(const std::string& name) const;
  void expand(const std::string& name, std::set<std::string>& seen, std::string& out) const;

  std::string folder_;  // empty: the built-in files are used
};

}  // namespace kith::opencl
