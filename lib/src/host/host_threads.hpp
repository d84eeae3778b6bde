// Decides how many threads kith may use on this host.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace kith {

/// Returns the cores on which the calling thread may run, limited to the CPU time of its control group: 2.5
/// cores of time count as 3. A change is known some milliseconds later.
std::uint32_t usable_cores();

/// Returns the threads for work that may use `asked` of them. 0: as many as KITH_THREADS, else
/// OMP_NUM_THREADS, else usable_cores() say. Never returns more than `asked`, nor more than the larger of
/// these numbers.
std::uint32_t team_size(std::uint32_t asked);

/// Returns the number at the start of `text`, as in `OMP_NUM_THREADS=4,2`; 0 if it is none from 1 to 4096.
std::uint32_t threads_in(std::string_view text);

/// Returns how many cores' worth of time these control groups allow, rounded up; 0: no limit.
///   groups  those of group_folders()
std::uint32_t cores_of_quota(std::span<const std::filesystem::path> groups);

}  // namespace kith
