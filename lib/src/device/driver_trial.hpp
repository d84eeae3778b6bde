// Asks drivers for their devices in another process first, so that a driver that crashes, aborts or hangs
// does so there.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kith {

/// Returns for each plug-in file a sentence on how its driver failed; empty if it answered. `kith-ask-driver`
/// (lib/ask_driver), which is in the folder `kith` beside libkith.so, asks all at once. If it cannot be
/// started, all files count as having answered, and `note` says why. SIGCHLD and the waits of the host
/// program are not affected, because no process that this starts is its child.
std::vector<std::string> try_drivers(const std::vector<std::filesystem::path>& files, std::string& note);

}  // namespace kith
