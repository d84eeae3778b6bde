// The control groups of a process, by which the kernel bounds what it may use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kith {

/// Folders of the groups that `controller` (cpu, memory) bounds a process by: the outermost first, its own
/// last. Those that are not there hold no files, and so no bound.
///   groups  its /proc/self/cgroup: versions 1 and 2, or both
///   root    where the groups are mounted, /sys/fs/cgroup
std::vector<std::filesystem::path> group_folders(std::string_view groups, const std::filesystem::path& root,
                                                 std::string_view controller);

/// The same of this process.
std::vector<std::filesystem::path> group_folders(std::string_view controller);

/// The words of a file of a group; none where there is no file.
std::vector<std::string> words_in(const std::filesystem::path& file);

/// `word` as a whole number; 0 where it is none above 0 (`max`, -1).
std::int64_t bound_in(std::string_view word);

}  // namespace kith
