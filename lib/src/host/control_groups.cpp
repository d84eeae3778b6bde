#include "host/control_groups.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <memory>

namespace kith {
namespace {

namespace fs = std::filesystem;

/// Appends `root` and each folder on the way from it to `path`.
void add_folders(const fs::path& root, const fs::path& path, std::vector<fs::path>& folders) {
  fs::path group = root;
  folders.push_back(group);
  for (const fs::path& part : path.relative_path()) folders.push_back(group /= part);
}

/// Returns the part of `rest` before `sign`, and leaves in `rest` what follows it.
std::string_view take_until(char sign, std::string_view& rest) {
  const std::size_t at = std::min(rest.find(sign), rest.size());
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return part;
}

bool is_named(std::string_view controllers, std::string_view controller) {
  while (!controllers.empty())
    if (take_until(',', controllers) == controller) return true;
  return false;
}

/// Reads a small file; empty if there is none. Not by a stream, which would take a lack of memory for the end
/// of the file.
std::string content_of(const fs::path& file) {
  struct Close {
    void operator()(std::FILE* open) const { std::fclose(open); }
  };
  const std::unique_ptr<std::FILE, Close> open(std::fopen(file.c_str(), "re"));
  std::string text;
  std::array<char, 4096> some{};
  for (std::size_t size = 1; open && size > 0;) {
    size = std::fread(some.data(), 1, some.size(), open.get());
    text.append(some.data(), size);
  }
  return text;
}

}  // namespace

std::vector<fs::path> group_folders(std::string_view groups, const fs::path& root,
                                    std::string_view controller) {
  std::vector<fs::path> folders;
  while (!groups.empty()) {  // hierarchy:controllers:path
    std::string_view path = take_until('\n', groups);
    take_until(':', path);
    const std::string controllers(take_until(':', path));
    if (path.empty()) continue;
    if (controllers.empty()) {  // version 2
      add_folders(root, path, folders);
    } else if (is_named(controllers, controller)) {
      // Version 1 is mounted under all names joined, or under each name.
      add_folders(root / controllers, path, folders);
      if (controllers != controller) add_folders(root / controller, path, folders);
    }
  }
  return folders;
}

std::vector<fs::path> group_folders(std::string_view controller) {
  return group_folders(content_of("/proc/self/cgroup"), "/sys/fs/cgroup", controller);
}

std::vector<std::string> words_in(const fs::path& file) {
  std::vector<std::string> words;
  const std::string text = content_of(file);
  for (std::string_view line = text; !line.empty();) {
    std::string_view rest = take_until('\n', line);
    while (!rest.empty())
      if (const std::string_view word = take_until(' ', rest); !word.empty()) words.emplace_back(word);
  }
  return words;
}

std::int64_t bound_in(std::string_view word) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size() && value > 0 ? value : 0;
}

}  // namespace kith
