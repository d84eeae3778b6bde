// Where the sources, the programs and the planted plug-ins of this build are. The objects of all tests but
// paths.cpp are equal in every build folder, so that ccache finds them.
#pragma once

#include <string>

namespace test_support {

/// These append `path`, which begins with a slash, to a folder: the sources, the planted plug-ins, and the
/// libraries whose calls fail.
std::string in_sources(const std::string& path = "");
std::string in_plugins(const std::string& path = "");
std::string in_faults(const std::string& path = "");

/// The command kith, if it was built.
std::string command_path();
/// The program kith_probe.
std::string probe_path();
/// The file of libkith.so.
std::string library_path();

}  // namespace test_support
