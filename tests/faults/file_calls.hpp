// Calls of the system for files, with calls that fail: file_calls.cpp takes their place in the program that
// it is linked to, or, as libkith_faulty_files.so, in one that it is loaded into (LD_PRELOAD).
#pragma once

namespace kith::tests::faults {

/// How a call fails: an errno, or this: it reads or writes half of what was asked for.
inline constexpr int short_count = -1;

/// Files that were renamed though what was written to them had not been synchronised (fsync), so far.
long renamed_unsynchronised();

/// Of this process.
int open_descriptors();

}  // namespace kith::tests::faults
