// Finds the control groups of a process, by which the kernel limits its resources.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kith {

/// Returns the folders of the groups by which `controller` (cpu, memory) limits a process, the outermost
/// first and its own last. Folders that do not exist set no limit.
///   groups  its /proc/self/cgroup: version 1, 2, or both
///   root    where groups are mounted, /sys/fs/cgroup
std::vector<std::filesystem::path> group_folders(std::string_view groups, const std::filesystem::path& root,
                                                 std::string_view controller);

/// Returns the folders for this process.
std::vector<std::filesystem::path> group_folders(std::string_view controller);

/// Returns the words of a file of a group; none if there is no file.
std::vector<std::string> words_in(const std::filesystem::path& file);

/// Returns `word` as a whole number above 0. Returns 0 for any other word, such as `max` and -1, which mean
/// that there is no limit.
std::int64_t bound_in(std::string_view word);

}  // namespace kith
