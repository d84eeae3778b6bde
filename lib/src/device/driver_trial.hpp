// Drivers are asked for their devices in another process first, so that one that crashes, aborts or hangs
// does it there.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kith {

/// What came of each plug-in file: empty where its driver answered, else a sentence about how it did not.
/// All are asked at once, by `kith-ask-driver` (lib/ask_driver), which stands in the folder `kith` beside
/// libkith.so. Where that cannot be started, the files count as having answered, and `note` says why.
/// The host program's SIGCHLD and its own waits are left alone: what is started is no child of it.
std::vector<std::string> try_drivers(const std::vector<std::filesystem::path>& files, std::string& note);

}  // namespace kith
