// Replaces the system's calls for files by ones that can fail: in the program that file_calls.cpp is linked
// to, or, as libkith_faulty_files.so, in one that loads it by LD_PRELOAD.
#pragma once

namespace kith::tests::faults {

/// A call fails with an errno, or with this value: then it reads or writes half of what was asked for.
inline constexpr int short_count = -1;

/// Returns how many files have been renamed so far whose content was not synchronised (fsync).
long renamed_unsynchronised();

/// Returns the number of open descriptors of this process.
int open_descriptors();

}  // namespace kith::tests::faults
