// A folder of a test's own.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>

namespace kith::tests::faults {

/// In memory, where there is such: files are written thousands of times. Removed at the end.
class Folder {
 public:
  Folder() {
    const bool in_memory = ::access("/dev/shm", W_OK) == 0;
    path_ =
        (in_memory ? "/dev/shm" : std::filesystem::temp_directory_path().string()) + "/kith-faults-XXXXXX";
    if (!::mkdtemp(path_.data())) throw std::runtime_error("no temporary folder can be made");
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& file) const { return path_ + "/" + file; }
  void write(const std::string& file, const std::string& content) const {
    std::ofstream(*this / file, std::ios::binary) << content;
  }
  /// Empty where there is none.
  std::string read(const std::string& file) const {
    std::ifstream in(*this / file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      found.insert(entry.path().filename().string());
    return found;
  }

 private:
  std::string path_;
};

}  // namespace kith::tests::faults
