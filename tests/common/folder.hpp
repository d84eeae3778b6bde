// A temporary folder for one test.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/text.hpp"

namespace test_support {

/// Removes the folder when it is destroyed.
class TemporaryFolder {
 public:
  /// Makes the folder in memory if possible, since tests write thousands of files.
  TemporaryFolder()
      : TemporaryFolder(::access("/dev/shm", W_OK) == 0 ? "/dev/shm"
                                                        : std::filesystem::temp_directory_path()) {}
  explicit TemporaryFolder(const std::filesystem::path& above) : path_(above / "kith-tests-XXXXXX") {
    if (!::mkdtemp(path_.data())) throw std::runtime_error("no temporary folder can be made");
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& file) const { return path_ + "/" + file; }
  std::string write(const std::string& file, const std::string& content) const {
    std::ofstream(*this / file, std::ios::binary) << content;
    return *this / file;
  }
  /// Writes files with their contents, and makes the folders in their names.
  void write_all(const std::vector<std::pair<std::string, std::string>>& files) const {
    for (const auto& [file, content] : files) {
      std::filesystem::create_directories(std::filesystem::path(*this / file).parent_path());
      write(file, content);
    }
  }
  /// Returns the contents of a file; empty if there is no such file.
  std::string read(const std::string& file) const { return text_of_file(*this / file); }
  bool has(const std::string& file) const { return std::filesystem::exists(*this / file); }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      found.insert(entry.path().filename().string());
    return found;
  }
  std::size_t files() const { return names().size(); }

 private:
  std::string path_;
};

}  // namespace test_support
