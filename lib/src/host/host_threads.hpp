// How many threads kith may use on this host.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace kith {

/// Cores that the calling thread may run on, and no more than the time that its control group is given:
/// 2.5 cores of time are 3.
std::uint32_t usable_cores();

/// Threads for work that may use `asked` of them. 0: as many as KITH_THREADS, else OMP_NUM_THREADS, else
/// usable_cores() say. More than asked for are never taken, nor more than the larger of these numbers.
std::uint32_t team_size(std::uint32_t asked);

/// The number that `text` begins with, as in `OMP_NUM_THREADS=4,2`; 0 where that is none from 1 to 4096.
std::uint32_t threads_in(std::string_view text);

/// Cores' worth of time that a process in these control groups may use, rounded up; 0: no limit.
///   groups  as group_folders() gives them
std::uint32_t cores_of_quota(std::span<const std::filesystem::path> groups);

}  // namespace kith
