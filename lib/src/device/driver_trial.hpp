// Asks drivers for their devices in another process first, so that one that crashes, aborts or hangs does
// it there.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kith {

/// Returns a sentence for each plug-in file on how its driver failed; empty if it answered. Asks all at once
/// by `kith-ask-driver` (lib/ask_driver), which is in the folder `kith` beside libkith.so. If that cannot be
/// started, all files count as having answered, and `note` says why. Does not touch SIGCHLD or the waits of
/// the host program: what it starts is no child of it.
std::vector<std::string> try_drivers(const std::vector<std::filesystem::path>& files, std::string& note);

}  // namespace kith
