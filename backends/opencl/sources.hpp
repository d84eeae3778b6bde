// The text of the kernels: built in, or from a folder.
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

/// The kernel files. Those built in, unless the environment variable KITH_CL_DIR names a folder:
/// then every .cl file is read from there. metrics.def is always the one this build was made with.
class Sources {
 public:
  Sources();

  /// The text of a file with what it includes pasted in, each file once.
  /// Throws unavailable: the folder lacks a file that is needed.
  std::string read(const std::string& name) const;

 private:
  std::string text_of(const std::string& name) const;
  void expand(const std::string& name, std::set<std::string>& seen, std::string& out) const;

  std::string folder_;  // empty: what is built in
};

}  // namespace kith::opencl
